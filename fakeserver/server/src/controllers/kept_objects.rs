//! The objects of its own that an API server keeps: they come back when they are deleted.
//!
//! The rules are those of kube-apiserver 1.36: it looks after the service `kubernetes` every ten seconds, after its namespaces
//! and its flow control every minute, and after its configuration at once. Here an object comes back after half of that, which
//! is the average. What a real server creates only when it starts stays deleted: roles, priority classes, and API services of
//! built-in groups.

use std::{collections::BTreeSet, time::Duration};

use fakeserver_kinds::{
    Kind,
    core::{config_map, endpoints, namespace, service},
    discovery::endpoint_slice,
    flowcontrol::{flow_schema, priority_level_configuration},
    initial_object,
};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
    written_object,
};
use crate::{store::ObjectKey, write::namespace_key};

const SERVER: Actor = Actor::new("kube-apiserver");
/// The name of the service of the API.
const KUBERNETES: &str = "kubernetes";
/// The time after which the service of the API and its endpoints come back.
const SERVICE_AFTER: Duration = Duration::from_secs(5);
/// The time after which namespaces, flow schemas and priority levels come back.
const OTHERS_AFTER: Duration = Duration::from_secs(30);

/// Objects of one kind that the server recreates after a deletion.
struct ObjectSet {
    kind: &'static Kind,
    /// Empty for objects of the cluster.
    namespace: &'static str,
    names: &'static [&'static str],
    /// The time after which a deleted object is recreated.
    after: Duration,
}

static OBJECT_SETS: [ObjectSet; 7] = [
    ObjectSet::new(&service::KIND, "default", &[KUBERNETES], SERVICE_AFTER),
    ObjectSet::new(&endpoints::KIND, "default", &[KUBERNETES], SERVICE_AFTER),
    ObjectSet::new(
        &endpoint_slice::KIND,
        "default",
        &[KUBERNETES],
        SERVICE_AFTER,
    ),
    ObjectSet::new(
        &config_map::KIND,
        "kube-system",
        &[
            "extension-apiserver-authentication",
            "kube-apiserver-legacy-service-account-token-tracking",
        ],
        Duration::ZERO,
    ),
    ObjectSet::new(
        &namespace::KIND,
        "",
        &["default", "kube-node-lease", "kube-public", "kube-system"],
        OTHERS_AFTER,
    ),
    ObjectSet::new(
        &flow_schema::KIND,
        "",
        &[
            "catch-all",
            "exempt",
            "global-default",
            "kube-controller-manager",
            "kube-scheduler",
            "kube-system-service-accounts",
            "probes",
            "service-accounts",
            "system-leader-election",
            "system-node-high",
            "system-nodes",
        ],
        OTHERS_AFTER,
    ),
    ObjectSet::new(
        &priority_level_configuration::KIND,
        "",
        &[
            "catch-all",
            "exempt",
            "global-default",
            "leader-election",
            "node-high",
            "system",
            "workload-high",
            "workload-low",
        ],
        OTHERS_AFTER,
    ),
];

/// The controller that creates them again.
#[derive(Debug)]
pub(super) struct KeptObjects {
    missing: BTreeSet<ObjectKey>,
}

/// Returns the rule by which an object is kept, if it is.
fn rule_of(key: &ObjectKey) -> Option<&'static ObjectSet> {
    OBJECT_SETS.iter().find(|kept| {
        key.resource() == kept.kind.storage()
            && key.namespace().unwrap_or_default() == kept.namespace
            && kept.names.contains(&key.name())
    })
}

/// Returns whether an object can be created in its namespace now.
fn can_create(cluster: &Cluster<'_, '_>, key: &ObjectKey) -> bool {
    key.namespace().is_none_or(|name| {
        let namespace = cluster.get(&namespace_key(name));
        namespace.is_some_and(|namespace| !Meta::of(&namespace).is_deleted())
    })
}

/// Returns the form of a missing object, or `None` if it cannot be created now.
fn created(cluster: &Cluster<'_, '_>, key: &ObjectKey) -> Option<Value> {
    if !can_create(cluster, key) {
        return None;
    }
    let now = cluster.now_text();
    let uid = cluster.backend.entropy.uid().to_string();
    if key.resource() == namespace::KIND.storage() {
        let resource = cluster.resource_type(key.resource())?;
        let object = json!({"metadata": {"name": key.name()}});
        return Some(written_object::created(
            &resource,
            SERVER,
            object,
            &uid,
            &now,
            |_| {},
        ));
    }
    let services = cluster.service_range();
    let is_service = key.resource() == service::KIND.storage();
    // Another service may have taken the address meanwhile; the real controller fails then, and retries.
    if is_service && cluster.has_service_at(services.first()) {
        return None;
    }
    let mut object = initial_object(
        cluster.kubernetes(),
        key.resource(),
        (key.namespace().unwrap_or_default(), key.name()),
        &now,
        services,
    )?;
    object["metadata"]["uid"] = json!(uid);
    Some(object)
}

// === impl ObjectSet ===

impl ObjectSet {
    const fn new(
        kind: &'static Kind,
        namespace: &'static str,
        names: &'static [&'static str],
        after: Duration,
    ) -> Self {
        Self {
            kind,
            namespace,
            names,
            after,
        }
    }

    fn keys(&self) -> impl Iterator<Item = ObjectKey> {
        let namespace = Some(self.namespace).filter(|namespace| !namespace.is_empty());
        let names = self.names.iter();
        names.map(move |name| ObjectKey::new(self.kind.storage().clone(), namespace, name))
    }
}

// === impl KeptObjects ===

impl Default for KeptObjects {
    fn default() -> Self {
        Self {
            missing: OBJECT_SETS.iter().flat_map(ObjectSet::keys).collect(),
        }
    }
}

impl Controller for KeptObjects {
    fn name(&self) -> &'static str {
        "kept objects"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let Some(kept) = rule_of(key) else { return };
        if change.after.is_some() {
            self.missing.remove(key);
        } else {
            self.missing.insert(key.clone());
            due.add(key.clone(), kept.after);
        }
    }

    fn started(&mut self, due: &mut KeyQueue<'_>) {
        for key in &self.missing {
            due.add(
                key.clone(),
                rule_of(key).map_or(OTHERS_AFTER, |kept| kept.after),
            );
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        // A client may have created it within the delay.
        if cluster.get(key).is_some() {
            return;
        }
        match created(cluster, key) {
            Some(object) => drop(cluster.tx.put(key, object)),
            None => due.add(key.clone(), SERVICE_AFTER),
        }
    }
}

#[cfg(test)]
mod tests {
    use fakeserver_kinds::core::service::range::ServiceRange;
    use fakeserver_versions::KubernetesVersion;

    use super::*;

    #[test]
    fn maintained_objects_are_those_of_a_new_cluster() {
        let now = "2026-01-01T00:00:00Z";
        for kept in OBJECT_SETS
            .iter()
            .filter(|kept| !kept.kind.is(&namespace::KIND))
        {
            let all = fakeserver_kinds::initial_objects(
                KubernetesVersion::DEFAULT,
                now,
                ServiceRange::DEFAULT,
            );
            let of_kind = all.iter().filter(|(kind, _)| kind.is(kept.kind));
            let mut names: Vec<&str> = of_kind
                .map(|(_, object)| object["metadata"]["name"].as_str().unwrap())
                .collect();
            names.sort_unstable();
            assert_eq!(names, kept.names, "{}", kept.kind.plural());
            for key in kept.keys() {
                let place = (key.namespace().unwrap_or_default(), key.name());
                let found = initial_object(
                    KubernetesVersion::DEFAULT,
                    key.resource(),
                    place,
                    now,
                    ServiceRange::DEFAULT,
                );
                assert_eq!(found.unwrap()["metadata"]["name"], key.name());
                assert_eq!(rule_of(&key).unwrap().after, kept.after);
            }
        }
    }

    #[test]
    fn objects_of_the_same_name_elsewhere_are_not_kept() {
        let services = service::KIND.storage();
        for (namespace, name) in [("default", "web"), ("other", KUBERNETES)] {
            let key = ObjectKey::new(services.clone(), Some(namespace), name);
            assert!(rule_of(&key).is_none(), "{key}");
        }
    }
}
