//! Quotas of resources, and runtime classes.

use super::{
    field::Field,
    findings::Findings,
    names::{dns_label_problems, qualified_name_problems},
    resource_names::{is_counted, is_of_quotas},
};
use crate::schema::Quantity;

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
        if !resource.contains('/') && !is_of_quotas(resource) {
            refuse("must be a standard resource for quota");
        }
        let Ok(quantity) = amount.text().parse::<Quantity>() else {
            continue;
        };
        if quantity.is_negative() {
            found.invalid(&amount, "must be greater than or equal to 0");
        }
        if is_counted(resource) && quantity.as_integer().is_none() {
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
