//! Replica sets.

use fakeserver_value::{
    edit::{set, within},
    field::Field,
    findings::Findings,
};
use serde_json::{Value, json};

use crate::{
    Habits, Kind, Validation, pod_spec,
    workload::{
        replicas,
        validation::{check_made, check_selector, fix_selector},
        warnings::warn,
    },
};

/// Replica sets.
pub static KIND: Kind = Kind::new("apps", "replicasets")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(
        Validation::new(check, check_update)
            .with(&[("status", replicas::check_status)])
            .repeated_without("ReplicaSetUpdateCheckedOnce", check),
    )
    .warnings(warn)
    .cells(replicas::cells);

// === Defaults ===

pub fn set_defaults(set_of_replicas: &mut Value) {
    let Some(spec) = within(set_of_replicas, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "replicas", json!(1));
}

// === Validation ===

pub fn check(set: &Field<'_>, found: &mut Findings) {
    let spec = set.at("spec");
    found.non_negative(&spec.at("replicas"));
    found.non_negative(&spec.at("minReadySeconds"));
    check_selector(&spec, "deployment", found);
    check_made(&spec, "ReplicaSet", found);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    fix_selector(old, new, found);
}
