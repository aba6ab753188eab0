//! The state under its lock: transactions write it, and views read it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use fakeserver_value::revision::Revision;
use serde_json::Value;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use super::{
    Change, Compaction, Foundation, ObjectKey, StoredObject, Transaction, View,
    base::{Base, OptimisticReads},
    commit_log::CommitLog,
    packer::Packer,
    state::State,
    transaction::SelectableFields,
};

/// The one store of a server.
pub struct Storage {
    state: Mutex<State>,
    compaction: Compaction,
    pub(super) fields: Box<SelectableFields>,
    pub(super) packer: Packer,
    /// True if new versions are packed, and not only superseded ones.
    compresses: AtomicBool,
    pub(super) sink: Arc<dyn ChangeSink>,
    /// Notified of each new revision. Its waiters wake in the order in which they came.
    pub(super) advanced: Notify,
    /// The log by which it commits, if that is not the store itself.
    pub(super) log: OnceLock<Arc<dyn CommitLog>>,
}

/// A listener that receives every change in the order of revisions, under the store's lock. It must be quick, and must
/// not call the store.
pub trait ChangeSink: Send + Sync {
    /// `change` is visible from now on.
    fn changed(&self, change: &Arc<Change>);

    /// Handles the end of a transaction, all of whose changes were received.
    fn committed(&self) {}

    /// Handles a reset: the store is empty, and its revisions restart.
    fn reset(&self);
}

/// The reason why an optimistic write did not commit. The store is unchanged.
#[derive(Debug)]
pub enum OptimisticError<E> {
    /// Another write has changed an object or list that was read: repeat by [`Storage::transact`].
    Conflict,
    Rejected(E),
}

// === impl Storage ===

impl Storage {
    pub fn new(
        compaction: Compaction,
        fields: Box<SelectableFields>,
        sink: Arc<dyn ChangeSink>,
    ) -> Self {
        Self {
            state: Mutex::new(State::new(compaction)),
            compaction,
            fields,
            packer: Packer::default(),
            compresses: AtomicBool::new(false),
            sink,
            advanced: Notify::new(),
            log: OnceLock::new(),
        }
    }

    /// Compresses what is written from now on.
    pub fn compress(&self) {
        self.compresses.store(true, Ordering::Relaxed);
    }

    /// Runs `work` alone on the store. Its writes take effect together when it succeeds; if it fails, nothing changes.
    ///
    /// # Panics
    ///
    /// If it writes, and the store has a log outside of the process: [`commit`](Self::commit) is for both.
    pub fn transact<T, E>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let state = self.lock();
        // The lock is held from the first read to the commit, so that no read has to be confirmed.
        let base = Base::Locked(View(&state));
        let mut transaction = Transaction::new(base, &*self.fields, self.current_packer());
        // An error drops the transaction with its writes; nothing of it has reached the state.
        let answer = work(&mut transaction)?;
        let (changes, _) = transaction.into_changes();
        let is_own_log = changes.is_empty() || self.log.get().is_none();
        assert!(is_own_log, "writes go through the log of the store");
        self.finish(state, changes.into_iter().map(Arc::new).collect());
        Ok(answer)
    }

    /// Runs `work` on the store while others write to it, and commits its writes if no other write has changed what it
    /// has read. The writes have their revisions only then, so the answer of `work` may name others. The committed
    /// changes are returned with the answer.
    pub fn transact_optimistically<T, E>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<(T, Vec<Arc<Change>>), OptimisticError<E>> {
        let base = Base::Optimistic(OptimisticReads::new(self));
        // Objects are numbered before they are compressed: the revision of a compressed object cannot be set.
        let mut transaction = Transaction::new(base, &*self.fields, None);
        let answer = work(&mut transaction);
        let (changes, reads) = transaction.into_changes();
        let state = self.lock();
        // Confirmed under the same lock under which the writes are committed, and before the answer counts: a rejection
        // by outdated reads is as void as a success.
        if !reads.hold(View(&state)) {
            return Err(OptimisticError::Conflict);
        }
        let answer = answer.map_err(OptimisticError::Rejected)?;
        // Other writes have taken the revisions that the transaction had assumed.
        let changes = self.renumber(&state, &changes);
        self.finish(state, changes.clone());
        Ok((answer, changes))
    }

    /// Runs `look` on the locked store. `look` must be quick: take snapshots, and walk them afterwards.
    pub fn view<T>(&self, look: impl FnOnce(View<'_>) -> T) -> T {
        let mut state = self.lock();
        state.compact_due(Instant::now());
        look(View(&state))
    }

    /// Runs `look` as [`view`](Self::view) does, without compacting first: for frequent reads.
    pub(super) fn peek<T>(&self, look: impl FnOnce(View<'_>) -> T) -> T {
        look(View(&self.lock()))
    }

    /// Waits until the store has reached `revision`, at most for `limit`. The error is the store's revision.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn reach(&self, revision: Revision, limit: Duration) -> Result<(), Revision> {
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

    pub fn revision(&self) -> Revision {
        View(&self.lock()).revision()
    }

    /// See [`FakeServer::compact`](crate::FakeServer::compact).
    pub fn compact(&self) {
        self.lock().compact();
    }

    /// See [`FakeServer::expire`](crate::FakeServer::expire).
    pub fn expire(&self) {
        self.lock().expire();
    }

    /// Empties the store, and fills it with `foundation` and the writes of `work`. Revisions restart.
    pub fn reset(&self, foundation: Option<&Foundation>, work: impl FnOnce(&mut Transaction<'_>)) {
        let mut state = self.lock();
        let mut fresh = match foundation {
            Some(foundation) => foundation.state(self.compaction),
            None => State::new(self.compaction),
        };
        let base = Base::Locked(View(&fresh));
        let mut transaction = Transaction::new(base, &*self.fields, self.current_packer());
        work(&mut transaction);
        let (changes, _) = transaction.into_changes();
        // Watches of the old state end first, so that they receive no change of the new one.
        self.sink.reset();
        // The new state becomes visible as a whole, below: readers wait for the lock meanwhile.
        self.apply_all(&mut fresh, changes.into_iter().map(Arc::new).collect());
        // After the bootstrap objects, which a rollback must keep.
        fresh.begin_here();
        *state = fresh;
    }

    /// See [`FakeServer::roll_back`](crate::FakeServer::roll_back).
    pub fn roll_back(&self, revisions: u64) {
        let mut state = self.lock();
        self.sink.reset();
        state.roll_back(revisions);
    }

    /// Makes it a store that stands at `revision` with `objects`, each with its own revision.
    pub fn restore(&self, revision: Revision, objects: Vec<(ObjectKey, Revision, Value)>) {
        let objects = objects.into_iter().map(|(key, made, object)| {
            let fields = (self.fields)(key.resource(), &object);
            let object = StoredObject::new(key, made, object, fields);
            if let Some(packer) = self.current_packer() {
                object.pack(packer);
            }
            Arc::new(object)
        });
        self.replace(revision, objects.collect());
    }

    /// Makes it a store that stands at `revision` with `objects`, without history.
    pub(super) fn replace(&self, revision: Revision, objects: Vec<Arc<StoredObject>>) {
        let restored = State::restored(self.compaction, revision, objects);
        let mut state = self.lock();
        self.sink.reset();
        *state = restored;
        drop(state);
        self.advanced.notify_waiters();
    }

    /// Takes over `changes` of another store that this one is a copy of, in order of their revisions, and gives the
    /// revision at which it stands then. It stops before a change that does not come next.
    pub fn follow(&self, changes: Vec<Arc<Change>>) -> Revision {
        let mut state = self.lock();
        for change in changes {
            // A gap would leave this copy with a state that its leader never had.
            if change.revision() != View(&state).revision().next().get() {
                break;
            }
            state.apply(Arc::clone(&change), &self.packer);
            self.sink.changed(&change);
        }
        self.sink.committed();
        let revision = View(&state).revision();
        drop(state);
        self.advanced.notify_waiters();
        revision
    }

    /// Returns the packer of present objects, if they are packed.
    pub(super) fn current_packer(&self) -> Option<&Packer> {
        self.compresses
            .load(Ordering::Relaxed)
            .then_some(&self.packer)
    }

    /// Returns `changes` with the next revisions of `state`.
    fn renumber(&self, state: &State, changes: &[Change]) -> Vec<Arc<Change>> {
        let mut revision = View(state).revision();
        let committed = Instant::now();
        let mut written: BTreeMap<&ObjectKey, Option<Arc<StoredObject>>> = BTreeMap::new();
        let made = changes.iter().map(|change| {
            revision = revision.next();
            // A transaction can write an object twice: the second change replaces the result of the first, with its
            // final revision.
            let before = written.get(change.key()).cloned();
            let before = before.unwrap_or_else(|| change.before().cloned());
            let made = change.at(revision, before, committed);
            let made = made.expect("a renumbered change has the same sides");
            // Compressed only now, with the final revision in its JSON.
            if let (Some(after), Some(packer)) = (made.after(), self.current_packer()) {
                after.pack(packer);
            }
            written.insert(change.key(), made.after().cloned());
            Arc::new(made)
        });
        made.collect()
    }

    /// Makes `changes` part of the state, and gives it free.
    fn finish(&self, mut state: MutexGuard<'_, State>, changes: Vec<Arc<Change>>) {
        // A transaction that only reads takes no revision, and wakes nobody.
        if changes.is_empty() {
            return;
        }
        self.apply_all(&mut state, changes);
        // After the commit, by which the history may have exceeded its limit.
        state.compact_due(Instant::now());
        drop(state);
        self.advanced.notify_waiters();
    }

    /// Applies `changes` to `state`, and notifies watchers.
    fn apply_all(&self, state: &mut State, changes: Vec<Arc<Change>>) {
        for change in changes {
            state.apply(Arc::clone(&change), &self.packer);
            self.sink.changed(&change);
        }
        self.sink.committed();
    }

    /// The state is valid whenever the lock is free: a transaction that panics has written nothing yet.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the state, which the caller may have locked.
        f.debug_struct("Storage")
            .field("compaction", &self.compaction)
            .finish_non_exhaustive()
    }
}
