//! Migrations of stored objects: each object of a resource that is stored in another version than new ones is written again.
//!
//! A real server runs this within kube-controller-manager. Objects of built-in kinds have one stored form here, so that nothing
//! of them is written, and custom ones are converted as their definitions say. Where that takes a webhook, the migration fails.

use std::time::Duration;

use fakeserver_kinds::storagemigration::storage_version_migration::{
    FAILED, KIND, RUNNING, SUCCEEDED, is_true,
};
use fakeserver_value::{
    read::{items, text},
    resource::GroupResource,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::store::ObjectKey;

/// The feature gate of migrations.
const GATE: &str = "StorageVersionMigrator";
const ACTOR: Actor = Actor::CONTROLLER_MANAGER.of_status();
/// The time that a resource has to appear, since its definition may be new.
const RESOURCE_WAIT: SignedDuration = SignedDuration::from_mins(1);

/// Returns the controller.
pub(super) fn controller() -> Box<dyn Controller> {
    Box::new(StorageMigration)
}

#[derive(Debug)]
struct StorageMigration;

/// The reason why a migration ends before all objects were written.
enum Obstacle {
    /// The resource is not served, or not yet.
    NoResource,
    /// An object is converted by a webhook.
    Webhook,
}

// === impl StorageMigration ===

impl Controller for StorageMigration {
    fn name(&self) -> &'static str {
        "storage version migration"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&KIND) && change.after.is_some() {
            due.add(change.key().clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let migration = stored.to_value();
        let is_over = is_true(&migration, SUCCEEDED) || is_true(&migration, FAILED);
        if is_over || !cluster.kubernetes().gates().is_on(GATE) {
            return;
        }
        let resource = &migration["spec"]["resource"];
        let resource = GroupResource::new(text(&resource["group"]), text(&resource["resource"]));
        if cluster.resource_type(&resource).is_some() {
            begin(cluster, key);
        }
        match migrate(cluster, &resource) {
            Ok(()) => end(cluster, key, SUCCEEDED, ""),
            Err(Obstacle::Webhook) => {
                end(
                    cluster,
                    key,
                    FAILED,
                    "migration encountered unhandled error",
                );
            }
            Err(Obstacle::NoResource) => {
                let created = text(&migration["metadata"]["creationTimestamp"]);
                match time_left(created, cluster.now()) {
                    Some(left) => due.add(key.clone(), left),
                    None => end(cluster, key, FAILED, "resource not found"),
                }
            }
        }
    }
}

/// Returns the time that the resource of a migration still has to appear.
fn time_left(created: &str, now: Timestamp) -> Option<Duration> {
    let created: Timestamp = created.parse().ok()?;
    let left = RESOURCE_WAIT - now.duration_since(created);
    Duration::try_from(left).ok().filter(|left| !left.is_zero())
}

/// Notes the state from which a migration begins.
fn begin(cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
    let (revision, now) = (cluster.tx.revision().to_string(), cluster.now_text());
    cluster.update(key, ACTOR, |migration| {
        let status = &mut migration["status"];
        if text(&status["resourceVersion"]).is_empty() {
            status["resourceVersion"] = json!(revision);
        }
        add_condition(status, RUNNING, "", &now);
    });
}

/// Ends a migration.
fn end(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, outcome: &str, message: &str) {
    let now = cluster.now_text();
    cluster.update(key, ACTOR, |migration| {
        let conditions = migration["status"]["conditions"].as_array_mut();
        for condition in conditions.into_iter().flatten() {
            if condition["type"] == RUNNING {
                condition["status"] = json!("False");
                condition["lastTransitionTime"] = json!(now);
            }
        }
        add_condition(&mut migration["status"], outcome, message, &now);
    });
}

fn add_condition(status: &mut Value, kind: &str, message: &str, now: &str) {
    let mut conditions = items(&status["conditions"]).to_vec();
    if conditions.iter().any(|condition| condition["type"] == kind) {
        return;
    }
    let reason = match kind {
        RUNNING => "StorageVersionMigrationInProgress",
        SUCCEEDED => "StorageVersionMigrationSucceeded",
        _ => "StorageVersionMigrationFailed",
    };
    conditions.push(json!({
        "type": kind,
        "status": "True",
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }));
    status["conditions"] = conditions.into();
}

/// Writes the objects of a resource that are stored in another version than new ones.
fn migrate(cluster: &mut Cluster<'_, '_>, resource: &GroupResource) -> Result<(), Obstacle> {
    let Some(served) = cluster.resource_type(resource) else {
        return Err(Obstacle::NoResource);
    };
    let Some(custom) = served.rules.as_custom() else {
        return Ok(());
    };
    for stored in cluster.tx.list(resource, None) {
        if stored.stored_version() == custom.storage_version() {
            continue;
        }
        if custom.webhook().is_some() {
            return Err(Obstacle::Webhook);
        }
        let mut object = stored.to_value();
        object["apiVersion"] = json!(custom.storage_version());
        cluster.tx.put(stored.key(), object);
    }
    Ok(())
}
