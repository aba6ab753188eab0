//! Deployments.

use serde_json::{Value, json};

use super::{pod_spec, set, within};

pub(super) fn set_defaults(deployment: &mut Value) {
    let Some(spec) = within(deployment, "spec") else {
        return;
    };
    pod_spec::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "replicas", json!(1));
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "progressDeadlineSeconds", json!(600));
    set(spec, "strategy", json!({}));
    let strategy = &mut spec["strategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(strategy, "rollingUpdate", json!({}));
        let update = &mut strategy["rollingUpdate"];
        set(update, "maxUnavailable", json!("25%"));
        set(update, "maxSurge", json!("25%"));
    }
}
