//! Validation of stateful sets.

use serde_json::Value;

use crate::{
    kinds::{
        formats::{check_annotations, check_at_most_all, check_labels, check_share, is_zero_share},
        pod_spec::validation::{check_runs_forever, check_selected},
        workload::validation::{Counts, check_counts, check_selector},
    },
    value::{field::Field, findings::Findings},
};

const FIXED: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
    forbidden";

pub(crate) fn check(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
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
        "OnDelete" if rolling.is_set() => {
            found.invalid(&rolling, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => {
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
        _ => found.invalid(&strategy, "must be 'RollingUpdate' or 'OnDelete'"),
    }
    let retention = spec.at("persistentVolumeClaimRetentionPolicy");
    for event in ["whenDeleted", "whenScaled"] {
        let policy = retention.at(event);
        if retention.is_set() && !matches!(policy.text(), "Retain" | "Delete") {
            found.not_supported(&policy, &["Retain", "Delete"]);
        }
    }
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    found.non_negative(&spec.at("revisionHistoryLimit"));
    found.non_negative(&spec.at("ordinals").at("start"));
    check_selector(&spec, "statefulset", found);
    // The rest of the template may use volumes that the claims make, and is looked at when pods are made.
    let template = spec.at("template");
    check_selected(spec.get("selector"), &template, found);
    let metadata = template.at("metadata");
    check_labels(
        &metadata.at("labels").called_within(&template, "labels"),
        found,
    );
    check_annotations(
        &metadata
            .at("annotations")
            .called_within(&template, "annotations"),
        found,
    );
    check_runs_forever(&template, "StatefulSet", found);
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
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

pub(crate) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_counts(&COUNTS, old, new, found);
}
