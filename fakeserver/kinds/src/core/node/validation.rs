//! Validation of nodes.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings, names::label_value_problems};

use crate::{
    addresses::{check_cidr, parse_cidr},
    formats::check_qualified,
    resource_names::check_resource_amount,
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const TAINT: &str = "io.k8s.api.core.v1.Taint";
const ADDRESS: &str = "io.k8s.api.core.v1.NodeAddress";

const FEATURE_MAX_BYTES: usize = 253;
const FEATURE: &str = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., \
    MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

const ONCE: &str = "node updates may not change podCIDR except from \"\" to valid";

const ONCE_PROVIDER: &str = "node updates may not change providerID except from \"\" to valid";

pub(super) fn check(node: &Field<'_>, found: &mut Findings) {
    check_taints(node, found);
    check_resources(node, found);
    check_features(&node.at("status").at("declaredFeatures"), found);
    let ranges = node.at("spec").at("podCIDRs");
    for range in ranges.items() {
        check_cidr(&range, found);
    }
    if ranges.len() > 1 {
        check_families(&ranges, found);
    }
}

/// Checks that there is no more than one range of each family.
fn check_families(ranges: &Field<'_>, found: &mut Findings) {
    let mut families = Vec::new();
    for (index, range) in ranges.items().enumerate() {
        let Some((address, _)) = parse_cidr(range.text()) else {
            let problem = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{index}]: <nil> (invalid \
                 CIDR address: {})",
                range.text()
            );
            found.internal(ranges, &problem);
            families.clear();
            break;
        };
        families.push(address.is_ipv4());
    }
    let is_dual = families.contains(&true) && families.contains(&false);
    if !is_dual || ranges.len() > 2 {
        found.invalid(
            ranges,
            "may specify no more than one CIDR for each IP family",
        );
    }
}

/// Checks the names and the order of features.
fn check_features(features: &Field<'_>, found: &mut Findings) {
    let mut before: Option<&str> = None;
    for feature in features.items() {
        let name = feature.text();
        match before {
            Some(before) if before == name => found.duplicate(&feature),
            Some(before) if before > name => {
                found.invalid(&feature, "list must be sorted alphabetically");
            }
            _ => {}
        }
        before = Some(name);
        if name.len() > FEATURE_MAX_BYTES {
            let why = format!(
                "invalid feature name {name:?}: must be no more than {FEATURE_MAX_BYTES} characters"
            );
            found.invalid(&feature, &why);
        } else if !is_feature(name) {
            let why = format!("invalid feature name {name:?}: {FEATURE}");
            found.invalid(&feature, &why);
        }
    }
}

fn is_feature(name: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(|first: char| first.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_segment)
}

/// Checks the next version of a node, which a real server checks as a new one, too.
pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    check_status(old, new, found);
}

/// Checks an update through `status`.
pub(super) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_resources(new, found);
    check_features(&new.at("status").at("declaredFeatures"), found);
    let mut seen = BTreeSet::new();
    for address in new.at("status").at("addresses").items() {
        if !seen.insert((address.at("type").text(), address.at("address").text())) {
            found.duplicate_struct(&address, ADDRESS);
        }
    }
    let (was, is) = (old.at("spec"), new.at("spec"));
    let (before, after) = (was.at("podCIDRs"), is.at("podCIDRs"));
    if before.len() != after.len() && !before.is_empty() {
        found.forbidden(&after, ONCE);
    } else {
        let pairs = before.items().zip(after.items());
        for _ in pairs.filter(|(old, new)| old.value() != new.value()) {
            found.forbidden(&after, ONCE);
        }
    }
    if was.at("providerID").has_text() && was.get("providerID") != is.get("providerID") {
        found.forbidden(&is.at("providerID"), ONCE_PROVIDER);
    }
    check_taints(new, found);
    let external = is.at("externalID");
    if external.text() != was.at("externalID").text() {
        found.forbidden(&external, "may not be updated");
    }
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
            found.duplicate_with(
                &taint,
                TAINT,
                "taints must be unique by key and effect pair",
            );
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
