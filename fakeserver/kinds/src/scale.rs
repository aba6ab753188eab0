//! The scale of an object: its replicas and the selector of its pods, where its kind, or its definition, has them.

use fakeserver_value::object::selectors::print_label_selector;
use serde_json::{Value, json};

use super::{
    ResourceType,
    custom_resources::{CustomScale, ScaleParts},
};

/// Reads and writes the scales of the objects of a type.
#[derive(Clone, Copy, Debug)]
pub struct ScaleOf<'a>(pub &'a ResourceType);

// === impl ScaleOf ===

impl<'a> ScaleOf<'a> {
    /// Returns the scale of an object.
    ///
    /// # Errors
    ///
    /// A part of a custom object is not of its type; the error is in the API server's words.
    pub fn parts(self, object: &Value) -> Result<ScaleParts, String> {
        if let Some(custom) = self.custom() {
            return custom.parts(object);
        }
        let selector = &object["spec"]["selector"];
        let selector = match &*self.0.kind {
            "ReplicationController" => print_label_selector(&json!({"matchLabels": selector})),
            _ => print_label_selector(selector),
        };
        Ok(ScaleParts {
            replicas: object["spec"]["replicas"].as_i64(),
            present_replicas: object["status"]["replicas"].as_i64().unwrap_or_default(),
            selector,
        })
    }

    /// Sets the wanted replicas of an object: where its definition says, or where all workloads have them.
    ///
    /// # Errors
    ///
    /// A custom object has another value on the way there.
    pub fn set_replicas(self, object: &mut Value, replicas: i64) -> Result<(), String> {
        if let Some(custom) = self.custom() {
            return custom.set_replicas(object, replicas);
        }
        object["spec"]["replicas"] = json!(replicas);
        Ok(())
    }

    /// Returns the scale of its definition, if it is a custom resource.
    pub fn custom(self) -> Option<CustomScale<'a>> {
        let custom = self.0.rules.as_custom()?;
        Some(custom.scale())
    }
}
