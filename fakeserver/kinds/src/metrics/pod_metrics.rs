//! The usage of pods.

use serde_json::{Value, json};

use super::{GROUP, usage::Usage};
use crate::Kind;

/// The usage of a pod.
pub static KIND: Kind = Kind::new(GROUP, "pods");

/// Returns the metrics of a pod at a time, given the usage of its containers.
pub fn of(pod: &Value, containers: &[(&str, Usage)], now: &str) -> Value {
    let metadata = &pod["metadata"];
    let containers = containers
        .iter()
        .map(|(name, usage)| json!({"name": name, "usage": usage.resources()}));
    let mut metrics = json!({
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "creationTimestamp": now,
        },
        "timestamp": now,
        "window": super::WINDOW,
        "containers": containers.collect::<Vec<_>>(),
    });
    if metadata["labels"].is_object() {
        metrics["metadata"]["labels"] = metadata["labels"].clone();
    }
    metrics
}
