//! Validation of stateful sets.

use fakeserver_value::{
    edit::{each, remove, within},
    field::Field,
    findings::Findings,
    read::text,
};
use serde_json::{Value, json};

use crate::{
    claim_spec,
    formats::{
        LABEL_SELECTOR, check_at_most_all, check_label, check_share, is_empty_selector,
        is_readable_selector, is_zero_share,
    },
    pod_spec::validation::{check_described, check_runs_forever, check_selected, check_template},
    workload::validation::{Counts, check_counts, check_selector},
};

const STRATEGY: &str = "io.k8s.api.apps.v1.StatefulSetUpdateStrategy";
const ROLLING_UPDATE: &str = "io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy";

const FIXED: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
    forbidden";

/// Checks a new set.
pub(super) fn check(set: &Field<'_>, found: &mut Findings) {
    let (spec, name) = (set.at("spec"), set.at("spec").at("serviceName"));
    check_management(&spec, found);
    let checks_templates = found.is_on("StatefulSetTemplatesChecked");
    if checks_templates {
        for claim in spec.at("volumeClaimTemplates").items() {
            claim_spec::check(&claim.at("spec"), found);
        }
    }
    check_counts_of_spec(&spec, found);
    if name.has_text() {
        check_label(&name, found);
    }
    check_pods(&spec, checks_templates, found);
}

/// Checks the parts of a spec that an update looks at.
fn check_next(spec: &Field<'_>, with_pods: bool, found: &mut Findings) {
    let with_pods = with_pods && found.is_on("StatefulSetTemplatesChecked");
    check_management(spec, found);
    check_counts_of_spec(spec, found);
    check_pods(spec, with_pods, found);
}

fn check_management(spec: &Field<'_>, found: &mut Findings) {
    let policy = spec.at("podManagementPolicy");
    match policy.text() {
        "" => found.required(&policy, ""),
        "OrderedReady" | "Parallel" => {}
        _ => found.invalid(&policy, "must be 'OrderedReady' or 'Parallel'"),
    }
    let strategy = spec.at("updateStrategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "" => found.required(&strategy, ""),
        "OnDelete" if rolling.is_set() => found.invalid_struct(
            &rolling,
            ROLLING_UPDATE,
            "only allowed for updateStrategy 'RollingUpdate'",
        ),
        "OnDelete" => {}
        "RollingUpdate" => check_rolling_update(&rolling, found),
        _ => found.invalid_struct(&strategy, STRATEGY, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    let retention = spec.at("persistentVolumeClaimRetentionPolicy");
    for event in ["whenDeleted", "whenScaled"] {
        let policy = retention.at(event);
        if retention.is_set() && !matches!(policy.text(), "Retain" | "Delete") {
            found.not_supported(&policy, &["Retain", "Delete"]);
        }
    }
}

fn check_rolling_update(rolling: &Field<'_>, found: &mut Findings) {
    check_share(&rolling.at("partition"), found);
    let missing = rolling.at("maxUnavailable");
    if missing.is_set() {
        check_share(&missing, found);
        if is_zero_share(missing.value()) {
            found.invalid(&missing, "cannot be 0");
        }
        check_at_most_all(&missing, found);
    }
}

fn check_counts_of_spec(spec: &Field<'_>, found: &mut Findings) {
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    found.non_negative(&spec.at("ordinals").at("start"));
}

/// Checks the selector and the template of pods, as pods are made of it: with the volumes of their own claims, and with
/// a hostname of their own.
fn check_pods(spec: &Field<'_>, with_pods: bool, found: &mut Findings) {
    check_selector(spec, "statefulset", found);
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    if selector.is_set() && !is_readable_selector(selector.value()) {
        found.invalid_struct(&selector, LABEL_SELECTOR, "");
    } else {
        if !(selector.is_set() && is_empty_selector(&selector)) {
            check_selected(selector.value(), &template, found);
        }
        let made = template_as_made(spec);
        let made = Field::root(&made).called_at(&template);
        if with_pods {
            check_template(&made, found);
        }
        check_described(&made, found);
    }
    check_runs_forever(&template, "StatefulSet", found);
}

/// Returns the template with what its pods get from the set.
fn template_as_made(spec: &Field<'_>) -> Value {
    let mut template = spec.get("template").clone();
    let Some(pod) = within(&mut template, "spec") else {
        return template;
    };
    remove(pod, "subdomain");
    remove(pod, "hostname");
    let claims = spec.at("volumeClaimTemplates");
    if claims.is_empty() {
        return template;
    }
    let mut names: Vec<&str> = Vec::new();
    for claim in claims.items() {
        let name = claim.at("metadata").at("name").text();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut volumes: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
        .collect();
    volumes.extend(
        each(pod, "volumes")
            .map(Value::take)
            .filter(|volume| !names.contains(&text(&volume["name"]))),
    );
    pod["volumes"] = volumes.into();
    template
}

/// Checks an update. A template that was not valid before need not become so.
pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let mut before = Findings::default();
    check_next(&old.at("spec"), true, &mut before);
    check_next(&new.at("spec"), before.count() == 0, found);
    let fixed = |object: &Field<'_>| -> Value {
        let mut spec = object.get("spec").clone();
        if let Some(spec) = spec.as_object_mut() {
            for field in [
                "replicas",
                "ordinals",
                "template",
                "updateStrategy",
                "revisionHistoryLimit",
                "persistentVolumeClaimRetentionPolicy",
                "minReadySeconds",
            ] {
                spec.remove(field);
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        found.forbidden(&new.at("spec"), FIXED);
    }
}

const COUNTS: Counts = Counts {
    all: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    parts: &[
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
    ],
    unready: "cannot be greater than status.readyReplicas",
};

pub(super) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_counts(&COUNTS, old, new, found);
}
