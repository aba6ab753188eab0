//! Replica sets, and what replication controllers have in common with them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Accepted, Habits, Kind, MetadataRechecks, Validation,
        apps::workload::{self, Counts, check_made, check_selector, fix_selector},
        core::pod_spec::{self, warnings::named_pods},
        table::cell::{Cells, age, containers, labels, name, number, selector},
    },
    value::{
        edit::{set, within},
        field::Field,
        findings::Findings,
    },
};

/// Of replica sets, and the replication controllers that they come from.
const COUNTS: Counts = Counts {
    all: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    unready: "cannot be greater than readyReplicas",
};

/// Replica sets.
pub(crate) static KIND: Kind = Kind::new("apps", "replicasets")
    .habits(Habits {
        has_generation: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .warnings(warn)
    .cells(cells);

// === Defaults ===

pub(crate) fn set_defaults(set_of_replicas: &mut Value) {
    let Some(spec) = within(set_of_replicas, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "replicas", json!(1));
}

// === Validation ===

pub(crate) fn check(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    check_selector(&spec, "deployment", found);
    check_made(&spec, "ReplicaSet", found);
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    fix_selector(old, new, found);
}

pub(crate) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    workload::check_counts(&COUNTS, old, new, found);
}

// === Warnings ===

/// Warns of replica sets and replication controllers.
pub(crate) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    named_pods(accepted, told);
}

// === Cells ===

/// Also replication controllers, whose selector is a map.
pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![
        json!(name(object)),
        json!(number(&spec["replicas"])),
        json!(number(&status["replicas"])),
        json!(number(&status["readyReplicas"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(if object["kind"] == "ReplicationController" {
        labels(&spec["selector"])
    } else {
        selector(&spec["selector"])
    }));
    cells
}
