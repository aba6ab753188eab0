//! The names of resources that need no domain, and who may say them.

/// What containers ask for.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// What quotas add up over the containers and claims of a namespace.
const ADDED_UP: [&str; 7] = [
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
/// What quotas count: objects, and parts of them.
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
/// What claims ask for.
const STORAGE: &str = "storage";
const HUGE_PAGES: &str = "hugepages-";

/// Whether it is huge pages of some size.
pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Whether a container may ask for it.
pub(super) fn is_of_containers(name: &str) -> bool {
    OF_CONTAINERS.contains(&name) || is_huge_pages(name)
}

/// Whether a quota may limit it.
pub(super) fn is_of_quotas(name: &str) -> bool {
    let asked_for = name.strip_prefix("requests.").unwrap_or(name);
    is_of_containers(name)
        || is_huge_pages(asked_for)
        || ADDED_UP.contains(&name)
        || is_counted(name)
}

/// Whether it is counted, and not measured.
pub(super) fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name)
}

/// Whether anybody may say it.
pub(super) fn is_standard(name: &str) -> bool {
    is_of_containers(name) || ADDED_UP.contains(&name) || is_counted(name) || name == STORAGE
}
