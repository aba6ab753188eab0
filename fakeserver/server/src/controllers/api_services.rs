//! The API services of custom resources: one for each version that a definition serves.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::apiregistration::{
    api_service::{self, AUTO_MANAGED},
    availability::Availability,
};
use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
    written_object,
};
use crate::{
    store::{ObjectKey, StoredObject},
    write::{definitions, deletion::DeletionParameters},
};

const SERVER: Actor = Actor::new("kube-apiserver");
/// The value of the label of API services that the server makes, on those that it updates and deletes.
const MANAGED: &str = "true";
const GROUP_PRIORITY: i64 = 1_000;
const VERSION_PRIORITY: i64 = 100;

/// The controller that creates and deletes them.
#[derive(Debug, Default)]
pub(super) struct ApiServices {
    /// The definitions, and the names of the API services that each one needs.
    needed: BTreeMap<ObjectKey, BTreeSet<String>>,
}

// === impl ApiServices ===

impl ApiServices {
    fn is_needed(&self, name: &str) -> bool {
        self.needed.values().any(|needed| needed.contains(name))
    }
}

impl Controller for ApiServices {
    fn name(&self) -> &'static str {
        "api-services"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if key.resource() == definitions::resource() {
            let after = match &change.after {
                Some((crd, _)) => served_by(&crd.to_value()),
                None => BTreeSet::new(),
            };
            let before = self.needed.remove(key).unwrap_or_default();
            for name in before.union(&after) {
                due.add(key_of(name), Duration::ZERO);
            }
            if !after.is_empty() {
                self.needed.insert(key.clone(), after);
            }
        } else if change.is_of(&api_service::KIND) && change.before.is_some() {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let is_needed = self.is_needed(key.name());
        let wanted = spec_of(key.name()).filter(|_| is_needed);
        match (cluster.get(key), wanted) {
            (None, Some(spec)) => create(cluster, key, &spec),
            (Some(found), Some(spec)) if is_managed(&found) => {
                cluster.update(key, SERVER, |service| service["spec"] = spec);
            }
            (Some(found), None) if is_managed(&found) => {
                cluster.delete(key, DeletionParameters::default());
            }
            _ => {}
        }
    }
}

fn key_of(name: &str) -> ObjectKey {
    ObjectKey::cluster(api_service::KIND.storage().clone(), name)
}

/// Returns the names of the API services of the versions that a definition serves.
fn served_by(crd: &Value) -> BTreeSet<String> {
    let group = text(&crd["spec"]["group"]);
    items(&crd["spec"]["versions"])
        .iter()
        .filter(|version| version["served"] == true)
        .map(|version| format!("{}.{group}", text(&version["name"])))
        .collect()
}

/// Returns the specification of the API service of this name, which is its version and group; `None` if the name has no
/// dot.
fn spec_of(name: &str) -> Option<Value> {
    let (version, group) = name.split_once('.')?;
    Some(json!({
        "group": group,
        "version": version,
        "groupPriorityMinimum": GROUP_PRIORITY,
        "versionPriority": VERSION_PRIORITY,
    }))
}

/// Returns whether the server manages an API service: those of users lack the label.
fn is_managed(service: &StoredObject) -> bool {
    service.labels().get(AUTO_MANAGED) == Some(MANAGED)
}

fn create(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, spec: &Value) {
    let Some(resource) = cluster.resource_type(key.resource()) else {
        return;
    };
    let service = json!({
        "metadata": {"name": key.name(), "labels": {AUTO_MANAGED: MANAGED}},
        "spec": spec,
    });
    let uid = cluster.backend.entropy.uid().to_string();
    let now = cluster.now_text();
    let created = written_object::created(&resource, SERVER, service, &uid, &now, |_| {});
    cluster.tx.put(key, created);
    let status = Availability::local().applied(&Value::Null, &now);
    cluster.update(key, SERVER.of_status(), |service| {
        service["status"] = status;
    });
}
