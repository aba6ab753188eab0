//! Validation of nodes.

use std::collections::BTreeSet;

use crate::{
    kinds::{
        formats::{check_cidr, check_qualified},
        resource_names::check_resource_amount,
    },
    value::{field::Field, findings::Findings, names::label_value_problems},
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const ONCE: &str = "node updates may not change podCIDR except from \"\" to valid";

const ONCE_PROVIDER: &str = "node updates may not change providerID except from \"\" to valid";

pub(crate) fn check(node: &Field<'_>, found: &mut Findings) {
    check_taints(node, found);
    check_resources(node, found);
    let ranges = node.at("spec").at("podCIDRs");
    for range in ranges.items() {
        check_cidr(&range, found);
    }
    let is_v6 = |range: &Field<'_>| range.text().contains(':');
    let families: Vec<bool> = ranges.items().map(|range| is_v6(&range)).collect();
    if families.len() > 1 && (families.len() > 2 || families[0] == families[1]) {
        found.invalid(
            &ranges,
            "may specify no more than one CIDR for each IP family",
        );
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_resources(new, found);
    let mut seen = Vec::new();
    for address in new.at("status").at("addresses").items() {
        if seen.contains(&address.value()) {
            found.duplicate(&address);
        }
        seen.push(address.value());
    }
    let (was, is) = (old.at("spec"), new.at("spec"));
    if !was.at("podCIDRs").is_empty() && was.get("podCIDRs") != is.get("podCIDRs") {
        found.forbidden(&is.at("podCIDRs"), ONCE);
    }
    if was.at("providerID").has_text() && was.get("providerID") != is.get("providerID") {
        found.forbidden(&is.at("providerID"), ONCE_PROVIDER);
    }
    check_taints(new, found);
}

fn check_taints(node: &Field<'_>, found: &mut Findings) {
    let taints = node.at("spec").at("taints");
    let taints = taints.called_within(&node.at("metadata"), "taints");
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        check_qualified(&taint.at("key"), found);
        let value = taint.at("value");
        let problems = label_value_problems(value.text());
        if !problems.is_empty() {
            found.invalid(&value, &problems.join(";"));
        }
        found.one_of(&taint.at("effect"), &EFFECTS);
        if !seen.insert((taint.at("key").text(), taint.at("effect").text())) {
            found.duplicate_with(&taint, "taints must be unique by key and effect pair");
        }
    }
}

fn check_resources(node: &Field<'_>, found: &mut Findings) {
    for list in ["capacity", "allocatable"] {
        let amounts = node.at("status").at(list);
        for (resource, amount) in amounts.entries() {
            let place = amount.called_at(&amounts.key_as_member(resource));
            check_resource_amount(resource, &place, found);
        }
    }
}
