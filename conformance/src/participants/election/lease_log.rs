//! Records the states of the lease of an election, as the server has them.

use std::sync::{Arc, Mutex};

use fakeserver::StoredObject;

use super::{ElectionEvent, LeaseState};
use crate::{trace::Recorder, transport::Leader};

/// Records each change of the lease once. Clones share what is recorded.
#[derive(Clone, Debug)]
pub(super) struct LeaseLog {
    leader: Leader,
    recorder: Recorder,
    noted: Arc<Mutex<LeaseRevisions>>,
}

#[derive(Debug, Default)]
struct LeaseRevisions {
    /// The revision of the last change.
    revision: u64,
    /// The revision of the last deletion.
    deletion: Option<u64>,
}

// === impl LeaseLog ===

impl LeaseLog {
    /// Creates the log of a server that has no lease yet.
    pub(super) fn new(leader: Leader, recorder: Recorder) -> Self {
        Self {
            leader,
            recorder,
            noted: Arc::default(),
        }
    }

    /// Records the changes since the last call.
    pub(super) fn note(&self) {
        let mut noted = self.noted.lock().expect("no holder panics");
        let server = self.leader.get();
        let changes = server.history("coordination.k8s.io", "v1", "leases", noted.revision);
        for change in changes {
            let side = |object: Option<&Arc<StoredObject>>| {
                object.and_then(|object| LeaseState::of(&object.to_value()))
            };
            noted.revision = change.revision();
            let after = side(change.after());
            if after.is_none() {
                noted.deletion = Some(change.revision());
            }
            self.recorder.record(ElectionEvent::LeaseChanged {
                revision: change.revision(),
                before: side(change.before()),
                after,
            });
        }
    }

    /// Returns the revision of the last deletion that was recorded.
    pub(super) fn last_deletion(&self) -> Option<u64> {
        self.noted.lock().expect("no holder panics").deletion
    }
}
