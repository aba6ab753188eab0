//! The objects of a new cluster.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::{
    controllers::written::{self, Actor, resource_type},
    kinds::{
        Kind,
        apiregistration::{api_service, availability::Availability},
        core::{namespace, service::range::ServiceRange, service_account},
        initial_objects, initial_uid, metrics,
        rbac::{
            cluster_role,
            policy::{GROUP, Policy, RoleRef},
        },
        registry::Registry,
    },
    store::{Foundation, ObjectKey, Transaction},
    write::Backend,
};

/// The namespaces that a server makes for itself, in its order.
const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];

/// The priorities that a metrics server has for its group and version.
const METRICS_PRIORITY: u32 = 100;

/// The foundation that was asked for last, its time, and its range of services.
static LATEST: Mutex<Option<(String, ServiceRange, Arc<Foundation>)>> = Mutex::new(None);

/// Returns the objects that every cluster has from `now` on, apart from its namespaces. Servers of the same time and range
/// share them.
pub(super) fn foundation(now: &str, services: ServiceRange) -> Arc<Foundation> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((time, range, foundation)) = &*latest
        && time == now
        && *range == services
    {
        return Arc::clone(foundation);
    }
    let registry = Registry::builtin();
    let objects = initial_objects(now, services)
        .into_iter()
        .map(|(kind, object)| {
            let fields = registry.selectable_values(kind.storage(), &object);
            (key_of(kind, &object), object, fields)
        });
    let foundation = Arc::new(Foundation::new(objects));
    *latest = Some((now.to_owned(), services, Arc::clone(&foundation)));
    foundation
}

/// Writes the namespaces of an empty cluster.
pub(super) fn bootstrap_namespaces(backend: &Backend, tx: &mut Transaction<'_>) {
    let namespaces = namespace::KIND.storage();
    let now = backend.clock.now_text();
    for name in NAMESPACES {
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
        tx.put(&ObjectKey::cluster(namespaces.clone(), name), namespace);
    }
}

/// Writes the service accounts that a controller makes in namespaces, so that the first pods of a server wait for none.
pub(super) fn bootstrap_accounts(backend: &Backend, tx: &mut Transaction<'_>) {
    let accounts = service_account::KIND.storage();
    let now = backend.clock.now_text();
    for namespace in NAMESPACES {
        let account = json!({"metadata": {
            "name": service_account::DEFAULT,
            "namespace": namespace,
            "uid": backend.entropy.uid().to_string(),
            "creationTimestamp": now,
        }});
        let key = ObjectKey::new(accounts.clone(), Some(namespace), service_account::DEFAULT);
        tx.put(&key, account);
    }
}

/// Writes the API service of the usage of nodes and pods, unless it is there. It is local, until somebody names a service that
/// has it, such as that of a metrics server.
pub(super) fn bootstrap_metrics(backend: &Backend, tx: &mut Transaction<'_>) {
    let resource = api_service::KIND.storage();
    let name = format!("{}.{}", metrics::VERSION, metrics::GROUP);
    let key = ObjectKey::cluster(resource.clone(), &name);
    let Some(known) = resource_type(&backend.registry(), resource) else {
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
            "group": metrics::GROUP,
            "version": metrics::VERSION,
            "groupPriorityMinimum": METRICS_PRIORITY,
            "versionPriority": METRICS_PRIORITY,
        },
    });
    let uid = initial_uid([resource.group(), resource.resource(), "", &name]);
    let actor = Actor::new("kube-apiserver");
    let service = written::created(&known, actor, service, &uid, &now, |_| {});
    let mut with_status = service.clone();
    with_status["status"] = Availability::local().applied(&Value::Null, &now);
    let service = written::updated(&known, actor.of_status(), &service, with_status, &now);
    tx.put(&key, service);
}

/// Writes those of the roles and bindings that a cluster begins with that are not there, and gives roles that are the sum
/// of others their rules, as a controller does in a cluster.
pub(super) fn bootstrap_roles(backend: &Backend, tx: &mut Transaction<'_>) {
    let mut objects = initial_objects(&backend.clock.now_text(), ServiceRange::DEFAULT);
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

fn key_of(kind: &Kind, object: &Value) -> ObjectKey {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    ObjectKey::new(kind.storage().clone(), metadata["namespace"].as_str(), name)
}
