//! The changes of the store on their way to its log.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fakeserver_datalog::{Backlog, Durability};

use super::commits::Commit;
use crate::{
    clock::Clock,
    entropy::Entropy,
    store::{Change, ChangeSink},
};

/// Joins the changes of each transaction, and passes them on to the log once there is one.
#[derive(Debug, Default)]
pub struct DataLog {
    attached: OnceLock<Attached>,
    /// The changes of the transaction that is being committed.
    changes: Mutex<Vec<Arc<Change>>>,
}

#[derive(Debug)]
struct Attached {
    backlog: Arc<Backlog<Commit>>,
    clock: Clock,
    entropy: Arc<Entropy>,
}

// === impl DataLog ===

impl DataLog {
    /// Passes on what is committed from now on.
    pub(super) fn attach(
        &self,
        backlog: Arc<Backlog<Commit>>,
        clock: Clock,
        entropy: Arc<Entropy>,
    ) {
        let attached = Attached {
            backlog,
            clock,
            entropy,
        };
        self.attached.get_or_init(|| attached);
    }

    /// Returns the log, if the state is kept in one.
    pub fn backlog(&self) -> Option<&Arc<Backlog<Commit>>> {
        Some(&self.attached.get()?.backlog)
    }

    /// Returns the handle to wait until changes are on the disk, if the state is kept in a log.
    pub fn durability(&self) -> Option<&Durability> {
        Some(self.backlog()?.durability())
    }

    /// Has the log take a snapshot next, as something has changed that is in no commit. To be called under the lock of the
    /// store.
    pub fn replace(&self) {
        if let Some(backlog) = self.backlog() {
            backlog.replace();
        }
    }
}

impl ChangeSink for DataLog {
    fn changed(&self, change: &Arc<Change>) {
        if self.attached.get().is_some() {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            changes.push(Arc::clone(change));
        }
    }

    fn committed(&self) {
        let Some(attached) = self.attached.get() else {
            return;
        };
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = std::mem::take(&mut *changes);
        if changes.is_empty() {
            return;
        }
        let commit = Commit {
            changes,
            time: attached.clock.now(),
            // All that is in the objects was drawn before.
            drawn: attached.entropy.position(),
        };
        let (length, revision) = (commit.length(), commit.revision());
        attached.backlog.push(commit, length, revision);
    }

    fn reset(&self) {
        self.replace();
    }
}
