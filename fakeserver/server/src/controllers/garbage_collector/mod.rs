//! The garbage collector: deletes objects whose owners are gone, and handles the finalizers of deleted owners.
//!
//! - *background*: an owner is gone, and its dependents are deleted unless they have another owner.
//! - *foreground*: an owner with the finalizer `foregroundDeletion` stays until its blocking dependents are deleted.
//! - *orphan*: an owner with the finalizer `orphan` stays until no dependent names it as an owner.
//!
//! [`decision`] decides about one object.

mod decision;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::apiextensions::custom_resource_definition;
use serde_json::{Value, json};

use self::decision::{OwnerState, Step, Subject, decide};
use super::{
    cluster::{Actor, Cluster, Owner},
    controller::Controller,
    index::{Index, ObjectChange},
    kind::EventSubject,
    meta::{Meta, OwnerReference, release},
    queue::KeyQueue,
};
use crate::{
    store::{ObjectKey, StoredObject},
    write::deletion::{DeletionParameters, FOREGROUND, ORPHAN, without},
};

/// The minimum time for which an owner keeps its finalizer, so that clients see it.
const FINALIZED_AFTER: Duration = Duration::from_secs(1);
/// The minimum time for which an object without an owner stays.
const COLLECTED_AFTER: Duration = Duration::from_millis(100);

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// The controller that collects garbage.
#[derive(Debug, Default)]
pub(super) struct GarbageCollector {
    /// Owners that wait for what they own, by uid.
    waiting: BTreeMap<String, ObjectKey>,
    /// Objects with an owner of a kind that is not served now.
    unresolved: BTreeSet<ObjectKey>,
}

// === impl GarbageCollector ===

impl GarbageCollector {
    /// Notes which owners wait, and has those looked at that are to be finalized.
    fn observe_finalizers(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let awaits = |meta: &Meta, finalizer| meta.is_deleted() && meta.has_finalizer(finalizer);
        let side = |side: &Option<(_, Meta)>, finalizer| {
            side.as_ref()
                .is_some_and(|(_, meta): &(_, Meta)| awaits(meta, finalizer))
        };
        let uid = change.subject().uid();
        if side(&change.after, FOREGROUND) {
            self.waiting.insert(uid.to_owned(), change.key().clone());
        } else if side(&change.before, FOREGROUND) {
            self.waiting.remove(uid);
        }
        for finalizer in [FOREGROUND, ORPHAN] {
            if side(&change.after, finalizer) && !side(&change.before, finalizer) {
                due.add(change.key().clone(), FINALIZED_AFTER);
            }
        }
    }

    /// The object, its owners and what it owns, as far as it matters here.
    fn subject(&self, cluster: &Cluster<'_, '_>, key: &ObjectKey) -> Option<Subject> {
        let stored = cluster.get(key)?;
        let meta = Meta::of(&stored);
        let owners = meta.owners().iter();
        let owners = owners.map(|owner| (owner.uid.clone(), state(cluster, owner, key)));
        let dependents = cluster.index.dependents(stored.uid());
        let dependents = dependents.map(|(key, blocks)| {
            let is_waiting = cluster
                .get(key)
                .is_some_and(|dependent| self.waiting.contains_key(dependent.uid()));
            decision::Dependent { blocks, is_waiting }
        });
        Some(Subject {
            is_deleted: meta.is_deleted(),
            orphans: meta.has_finalizer(ORPHAN),
            waits: meta.has_finalizer(FOREGROUND),
            owners: owners.collect(),
            dependents: dependents.collect(),
        })
    }
}

impl Controller for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage collector"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&custom_resource_definition::KIND) {
            // Kinds that were not there may be now.
            for key in std::mem::take(&mut self.unresolved) {
                due.add(key, COLLECTED_AFTER);
            }
        }
        // Before the owners are compared: an owner that waits is looked up there.
        self.observe_finalizers(change, due);
        let owners = |side: &Option<(_, Meta)>| -> Vec<OwnerReference> {
            side.as_ref()
                .map_or_else(Vec::new, |(_, meta): &(_, Meta)| meta.owners().to_vec())
        };
        let before = owners(&change.before);
        let after = owners(&change.after);
        // New or changed references may name an owner that is gone, or never was.
        if !after.is_empty() && before != after {
            due.add(change.key().clone(), COLLECTED_AFTER);
        }
        // An owner that waits for this object may be ready now.
        for owner in before.iter().filter(|owner| !after.contains(owner)) {
            if let Some(key) = self.waiting.get(&owner.uid) {
                due.add(key.clone(), Duration::ZERO);
            }
        }
        if change.after.is_none() {
            self.unresolved.remove(change.key());
            // By uid: an object that was created again under the same name is another owner.
            for (dependent, _) in index.dependents(change.subject().uid()) {
                due.add(dependent.clone(), COLLECTED_AFTER);
            }
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
        let Some(subject) = self.subject(cluster, key) else {
            return;
        };
        report_owners_elsewhere(cluster, &stored);
        let dependents = cluster.index.dependents(stored.uid());
        let dependents: Vec<ObjectKey> = dependents.map(|(key, _)| key.clone()).collect();
        match decide(&subject) {
            Step::Nothing => {}
            Step::Postpone => {
                self.unresolved.insert(key.clone());
            }
            Step::Orphan => {
                // References first: without them, the owner's deletion has no dependents left to collect.
                for dependent in &dependents {
                    cluster.update(dependent, ACTOR, |object| release(object, &[stored.uid()]));
                }
                cluster.update(key, ACTOR, |object| without(object, ORPHAN));
            }
            Step::AwaitDependents => {
                for (dependent, is_waiting) in dependents.into_iter().zip(subject.waiting()) {
                    if !is_waiting {
                        due.add(dependent, Duration::ZERO);
                    }
                }
            }
            Step::Finish => {
                cluster.update(key, ACTOR, |object| without(object, FOREGROUND));
            }
            Step::Release(uids) => {
                let uids: Vec<&str> = uids.iter().map(String::as_str).collect();
                cluster.update(key, ACTOR, |object| release(object, &uids));
            }
            Step::Delete {
                propagation,
                unblocks,
            } => {
                // Before the deletion: in a circle of foreground deletions, nobody would be the first to go.
                if unblocks {
                    cluster.update(key, ACTOR, unblock);
                }
                let wanted = DeletionParameters {
                    propagation: Some(propagation),
                    ..DeletionParameters::default()
                };
                cluster.delete(key, wanted);
            }
        }
    }
}

/// Returns the state of an owner of the object under `key`.
fn state(cluster: &Cluster<'_, '_>, reference: &OwnerReference, key: &ObjectKey) -> OwnerState {
    let Owner::At(owner) = cluster.owner(reference, key.namespace()) else {
        return OwnerState::Unknown;
    };
    let found = cluster.get(&owner);
    match found.filter(|found| found.uid() == reference.uid) {
        None => OwnerState::Absent,
        Some(found) => {
            let meta = Meta::of(&found);
            if meta.is_deleted() && meta.has_finalizer(FOREGROUND) {
                OwnerState::Waiting
            } else {
                OwnerState::Solid
            }
        }
    }
}

/// Records an event for each owner that an object names in another namespace, where no owner of it can be.
fn report_owners_elsewhere(cluster: &mut Cluster<'_, '_>, stored: &StoredObject) {
    let key = stored.key();
    let meta = Meta::of(stored);
    for owner in meta.owners() {
        let is_here = matches!(
            state(cluster, owner, key),
            OwnerState::Solid | OwnerState::Waiting
        );
        if is_here || !cluster.is_owner_elsewhere(owner, key.namespace()) {
            continue;
        }
        let Some(resource) = cluster.resource_type(key.resource()) else {
            return;
        };
        let namespace = key.namespace().unwrap_or_default();
        let message = format!(
            "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace {namespace:?}",
            owner.api_version, owner.kind, owner.name, owner.uid
        );
        let subject = EventSubject {
            kind: &resource.kind,
            api_version: &resource.api_version(),
            component: "garbage-collector-controller",
        };
        cluster.warning(
            subject,
            &stored.to_value(),
            "OwnerRefInvalidNamespace",
            &message,
        );
    }
}

/// Lets the owners of an object go before it.
fn unblock(object: &mut Value) {
    let owners = object["metadata"]["ownerReferences"].as_array_mut();
    for owner in owners.into_iter().flatten() {
        owner["blockOwnerDeletion"] = json!(false);
    }
}
