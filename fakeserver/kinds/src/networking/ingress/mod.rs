//! Ingresses.

pub mod validation;

use fakeserver_value::{
    field::Field,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, MetadataRechecks, Validation,
    table::cell::{Cells, NONE, age, name, some_of, text_or},
};

const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";

/// Ingresses.
pub static KIND: Kind = Kind::new("networking.k8s.io", "ingresses")
    .habits(Habits {
        has_generation: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(
        Validation::new(validation::check, validation::check_update)
            .with(&[("status", validation::check_status)]),
    )
    .warnings(warn)
    .cells(cells);

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if accepted.is_new {
        ingress(&accepted.object, warnings);
    }
}

fn ingress(ingress: &Field<'_>, warnings: &mut Vec<String>) {
    let annotation = ingress.at("metadata").at("annotations").key(INGRESS_CLASS);
    if annotation.is_set() && !ingress.at("spec").at("ingressClassName").is_set() {
        warnings.push(format!(
            "annotation {INGRESS_CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let hosts: Vec<String> = items(&spec["rules"])
        .iter()
        .map(|rule| text(&rule["host"]).to_owned())
        .filter(|host| !host.is_empty())
        .collect();
    let hosts = if hosts.is_empty() {
        "*".to_owned()
    } else {
        some_of(&hosts)
    };
    let addresses: Vec<&str> = items(&status["loadBalancer"]["ingress"])
        .iter()
        .map(|ingress| text_or(&ingress["ip"], text(&ingress["hostname"])))
        .filter(|address| !address.is_empty())
        .collect();
    let ports = if items(&spec["tls"]).is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        json!(name(object)),
        json!(text_or(&spec["ingressClassName"], NONE)),
        json!(hosts),
        json!(addresses.join(",")),
        json!(ports),
        json!(age(object, now)),
    ]
}
