//! The objects that the containers of a pod need before they start: those that they mount, and the sources of their environment.

use fakeserver_kinds::{Kind, core};
use fakeserver_server::{controllers::cluster::Cluster, store::ObjectKey};
use fakeserver_value::read::text;
use serde_json::Value;

use super::life::{CONFIG_ERROR, StartBlocker};
use crate::containers::{Holder, Reference};

/// The kinds that pods wait for.
pub(super) const NEEDED: [&Kind; 3] = [
    &core::config_map::KIND,
    &core::secret::KIND,
    &core::persistent_volume_claim::KIND,
];

/// The reason why the containers of a pod cannot start yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StartObstacle {
    /// A mount takes some time, which no event reports.
    Time,
    /// Something does not exist; the text is the message of the event.
    Missing(String),
}

/// The missing target of a reference.
enum MissingReference {
    /// The object, as messages name it.
    Object(String),
    /// A key of the object.
    Key(String),
}

/// Returns why the volumes of a pod cannot be mounted.
pub(super) fn unmounted(cluster: &Cluster<'_, '_>, pod: &Value) -> Option<StartObstacle> {
    let namespace = text(&pod["metadata"]["namespace"]);
    let volumes = pod["spec"]["volumes"].as_array()?;
    volumes.iter().find_map(|volume| {
        let lack = lack_of_entries(cluster, namespace, volume);
        let lack = lack.or_else(|| lack_of_claim(cluster, pod, volume))?;
        Some(match lack {
            StartObstacle::Time => StartObstacle::Time,
            StartObstacle::Missing(why) => {
                let name = text(&volume["name"]);
                let message = format!("MountVolume.SetUp failed for volume \"{name}\" : {why}");
                StartObstacle::Missing(message)
            }
        })
    })
}

/// Returns the missing config map or secret of a volume.
fn lack_of_entries(
    cluster: &Cluster<'_, '_>,
    namespace: &str,
    volume: &Value,
) -> Option<StartObstacle> {
    let sources = volume["projected"]["sources"].as_array();
    let sources = sources.into_iter().flatten().chain([volume]);
    let mut references = sources.filter_map(Reference::of_volume);
    let lack = references.find_map(|reference| {
        let missing = MissingReference::of(cluster, namespace, &reference)?;
        Some(missing.into_mount_error(reference.holder))
    })?;
    Some(StartObstacle::Missing(lack))
}

/// Returns the obstacle of a volume whose claim does not exist or is not bound. Ephemeral claims are checked as well.
fn lack_of_claim(cluster: &Cluster<'_, '_>, pod: &Value, volume: &Value) -> Option<StartObstacle> {
    let metadata = &pod["metadata"];
    let own = || format!("{}-{}", text(&metadata["name"]), text(&volume["name"]));
    let claim = volume["persistentVolumeClaim"]["claimName"].as_str();
    let is_ephemeral = volume["ephemeral"].is_object();
    let name = claim
        .map(str::to_owned)
        .or_else(|| is_ephemeral.then(own))?;
    let kind = &core::persistent_volume_claim::KIND;
    let key = ObjectKey::namespaced(kind.storage().clone(), text(&metadata["namespace"]), &name);
    let Some(claim) = cluster.get(&key).map(|stored| stored.to_value()) else {
        let why = format!("persistentvolumeclaim \"{name}\" not found");
        // An ephemeral claim is created after its pod.
        return Some(if is_ephemeral {
            StartObstacle::Time
        } else {
            StartObstacle::Missing(why)
        });
    };
    (claim["status"]["phase"] != "Bound").then_some(StartObstacle::Time)
}

/// Returns why a container cannot be created from what its environment refers to.
pub(super) fn unconfigured(
    cluster: &Cluster<'_, '_>,
    pod: &Value,
    container: &Value,
) -> Option<StartBlocker> {
    let namespace = text(&pod["metadata"]["namespace"]);
    let items = |field: &str| container[field].as_array().into_iter().flatten();
    let whole = items("envFrom").filter_map(Reference::of_environment);
    let single = items("env").filter_map(|variable| Reference::of_variable(&variable["valueFrom"]));
    let mut references = whole.chain(single);
    let message = references.find_map(|reference| {
        let missing = MissingReference::of(cluster, namespace, &reference)?;
        Some(missing.into_config_error(namespace, &reference))
    })?;
    Some(StartBlocker {
        reason: CONFIG_ERROR,
        message,
    })
}

// === impl MissingReference ===

impl MissingReference {
    /// Returns the missing target of a reference, unless it is optional. Certificates of the cluster are as if
    /// they were there.
    fn of(cluster: &Cluster<'_, '_>, namespace: &str, wanted: &Reference<'_>) -> Option<Self> {
        let name = wanted.name;
        if wanted.is_optional {
            return None;
        }
        let (kind, word) = match wanted.holder {
            Holder::ConfigMap => (&core::config_map::KIND, "configmap"),
            Holder::Secret => (&core::secret::KIND, "secret"),
        };
        let key = ObjectKey::namespaced(kind.storage().clone(), namespace, name);
        let found = match cluster.get(&key) {
            Some(stored) => stored.to_value(),
            None => return Some(Self::Object(format!("{word} \"{name}\" not found"))),
        };
        let has = |key: &str| {
            ["data", "binaryData"]
                .iter()
                .any(|field| !found[field][key].is_null())
        };
        let keys = wanted.part.keys();
        let lacks = keys.into_iter().find(|key| !has(key))?;
        Some(Self::Key(lacks.to_owned()))
    }

    /// Says so of a volume.
    fn into_mount_error(self, holder: Holder) -> String {
        match (self, holder) {
            (Self::Object(why), _) => why,
            (Self::Key(key), Holder::ConfigMap) => {
                format!("configmap references non-existent config key: {key}")
            }
            (Self::Key(key), Holder::Secret) => {
                format!("references non-existent secret key: {key}")
            }
        }
    }

    /// Says so of a container's environment.
    fn into_config_error(self, namespace: &str, wanted: &Reference<'_>) -> String {
        match self {
            Self::Object(why) => why,
            Self::Key(key) => {
                let kind = match wanted.holder {
                    Holder::ConfigMap => "ConfigMap",
                    Holder::Secret => "Secret",
                };
                let name = wanted.name;
                format!("couldn't find key {key} in {kind} {namespace}/{name}")
            }
        }
    }
}
