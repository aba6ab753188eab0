//! Endpoints of services.

use fakeserver_value::{
    edit::{each, set},
    field::Field,
    findings::Findings,
    read::{items, number, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, MetadataRechecks, Validation,
    addresses::{check_ip, warn_of_ip},
    formats::{
        PROTOCOLS, check_label, check_port_number, check_qualified, check_reachable_ip,
        check_subdomain,
    },
    table::cell::{Cells, age, name, some_of},
};

/// Endpoints of services.
pub static KIND: Kind = Kind::new("", "endpoints")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells)
    .warnings(warn)
    .deprecated("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
    .deprecated_by("EndpointsDeprecated");

// === Defaults ===

pub fn set_defaults(endpoints: &mut Value) {
    for subset in each(endpoints, "subsets") {
        for port in each(subset, "ports") {
            set(port, "protocol", json!("TCP"));
        }
    }
}

// === Warnings ===

/// Warns of addresses that are not canonical.
fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    for subset in accepted.object.at("subsets").items() {
        for list in ["addresses", "notReadyAddresses"] {
            for address in subset.at(list).items() {
                warn_of_ip(&address.at("ip"), warnings);
            }
        }
    }
}

// === Validation ===

pub fn check(endpoints: &Field<'_>, found: &mut Findings) {
    for subset in endpoints.at("subsets").items() {
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|list| subset.at(list).is_empty()) {
            found.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for address in lists.iter().flat_map(|list| subset.at(list).items()) {
            check_ip(&address.at("ip"), found);
            if address.at("hostname").has_text() {
                check_label(&address.at("hostname"), found);
            }
            if address.at("nodeName").is_set() {
                check_subdomain(&address.at("nodeName"), found);
            }
            check_reachable_ip(&address.at("ip"), found);
        }
        let ports = subset.at("ports");
        for port in ports.items() {
            let name = port.at("name");
            if name.has_text() {
                check_label(&name, found);
            } else if ports.len() > 1 {
                found.required(&name, "");
            }
            check_port_number(&port.at("port"), found);
            found.one_of(&port.at("protocol"), &PROTOCOLS);
            if port.at("appProtocol").is_set() {
                check_qualified(&port.at("appProtocol"), found);
            }
        }
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let mut all = Vec::new();
    for subset in items(&object["subsets"]) {
        let ports = items(&subset["ports"]);
        for address in items(&subset["addresses"]) {
            let address = text(&address["ip"]);
            if ports.is_empty() {
                all.push(address.to_owned());
            }
            all.extend(
                ports
                    .iter()
                    .map(|port| format!("{address}:{}", number(&port["port"]))),
            );
        }
    }
    vec![
        json!(name(object)),
        json!(some_of(&all)),
        json!(age(object, now)),
    ]
}
