//! The objects of a new cluster.

use std::sync::{Arc, Mutex, PoisonError};

use fakeserver_kinds::{
    Kind,
    apiregistration::{api_service, availability::Availability, remote::Priorities},
    core::{service::range::ServiceRange, service_account},
    initial_objects, initial_uid, metrics,
    rbac::{
        cluster_role,
        policy::{GROUP, Policy, RoleRef},
    },
    registry::Registry,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use crate::{
    controllers::written_object::{self, Actor, resource_type},
    store::{Foundation, ObjectKey, Transaction},
    write::{Backend, namespace_key},
};

/// The namespaces that a server makes for itself, in its order.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// A version of a group that not every server has.
struct OptionalVersion {
    group: &'static str,
    version: &'static str,
    priorities: Priorities,
}

/// Returns a version of the usage of nodes and pods, with the priorities that a metrics server has.
fn usage(version: &'static str) -> OptionalVersion {
    OptionalVersion {
        group: metrics::GROUP,
        version,
        priorities: Priorities {
            group: 100,
            version: 100,
        },
    }
}

/// The candidates of leader elections.
const CANDIDATES: OptionalVersion = OptionalVersion {
    group: "coordination.k8s.io",
    version: "v1beta1",
    priorities: Priorities {
        group: 16_500,
        version: 13,
    },
};

/// The version, the time and the ranges on which a foundation depends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FoundationKey {
    kubernetes: KubernetesVersion,
    now: String,
    services: ServiceRange,
}

/// The foundation that was built last.
static LATEST: Mutex<Option<(FoundationKey, Arc<Foundation>)>> = Mutex::new(None);

/// Returns the objects that every cluster has from `now` on, apart from its namespaces. Servers of the same version, time and
/// range share them.
pub(super) fn foundation(
    kubernetes: KubernetesVersion,
    now: &str,
    services: ServiceRange,
) -> Arc<Foundation> {
    let key = FoundationKey {
        kubernetes,
        now: now.to_owned(),
        services,
    };
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((latest_key, foundation)) = &*latest
        && *latest_key == key
    {
        return Arc::clone(foundation);
    }
    let registry = Registry::builtin(kubernetes);
    let objects = initial_objects(kubernetes, now, services)
        .into_iter()
        .map(|(kind, object)| {
            let fields = registry.selectable_values(kind.storage(), &object);
            (key_of(kind, &object), object, fields)
        });
    let foundation = Arc::new(Foundation::new(objects));
    *latest = Some((key, Arc::clone(&foundation)));
    foundation
}

/// Writes the namespaces of an empty cluster.
pub(super) fn bootstrap_namespaces(backend: &Backend, tx: &mut Transaction<'_>) {
    write_namespaces(backend, tx, NAMESPACES);
}

/// Writes those of the namespaces that are missing.
pub(super) fn add_namespaces(backend: &Backend, tx: &mut Transaction<'_>) {
    let missing = NAMESPACES.map(|name| tx.get(&namespace_key(name)).is_none().then_some(name));
    write_namespaces(backend, tx, missing.into_iter().flatten());
}

fn write_namespaces(
    backend: &Backend,
    tx: &mut Transaction<'_>,
    names: impl IntoIterator<Item = &'static str>,
) {
    let now = backend.clock.now_text();
    for name in names {
        let uid = backend.entropy.uid();
        let namespace = json!({
            "metadata": {
                "name": name,
                "uid": uid.to_string(),
                "creationTimestamp": now,
                "labels": {"kubernetes.io/metadata.name": name},
                "managedFields": [{
                    "manager": "kube-apiserver",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": now,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {
                        "f:metadata": {
                            "f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}},
                        },
                    },
                }],
            },
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        });
        tx.put(&namespace_key(name), namespace);
    }
}

/// Writes the service accounts that a controller makes in namespaces, so that the first pods of a server wait for none.
pub(super) fn bootstrap_accounts(backend: &Backend, tx: &mut Transaction<'_>) {
    write_accounts(backend, tx, NAMESPACES);
}

/// Writes those of the service accounts that are missing.
pub(super) fn add_accounts(backend: &Backend, tx: &mut Transaction<'_>) {
    let missing =
        NAMESPACES.map(|name| tx.get(&default_account_key(name)).is_none().then_some(name));
    write_accounts(backend, tx, missing.into_iter().flatten());
}

fn default_account_key(namespace: &str) -> ObjectKey {
    let accounts = service_account::KIND.storage();
    ObjectKey::new(accounts.clone(), Some(namespace), service_account::DEFAULT)
}

fn write_accounts(
    backend: &Backend,
    tx: &mut Transaction<'_>,
    namespaces: impl IntoIterator<Item = &'static str>,
) {
    let now = backend.clock.now_text();
    for namespace in namespaces {
        let account = json!({"metadata": {
            "name": service_account::DEFAULT,
            "namespace": namespace,
            "uid": backend.entropy.uid().to_string(),
            "creationTimestamp": now,
        }});
        tx.put(&default_account_key(namespace), account);
    }
}

/// Writes the API services of optional versions, unless they exist. They are local until a client sets a service, such
/// as that of a metrics server.
pub(super) fn bootstrap_optional_versions(
    backend: &Backend,
    tx: &mut Transaction<'_>,
    has_metrics: bool,
) {
    let registry = backend.registry();
    if has_metrics {
        for version in metrics::versions(registry.kubernetes()) {
            bootstrap_version(backend, tx, &usage(version));
        }
    }
    if registry
        .version(CANDIDATES.group, CANDIDATES.version)
        .is_some()
    {
        bootstrap_version(backend, tx, &CANDIDATES);
    }
}

fn bootstrap_version(backend: &Backend, tx: &mut Transaction<'_>, optional: &OptionalVersion) {
    let OptionalVersion {
        group,
        version,
        priorities,
    } = optional;
    let resource = api_service::KIND.storage();
    let name = format!("{version}.{group}");
    let key = ObjectKey::cluster(resource.clone(), &name);
    let Some(resource_type) = resource_type(&backend.registry(), resource) else {
        return;
    };
    if tx.get(&key).is_some() {
        return;
    }
    let now = backend.clock.now_text();
    let service = json!({
        "metadata": {
            "name": name,
            "labels": {api_service::AUTO_MANAGED: "onstart"},
        },
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": priorities.group,
            "versionPriority": priorities.version,
        },
    });
    let uid = initial_uid([resource.group(), resource.resource(), "", &name]);
    let actor = Actor::new("kube-apiserver");
    let service = written_object::created(&resource_type, actor, service, &uid, &now, |_| {});
    let mut with_status = service.clone();
    with_status["status"] = Availability::local().applied(&Value::Null, &now);
    let service = written_object::updated(
        &resource_type,
        actor.of_status(),
        &service,
        with_status,
        &now,
    );
    tx.put(&key, service);
}

/// Writes those of the roles and bindings that a cluster begins with that are not there, and gives roles that are the sum
/// of others their rules, as a controller does in a cluster.
pub(super) fn bootstrap_roles(backend: &Backend, tx: &mut Transaction<'_>) {
    let mut objects = initial_objects(
        backend.registry().kubernetes(),
        &backend.clock.now_text(),
        ServiceRange::DEFAULT,
    );
    objects.retain(|(kind, _)| kind.group() == GROUP);
    let policy = Policy::new(objects.iter().cloned());
    for (kind, object) in objects {
        let key = key_of(kind, &object);
        let stored = tx.get(&key).map(|stored| stored.to_value());
        let is_new = stored.is_none();
        let mut object = stored.unwrap_or(object);
        let lacks_rules = kind.is(&cluster_role::KIND) && object["rules"].is_null();
        if lacks_rules {
            object["rules"] = json!(policy.rules_of(&reference(&key), "").unwrap_or_default());
        }
        if is_new || lacks_rules {
            tx.put(&key, object);
        }
    }
}

fn reference(key: &ObjectKey) -> RoleRef {
    RoleRef {
        kind: "ClusterRole".to_owned(),
        name: key.name().to_owned(),
        ..RoleRef::default()
    }
}

pub(super) fn key_of(kind: &Kind, object: &Value) -> ObjectKey {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    ObjectKey::new(kind.storage().clone(), metadata["namespace"].as_str(), name)
}
