//! The state under its lock: transactions in, views out.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use super::{
    Change, Compaction, ObjectKey, StoredObject, Transaction, View, packer::Packer, state::State,
    transaction::SelectableFields,
};
use crate::revision::Revision;

/// The one store of a server.
pub(crate) struct Storage {
    state: Mutex<State>,
    compaction: Compaction,
    fields: Box<SelectableFields>,
    packer: Packer,
    /// Whether it packs what is written, and not only what was superseded.
    compresses: bool,
    sink: Arc<dyn ChangeSink>,
    /// Told of each new revision. Its waiters wake in the order in which they came.
    advanced: Notify,
}

/// Hears of every change in the order of revisions, under the store's lock: it must be quick, and must not call the store.
pub(crate) trait ChangeSink: Send + Sync {
    /// `change` is visible from now on.
    fn changed(&self, change: &Arc<Change>);

    /// The store is empty, and its revisions begin anew.
    fn reset(&self);
}

// === impl Storage ===

impl Storage {
    pub(crate) fn new(
        compaction: Compaction,
        fields: Box<SelectableFields>,
        sink: Arc<dyn ChangeSink>,
    ) -> Self {
        Self {
            state: Mutex::new(State::new(compaction)),
            compaction,
            fields,
            packer: Packer::default(),
            compresses: false,
            sink,
            advanced: Notify::new(),
        }
    }

    /// Compresses what is written from now on.
    pub(crate) fn compress(&mut self) {
        self.compresses = true;
    }

    /// Runs `work` alone on the store. Its writes take effect together when it succeeds; if it fails, nothing changes.
    pub(crate) fn transact<T, E>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut state = self.lock();
        let mut transaction = Transaction::new(View(&state), &*self.fields, self.current_packer());
        let answer = work(&mut transaction)?;
        let changes = transaction.into_changes();
        if changes.is_empty() {
            return Ok(answer);
        }
        self.commit(&mut state, changes);
        state.compact_due(Instant::now());
        drop(state);
        self.advanced.notify_waiters();
        Ok(answer)
    }

    /// Runs `look` on the store while nothing is written. It must be quick: take snapshots, and walk them afterwards.
    pub(crate) fn view<T>(&self, look: impl FnOnce(View<'_>) -> T) -> T {
        let mut state = self.lock();
        state.compact_due(Instant::now());
        look(View(&state))
    }

    /// Waits until the store has reached `revision`, at most for `limit`. Tells where it stands, if it has not.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(crate) async fn reach(&self, revision: Revision, limit: Duration) -> Result<(), Revision> {
        let reached = async {
            loop {
                let mut advanced = std::pin::pin!(self.advanced.notified());
                // Listens before it looks, so that a write in between is not missed.
                advanced.as_mut().enable();
                if self.revision() >= revision {
                    return;
                }
                advanced.await;
            }
        };
        match timeout(limit, reached).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.revision()),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        View(&self.lock()).revision()
    }

    /// See [`FakeServer::compact`](crate::FakeServer::compact).
    pub(crate) fn compact(&self) {
        self.lock().compact();
    }

    /// See [`FakeServer::expire`](crate::FakeServer::expire).
    pub(crate) fn expire(&self) {
        self.lock().expire();
    }

    /// Empties the store, and fills it with what `work` writes. Revisions begin anew.
    pub(crate) fn reset(&self, work: impl FnOnce(&mut Transaction<'_>)) {
        let mut state = self.lock();
        let mut fresh = State::new(self.compaction);
        let mut transaction = Transaction::new(View(&fresh), &*self.fields, self.current_packer());
        work(&mut transaction);
        let changes = transaction.into_changes();
        // Whoever watched the old store ends first, so that he hears nothing of the new one.
        self.sink.reset();
        self.commit(&mut fresh, changes);
        fresh.begin_here();
        *state = fresh;
    }

    /// See [`FakeServer::roll_back`](crate::FakeServer::roll_back).
    pub(crate) fn roll_back(&self, revisions: u64) {
        let mut state = self.lock();
        self.sink.reset();
        state.roll_back(revisions);
    }

    /// Makes it a store that stands at `revision` with `objects`, each with its own revision.
    pub(crate) fn restore(&self, revision: Revision, objects: Vec<(ObjectKey, Revision, Value)>) {
        let objects = objects.into_iter().map(|(key, made, object)| {
            let fields = (self.fields)(key.resource(), &object);
            let object = StoredObject::new(key, made, object, fields);
            if let Some(packer) = self.current_packer() {
                object.pack(packer);
            }
            Arc::new(object)
        });
        let restored = State::restored(self.compaction, revision, objects.collect());
        let mut state = self.lock();
        self.sink.reset();
        *state = restored;
        drop(state);
        self.advanced.notify_waiters();
    }

    /// Takes over `changes` of another store that this one is a copy of, in order of their revisions, and gives the
    /// revision at which it stands then. It stops before a change that does not come next.
    pub(crate) fn follow(&self, changes: Vec<Arc<Change>>) -> Revision {
        let mut state = self.lock();
        for change in changes {
            if change.revision() != View(&state).revision().next().get() {
                break;
            }
            state.apply(Arc::clone(&change), &self.packer);
            self.sink.changed(&change);
        }
        let revision = View(&state).revision();
        drop(state);
        self.advanced.notify_waiters();
        revision
    }

    /// What packs the present objects, if anything does.
    fn current_packer(&self) -> Option<&Packer> {
        self.compresses.then_some(&self.packer)
    }

    /// Makes `changes` part of `state`, and tells of them.
    fn commit(&self, state: &mut State, changes: Vec<Change>) {
        for change in changes.into_iter().map(Arc::new) {
            state.apply(Arc::clone(&change), &self.packer);
            self.sink.changed(&change);
        }
    }

    /// The state is valid whenever the lock is free: a transaction that panics has written nothing yet.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the state: it may be locked by whoever prints this.
        f.debug_struct("Storage")
            .field("compaction", &self.compaction)
            .finish_non_exhaustive()
    }
}
