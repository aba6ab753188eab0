//! Defaults of limit ranges.

use fakeserver_value::edit::each;
use serde_json::{Map, Value, json};

use super::validation::AMOUNTS;
use crate::resource_names::round_amounts;

/// Completes a container's limits and requests from each other: limits are at most the maximum, requests as much as the
/// limit, or at least the minimum.
pub(super) fn set_defaults(range: &mut Value) {
    let spec = &mut range["spec"];
    for limit in each(spec, "limits") {
        for field in AMOUNTS {
            if let Some(amounts) = limit.get_mut(field) {
                round_amounts(amounts);
            }
        }
    }
    for limit in each(spec, "limits").filter(|limit| limit["type"] == "Container") {
        let amounts = |limit: &Value, field: &str| -> Map<String, Value> {
            limit[field].as_object().cloned().unwrap_or_default()
        };
        let mut default = amounts(limit, "default");
        fill(&mut default, amounts(limit, "max"));
        let mut request = amounts(limit, "defaultRequest");
        fill(&mut request, default.clone());
        fill(&mut request, amounts(limit, "min"));
        limit["default"] = json!(default);
        limit["defaultRequest"] = json!(request);
    }
}

fn fill(amounts: &mut Map<String, Value>, others: Map<String, Value>) {
    for (resource, amount) in others {
        amounts.entry(resource).or_insert(amount);
    }
}
