//! Definitions of custom resources: accepts their names, establishes and serves them, and cleans up after them.
//!
//! A real server does this by controllers in the background. Here [`settle`] does it as soon as a definition was
//! written. It looks at the state and takes the steps that are due, so it can be called at any time.

use std::{convert::Infallible, error::Error, sync::Arc};

use fakeserver_kinds::{
    apiextensions::custom_resource_definition,
    custom_resources::{
        CLEANUP_FINALIZER, GROUP, VERSION,
        conditions::{self, TakenNames},
    },
    definition::Definition,
};
use fakeserver_value::{
    managed_fields::{self, Manager, described_in},
    resource::{GroupResource, api_version},
};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};
use tracing::warn;

use super::{
    Backend,
    deletion::{delete_all, is_deleted},
};
use crate::store::{CommitError, ObjectKey, StoredObject, Transaction};

const KIND: &str = "CustomResourceDefinition";
/// The manager of the status of definitions.
const MANAGER: &str = "kube-apiserver";

/// Deletes the objects of a deleted definition.
pub fn clean_up(backend: &Backend, tx: &mut Transaction<'_>, key: &ObjectKey) {
    let Some(stored) = tx.get(key) else {
        return;
    };
    let mut crd = api_object(&stored);
    if !is_deleted(&crd) {
        return;
    }
    let now = backend.clock.now_text();
    // The condition first: a client that sees objects disappear finds the reason in the definition.
    if conditions::mark_in_progress(&mut crd, &now) {
        write_status(
            backend.registry().kubernetes(),
            tx,
            &stored,
            crd.clone(),
            &now,
        );
    }
    let objects = tx.list(&defined_by(&crd), None);
    delete_all(tx, objects, &now);
}

/// Reconciles all definitions after a write to them or their objects, and updates the served resources.
pub async fn settle(backend: &Backend) {
    let settling = backend.storage.commit(|tx| {
        settle_in(backend, tx);
        Ok::<_, Infallible>(())
    });
    report(settling.await.map(drop));
}

/// Does the same, and blocks the thread if the store has a log.
pub fn settle_blocking(backend: &Backend) {
    let settled = backend.storage.commit_blocking(|tx| {
        settle_in(backend, tx);
        Ok::<_, Infallible>(())
    });
    report(settled.map(drop));
}

/// Logs that definitions are not settled. The next write of a definition tries it again.
fn report(settled: Result<(), CommitError<Infallible>>) {
    if let Err(CommitError::Log(error)) = settled {
        warn!(error = &error as &dyn Error, "definitions not settled");
    }
}

/// Serves what is defined, without doing what is due.
pub fn serve_defined(backend: &Backend) {
    let served: Result<(), Infallible> = backend.storage.transact(|tx| {
        serve(backend, tx);
        Ok(())
    });
    let Ok(()) = served;
}

/// Does what [`settle`] does, in a transaction.
pub fn settle_in(backend: &Backend, tx: &mut Transaction<'_>) {
    let now = backend.clock.now_text();
    let stored = tx.list(resource(), None);
    // All accepted names first: a definition that was accepted earlier keeps its names, whatever the order of the list.
    let mut taken = TakenNames::default();
    for crd in &stored {
        taken.add(&api_object(crd));
    }
    let kubernetes = backend.registry().kubernetes();
    for crd in stored {
        settle_one(kubernetes, tx, crd, &mut taken, &now);
    }
    serve(backend, tx);
}

/// Reconciles one definition: its names, conditions and stored versions.
fn settle_one(
    kubernetes: KubernetesVersion,
    tx: &mut Transaction<'_>,
    mut stored: Arc<StoredObject>,
    taken: &mut TakenNames,
    now: &str,
) {
    let mut crd = api_object(&stored);
    if is_deleted(&crd) {
        let is_clean = tx.list(&defined_by(&crd), None).is_empty();
        if is_clean && conditions::is_in_progress(&crd) {
            end(tx, &stored, crd);
        }
        return;
    }
    // Two writes, as by upstream's two controllers: watchers see the names accepted before the definition is
    // established.
    if conditions::accept_names(&mut crd, taken, now) {
        taken.add(&crd);
        stored = write_status(kubernetes, tx, &stored, crd, now);
        crd = api_object(&stored);
    }
    if conditions::establish(&mut crd, now) {
        write_status(kubernetes, tx, &stored, crd, now);
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
    // Deleted with its last finalizer; those of others still hold it.
    if is_empty(&crd["metadata"]["finalizers"]) {
        tx.delete(stored.key());
    } else {
        tx.put(stored.key(), crd);
    }
}

/// Updates the registry to the definitions in `tx`, and ends the watches of resources that were removed or changed.
fn serve(backend: &Backend, tx: &Transaction<'_>) {
    let before = backend.registry();
    let crds = tx.list(resource(), None);
    let definitions = crds.iter().filter_map(|stored| {
        Definition::parse(
            before.kubernetes(),
            &api_object(stored),
            before.definitions(),
        )
    });
    let definitions: Vec<Arc<Definition>> = definitions.collect();
    let is_same = definitions.len() == before.definitions().len()
        && definitions
            .iter()
            .zip(before.definitions())
            .all(|(new, old)| Arc::ptr_eq(new, old));
    // Definitions are compared by identity: an unchanged one is reused, and its compiled schema with it.
    if is_same {
        return;
    }
    for old in before.definitions() {
        let same = definitions
            .iter()
            .find(|new| new.resource() == old.resource());
        if same.is_none_or(|new| new.differs_from(old)) {
            // Before the registry is replaced: no watch survives the version in which it encodes its objects.
            backend.watchers.end(old.resource());
        }
    }
    let builtin = before.without_definitions(before.kubernetes());
    let registry = builtin.with_definitions(definitions);
    backend.set_registry(Arc::new(registry));
}

/// Stores `crd` with another status, as the server's own controllers do.
fn write_status(
    kubernetes: KubernetesVersion,
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
    let before = api_object(stored);
    let described = described_in(kubernetes, &api_version, KIND);
    managed_fields::record_update(Some(&before), &mut crd, described, &manager, now);
    tx.put(stored.key(), crd)
}

/// Returns the resource of definitions.
pub fn resource() -> &'static GroupResource {
    custom_resource_definition::KIND.storage()
}

/// Returns the key of the resource that `crd` defines.
pub fn defined_by(crd: &Value) -> GroupResource {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spec = &crd["spec"];
    GroupResource::new(text(&spec["group"]), text(&spec["names"]["plural"]))
}

/// Returns a stored definition with its kind and version.
pub fn api_object(stored: &StoredObject) -> Value {
    let mut crd = stored.to_value();
    crd["kind"] = json!(KIND);
    crd["apiVersion"] = json!(api_version(GROUP, VERSION));
    crd
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}
