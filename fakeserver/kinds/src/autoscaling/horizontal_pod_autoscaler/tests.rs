//! Tests of autoscalers.

use serde_json::{Value, json};

use super::KIND;
use crate::testing::{check, check_update, defaulted};

fn autoscaler(version: &str, spec: Value) -> Value {
    let mut autoscaler = json!({
        "apiVersion": format!("autoscaling/{version}"),
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        },
    });
    if let (Some(own), Value::Object(spec)) = (autoscaler["spec"].as_object_mut(), spec) {
        own.extend(spec);
    }
    autoscaler
}

#[test]
fn both_versions_are_checked_in_the_stored_form() {
    let cpu = |percent: u8| json!({"targetCPUUtilizationPercentage": percent});
    check(&KIND, &autoscaler("v1", cpu(50)), &[]);
    check(
        &KIND,
        &autoscaler("v1", cpu(0)),
        &[
            "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
        ],
    );
    let plain = defaulted(&KIND, autoscaler("v1", json!({})));
    assert_eq!(plain["spec"]["targetCPUUtilizationPercentage"], 80);
}

#[test]
fn metrics_have_one_source_of_their_type() {
    let pods =
        json!({"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}});
    let metric = |kind: &str| json!({"metrics": [{"type": kind, "pods": pods}]});
    check(&KIND, &autoscaler("v2", metric("Pods")), &[]);
    check(
        &KIND,
        &autoscaler("v2", metric("External")),
        &[
            "spec.metrics[0].external: Required value: must populate information for the given metric source",
        ],
    );
}

#[test]
fn versions_of_targets_may_stay_wrong() {
    let target = |version: &str| json!({"apiVersion": version, "kind": "Deployment", "name": "d"});
    let wrong = autoscaler("v2", json!({"scaleTargetRef": target("v1")}));
    check(
        &KIND,
        &wrong,
        &[
            "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API group",
        ],
    );
    check_update(
        &KIND,
        &wrong,
        |next| next["spec"]["maxReplicas"] = json!(4),
        &[],
    );
    check_update(
        &KIND,
        &wrong,
        |next| next["spec"]["scaleTargetRef"] = target("a/b/c"),
        &[
            "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
        ],
    );
}
