//! Validation of the resources of containers.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings, schema::Quantity};
use serde_json::{Value, json};

use crate::{
    formats::{check_label, quantity},
    pod_spec::validation::containers::Pod,
    resource_names::{
        can_overcommit, check_container_resource, check_resource_amount, is_huge_pages,
    },
};

/// The resources of a container.
pub fn check_resources(claim_names: &BTreeSet<&str>, resources: &Field<'_>, found: &mut Findings) {
    check_requirements(claim_names, check_container_resource, resources, found);
}

/// Checks the resources of a container, or of a pod, whose names `check_name` checks.
pub fn check_requirements(
    claim_names: &BTreeSet<&str>,
    check_name: fn(&str, &Field<'_>, &mut Findings),
    resources: &Field<'_>,
    found: &mut Findings,
) {
    let (limits, requests) = (resources.at("limits"), resources.at("requests"));
    for (resource, amount) in limits.entries() {
        check_name(resource, &amount, found);
        check_resource_amount(resource, &amount, found);
    }
    for (resource, amount) in requests.entries() {
        check_name(resource, &amount, found);
        check_resource_amount(resource, &amount, found);
        let request = quantity(amount.value());
        let limit = limits.key(resource);
        let allowed = quantity(limit.value());
        if !limit.is_set() && !can_overcommit(resource) {
            found.required(
                &limits,
                "Limit must be set for non overcommitable resources",
            );
        }
        if !limit.is_set() {
            continue;
        }
        let printed = json!(request.to_string());
        if request != allowed && !can_overcommit(resource) {
            let why = format!("must be equal to {resource} limit of {allowed}");
            found.invalid_as(&requests, &printed, &why);
        } else if request > allowed {
            let why = format!("must be less than or equal to {resource} limit of {allowed}");
            found.invalid_as(&requests, &printed, &why);
        }
    }
    let has = |is_one: fn(&str) -> bool| {
        let entries = limits.entries().chain(requests.entries());
        entries.into_iter().any(|(resource, _)| is_one(resource))
    };
    if has(is_huge_pages) && !has(|resource| matches!(resource, "cpu" | "memory")) {
        found.forbidden(resources, "HugePages require cpu or memory");
    }
    check_claims(claim_names, &resources.at("claims"), found);
}

/// Checks the claims of a container, each of which it names as a whole or by requests, once.
fn check_claims(claim_names: &BTreeSet<&str>, claims: &Field<'_>, found: &mut Findings) {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for claim in claims.items() {
        let (name, request) = (claim.at("name"), claim.at("request"));
        if !name.has_text() {
            found.required(&claim, "");
            continue;
        }
        if seen.contains(&(name.text(), "")) {
            found.duplicate_as(&claim, name.value());
        } else if request.has_text() {
            check_label(&request, found);
            if !seen.insert((name.text(), request.text())) {
                let key = format!("{}/{}", name.text(), request.text());
                found.duplicate_as(&claim, &json!(key));
            }
        } else {
            let same = seen.iter().filter(|(claim, _)| *claim == name.text());
            for _ in same {
                found.duplicate_as(&claim, name.value());
            }
            seen.insert((name.text(), ""));
        }
        if !claim_names.contains(name.text()) {
            let mut names = claim_names.iter().copied().collect::<Vec<_>>().join(", ");
            if names.is_empty() {
                " which is empty".clone_into(&mut names);
            } else {
                names.insert_str(0, ": ");
            }
            let why = format!("must be one of the names in pod.spec.resourceClaims{names}");
            found.not_found_with(&claim, name.text(), &why);
        }
    }
}

/// Checks the resources that a pod needs beside its containers.
pub fn check_overhead(overhead: &Field<'_>, found: &mut Findings) {
    if overhead.is_set() {
        let resources = json!({"limits": overhead.value()});
        let resources = Field::root(&resources).called_at(overhead);
        check_resources(&BTreeSet::new(), &resources, found);
    }
}

pub fn check_resize_policy(pod: &Pod<'_>, policies: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for policy in policies.items() {
        let (resource, restart) = (policy.at("resourceName"), policy.at("restartPolicy"));
        if !seen.insert(resource.text()) {
            found.duplicate_as(&policy, resource.value());
        }
        for (field, supported) in [
            (&resource, ["cpu", "memory"]),
            (&restart, ["NotRequired", "RestartContainer"]),
        ] {
            let field = field.called_at(policies);
            found.one_of(&field, &supported);
        }
        if pod.restart_policy() == "Never" && restart.text() != "NotRequired" {
            found.invalid(
                &restart.called_at(policies),
                "must be 'NotRequired' when pod `restartPolicy` is 'Never'",
            );
        }
    }
}

/// Returns whether two lists of resources are the same amounts.
pub fn same_amounts(one: &Value, other: &Value) -> bool {
    let amounts = |value: &Value| -> Vec<(String, Quantity)> {
        let entries = value.as_object().into_iter().flatten();
        entries
            .map(|(resource, amount)| (resource.clone(), quantity(amount)))
            .collect()
    };
    amounts(one) == amounts(other)
}
