//! Replica sets, and the replication controllers that they come from.

use serde_json::{Value, json};

use super::{pod_spec, set, within};

pub(super) fn set_defaults(set_of_replicas: &mut Value) {
    let Some(spec) = within(set_of_replicas, "spec") else {
        return;
    };
    pod_spec::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "replicas", json!(1));
}

/// A controller that names no labels takes those of its template.
pub(super) fn set_controller_defaults(controller: &mut Value) {
    let labels = controller["spec"]["template"]["metadata"]["labels"].clone();
    let Some(spec) = within(controller, "spec") else {
        return;
    };
    set(spec, "replicas", json!(1));
    if let Some(template) = within(spec, "template") {
        pod_spec::set_defaults(&mut template["spec"]);
    }
    if !labels.is_null() {
        set(spec, "selector", labels.clone());
        set(&mut controller["metadata"], "labels", labels);
    }
}
