//! Defaults of stateful sets.

use fakeserver_value::edit::{each, is_unset, set, within};
use serde_json::{Value, json};

use crate::{claim_spec, pod_spec};

pub(super) fn set_defaults(stateful_set: &mut Value) {
    let Some(spec) = within(stateful_set, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set(spec, "podManagementPolicy", json!("OrderedReady"));
    set(spec, "replicas", json!(1));
    set(spec, "revisionHistoryLimit", json!(10));
    set(spec, "updateStrategy", json!({}));
    let strategy = &mut spec["updateStrategy"];
    // Who names the type and says no more means no partition.
    if is_unset(&strategy["type"]) {
        strategy["type"] = json!("RollingUpdate");
        set(strategy, "rollingUpdate", json!({}));
    }
    if strategy["type"] == "RollingUpdate"
        && let Some(update) = within(strategy, "rollingUpdate")
    {
        set(update, "partition", json!(0));
    }
    set(spec, "persistentVolumeClaimRetentionPolicy", json!({}));
    let policy = &mut spec["persistentVolumeClaimRetentionPolicy"];
    set(policy, "whenDeleted", json!("Retain"));
    set(policy, "whenScaled", json!("Retain"));
    for claim in each(spec, "volumeClaimTemplates") {
        // Go's defaulting sets `kind` and `apiVersion` in each template, though no other kind is possible.
        claim["kind"] = json!("PersistentVolumeClaim");
        claim["apiVersion"] = json!("v1");
        if let Some(spec) = within(claim, "spec") {
            claim_spec::set_defaults(spec);
        }
        set(claim, "status", json!({}));
        set(&mut claim["status"], "phase", json!("Pending"));
    }
}
