//! The volume with the token of a service account, and its mounts.

use fakeserver_value::edit::each;
use serde_json::{Value, json};

/// The prefix of the names of volumes with tokens.
const PREFIX: &str = "kube-api-access-";
/// The path at which programs look for their token.
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The expiry of a projected token: an hour, and seven seconds that distinguish it from a chosen expiry.
const EXPIRATION_SECONDS: u32 = 3_607;
/// The permissions of the files, 0644.
const MODE: u32 = 420;

/// Mounts a token in all containers that have nothing at its path. `suffix` makes the name of the volume.
pub(super) fn mount(spec: &mut Value, suffix: impl FnOnce() -> String) {
    let existing = super::items(&spec["volumes"])
        .filter_map(|volume| volume["name"].as_str())
        .find(|name| name.starts_with(PREFIX))
        .map(str::to_owned);
    let is_new = existing.is_none();
    let name = existing.unwrap_or_else(|| format!("{PREFIX}{}", suffix()));
    let mount = json!({"name": name, "readOnly": true, "mountPath": PATH});
    let mut is_used = false;
    for field in ["initContainers", "containers"] {
        for container in each(spec, field) {
            let is_taken =
                super::items(&container["volumeMounts"]).any(|mount| mount["mountPath"] == PATH);
            if !is_taken {
                push(container, "volumeMounts", mount.clone());
                is_used = true;
            }
        }
    }
    if is_new && is_used {
        push(spec, "volumes", volume(&name));
    }
}

fn volume(name: &str) -> Value {
    json!({"name": name, "projected": {"defaultMode": MODE, "sources": [
        {"serviceAccountToken": {"expirationSeconds": EXPIRATION_SECONDS, "path": "token"}},
        {"configMap": {
            "name": "kube-root-ca.crt",
            "items": [{"key": "ca.crt", "path": "ca.crt"}],
        }},
        {"downwardAPI": {"items": [{
            "path": "namespace",
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
        }]}},
    ]}})
}

fn push(object: &mut Value, field: &str, item: Value) {
    match object[field].as_array_mut() {
        Some(items) => items.push(item),
        None => object[field] = json!([item]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_mounted_where_nothing_is() {
        let mut spec = json!({"initContainers": [{"name": "i"}], "containers": [
            {"name": "c", "volumeMounts": [{"name": "v", "mountPath": PATH}]},
        ]});
        mount(&mut spec, || "abcde".to_owned());
        assert_eq!(spec["volumes"][0]["name"], "kube-api-access-abcde");
        let mounts = |field: &str| spec[field][0]["volumeMounts"].clone();
        assert_eq!(mounts("initContainers")[0]["name"], "kube-api-access-abcde");
        assert_eq!(mounts("containers").as_array().unwrap().len(), 1);
        let before = spec.clone();
        mount(&mut spec, || unreachable!("there is such a volume"));
        assert_eq!(spec, before);
    }
}
