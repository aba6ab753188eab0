//! The scale of an object: its replicas and the selector of its pods, where its kind, or its definition, has them.

use fakeserver_value::object::selectors::print_label_selector;
use serde_json::{Value, json};

use super::ResourceType;

/// Reads and writes the scales of the objects of a type.
#[derive(Clone, Copy, Debug)]
pub struct ScaleOf<'a>(pub &'a ResourceType);

// === impl ScaleOf ===

impl ScaleOf<'_> {
    /// Returns the wanted replicas of an object; null without any.
    pub fn replicas(self, object: &Value) -> Value {
        self.at(object, "specReplicasPath", &object["spec"]["replicas"])
    }

    /// Returns the present replicas of an object; null without any.
    pub fn present_replicas(self, object: &Value) -> Value {
        let status = &object["status"]["replicas"];
        self.at(object, "statusReplicasPath", status)
    }

    /// Returns the selector of the pods of an object as text; null where a definition has no path to it.
    pub fn selector(self, object: &Value) -> Value {
        let selector = &object["spec"]["selector"];
        let text = match &*self.0.kind {
            _ if self.0.rules.as_custom().is_some() => Value::Null,
            "ReplicationController" => {
                print_label_selector(&json!({"matchLabels": selector})).into()
            }
            _ => print_label_selector(selector).into(),
        };
        self.at(object, "labelSelectorPath", &text)
    }

    /// Sets the wanted replicas of an object: where its definition says, or where all workloads have them.
    pub fn set_replicas(self, object: &mut Value, replicas: i64) {
        let custom = self.0.rules.as_custom();
        match custom.and_then(|custom| custom.scale_path("specReplicasPath")) {
            Some(path) => path.set(object, json!(replicas)),
            None => object["spec"]["replicas"] = json!(replicas),
        }
    }

    /// Returns the value at a path of the definition, or at the path of built-in kinds.
    fn at(self, object: &Value, path: &str, otherwise: &Value) -> Value {
        match self.0.rules.as_custom() {
            Some(custom) => {
                let path = custom.scale_path(path);
                let found = path.and_then(|path| path.get(object).cloned());
                found.unwrap_or_default()
            }
            None => otherwise.clone(),
        }
    }
}
