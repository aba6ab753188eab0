//! Namespaces and definitions of custom resources, which are removed only after their contents.

use fakeserver_kinds::custom_resources::{CLEANUP_FINALIZER, conditions};
use serde_json::{Value, json};

use super::finalizers::{ORPHAN, finalizers_of, without};

/// Returns whether finalizers of its own keep a namespace.
pub(super) fn is_held(namespace: &Value) -> bool {
    let finalizers = namespace["spec"]["finalizers"].as_array();
    finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}

/// Marks a namespace as terminating. A deletion that is cascading takes the finalizer of orphans from it.
pub(super) fn mark_namespace(namespace: &mut Value, now: &str, is_cascading: bool) {
    let timestamp = &mut namespace["metadata"]["deletionTimestamp"];
    if timestamp.is_null() {
        *timestamp = json!(now);
        if is_cascading {
            without(namespace, ORPHAN);
        }
    }
    namespace["status"]["phase"] = json!("Terminating");
}

/// Makes a deletion of `crd` one that waits for its objects.
pub(super) fn mark_definition(crd: &mut Value, now: &str) {
    crd["metadata"]["deletionTimestamp"] = json!(now);
    let mut finalizers = finalizers_of(crd);
    if !finalizers
        .iter()
        .any(|finalizer| finalizer == CLEANUP_FINALIZER)
    {
        finalizers.push(CLEANUP_FINALIZER.to_owned());
    }
    crd["metadata"]["finalizers"] = json!(finalizers);
    conditions::mark_terminating(crd, now);
}
