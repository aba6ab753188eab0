//! The API services of custom resources: one for each version that a definition serves.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, Observed},
    queue::Due,
    written,
};
use crate::{
    kinds::{
        apiregistration::api_service,
        table::cell::{items, text},
    },
    store::{ObjectKey, StoredObject},
    write::{definitions, deletion::Wanted},
};

const SERVER: Actor = Actor::new("kube-apiserver");
/// The label of API services that the server makes, and its value on those that it updates and deletes.
const MANAGED: (&str, &str) = ("kube-aggregator.kubernetes.io/automanaged", "true");
const GROUP_PRIORITY: i64 = 1_000;
const VERSION_PRIORITY: i64 = 100;

/// The controller that creates and deletes them.
#[derive(Debug, Default)]
pub(super) struct ApiServices {
    /// The definitions, and the names of the API services that each one needs, with group and version.
    needed: BTreeMap<ObjectKey, BTreeMap<String, (String, String)>>,
}

// === impl ApiServices ===

impl ApiServices {
    /// Returns the group and version of an API service if a definition needs it.
    fn group_version(&self, name: &str) -> Option<&(String, String)> {
        self.needed.values().find_map(|needed| needed.get(name))
    }
}

impl Controller for ApiServices {
    fn name(&self) -> &'static str {
        "api-services"
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        if key.resource() == definitions::resource() {
            let after = match &change.after {
                Some((crd, _)) => served_by(&crd.to_value()),
                None => BTreeMap::new(),
            };
            let names = after.keys().cloned();
            let mut names: Vec<String> = names.collect();
            let before = if after.is_empty() {
                self.needed.remove(key)
            } else {
                self.needed.insert(key.clone(), after)
            };
            names.extend(before.unwrap_or_default().into_keys());
            for name in names {
                due.add(key_of(&name), Duration::ZERO);
            }
        } else if change.is_of(&api_service::KIND) && change.before.is_some() {
            due.add(key.clone(), Duration::ZERO);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _due: &mut Due<'_>) {
        let wanted = self.group_version(key.name()).map(spec);
        match (cluster.get(key), wanted) {
            (None, Some(spec)) => create(cluster, key, &spec),
            (Some(found), Some(spec)) if is_managed(&found) => {
                cluster.update(key, SERVER, |service| service["spec"] = spec);
            }
            (Some(found), None) if is_managed(&found) => {
                cluster.delete(key, Wanted::default());
            }
            _ => {}
        }
    }
}

fn key_of(name: &str) -> ObjectKey {
    ObjectKey::cluster(api_service::KIND.storage().clone(), name)
}

/// Returns the names of the API services of the versions that a definition serves, with group and version.
fn served_by(crd: &Value) -> BTreeMap<String, (String, String)> {
    let group = text(&crd["spec"]["group"]);
    items(&crd["spec"]["versions"])
        .iter()
        .filter(|version| version["served"] == true)
        .map(|version| text(&version["name"]))
        .map(|version| {
            let name = format!("{version}.{group}");
            (name, (group.to_owned(), version.to_owned()))
        })
        .collect()
}

fn spec((group, version): &(String, String)) -> Value {
    json!({
        "group": group,
        "version": version,
        "groupPriorityMinimum": GROUP_PRIORITY,
        "versionPriority": VERSION_PRIORITY,
    })
}

/// Tells whether the server updates and deletes an API service: those of users have no such label.
fn is_managed(service: &StoredObject) -> bool {
    let (label, value) = MANAGED;
    service.labels().get(label) == Some(value)
}

fn create(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, spec: &Value) {
    let Some(resource) = cluster.resource_type(key.resource()) else {
        return;
    };
    let (label, value) = MANAGED;
    let service = json!({
        "metadata": {"name": key.name(), "labels": {label: value}},
        "spec": spec,
    });
    let uid = cluster.backend.entropy.uid().to_string();
    let now = cluster.now_text();
    let created = written::created(&resource, SERVER, service, &uid, &now, |_| {});
    cluster.tx.put(key, created);
    let status = json!({
        "conditions": [{
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        }],
    });
    cluster.update(key, SERVER.of_status(), |service| {
        service["status"] = status;
    });
}
