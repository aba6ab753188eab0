//! Tests of namespaces: finalizers and status.

use serde_json::{Value, json};

use super::KIND;
use crate::testing::{resource, update_findings};

#[test]
fn only_finalize_takes_a_namespaces_finalizers_away() {
    let old =
        json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}, "status": {}});
    let sent = json!({"metadata": {"name": "n", "labels": {"l": "m"}}, "spec": {}, "status": {}});
    let namespaces = resource("namespaces");
    let mut updated = sent.clone();
    namespaces.reset_for_endpoint("", &old, &mut updated);
    namespaces
        .rules
        .prepare_next(namespaces.kubernetes, "", &old, &mut updated);
    assert_eq!(updated["spec"], old["spec"]);
    let labels = json!({"l": "m", "kubernetes.io/metadata.name": "n"});
    assert_eq!(updated["metadata"]["labels"], labels);
    let mut finalized = sent;
    namespaces.reset_for_endpoint("finalize", &old, &mut finalized);
    assert_eq!(finalized["spec"], json!({}));
    assert_eq!(finalized["metadata"], old["metadata"]);
}

#[test]
fn a_status_without_a_deletion_is_active() {
    let namespace = json!({"status": {"phase": "Active"}});
    let gone = |namespace: &mut Value| namespace["status"]["phase"] = json!("Gone");
    assert_eq!(
        update_findings(&KIND, "status", &namespace, gone),
        [
            "status.Phase: Invalid value: \"Gone\": may only be 'Active' if `deletionTimestamp` is empty"
        ]
    );
}
