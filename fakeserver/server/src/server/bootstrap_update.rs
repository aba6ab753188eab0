//! The initial objects of a version of Kubernetes in a store that another version has filled: what a starting API server
//! adds, updates and removes.

use std::collections::BTreeSet;

use fakeserver_kinds::{
    Kind,
    apiregistration::api_service,
    flowcontrol::{flow_schema, priority_level_configuration},
    initial_objects,
    rbac::{
        cluster_role, cluster_role_binding,
        policy::{PolicyRule, uncovered},
        role, role_binding,
    },
    registry::Registry,
};
use serde_json::{Map, Value, json};

use super::bootstrap::key_of;
use crate::{
    controllers::written_object::{self, Actor},
    store::{ObjectKey, Transaction},
    write::{Backend, namespace_key},
};

const SERVER: Actor = Actor::new("kube-apiserver");
const FLOW_CONTROL: Actor = Actor::new("api-priority-and-fairness-config-producer-v1");
/// Keeps a role or a binding from being updated if it is `false`.
const ROLES_UPDATED: &str = "rbac.authorization.kubernetes.io/autoupdate";
/// Lets the server update and remove an object of flow control if it is `true`.
const FLOWS_UPDATED: &str = "apf.kubernetes.io/autoupdate-spec";

/// Adds the initial objects of the version that `backend` serves, updates those that a server keeps up to date, and removes
/// those of its own that the version does not have. `served` has all that is served, whether or not it is stored.
///
/// Objects that a client has taken over are left alone, as are those that a controller creates again.
pub(super) fn update_initial_objects(
    backend: &Backend,
    tx: &mut Transaction<'_>,
    served: &Registry,
) {
    let registry = backend.registry();
    let now = backend.clock.now_text();
    let expected = initial_objects(registry.kubernetes(), &now, backend.service_range());
    let mut keys = BTreeSet::new();
    for (kind, mut object) in expected {
        let key = key_of(kind, &object);
        keys.insert(key.clone());
        let Some(resource) = registry.stored_type(kind.storage()) else {
            continue;
        };
        let Some(stored) = tx.get(&key) else {
            // Drawn, since the one of the initial objects may be that of an object that was deleted.
            object["metadata"]["uid"] = backend.entropy.uid().to_string().into();
            if has_namespace(tx, &key) {
                tx.put(&key, object);
            }
            continue;
        };
        let old = written_object::api_object(resource, &stored);
        let old = backend.decoded(resource, old);
        let Some((actor, new)) = updated(kind, &old, &object) else {
            continue;
        };
        let new = written_object::updated(resource, actor, &old, new, &now);
        if new != old {
            tx.put(&key, new);
        }
    }
    for (kind, is_own) in [
        (&api_service::KIND, is_own_service as fn(&Value) -> bool),
        (&flow_schema::KIND, is_own_flow),
        (&priority_level_configuration::KIND, is_own_flow),
    ] {
        for stored in tx.list(kind.storage(), None) {
            let object = stored.to_value();
            let is_expected = keys.contains(stored.key()) || is_served(served, &object);
            if !is_expected && is_own(&object) {
                tx.delete(stored.key());
            }
        }
    }
}

fn has_namespace(tx: &Transaction<'_>, key: &ObjectKey) -> bool {
    let namespace = key.namespace();
    namespace.is_none_or(|name| tx.get(&namespace_key(name)).is_some())
}

/// Returns an initial object as the server updates it, with the manager that does; `None` if it leaves it alone.
fn updated(kind: &Kind, old: &Value, expected: &Value) -> Option<(Actor, Value)> {
    let is_one_of = |kinds: &[&'static Kind]| kinds.iter().any(|one| kind.is(one));
    if is_one_of(&[&cluster_role::KIND, &role::KIND]) {
        Some((SERVER, updated_role(old, expected)?))
    } else if is_one_of(&[&cluster_role_binding::KIND, &role_binding::KIND]) {
        Some((SERVER, updated_binding(old, expected)?))
    } else if is_one_of(&[&flow_schema::KIND, &priority_level_configuration::KIND]) {
        is_own_flow(old).then(|| (FLOW_CONTROL, with_spec(old, expected)))
    } else if kind.is(&api_service::KIND) {
        is_own_service(old).then(|| (SERVER, with_spec(old, expected)))
    } else {
        None
    }
}

/// Returns a role with the rules that it lacks; other rules stay.
fn updated_role(old: &Value, expected: &Value) -> Option<Value> {
    let mut new = with_metadata(old, expected)?;
    if expected["aggregationRule"].is_null() {
        let rules = |object: &Value| -> Vec<PolicyRule> {
            serde_json::from_value(object["rules"].clone()).unwrap_or_default()
        };
        let (held, granted) = (rules(old), rules(expected));
        let held: Vec<&PolicyRule> = held.iter().collect();
        extend(
            &mut new,
            "rules",
            uncovered(&held, &granted)
                .into_iter()
                .map(|rule| json!(rule)),
        );
    }
    Some(new)
}

/// Returns a binding with the subjects that it lacks; `None` also if it is of another role.
fn updated_binding(old: &Value, expected: &Value) -> Option<Value> {
    if old["roleRef"] != expected["roleRef"] {
        return None;
    }
    let mut new = with_metadata(old, expected)?;
    let held = old["subjects"].as_array();
    let subjects = expected["subjects"].as_array().into_iter().flatten();
    let missing = subjects.filter(|subject| held.is_none_or(|held| !held.contains(subject)));
    extend(&mut new, "subjects", missing.cloned());
    Some(new)
}

fn extend(object: &mut Value, list: &str, more: impl Iterator<Item = Value>) {
    let more: Vec<Value> = more.collect();
    if more.is_empty() {
        return;
    }
    match &mut object[list] {
        Value::Array(items) => items.extend(more),
        other => *other = more.into(),
    }
}

/// Returns an object with the labels and annotations that it lacks, unless it is not to be updated.
fn with_metadata(old: &Value, expected: &Value) -> Option<Value> {
    if old["metadata"]["annotations"][ROLES_UPDATED] == "false" {
        return None;
    }
    let mut new = old.clone();
    for part in ["labels", "annotations"] {
        let Some(wanted) = expected["metadata"][part].as_object() else {
            continue;
        };
        let held = &mut new["metadata"][part];
        if !held.is_object() {
            *held = Map::new().into();
        }
        for (name, value) in wanted {
            if held[name].is_null() {
                held[name] = value.clone();
            }
        }
    }
    Some(new)
}

fn with_spec(old: &Value, expected: &Value) -> Value {
    let mut new = old.clone();
    new["spec"] = expected["spec"].clone();
    new
}

fn is_own_flow(object: &Value) -> bool {
    object["metadata"]["annotations"][FLOWS_UPDATED] == "true"
}

fn is_own_service(object: &Value) -> bool {
    object["metadata"]["labels"][api_service::AUTO_MANAGED] == "onstart"
}

/// Returns whether an object is the service of a version that is served.
fn is_served(served: &Registry, object: &Value) -> bool {
    let text = |field: &str| object["spec"][field].as_str();
    text("group")
        .zip(text("version"))
        .is_some_and(|(group, version)| served.version(group, version).is_some())
}
