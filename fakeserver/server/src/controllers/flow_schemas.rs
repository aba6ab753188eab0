//! The condition `Dangling` of flow schemas: whether the priority level exists that a flow schema names.

use std::{collections::BTreeMap, time::Duration};

use fakeserver_kinds::flowcontrol::{flow_schema, priority_level_configuration};
use serde_json::{Value, json};

use super::{
    cluster::Cluster,
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::store::ObjectKey;

const MANAGER: &str = "api-priority-and-fairness-config-consumer-v1";
const DANGLING: &str = "Dangling";

/// The controller that writes the condition.
#[derive(Debug, Default)]
pub(super) struct FlowSchemas {
    /// The flow schemas, and the priority level that each one names.
    named: BTreeMap<ObjectKey, String>,
}

// === impl Controller for FlowSchemas ===

impl Controller for FlowSchemas {
    fn name(&self) -> &'static str {
        "flow schemas"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&flow_schema::KIND) {
            let key = change.key();
            match &change.after {
                Some((stored, _)) => {
                    self.named
                        .insert(key.clone(), level_of(&stored.to_value()).to_owned());
                    due.add(key.clone(), Duration::ZERO);
                }
                None => {
                    self.named.remove(key);
                }
            }
        } else if change.is_of(&priority_level_configuration::KIND) {
            let level = change.key().name();
            let naming = self.named.iter().filter(|(_, named)| *named == level);
            for (key, _) in naming {
                due.add(key.clone(), Duration::ZERO);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let schema = stored.to_value();
        let levels = priority_level_configuration::KIND.storage().clone();
        let level = level_of(&schema);
        let exists = cluster.get(&ObjectKey::cluster(levels, level)).is_some();
        let condition = dangling(level, exists, &cluster.now_text());
        if !has_condition(&schema, &condition) {
            cluster.apply_status(key, MANAGER, &json!({"conditions": [condition]}));
        }
    }
}

/// Returns the name of the priority level that a flow schema names.
fn level_of(flow_schema: &Value) -> &str {
    let reference = &flow_schema["spec"]["priorityLevelConfiguration"];
    reference["name"].as_str().unwrap_or_default()
}

fn dangling(level: &str, exists: bool, now: &str) -> Value {
    let (status, reason, rest) = if exists {
        ("False", "Found", "it exists")
    } else {
        ("True", "NotFound", "there is no such object")
    };
    let link = if exists { "and" } else { "but" };
    json!({
        "type": DANGLING,
        "status": status,
        "reason": reason,
        "message": format!(
            "This FlowSchema references the PriorityLevelConfiguration object named {level:?} {link} {rest}"
        ),
        "lastTransitionTime": now,
    })
}

/// Returns whether a flow schema has the condition, with any transition time.
fn has_condition(flow_schema: &Value, condition: &Value) -> bool {
    let conditions = flow_schema["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let existing = conditions.find(|existing| existing["type"] == DANGLING);
    existing.is_some_and(|existing| {
        ["status", "reason", "message"]
            .iter()
            .all(|field| existing[field] == condition[field])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_written_once() {
        let condition = dangling("a", false, "2026-01-01T00:00:00Z");
        let mut object = json!({"status": {"conditions": [condition]}});
        assert!(has_condition(
            &object,
            &dangling("a", false, "2027-01-01T00:00:00Z")
        ));
        assert!(!has_condition(
            &object,
            &dangling("a", true, "2026-01-01T00:00:00Z")
        ));
        object["status"] = json!({});
        assert!(!has_condition(&object, &condition));
    }
}
