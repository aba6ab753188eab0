//! Validation of endpoint slices.

use std::{collections::BTreeSet, net::IpAddr};

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    addresses::{check_canonical_ip, check_ip},
    formats::{
        PROTOCOLS, check_label, check_label_value, check_labels, check_qualified,
        check_reachable_ip, check_subdomain,
    },
};

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];

const ENDPOINTS_MAX: usize = 1_000;

const ADDRESSES_MAX: usize = 100;

const TOPOLOGY_MAX: usize = 16;

const HINTS_MAX: usize = 8;

const PORTS_MAX: usize = 100;

pub(super) fn check(slice: &Field<'_>, found: &mut Findings) {
    check_slice(slice, true, found);
}

fn check_slice(slice: &Field<'_>, with_endpoints: bool, found: &mut Findings) {
    found.one_of(&slice.at("addressType"), &ADDRESS_TYPES);
    check_ports(&slice.at("ports"), found);
    if !with_endpoints {
        return;
    }
    let endpoints = slice.at("endpoints");
    if endpoints.len() > ENDPOINTS_MAX {
        found.too_many(&endpoints, ENDPOINTS_MAX);
    } else {
        for endpoint in endpoints.items() {
            check_endpoint(slice.at("addressType").text(), &endpoint, found);
        }
    }
}

fn check_ports(ports: &Field<'_>, found: &mut Findings) {
    if ports.len() > PORTS_MAX {
        found.too_many(ports, PORTS_MAX);
        return;
    }
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if name.has_text() {
            check_label(&name, found);
        }
        if !names.insert(name.text()) {
            found.duplicate_as(&name, &name.text().into());
        }
        if port.at("protocol").is_set() {
            found.optional_one_of(&port.at("protocol"), &PROTOCOLS);
        } else {
            found.required(&port.at("protocol"), "");
        }
        if port.at("appProtocol").is_set() {
            check_qualified(&port.at("appProtocol"), found);
        }
    }
}

/// Checks one of the addresses of an endpoint. Those of IPv6 have to be canonical.
fn check_address(kind: &str, all: &Field<'_>, address: &Field<'_>, found: &mut Findings) {
    let before = found.count();
    match kind {
        "IPv4" => check_ip(address, found),
        _ => check_canonical_ip(address, found),
    }
    if found.count() > before {
        return;
    }
    let parsed = address.text().parse::<IpAddr>();
    if parsed.is_ok_and(|parsed| parsed.is_ipv4() != (kind == "IPv4")) {
        found.invalid_as(all, address.value(), &format!("must be an {kind} address"));
    }
    check_reachable_ip(address, found);
}

fn check_endpoint(kind: &str, endpoint: &Field<'_>, found: &mut Findings) {
    let addresses = endpoint.at("addresses");
    if addresses.is_empty() {
        found.required(&addresses, "must contain at least 1 address");
    } else if addresses.len() > ADDRESSES_MAX {
        found.too_many(&addresses, ADDRESSES_MAX);
    }
    for address in addresses.items() {
        match kind {
            "IPv4" | "IPv6" => check_address(kind, &addresses, &address, found),
            "FQDN" => {
                check_subdomain(&address, found);
                if !address.text().contains('.') {
                    found.invalid(
                        &address,
                        "should be a domain with at least two segments separated by dots",
                    );
                }
            }
            _ => {}
        }
    }
    if endpoint.at("nodeName").is_set() {
        check_subdomain(&endpoint.at("nodeName"), found);
    }
    let topology = endpoint.at("deprecatedTopology");
    if topology.len() > TOPOLOGY_MAX {
        found.too_many(&topology, TOPOLOGY_MAX);
    }
    check_labels(&topology, found);
    if endpoint.at("hostname").is_set() {
        check_label(&endpoint.at("hostname"), found);
    }
    check_hints(&endpoint.at("hints"), found);
}

pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let is_unchanged = old.get("endpoints") == new.get("endpoints");
    check_slice(new, !is_unchanged, found);
    found.immutable_text(&new.at("addressType"), &old.at("addressType"));
}

fn check_hints(hints: &Field<'_>, found: &mut Findings) {
    for list in ["forZones", "forNodes"] {
        let all = hints.at(list);
        if all.len() > HINTS_MAX {
            found.too_many(&all, HINTS_MAX);
            return;
        }
        let mut names = BTreeSet::new();
        for hint in all.items() {
            let name = hint.at("name");
            if !names.insert(name.text()) {
                found.duplicate_as(&name, &name.text().into());
            }
            if list == "forZones" {
                check_label_value(&name, found);
            } else {
                check_subdomain(&name, found);
            }
        }
    }
}
