//! Ingress classes.

use fakeserver_value::{
    edit::{set_absent, within},
    field::Field,
    findings::Findings,
    names::dns_label_problems,
    read::text,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::check_domain_path,
    networking::ingress::validation::check_reference,
    table::cell::{Cells, NONE, age, name},
};

const CONTROLLER_MAX_BYTES: usize = 250;

/// Ingress classes.
pub static KIND: Kind = Kind::new("networking.k8s.io", "ingressclasses")
    .habits(Habits {
        has_generation: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Defaults ===

pub fn set_defaults(class: &mut Value) {
    if let Some(parameters) = within(class, "spec").and_then(|spec| within(spec, "parameters")) {
        set_absent(parameters, "scope", json!("Cluster"));
    }
}

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    let spec = class.at("spec");
    let controller = spec.at("controller");
    if controller.text().len() > CONTROLLER_MAX_BYTES {
        found.too_long(&controller, CONTROLLER_MAX_BYTES);
    }
    check_domain_path(&controller, found);
    let parameters = spec.at("parameters");
    if !parameters.is_set() {
        return;
    }
    check_reference(&parameters, found);
    let (scope, namespace) = (parameters.at("scope"), parameters.at("namespace"));
    match scope.text() {
        "" if !scope.is_set() => found.required(&scope, ""),
        "Namespace" if !namespace.is_set() => {
            found.required(&namespace, "`parameters.scope` is set to 'Namespace'");
        }
        "Namespace" => found.problems(&namespace, dns_label_problems(namespace.text())),
        "Cluster" if namespace.is_set() => {
            found.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
        }
        "Cluster" => {}
        _ => found.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable_text(
        &new.at("spec").at("controller"),
        &old.at("spec").at("controller"),
    );
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let parameters = &spec["parameters"];
    let cell = if parameters.is_null() {
        NONE.to_owned()
    } else {
        let group = text(&parameters["apiGroup"]);
        let dot = if group.is_empty() { "" } else { "." };
        format!(
            "{}{dot}{group}/{}",
            text(&parameters["kind"]),
            text(&parameters["name"])
        )
    };
    vec![
        json!(name(object)),
        json!(text(&spec["controller"])),
        json!(cell),
        json!(age(object, now)),
    ]
}
