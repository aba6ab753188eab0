//! Validation of the resources of a pod as a whole.

use std::collections::BTreeMap;

use fakeserver_value::{field::Field, findings::Findings, schema::Quantity};
use serde_json::{Value, json};

use crate::{
    formats::quantity,
    pod_spec::validation::{containers::Pod, resources::check_requirements},
    resource_names::{check_pod_resource, is_huge_pages},
};

/// Amounts of resources, by their names.
type Amounts = BTreeMap<String, Quantity>;

/// Checks the resources of a pod, within which its containers have to stay.
pub fn check_pod_resources(pod: &Pod<'_>, found: &mut Findings) {
    let resources = pod.spec.at("resources");
    if !resources.is_set() {
        return;
    }
    if pod.spec.at("os").at("name").text() == "windows" {
        found.forbidden(&resources, "may not be set for a windows pod");
        return;
    }
    if resources.at("claims").original().is_array() {
        found.forbidden(
            &resources.at("claims"),
            "claims may not be set for Resources at pod-level",
        );
    }
    check_requirements(pod.claim_names(), check_pod_resource, &resources, found);
    for (side, is_compared) in [
        ("requests", (|_| true) as fn(&str) -> bool),
        ("limits", is_huge_pages),
    ] {
        check_sums(pod.spec, side, is_compared, found);
    }
    check_each_limit(pod.spec, found);
}

/// Checks that the amounts of all containers together are not more than those of the pod.
fn check_sums(
    spec: &Field<'_>,
    side: &'static str,
    is_compared: fn(&str) -> bool,
    found: &mut Findings,
) {
    for (resource, sum) in aggregate(spec.value(), side) {
        let place = spec.at("resources").at(side).key(&resource);
        let amount = quantity(place.value());
        if place.is_set() && is_compared(&resource) && sum > amount {
            found.invalid_as(
                &place,
                &json!(amount.to_string()),
                &format!("must be greater than or equal to aggregate container {side} of {sum}"),
            );
        }
    }
}

fn check_each_limit(spec: &Field<'_>, found: &mut Findings) {
    let limits = spec.at("resources").at("limits");
    let containers = spec
        .at("containers")
        .called_within(&spec.at("resources"), "containers");
    for (index, container) in spec.at("containers").items().enumerate() {
        for (resource, limit) in container.at("resources").at("limits").entries() {
            let allowed = limits.key(resource);
            if !allowed.is_set() || quantity(limit.value()) <= quantity(allowed.value()) {
                continue;
            }
            let place = containers.place(index).key(resource);
            found.invalid_as(
                &place.at("limits"),
                &json!(quantity(limit.value()).to_string()),
                &format!(
                    "must be less than or equal to pod limits of {}",
                    quantity(allowed.value())
                ),
            );
        }
    }
}

/// Returns the amounts that the containers of a pod need together: those that run beside each other, or the most that one
/// needs before.
#[doc(alias("AggregateContainerRequests", "AggregateContainerLimits"))]
pub fn aggregate(spec: &Value, side: &str) -> Amounts {
    let containers = |list: &str| spec[list].as_array().into_iter().flatten();
    let (mut sum, mut beside, mut most) = (Amounts::new(), Amounts::new(), Amounts::new());
    for container in containers("containers") {
        add(&mut sum, &amounts(container, side));
    }
    for container in containers("initContainers") {
        let mut needed = amounts(container, side);
        if container["restartPolicy"] == "Always" {
            add(&mut sum, &needed);
            add(&mut beside, &needed);
            needed.clone_from(&beside);
        } else {
            add(&mut needed, &beside);
        }
        raise(&mut most, needed);
    }
    raise(&mut sum, most);
    sum
}

fn amounts(container: &Value, side: &str) -> Amounts {
    let amounts = container["resources"][side]
        .as_object()
        .into_iter()
        .flatten();
    amounts
        .map(|(resource, amount)| (resource.clone(), quantity(amount)))
        .collect()
}

fn add(sum: &mut Amounts, amounts: &Amounts) {
    for (resource, amount) in amounts {
        match sum.get_mut(resource) {
            Some(sum) => *sum += amount,
            None => drop(sum.insert(resource.clone(), amount.clone())),
        }
    }
}

fn raise(most: &mut Amounts, amounts: Amounts) {
    for (resource, amount) in amounts {
        let is_more = most.get(&resource).is_none_or(|most| *most < amount);
        if is_more {
            most.insert(resource, amount);
        }
    }
}
