//! Network policies.

use std::net::IpAddr;

use fakeserver_value::{
    edit::{each, set, set_absent, within},
    field::Field,
    findings::Findings,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, Validation,
    addresses::{check_cidr, parse_cidr, warn_of_cidr},
    formats::{check_label_selector, check_port_number, port_name_problems},
    table::cell::{Cells, age, name, selector},
};

/// Network policies.
pub static KIND: Kind = Kind::new("networking.k8s.io", "networkpolicies")
    .habits(Habits {
        has_generation: true,
        counts_empty: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(
        Validation::new(check, check_update)
            .repeated_without("NetworkPolicyUpdateCheckedOnce", check),
    )
    .warnings(warn)
    .cells(cells);

/// Warns of ranges that are not canonical.
fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let spec = accepted.object.at("spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for peer in spec
            .at(rules)
            .items()
            .flat_map(|rule| rule.at(peers).items())
        {
            let block = peer.at("ipBlock");
            warn_of_cidr(&block.at("cidr"), warnings);
            for except in block.at("except").items() {
                warn_of_cidr(&except, warnings);
            }
        }
    }
}

// === Defaults ===

pub fn set_defaults(policy: &mut Value) {
    let Some(spec) = within(policy, "spec") else {
        return;
    };
    for direction in ["ingress", "egress"] {
        for rule in each(spec, direction) {
            for port in each(rule, "ports") {
                set_absent(port, "protocol", json!("TCP"));
            }
        }
    }
    let has_egress = spec["egress"]
        .as_array()
        .is_some_and(|rules| !rules.is_empty());
    let types = if has_egress {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    set(spec, "policyTypes", types);
}

// === Validation ===

pub fn check(policy: &Field<'_>, found: &mut Findings) {
    let spec = policy.at("spec");
    check_label_selector(&spec.at("podSelector"), found);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.at(direction).items() {
            for port in rule.at("ports").items() {
                check_port_of_policy(&port, found);
            }
            for peer in rule.at(peers).items() {
                check_peer(&peer, found);
            }
        }
    }
    let types = spec.at("policyTypes");
    if types.len() > 2 {
        found.invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    for kind in types.items() {
        found.optional_one_of(&kind, &["Ingress", "Egress"]);
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

fn check_port_of_policy(rule: &Field<'_>, found: &mut Findings) {
    found.optional_one_of(&rule.at("protocol"), &["TCP", "UDP", "SCTP"]);
    let (port, end) = (rule.at("port"), rule.at("endPort"));
    match port.value() {
        Value::Null if end.is_set() => {
            found.invalid(&end, "may not be specified when `port` is not specified");
        }
        Value::Null => {}
        Value::String(name) => {
            if end.is_set() {
                found.invalid(&end, "may not be specified when `port` is non-numeric");
            }
            found.problems(&port, port_name_problems(name));
        }
        _ => {
            check_port_number(&port, found);
            if end.is_set() && end.number() < port.number() {
                let why = "must be greater than or equal to `port`";
                found.invalid_as(&end, port.value(), why);
            }
            if end.is_set() {
                check_port_number(&end, found);
            }
        }
    }
}

fn check_peer(peer: &Field<'_>, found: &mut Findings) {
    let block = peer.at("ipBlock");
    let mut count = usize::from(block.is_set());
    for name in ["podSelector", "namespaceSelector"] {
        count += usize::from(peer.at(name).is_set());
        check_label_selector(&peer.at(name), found);
    }
    if block.is_set() {
        check_block(&block, found);
    }
    if count == 0 {
        found.required(peer, "must specify a peer");
    } else if count > 1 && block.is_set() {
        found.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}

fn check_block(block: &Field<'_>, found: &mut Findings) {
    let whole = block.at("cidr");
    if !whole.has_text() {
        found.required(&whole, "");
        return;
    }
    check_cidr(&whole, found);
    let Some(outer) = parse_cidr(whole.text()) else {
        return;
    };
    for except in block.at("except").items() {
        check_cidr(&except, found);
        let inner = parse_cidr(except.text());
        if inner.is_some_and(|inner| !is_strictly_within(inner, outer)) {
            found.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}

fn is_strictly_within(inner: (IpAddr, u32), outer: (IpAddr, u32)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, true),
        IpAddr::V6(address) => (u128::from(address), false),
    };
    let (one, other) = (bits(inner.0), bits(outer.0));
    let mask = match outer.1 {
        0 => 0,
        length => u128::MAX << (128 - length),
    };
    one.1 == other.1 && one.0 & mask == other.0 & mask && inner.1 > outer.1
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let pods = selector(&object["spec"]["podSelector"]);
    vec![json!(name(object)), json!(pods), json!(age(object, now))]
}
