//! The fields of a bookmark's object other than its version, which the API writes even if they are empty.

use fakeserver_value::schema::{canonical, type_in};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

/// `,"spec":{...}` as the zero value of `kind` has it, or nothing.
pub(super) fn zero_value(kubernetes: KubernetesVersion, api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let Some(id) = type_in(kubernetes, group, version, kind) else {
        return String::new();
    };
    let mut zero = canonical(id.table(), id, json!({}));
    // The Go types of these kinds hold their replicas by value, so that an empty object has a zero.
    if matches!(
        (api_version, kind),
        ("apps/v1", "Deployment" | "ReplicaSet" | "StatefulSet")
    ) {
        zero["spec"]["replicas"] = json!(0);
    }
    let members = zero.as_object().into_iter().flatten();
    let rest: Vec<String> = members
        .filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion" | "metadata"))
        .map(|(name, value)| format!(",{}:{value}", Value::from(name.as_str())))
        .collect();
    rest.concat()
}
