//! Defaults and preparation of namespaces.

use fakeserver_value::{edit::copy, read::text};
use serde_json::{Value, json};

const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Labels a namespace with its name, if that is known.
pub(super) fn set_defaults(namespace: &mut Value) {
    let name = text(&namespace["metadata"]["name"]);
    if !name.is_empty() {
        namespace["metadata"]["labels"][NAME_LABEL] = json!(name);
    }
}

/// Adds the finalizer, the phase and the label of a new namespace.
pub(super) fn prepare(namespace: &mut Value) {
    let finalizers = &mut namespace["spec"]["finalizers"];
    let mut all = finalizers.as_array().cloned().unwrap_or_default();
    if !all.iter().any(|finalizer| finalizer == "kubernetes") {
        all.push(json!("kubernetes"));
        *finalizers = all.into();
    }
    namespace["status"] = json!({"phase": "Active"});
    // A generated name was not known when defaults were set.
    set_defaults(namespace);
}

/// Keeps the finalizers, which only `finalize` changes, and the label, which a webhook may have changed.
pub(super) fn keep(old: &Value, new: &mut Value) {
    copy(&old["spec"], &mut new["spec"], "finalizers");
    set_defaults(new);
}
