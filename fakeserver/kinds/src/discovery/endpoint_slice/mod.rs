//! Endpoint slices.

mod validation;

use fakeserver_value::{
    edit::{each, remove, set_absent},
    names::subdomain_problems,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, MetadataRechecks, Validation,
    addresses::warn_of_ip,
    table::cell::{Cells, UNSET, age, name, plain, some_of},
};

const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label by which a slice names its service.
#[doc(alias = "LabelServiceName")]
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Endpoint slices.
pub static KIND: Kind = Kind::new("discovery.k8s.io", "endpointslices")
    .habits(Habits {
        has_generation: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        counts_labels: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .prepare(|slice| prepare_update(&Value::Null, slice))
    .prepare_update(prepare_update)
    .validation(Validation::new(validation::check, validation::check_update))
    .warnings(warn)
    .cells(cells);

/// Warns of names instead of addresses in a new slice, and of addresses that are not canonical.
fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let slice = &accepted.object;
    if accepted.is_new && slice.at("addressType").text() == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    for endpoint in slice.at("endpoints").items() {
        for address in endpoint.at("addresses").items() {
            warn_of_ip(&address, warnings);
        }
    }
}

// === Defaults ===

pub fn set_defaults(slice: &mut Value) {
    for port in each(slice, "ports") {
        set_absent(port, "name", json!(""));
        set_absent(port, "protocol", json!("TCP"));
    }
}

/// Drops labels that an older version had, and keeps the name of a node that they gave.
fn prepare_update(old: &Value, slice: &mut Value) {
    if !old.is_null() && old["endpoints"] == slice["endpoints"] {
        return;
    }
    let node = |endpoint: &Value| endpoint["deprecatedTopology"][HOSTNAME].clone();
    let old_nodes: Vec<Value> = items(&old["endpoints"]).iter().map(node).collect();
    for endpoint in each(slice, "endpoints") {
        let name = node(endpoint);
        let is_valid = subdomain_problems(text(&name)).is_empty();
        if endpoint["nodeName"].is_null()
            && !name.is_null()
            && old_nodes.contains(&name)
            && is_valid
        {
            endpoint["nodeName"] = name;
        }
        remove(endpoint, "deprecatedTopology");
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
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
