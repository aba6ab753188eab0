//! Quotas of resources, and runtime classes.

use super::{
    field::Field, findings::Findings, names::dns_label_problems, names::qualified_name_problems,
};
use crate::schema::Quantity;

/// What a quota may limit without a domain, apart from huge pages.
const STANDARD: [&str; 19] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];
/// What is counted, and not measured.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn check_quota(quota: &Field<'_>, found: &mut Findings) {
    check_amounts(&quota.at("spec").at("hard"), found);
}

pub(super) fn update_quota(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_quota(new, found);
    let scopes = new.at("spec").at("scopes");
    found.immutable(&scopes, &old.at("spec").at("scopes"));
}

/// An update through `status`.
pub(super) fn check_quota_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for amounts in ["hard", "used"] {
        check_amounts(&new.at("status").at(amounts), found);
    }
}

fn check_amounts(amounts: &Field<'_>, found: &mut Findings) {
    for (resource, amount) in amounts.entries() {
        let mut refuse = |why: &str| found.invalid_as(&amount, &resource.into(), why);
        for problem in qualified_name_problems(resource) {
            refuse(&problem);
        }
        let pages = resource.strip_prefix("requests.").unwrap_or(resource);
        let is_known = STANDARD.contains(&resource) || pages.starts_with("hugepages-");
        if !resource.contains('/') && !is_known {
            refuse("must be a standard resource for quota");
        }
        let Ok(quantity) = amount.text().parse::<Quantity>() else {
            continue;
        };
        if quantity.is_negative() {
            found.invalid(&amount, "must be greater than or equal to 0");
        }
        if COUNTED.contains(&resource) && quantity.as_integer().is_none() {
            found.invalid(&amount, "must be an integer");
        }
    }
}

pub(super) fn check_runtime_class(class: &Field<'_>, found: &mut Findings) {
    let handler = class.at("handler");
    found.problems(&handler, dns_label_problems(handler.text()));
}

pub(super) fn update_runtime_class(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_runtime_class(new, found);
    found.immutable(&new.at("handler"), &old.at("handler"));
}
