//! Defaults of autoscalers.

use fakeserver_value::edit::{set, set_absent, within};
use serde_json::{Value, json};

use crate::conversion::set_default_target;

pub(super) fn set_defaults(autoscaler: &mut Value) {
    if let Some(spec) = within(autoscaler, "spec") {
        set(spec, "minReplicas", json!(1));
    }
    if autoscaler["apiVersion"] == "autoscaling/v1" {
        set_default_target(autoscaler);
    }
    if autoscaler["apiVersion"] == "autoscaling/v2"
        && let Some(spec) = within(autoscaler, "spec")
    {
        set_metrics(spec);
        if let Some(behavior) = within(spec, "behavior") {
            set_behavior(behavior);
        }
    }
}

/// Sets the metric of an autoscaler that names none.
fn set_metrics(spec: &mut Value) {
    if spec["metrics"].as_array().is_none_or(Vec::is_empty) {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let resource = json!({"name": "cpu", "target": target});
        spec["metrics"] = json!([{"type": "Resource", "resource": resource}]);
    }
}

/// Completes the rules of a direction: those that are left out are the common ones.
fn set_behavior(behavior: &mut Value) {
    let policy = |kind: &str, value: u8| json!({"type": kind, "value": value, "periodSeconds": 15});
    let up = &mut behavior["scaleUp"];
    set(up, "stabilizationWindowSeconds", json!(0));
    set_absent(up, "selectPolicy", json!("Max"));
    set(
        up,
        "policies",
        json!([policy("Pods", 4), policy("Percent", 100)]),
    );
    let down = &mut behavior["scaleDown"];
    set_absent(down, "selectPolicy", json!("Max"));
    set(down, "policies", json!([policy("Percent", 100)]));
}
