//! Quality of service: the rank of pods when a node runs out of resources.

use serde_json::Value;

/// Returns the quality-of-service class of a pod, by the requests and limits of its containers.
pub fn qos_class(pod: &Value) -> &'static str {
    let containers = ["containers", "initContainers"]
        .iter()
        .filter_map(|list| pod["spec"][*list].as_array())
        .flatten();
    let mut asks = false;
    let mut is_guaranteed = true;
    for container in containers {
        let resources = &container["resources"];
        for resource in ["cpu", "memory"] {
            let limit = &resources["limits"][resource];
            let request = &resources["requests"][resource];
            asks |= !limit.is_null() || !request.is_null();
            is_guaranteed &= !limit.is_null() && (request.is_null() || request == limit);
        }
    }
    match (asks, is_guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
