//! Daemon sets.

use serde_json::{Value, json};

use super::{pod_spec, set, within};

pub(super) fn set_defaults(daemon_set: &mut Value) {
    let Some(spec) = within(daemon_set, "spec") else {
        return;
    };
    pod_spec::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "updateStrategy", json!({}));
    let strategy = &mut spec["updateStrategy"];
    set(strategy, "type", json!("RollingUpdate"));
    if strategy["type"] == "RollingUpdate" {
        set(strategy, "rollingUpdate", json!({}));
        let update = &mut strategy["rollingUpdate"];
        set(update, "maxUnavailable", json!(1));
        set(update, "maxSurge", json!(0));
    }
}
