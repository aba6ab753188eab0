//! The objects that the containers of a pod need before they start: what they mount, and what their environment comes from.

use serde_json::Value;

use super::life::{Blocked, CONFIG_ERROR};
use crate::{
    controllers::{cluster::Cluster, workloads::objects::text},
    kinds::{Kind, core},
    store::ObjectKey,
};

/// The kinds that pods wait for.
pub(super) const NEEDED: [&Kind; 3] = [
    &core::config_map::KIND,
    &core::secret::KIND,
    &core::persistent_volume_claim::KIND,
];

/// The config map with the certificates of a cluster, which is not there where the server speaks plain HTTP.
const ROOT_CERTIFICATES: &str = "kube-root-ca.crt";

/// One object that a pod refers to, and the keys that it needs of it.
struct Reference<'a> {
    kind: &'static Kind,
    /// As messages call the kind.
    word: &'static str,
    name: &'a str,
    keys: Vec<&'a str>,
}

/// Returns why the volumes of a pod cannot be mounted, as an event says it. It is empty if they only take their time.
pub(super) fn unmounted(cluster: &Cluster<'_, '_>, pod: &Value) -> Option<String> {
    let namespace = text(&pod["metadata"]["namespace"]);
    let volumes = pod["spec"]["volumes"].as_array()?;
    volumes.iter().find_map(|volume| {
        let sources = volume["projected"]["sources"].as_array();
        let sources = sources.into_iter().flatten().chain([volume]);
        let mut references = sources.flat_map(mounted);
        let why = references.find_map(|reference| missing(cluster, namespace, &reference))?;
        if why.is_empty() {
            return Some(why);
        }
        let name = text(&volume["name"]);
        Some(format!(
            "MountVolume.SetUp failed for volume \"{name}\" : {why}"
        ))
    })
}

/// Returns why a container cannot be created from what its environment refers to.
pub(super) fn unconfigured(
    cluster: &Cluster<'_, '_>,
    pod: &Value,
    container: &str,
) -> Option<Blocked> {
    let namespace = text(&pod["metadata"]["namespace"]);
    let fields = ["initContainers", "containers", "ephemeralContainers"];
    let mut all = fields
        .iter()
        .flat_map(|field| pod["spec"][*field].as_array().into_iter().flatten());
    let container = all.find(|it| it["name"] == container)?;
    let items = |field: &str| container[field].as_array().into_iter().flatten();
    let whole = items("envFrom").flat_map(|source| {
        let config = named(
            &core::config_map::KIND,
            "configmap",
            &source["configMapRef"],
            "name",
        );
        let secret = named(&core::secret::KIND, "secret", &source["secretRef"], "name");
        config.into_iter().chain(secret)
    });
    let single = items("env").flat_map(|variable| {
        let from = &variable["valueFrom"];
        let config = keyed(
            &core::config_map::KIND,
            "configmap",
            &from["configMapKeyRef"],
        );
        let secret = keyed(&core::secret::KIND, "secret", &from["secretKeyRef"]);
        config.into_iter().chain(secret)
    });
    let mut references = whole.chain(single);
    let why = references.find_map(|reference| missing(cluster, namespace, &reference))?;
    Some(Blocked {
        reason: CONFIG_ERROR,
        message: why,
    })
}

/// Returns the references of a volume, or of a source of a projected one.
fn mounted(source: &Value) -> impl Iterator<Item = Reference<'_>> {
    let config = &source["configMap"];
    let secret = &source["secret"];
    // A projected source calls it `name`, a volume `secretName`.
    let secret_name = if secret["secretName"].is_null() {
        "name"
    } else {
        "secretName"
    };
    let claim = &source["persistentVolumeClaim"];
    let config = named(&core::config_map::KIND, "configmap", config, "name");
    let secret = named(&core::secret::KIND, "secret", secret, secret_name);
    let claims = &core::persistent_volume_claim::KIND;
    let claim = named(claims, "persistentvolumeclaim", claim, "claimName");
    config.into_iter().chain(secret).chain(claim)
}

/// Returns a reference by name, unless there is none, or none is needed.
fn named<'a>(
    kind: &'static Kind,
    word: &'static str,
    reference: &'a Value,
    field: &str,
) -> Option<Reference<'a>> {
    let name = reference[field]
        .as_str()
        .filter(|name| *name != ROOT_CERTIFICATES)?;
    let items = reference["items"].as_array().into_iter().flatten();
    (reference["optional"] != true).then(|| Reference {
        kind,
        word,
        name,
        keys: items.map(|item| text(&item["key"])).collect(),
    })
}

/// Returns a reference to one key.
fn keyed<'a>(
    kind: &'static Kind,
    word: &'static str,
    reference: &'a Value,
) -> Option<Reference<'a>> {
    let whole = named(kind, word, reference, "name")?;
    Some(Reference {
        keys: vec![text(&reference["key"])],
        ..whole
    })
}

/// Returns why a reference leads nowhere; nothing in words for a claim that is not bound yet.
fn missing(cluster: &Cluster<'_, '_>, namespace: &str, wanted: &Reference<'_>) -> Option<String> {
    let Reference {
        kind,
        word,
        name,
        keys,
    } = wanted;
    let key = ObjectKey::namespaced(kind.storage().clone(), namespace, name);
    let Some(found) = cluster.get(&key).map(|stored| stored.to_value()) else {
        return Some(format!("{word} \"{name}\" not found"));
    };
    if kind.storage() == core::persistent_volume_claim::KIND.storage() {
        let is_bound = found["status"]["phase"] == "Bound";
        return (!is_bound).then(String::new);
    }
    let has = |key: &str| {
        ["data", "binaryData"]
            .iter()
            .any(|field| !found[field][key].is_null())
    };
    let lacks = keys.iter().find(|key| !has(key))?;
    let kind = if *word == "secret" {
        "Secret"
    } else {
        "ConfigMap"
    };
    Some(format!(
        "couldn't find key {lacks} in {kind} {namespace}/{name}"
    ))
}
