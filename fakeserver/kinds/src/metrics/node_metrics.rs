//! The usage of nodes.

use serde_json::{Value, json};

use super::{GROUP, usage::Usage};
use crate::Kind;

/// The usage of a node.
pub static KIND: Kind = Kind::new(GROUP, "nodes");

/// Returns the metrics of a node at a time, over a window that ends then.
pub fn of(node: &Value, usage: Usage, now: &str) -> Value {
    let metadata = &node["metadata"];
    let mut metrics = json!({
        "metadata": {"name": metadata["name"], "creationTimestamp": now},
        "timestamp": now,
        "window": super::WINDOW,
        "usage": usage.resources(),
    });
    if metadata["labels"].is_object() {
        metrics["metadata"]["labels"] = metadata["labels"].clone();
    }
    metrics
}
