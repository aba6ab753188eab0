//! Replication controllers.

use fakeserver_value::{
    edit::{set, within},
    field::Field,
    findings::Findings,
};
use serde_json::{Value, json};

use crate::{
    Habits, Kind, SelectableField, SelectableFields, Validation,
    pod_spec::{
        self,
        validation::{check_runs_forever, check_template},
    },
    workload::{replicas, warnings::warn_of_pod_names},
};

/// Replication controllers.
pub static KIND: Kind = Kind::new("", "replicationcontrollers")
    .pod_at("/spec/template")
    .habits(Habits {
        has_generation: true,
        orphans_by_default: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(
        Validation::new(check, check_update)
            .with(&[("status", replicas::check_status)])
            .repeated_without("ReplicationControllerUpdateCheckedOnce", check),
    )
    .warnings(warn_of_pod_names)
    .cells(replicas::cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::or(
    "status.replicas",
    &["status", "replicas"],
    "0",
)]);

// === Defaults ===

/// A controller that names no labels takes those of its template.
pub fn set_defaults(controller: &mut Value) {
    let labels = controller["spec"]["template"]["metadata"]["labels"].clone();
    let Some(spec) = within(controller, "spec") else {
        return;
    };
    set(spec, "replicas", json!(1));
    if let Some(template) = within(spec, "template") {
        pod_spec::defaults::set_defaults(&mut template["spec"]);
    }
    if !labels.is_null() {
        set(spec, "selector", labels.clone());
        set(&mut controller["metadata"], "labels", labels);
    }
}

// === Validation ===

pub fn check(controller: &Field<'_>, found: &mut Findings) {
    let spec = controller.at("spec");
    found.non_negative(&spec.at("minReadySeconds"));
    let selector = spec.at("selector");
    if selector.is_empty() {
        found.required(&selector, "");
    }
    found.non_negative(&spec.at("replicas"));
    let template = spec.at("template");
    if !template.is_set() {
        found.required(&template, "");
        return;
    }
    let labels = template.at("metadata").at("labels");
    let differs = selector
        .entries()
        .any(|(label, value)| labels.get(label) != value.value());
    if differs {
        found.invalid(&labels, "`selector` does not match template `labels`");
    }
    check_template(&template, found);
    check_runs_forever(&template, "ReplicationController", found);
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}
