//! Deployments.

use fakeserver_value::{
    edit::{set, set_absent, within},
    field::Field,
    findings::Findings,
    read::number,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    formats::{check_at_most_all, check_share, is_zero_share},
    pod_spec,
    table::cell::{Cells, age, containers, name, selector},
    workload::{
        validation::{Counts, check_counts, check_made, check_selector, fix_selector},
        warnings,
    },
};

const STRATEGY: &str = "io.k8s.api.apps.v1.DeploymentStrategy";

const COUNTS: Counts = Counts {
    all: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    parts: &["updatedReplicas", "readyReplicas", "availableReplicas"],
    unready: "cannot be greater than readyReplicas",
};

/// Deployments.
pub static KIND: Kind = Kind::new("apps", "deployments")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        counts_annotations: true,
        kept_by_status: PreservedMetadata {
            labels: true,
            ..PreservedMetadata::NONE
        },
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .warnings(warnings::warn)
    .cells(cells);

// === Defaults ===

pub fn set_defaults(deployment: &mut Value) {
    let Some(spec) = within(deployment, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "replicas", json!(1));
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "progressDeadlineSeconds", json!(600));
    set(spec, "strategy", json!({}));
    let strategy = &mut spec["strategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(strategy, "rollingUpdate", json!({}));
        let update = &mut strategy["rollingUpdate"];
        set_absent(update, "maxUnavailable", json!("25%"));
        set_absent(update, "maxSurge", json!("25%"));
    }
}

// === Validation ===

pub fn check(deployment: &Field<'_>, found: &mut Findings) {
    let spec = deployment.at("spec");
    found.non_negative(&spec.at("replicas"));
    check_selector(&spec, "deployment", found);
    check_made(&spec, "ReplicaSet", found);
    check_strategy(&spec.at("strategy"), found);
    for count in ["minReadySeconds", "revisionHistoryLimit"] {
        found.non_negative(&spec.at(count));
    }
    let deadline = spec.at("progressDeadlineSeconds");
    if deadline.is_set() {
        found.non_negative(&deadline);
        if deadline.number() <= spec.at("minReadySeconds").number() {
            found.invalid(&deadline, "must be greater than minReadySeconds");
        }
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    fix_selector(old, new, found);
}

fn check_strategy(strategy: &Field<'_>, found: &mut Findings) {
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "Recreate" if rolling.is_set() => found.forbidden(
            &rolling,
            "may not be specified when strategy `type` is 'Recreate'",
        ),
        "Recreate" => {}
        "RollingUpdate" if !rolling.is_set() => {
            found.required(&rolling, "this should be defaulted and never be nil");
        }
        "RollingUpdate" => {
            let (missing, extra) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            check_share(&missing, found);
            check_share(&extra, found);
            if is_zero_share(missing.value()) && is_zero_share(extra.value()) {
                found.invalid(&missing, "may not be 0 when `maxSurge` is 0");
            }
            check_at_most_all(&missing, found);
        }
        _ => {
            let mut displayed = strategy.value().clone();
            if let Some(rolling) = within(&mut displayed, "rollingUpdate") {
                set_absent(rolling, "maxUnavailable", json!(0));
                set_absent(rolling, "maxSurge", json!(0));
            }
            let displayed = Field::root(&displayed).called_at(strategy);
            found.not_supported_struct(&displayed, STRATEGY, &["Recreate", "RollingUpdate"]);
        }
    }
}

pub fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_counts(&COUNTS, old, new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    );
    let mut cells = vec![
        json!(name(object)),
        json!(ready),
        json!(number(&status["updatedReplicas"])),
        json!(number(&status["availableReplicas"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}
