//! A backend that follows a commit log: it takes over what all servers of the log have committed.

use std::sync::{Arc, Weak};

use fakeserver_kinds::registry::Registry;
use fakeserver_value::revision::Revision;

use super::{Backend, definitions};
use crate::store::{LogFollower, LoggedChange, LoggedObject, ObjectKey};

/// The backend of a server that has a log.
#[derive(Debug)]
pub struct BackendFollower(Weak<Backend>);

// === impl BackendFollower ===

impl BackendFollower {
    pub fn new(backend: Weak<Backend>) -> Self {
        Self(backend)
    }
}

impl LogFollower for BackendFollower {
    fn registry(&self) -> Option<Arc<Registry>> {
        self.0.upgrade().map(|backend| backend.registry())
    }

    fn restore(&self, revision: Revision, objects: Vec<LoggedObject>) {
        let Some(backend) = self.0.upgrade() else {
            return;
        };
        // The selectable fields of custom resources come from their definitions, which are served first.
        let (defined, others): (Vec<_>, Vec<_>) = objects
            .into_iter()
            .partition(|logged| is_definition(&logged.key));
        backend.storage.restore_logged(revision, defined.clone());
        definitions::serve_defined(&backend);
        let objects = defined.into_iter().chain(others);
        backend.storage.restore_logged(revision, objects.collect());
    }

    fn apply(&self, revision: Revision, changes: Vec<LoggedChange>) {
        let Some(backend) = self.0.upgrade() else {
            return;
        };
        let defines = changes.iter().any(|change| is_definition(&change.key));
        backend.storage.apply_logged(revision, changes);
        // Before the next change, which may be of an object of the resource.
        if defines {
            definitions::serve_defined(&backend);
        }
    }

    fn compact(&self, revision: Revision) {
        if let Some(backend) = self.0.upgrade() {
            backend.storage.compact_to(revision);
        }
    }
}

fn is_definition(key: &ObjectKey) -> bool {
    key.resource() == definitions::resource()
}
