//! Endpoint slices.

mod validation;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation,
        table::cell::{Cells, UNSET, age, items, name, plain, some_of, text},
    },
    value::edit::{each, set_absent},
};

/// Endpoint slices.
pub(crate) static KIND: Kind = Kind::new("discovery.k8s.io", "endpointslices")
    .habits(Habits {
        has_generation: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        counts_labels: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(validation::check, validation::check_update))
    .cells(cells);

// === Defaults ===

pub(crate) fn set_defaults(slice: &mut Value) {
    for port in each(slice, "ports") {
        set_absent(port, "name", json!(""));
        set_absent(port, "protocol", json!("TCP"));
    }
}

// === Cells ===

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let ports: Vec<String> = items(&object["ports"])
        .iter()
        .map(|port| match &port["port"] {
            Value::Null => "*".to_owned(),
            number => plain(number),
        })
        .collect();
    let addresses: Vec<String> = items(&object["endpoints"])
        .iter()
        .flat_map(|endpoint| items(&endpoint["addresses"]))
        .map(plain)
        .collect();
    let ports = if ports.is_empty() {
        UNSET.to_owned()
    } else {
        some_of(&ports)
    };
    let addresses = if addresses.is_empty() {
        UNSET.to_owned()
    } else {
        some_of(&addresses)
    };
    vec![
        json!(name(object)),
        json!(text(&object["addressType"])),
        json!(ports),
        json!(addresses),
        json!(age(object, now)),
    ]
}
