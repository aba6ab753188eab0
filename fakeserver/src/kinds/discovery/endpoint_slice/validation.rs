//! Validation of endpoint slices.

use std::{collections::BTreeSet, net::IpAddr};

use crate::{
    kinds::formats::{
        PROTOCOLS, check_label, check_qualified, check_reachable_ip, check_subdomain,
    },
    value::{field::Field, findings::Findings},
};

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];

const ENDPOINTS_MAX: usize = 1_000;

const ADDRESSES_MAX: usize = 100;

const PORTS_MAX: usize = 100;

pub(crate) fn check(slice: &Field<'_>, found: &mut Findings) {
    found.one_of(&slice.at("addressType"), &ADDRESS_TYPES);
    let endpoints = slice.at("endpoints");
    if endpoints.len() > ENDPOINTS_MAX {
        found.too_many(&endpoints, ENDPOINTS_MAX);
    } else {
        for endpoint in endpoints.items() {
            check_endpoint(slice.at("addressType").text(), &endpoint, found);
        }
    }
    let ports = slice.at("ports");
    if ports.len() > PORTS_MAX {
        found.too_many(&ports, PORTS_MAX);
        return;
    }
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if name.has_text() {
            check_label(&name, found);
        }
        if !names.insert(name.text()) {
            found.duplicate(&name);
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

fn check_endpoint(kind: &str, endpoint: &Field<'_>, found: &mut Findings) {
    let addresses = endpoint.at("addresses");
    if addresses.is_empty() {
        found.required(&addresses, "must contain at least 1 address");
    } else if addresses.len() > ADDRESSES_MAX {
        found.too_many(&addresses, ADDRESSES_MAX);
    }
    for address in addresses.items() {
        let parsed = address.text().parse::<IpAddr>();
        match kind {
            "IPv4" => {
                if !parsed.is_ok_and(|address| address.is_ipv4()) {
                    found.invalid(&address, "must be a valid IPv4 address");
                }
                check_reachable_ip(&address, found);
            }
            "IPv6" => {
                if !parsed.is_ok_and(|address| address.is_ipv6()) {
                    found.invalid(&address, "must be a valid IPv6 address");
                }
                check_reachable_ip(&address, found);
            }
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
    if endpoint.at("hostname").is_set() {
        check_label(&endpoint.at("hostname"), found);
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    found.immutable(&new.at("addressType"), &old.at("addressType"));
}
