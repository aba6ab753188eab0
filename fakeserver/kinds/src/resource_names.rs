//! Names of resources and their amounts: in containers, in quotas, and in limits.

use fakeserver_value::{
    field::Field, findings::Findings, names::qualified_name_problems, schema::Quantity,
};
use serde_json::{Value, json};

/// The resources that containers request.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// The resources that quotas sum over the containers and claims of a namespace.
const ADDED_UP: [&str; 7] = [
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// The objects, and parts of them, that quotas count.
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

/// The resource that claims request.
const STORAGE: &str = "storage";

const HUGE_PAGES: &str = "hugepages-";

/// Returns whether it is huge pages of some size.
pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Returns whether a container may request it.
pub(crate) fn is_of_containers(name: &str) -> bool {
    OF_CONTAINERS.contains(&name) || is_huge_pages(name)
}

/// Returns whether a quota may limit it.
pub(crate) fn is_of_quotas(name: &str) -> bool {
    let asked_for = name.strip_prefix("requests.").unwrap_or(name);
    is_of_containers(name)
        || is_huge_pages(asked_for)
        || ADDED_UP.contains(&name)
        || is_counted(name)
}

/// Returns whether it is counted, and not measured.
pub(crate) fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name)
}

/// Returns whether it is a standard name.
pub(crate) fn is_standard(name: &str) -> bool {
    is_of_containers(name) || ADDED_UP.contains(&name) || is_counted(name) || name == STORAGE
}

/// Returns whether it needs no domain, or is in a domain of Kubernetes.
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Returns whether it is an extended resource, which counts things.
pub fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && qualified_name_problems(&format!("requests.{name}")).is_empty()
}

/// Returns whether requests of it may be less than limits.
pub(crate) fn can_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

/// Returns whether amounts of it are whole numbers.
pub(crate) fn is_integer(name: &str) -> bool {
    is_counted(name) || is_extended(name)
}

/// Checks the name of a resource, whose amount stands at `place`.
pub(crate) fn check_resource(name: &str, place: &Field<'_>, found: &mut Findings) {
    let problems = qualified_name_problems(name);
    let is_known = name.contains('/') || is_standard(name) || is_of_quotas(name);
    if problems.is_empty() && !is_known {
        let why = "must be a standard resource type or fully qualified";
        found.invalid_as(place, &json!(name), why);
    }
    for problem in problems {
        found.invalid_as(place, &json!(name), &problem);
    }
}

/// Checks the name of a resource that a container can have.
pub(crate) fn check_container_resource(name: &str, place: &Field<'_>, found: &mut Findings) {
    check_resource(name, place, found);
    if !name.contains('/') && !is_of_containers(name) {
        let why = "must be a standard resource for containers";
        found.invalid_as(place, &json!(name), why);
    } else if !is_native(name) && !is_extended(name) {
        let why = "doesn't follow extended resource name standard";
        found.invalid_as(place, &json!(name), why);
    }
}

/// Checks the name of a resource that a pod as a whole can have.
pub(crate) fn check_pod_resource(name: &str, place: &Field<'_>, found: &mut Findings) {
    let before = found.count();
    check_resource(name, place, found);
    let is_known = matches!(name, "cpu" | "memory") || is_huge_pages(name);
    if found.count() == before && !is_known {
        found.not_supported_as(place, &json!(name), &["cpu", HUGE_PAGES, "memory"]);
    }
}

/// Checks that an amount is not negative, and whole where things are counted.
pub(crate) fn check_resource_amount(name: &str, amount: &Field<'_>, found: &mut Findings) {
    let Ok(value) = amount.text().parse::<Quantity>() else {
        return;
    };
    if value.is_negative() {
        found.invalid(amount, "must be greater than or equal to 0");
    }
    if is_integer(name) && !value.is_counted_whole() {
        found.invalid(amount, "must be an integer");
    }
}

/// Rounds the amounts of a list of resources up to thousandths.
pub(crate) fn round_amounts(amounts: &mut Value) {
    for amount in amounts
        .as_object_mut()
        .into_iter()
        .flat_map(|amounts| amounts.values_mut())
    {
        let Some(Ok(parsed)) = amount.as_str().map(str::parse::<Quantity>) else {
            continue;
        };
        let rounded = parsed.clone().rounded_to_milli();
        if rounded != parsed {
            *amount = json!(rounded.to_string());
        }
    }
}

/// Rounds the limits and the requests of `resources`.
pub(crate) fn round_resources(resources: &mut Value) {
    for side in ["limits", "requests"] {
        if let Some(amounts) = resources.get_mut(side) {
            round_amounts(amounts);
        }
    }
}
