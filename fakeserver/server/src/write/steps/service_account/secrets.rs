//! The secrets that a pod uses, and those that its service account lets it use.

use fakeserver_value::read::text;
use serde_json::Value;

use super::items;

/// The sources of volumes that name a secret, and the place of its name.
const OF_VOLUMES: [(&str, &str); 10] = [
    ("azureFile", "/secretName"),
    ("cephfs", "/secretRef/name"),
    ("cinder", "/secretRef/name"),
    ("flexVolume", "/secretRef/name"),
    ("rbd", "/secretRef/name"),
    ("secret", "/secretName"),
    ("scaleIO", "/secretRef/name"),
    ("iscsi", "/secretRef/name"),
    ("storageos", "/secretRef/name"),
    ("csi", "/nodePublishSecretRef/name"),
];
/// The lists of containers, with the words for one of them.
const CONTAINERS: [(&str, &str); 2] = [
    ("initContainers", "init container"),
    ("containers", "container"),
];

/// Returns whether a pod uses any secret.
pub(super) fn uses_secrets(spec: &Value) -> bool {
    let of_pulls = items(&spec["imagePullSecrets"]).map(|secret| &secret["name"]);
    let containers = ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|field| items(&spec[field]));
    let of_containers = containers.flat_map(|container| {
        let all = items(&container["envFrom"]).map(|source| &source["secretRef"]["name"]);
        let each = items(&container["env"]);
        all.chain(each.map(|variable| &variable["valueFrom"]["secretKeyRef"]["name"]))
    });
    let of_volumes = items(&spec["volumes"]).flat_map(|volume| {
        let sources = OF_VOLUMES.iter();
        let own = sources.filter_map(|(source, place)| volume[*source].pointer(place));
        let projected = items(&volume["projected"]["sources"]);
        own.chain(projected.map(|source| &source["secret"]["name"]))
    });
    let mut names = of_pulls.chain(of_containers).chain(of_volumes);
    names.any(|name| name.as_str().is_some_and(|name| !name.is_empty()))
}

/// Refuses secrets that the account does not list.
pub(super) fn check(spec: &Value, account: &Value) -> Result<(), String> {
    let name = account_name(account);
    for volume in items(&spec["volumes"]) {
        let secret = &volume["secret"];
        let named = text(&secret["secretName"]);
        if !secret.is_null() && !lists(account, "secrets", named) {
            return Err(format!(
                "volume with secret.secretName=\"{named}\" is not allowed because service account {name} does not \
                 reference that secret"
            ));
        }
    }
    for (field, words) in CONTAINERS {
        for container in items(&spec[field]) {
            check_container(words, container, account)?;
        }
    }
    for (place, secret) in items(&spec["imagePullSecrets"]).enumerate() {
        let named = text(&secret["name"]);
        if !lists(account, "imagePullSecrets", named) {
            return Err(format!(
                "imagePullSecrets[{place}].name=\"{named}\" is not allowed because service account {name} does not \
                 reference that imagePullSecret"
            ));
        }
    }
    Ok(())
}

/// Refuses secrets of containers for debugging that the account does not list.
pub(super) fn check_ephemeral(spec: &Value, account: &Value) -> Result<(), String> {
    let mut containers = items(&spec["ephemeralContainers"]);
    containers.try_for_each(|container| check_container("ephemeral container", container, account))
}

fn check_container(words: &str, container: &Value, account: &Value) -> Result<(), String> {
    let why = |source: &str, secret: &str| {
        let (container, account) = (text(&container["name"]), account_name(account));
        format!(
            "{words} {container} with {source} referencing secret.secretName=\"{secret}\" is not allowed because service \
             account {account} does not reference that secret"
        )
    };
    for variable in items(&container["env"]) {
        let reference = &variable["valueFrom"]["secretKeyRef"];
        let secret = text(&reference["name"]);
        if !reference.is_null() && !lists(account, "secrets", secret) {
            return Err(why(&format!("envVar {}", text(&variable["name"])), secret));
        }
    }
    for source in items(&container["envFrom"]) {
        let reference = &source["secretRef"];
        let secret = text(&reference["name"]);
        if !reference.is_null() && !lists(account, "secrets", secret) {
            return Err(why("envFrom", secret));
        }
    }
    Ok(())
}

fn lists(account: &Value, field: &str, secret: &str) -> bool {
    items(&account[field]).any(|listed| text(&listed["name"]) == secret)
}

fn account_name(account: &Value) -> &str {
    text(&account["metadata"]["name"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_found_everywhere() {
        for spec in [
            json!({"imagePullSecrets": [{"name": "s"}]}),
            json!({"ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "s"}}]}]}),
            json!({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "s"}}}]}]}),
            json!({"volumes": [{"csi": {"nodePublishSecretRef": {"name": "s"}}}]}),
            json!({"volumes": [{"projected": {"sources": [{}, {"secret": {"name": "s"}}]}}]}),
        ] {
            assert!(uses_secrets(&spec), "{spec}");
        }
        assert!(!uses_secrets(
            &json!({"imagePullSecrets": [{"name": ""}], "volumes": [{}]})
        ));
    }

    #[test]
    fn only_listed_secrets_are_allowed() {
        let account = json!({
            "metadata": {"name": "a"}, "secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}],
        });
        let listed = json!({
            "volumes": [{"secret": {"secretName": "s"}}, {"emptyDir": {}}],
            "containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "s"}}, {"configMapRef": {}}]}],
            "imagePullSecrets": [{"name": "p"}],
        });
        assert_eq!(check(&listed, &account), Ok(()));
        let rest = "is not allowed because service account a does not reference that";
        for (spec, why) in [
            (
                json!({"initContainers": [{"name": "c", "env": [
                    {"name": "E", "valueFrom": {"secretKeyRef": {"name": "t"}}},
                ]}]}),
                format!(
                    "init container c with envVar E referencing secret.secretName=\"t\" {rest} secret"
                ),
            ),
            (
                json!({"containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "t"}}]}]}),
                format!(
                    "container c with envFrom referencing secret.secretName=\"t\" {rest} secret"
                ),
            ),
            (
                json!({"imagePullSecrets": [{"name": "p"}, {"name": "q"}]}),
                format!("imagePullSecrets[1].name=\"q\" {rest} imagePullSecret"),
            ),
        ] {
            assert_eq!(check(&spec, &account), Err(why));
        }
    }
}
