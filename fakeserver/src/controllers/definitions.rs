//! The life of a definition of custom resources: it is given its names, served, and cleaned up after.
//!
//! What controllers of a real server do in the background is done here as soon as a definition was written, by
//! [`settle`], which looks at the state and does what is due: it can be called at any time. Only the objects of a deleted
//! definition go a moment later, by the [controller](Definitions), so that clients see the definition terminating.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    cluster::Cluster,
    controller::Controller,
    index::{Index, Observed},
    queue::Due,
};
use crate::{
    kinds::{
        apiextensions::custom_resource_definition,
        custom_resources::{
            CLEANUP_FINALIZER, Definition, GROUP, VERSION,
            conditions::{self, TakenNames},
        },
        registry::Registry,
    },
    state::Core,
    store::{ObjectKey, Range, StoredObject, Transaction},
    value::{
        managed_fields::{self, Manager, described},
        resource::{GroupResource, api_version},
    },
    write::deletion::{delete_all, is_deleted},
};

/// The minimum time for which a deleted definition keeps its objects.
const CLEANED_UP_AFTER: Duration = Duration::from_secs(1);
const KIND: &str = "CustomResourceDefinition";
/// The manager of the status of definitions.
const MANAGER: &str = "kube-apiserver";

/// The controller that cleans up after definitions.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The resources of definitions that are being deleted, and the keys of these.
    terminating: BTreeMap<GroupResource, ObjectKey>,
}

// === impl Definitions ===

impl Controller for Definitions {
    fn name(&self) -> &'static str {
        "definitions"
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        if key.resource() == resource() {
            match &change.after {
                Some((crd, meta)) if meta.is_deleted() => {
                    let defined = defined_by(&shown(crd));
                    if self.terminating.insert(defined, key.clone()).is_none() {
                        due.add(key.clone(), CLEANED_UP_AFTER);
                    }
                }
                _ => self.terminating.retain(|_, known| known != key),
            }
        } else if change.after.is_none()
            && let Some(crd) = self.terminating.get(key.resource())
        {
            due.add(crd.clone(), Duration::ZERO);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let before = cluster.tx.revision();
        clean_up(cluster.core, cluster.tx, key);
        if cluster.tx.revision() == before {
            settle_in(cluster.core, cluster.tx);
        } else {
            // Watches end with the definition, and are told of what went before: that has to be written first.
            due.add(key.clone(), Duration::ZERO);
        }
    }
}

/// Lets the objects of a deleted definition go.
fn clean_up(core: &Core, tx: &mut Transaction<'_>, key: &ObjectKey) {
    let Some(stored) = tx.get(key) else {
        return;
    };
    let mut crd = shown(&stored);
    if !is_deleted(&crd) {
        return;
    }
    let now = core.clock.now_text();
    if conditions::mark_in_progress(&mut crd, &now) {
        write_status(tx, &stored, crd.clone(), &now);
    }
    let objects = tx.list(&defined_by(&crd), None);
    delete_all(tx, objects, &now);
}

/// Does what is due after definitions or their objects were written, and serves what is defined now.
pub(crate) fn settle(core: &Core) {
    let settled: Result<(), Infallible> = core.storage.transact(|tx| {
        settle_in(core, tx);
        Ok(())
    });
    let Ok(()) = settled;
}

/// Serves what is defined, without doing what is due.
pub(crate) fn serve_defined(core: &Core) {
    let served: Result<(), Infallible> = core.storage.transact(|tx| {
        serve(core, tx);
        Ok(())
    });
    let Ok(()) = served;
}

/// Ends what was going away when the server stopped.
pub(crate) fn resume(core: &Core) {
    let definitions = core.storage.view(|view| view.snapshot(resource()));
    for stored in definitions.objects(&Range::All, None) {
        let cleaned: Result<(), Infallible> = core.storage.transact(|tx| {
            clean_up(core, tx, stored.key());
            Ok(())
        });
        let Ok(()) = cleaned;
    }
    settle(core);
}

fn settle_in(core: &Core, tx: &mut Transaction<'_>) {
    let now = core.clock.now_text();
    let stored = tx.list(resource(), None);
    let mut taken = TakenNames::default();
    for crd in &stored {
        taken.add(&shown(crd));
    }
    for crd in stored {
        settle_one(tx, crd, &mut taken, &now);
    }
    serve(core, tx);
}

/// Brings one definition to where it should be.
fn settle_one(
    tx: &mut Transaction<'_>,
    mut stored: Arc<StoredObject>,
    taken: &mut TakenNames,
    now: &str,
) {
    let mut crd = shown(&stored);
    if is_deleted(&crd) {
        let is_clean = tx.list(&defined_by(&crd), None).is_empty();
        if is_clean && conditions::is_in_progress(&crd) {
            end(tx, &stored, crd);
        }
        return;
    }
    if conditions::accept_names(&mut crd, taken, now) {
        taken.add(&crd);
        stored = write_status(tx, &stored, crd, now);
        crd = shown(&stored);
    }
    if conditions::establish(&mut crd, now) {
        write_status(tx, &stored, crd, now);
    }
}

/// Takes the definition's own finalizer away; what others hold stays.
fn end(tx: &mut Transaction<'_>, stored: &StoredObject, mut crd: Value) {
    let Some(finalizers) = crd["metadata"]["finalizers"].as_array_mut() else {
        return;
    };
    let before = finalizers.len();
    finalizers.retain(|finalizer| finalizer != CLEANUP_FINALIZER);
    if finalizers.len() == before {
        return;
    }
    if is_empty(&crd["metadata"]["finalizers"]) {
        tx.delete(stored.key());
    } else {
        tx.put(stored.key(), crd);
    }
}

/// Serves what the definitions in `tx` define, and ends the watches of what is no more, or is otherwise now.
fn serve(core: &Core, tx: &Transaction<'_>) {
    let before = core.registry();
    let crds = tx.list(resource(), None);
    let definitions = crds
        .iter()
        .filter_map(|stored| Definition::parse(&shown(stored), before.definitions()));
    let definitions: Vec<Arc<Definition>> = definitions.collect();
    let is_same = definitions.len() == before.definitions().len()
        && definitions
            .iter()
            .zip(before.definitions())
            .all(|(new, old)| Arc::ptr_eq(new, old));
    if is_same {
        return;
    }
    for old in before.definitions() {
        let same = definitions
            .iter()
            .find(|new| new.resource() == old.resource());
        if same.is_none_or(|new| new.differs_from(old)) {
            core.watchers.end(old.resource());
        }
    }
    core.set_registry(Arc::new(Registry::with_definitions(definitions)));
}

/// Stores `crd` with another status, as the server's own controllers do.
fn write_status(
    tx: &mut Transaction<'_>,
    stored: &StoredObject,
    mut crd: Value,
    now: &str,
) -> Arc<StoredObject> {
    let api_version = api_version(GROUP, VERSION);
    let manager = Manager {
        name: MANAGER,
        api_version: &api_version,
        subresource: "status",
    };
    let before = shown(stored);
    let described = described(&api_version, KIND);
    managed_fields::record_update(Some(&before), &mut crd, described, &manager, now);
    tx.put(stored.key(), crd)
}

fn resource() -> &'static GroupResource {
    custom_resource_definition::KIND.storage()
}

/// Returns the key of the resource that `crd` defines.
fn defined_by(crd: &Value) -> GroupResource {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &crd["spec"];
    GroupResource::new(text(&spec["group"]), text(&spec["names"]["plural"]))
}

fn shown(stored: &StoredObject) -> Value {
    let mut crd = stored.to_value();
    crd["kind"] = json!(KIND);
    crd["apiVersion"] = json!(api_version(GROUP, VERSION));
    crd
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}
