//! The end of a definition of custom resources: its objects are deleted, and it goes when they are gone.
//!
//! All other steps happen when a definition is written, in [`write::definitions`](crate::write::definitions).

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use fakeserver_value::resource::GroupResource;

use super::{
    cluster::Cluster,
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};

use crate::{
    store::{ObjectKey, Range},
    write::{
        Backend,
        definitions::{api_object, clean_up, defined_by, resource, settle_blocking, settle_in},
    },
};

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

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if key.resource() == resource() {
            match &change.after {
                Some((crd, meta)) if meta.is_deleted() => {
                    let defined = defined_by(&api_object(crd));
                    if self.terminating.insert(defined, key.clone()).is_none() {
                        due.add(key.clone(), Duration::ZERO);
                    }
                }
                _ => self
                    .terminating
                    .retain(|_, terminating_key| terminating_key != key),
            }
        } else if change.after.is_none()
            && let Some(crd) = self.terminating.get(key.resource())
        {
            due.add(crd.clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let before = cluster.tx.revision();
        clean_up(cluster.backend, cluster.tx, key);
        if cluster.tx.revision() == before {
            settle_in(cluster.backend, cluster.tx);
        } else {
            // Watches end with the definition. Earlier changes have to be written first, so that watches receive them.
            due.add(key.clone(), Duration::ZERO);
        }
    }
}

/// Ends what was going away when the server stopped.
pub(super) fn resume(backend: &Backend) {
    let definitions = backend.storage.view(|view| view.snapshot(resource()));
    for stored in definitions.objects(&Range::All, None) {
        let cleaned: Result<(), Infallible> = backend.storage.transact(|tx| {
            clean_up(backend, tx, stored.key());
            Ok(())
        });
        let Ok(()) = cleaned;
    }
    settle_blocking(backend);
}
