//! Names of resources that need no domain: in containers, and in quotas.

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
