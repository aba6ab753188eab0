//! Daemon sets.

use fakeserver_value::{
    edit::{set, set_absent, within},
    field::Field,
    findings::Findings,
    read::number,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, Validation,
    formats::{
        LABEL_SELECTOR, check_at_most_all, check_label_selector, check_share, is_empty_selector,
        is_zero_share,
    },
    pod_spec::{
        self,
        validation::{check_runs_forever, check_selected, check_template},
    },
    table::cell::{Cells, age, containers, labels, name, selector},
    workload::{
        validation::{Counts, check_counts, fix_selector},
        warnings::warn_of_template,
    },
};

/// The annotation by which this version shows the generation of the template.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

const STRATEGY: &str = "io.k8s.api.apps.v1.DaemonSetUpdateStrategy";

const COUNTS: Counts = Counts {
    all: &[
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ],
    parts: &[],
    unready: "",
};

/// Daemon sets.
pub static KIND: Kind = Kind::new("apps", "daemonsets")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .prepare(count_first_template)
    .keep(count_templates)
    .validation(
        Validation::new(check, check_update)
            .with(&[("status", check_status)])
            .repeated_without("DaemonSetUpdateCheckedOnce", check),
    )
    .warnings(warn)
    .cells(cells);

// === Defaults ===

pub fn set_defaults(daemon_set: &mut Value) {
    set(
        &mut daemon_set["metadata"]["annotations"],
        TEMPLATE_GENERATION,
        json!("0"),
    );
    let Some(spec) = within(daemon_set, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "updateStrategy", json!({}));
    let strategy = &mut spec["updateStrategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(strategy, "rollingUpdate", json!({}));
        let update = &mut strategy["rollingUpdate"];
        set_absent(update, "maxUnavailable", json!(1));
        set_absent(update, "maxSurge", json!(0));
    }
}

// === Generations of templates ===

/// Counts the first template of a new set, unless it brings a count.
fn count_first_template(daemon_set: &mut Value) {
    if template_generation(daemon_set) < 1 {
        set_template_generation(daemon_set, 1);
    }
}

/// Counts another template, whatever count the client has sent.
fn count_templates(old: &Value, new: &mut Value) {
    let mut next = new["spec"]["template"].clone();
    pod_spec::defaults::set_defaults(&mut next["spec"]);
    let is_other = next != old["spec"]["template"];
    set_template_generation(new, template_generation(old) + i64::from(is_other));
}

fn template_generation(daemon_set: &Value) -> i64 {
    let count = daemon_set["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
    count
        .and_then(|count| count.parse().ok())
        .unwrap_or_default()
}

fn set_template_generation(daemon_set: &mut Value, count: i64) {
    daemon_set["metadata"]["annotations"][TEMPLATE_GENERATION] = json!(count.to_string());
}

// === Validation ===

pub fn check(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    check_label_selector(&selector, found);
    check_selected(selector.value(), &template, found);
    if selector.is_set() && is_empty_selector(&selector) {
        let why = "empty selector is invalid for daemonset";
        found.invalid_struct(&selector, LABEL_SELECTOR, why);
    }
    check_template(&template, found);
    check_runs_forever(&template, "DaemonSet", found);
    found.non_negative(&spec.at("minReadySeconds"));
    let strategy = spec.at("updateStrategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "OnDelete" => {}
        "RollingUpdate" if !rolling.is_set() => found.required(&rolling, ""),
        "RollingUpdate" => {
            let (missing, extra) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            for share in [&missing, &extra] {
                check_share(share, found);
            }
            for share in [&missing, &extra] {
                check_at_most_all(share, found);
            }
            match (is_zero_share(missing.value()), is_zero_share(extra.value())) {
                (false, false) => {
                    found.invalid(&extra, "may not be set when maxUnavailable is non-zero");
                }
                (true, true) => found.required(&missing, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => found.not_supported_struct(&strategy, STRATEGY, &["RollingUpdate", "OnDelete"]),
    }
    found.non_negative(&spec.at("revisionHistoryLimit"));
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    fix_selector(old, new, found);
    check(new, found);
}

pub fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_counts(&COUNTS, old, new, found);
}

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    warn_of_template(accepted, &accepted.object, warnings);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![
        json!(name(object)),
        json!(number(&status["desiredNumberScheduled"])),
        json!(number(&status["currentNumberScheduled"])),
        json!(number(&status["numberReady"])),
        json!(number(&status["updatedNumberScheduled"])),
        json!(number(&status["numberAvailable"])),
        json!(labels(&spec["template"]["spec"]["nodeSelector"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}
