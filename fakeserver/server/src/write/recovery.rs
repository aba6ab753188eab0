//! Recovery of an earlier store: from a snapshot, or by a rollback.

use serde_json::Value;
use tokio::time::Instant;

use super::{Backend, definitions};
use crate::store::{
    View,
    snapshot::{Restart, SavedObject, Snapshot},
};

/// Replaces the contents of the store by those of `snapshot`, and serves the custom resources that it defines.
pub fn restore(backend: &Backend, snapshot: &Snapshot, restart: Restart) {
    let revision = restart.revision(snapshot.revision);
    let stored = |kept: &SavedObject| {
        let mut object: Value = serde_json::from_slice(&kept.json).expect("it was read as JSON");
        if let Some(version) = &kept.stored_version {
            object["apiVersion"] = version.as_str().into();
        }
        (kept.key.clone(), kept.revision, object)
    };
    let definitions = snapshot.objects.iter().filter(|kept| kept.is_definition());
    // The selectable fields of custom resources come from their definitions, which are restored first.
    backend
        .storage
        .restore(revision, definitions.map(stored).collect());
    definitions::serve_defined(backend);
    let objects = snapshot.objects.iter().map(stored);
    backend.storage.restore(revision, objects.collect());
    renew_leases(backend);
}

/// Takes the store back by `revisions`, and serves the custom resources that were defined then.
pub fn roll_back(backend: &Backend, revisions: u64) {
    backend.storage.roll_back(revisions);
    renew_leases(backend);
    definitions::serve_defined(backend);
}

fn renew_leases(backend: &Backend) {
    let renew = |view: View<'_>| backend.leases.renew(view, Instant::now());
    backend.storage.view(renew);
}
