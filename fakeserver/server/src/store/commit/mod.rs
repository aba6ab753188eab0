//! Commits: transactions that may go through a log outside of the process.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, mpsc},
};

use fakeserver_value::revision::Revision;
use serde_json::Value;
use tokio::{sync::oneshot, time::Instant};

use super::{
    Change, ObjectKey, Storage, Transaction, View,
    base::Base,
    commit_log::{
        AppendOutcome, CommitLog, LogError, LogTransaction, LogWrite, LoggedChange, LoggedObject,
        Reply,
    },
    leases::lifetime,
    object::StoredObject,
};
use crate::task::block;

/// The number of attempts at a transaction whose reads are changed by others each time.
const ATTEMPTS_MAX: usize = 64;

/// The error of a transaction that may go through a log.
#[derive(Debug)]
pub enum CommitError<E> {
    /// The transaction has failed by itself. Nothing was written.
    Rejected(E),
    /// The log has failed. The writes may have been committed.
    Log(LogError),
}

/// A write as it was committed.
#[derive(Debug)]
pub struct CommittedWrite {
    /// The revision that the transaction had assumed.
    pub assumed: Revision,
    pub change: Change,
}

/// A transaction that has run, and is not committed yet.
struct PreparedTransaction<T> {
    answer: T,
    changes: Vec<Change>,
    transaction: LogTransaction,
}

/// The trust in the state that a transaction reads, if it writes nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recency {
    /// The state may be one of the past: the caller tries again when it changes.
    Past,
    /// The state is as recent as the call: a result of an older one is void.
    Recent,
}

// === impl Storage ===

impl Storage {
    /// Commits by `log` from now on. It is to be called once, before the first transaction.
    pub fn set_log(&self, log: Arc<dyn CommitLog>) {
        let set = self.log.set(log);
        assert!(set.is_ok(), "a store has one log");
    }

    /// Returns the log by which the store commits, if that is not the store itself.
    pub fn log(&self) -> Option<&Arc<dyn CommitLog>> {
        self.log.get()
    }

    /// Runs `work` on the store, and commits its writes. Without a log this is [`transact`](Self::transact), and the future is
    /// ready at once, with no writes to report: the answer of `work` has their revisions.
    ///
    /// With a log, `work` is repeated until what it has read still holds at commit, and its writes have their revisions only
    /// then: the committed writes are returned with the answer. A rejection, and an answer without writes, are of a state that
    /// is not older than the call.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the writes may still be committed.
    pub async fn commit<T, E>(
        &self,
        work: impl FnMut(&mut Transaction<'_>) -> Result<T, E> + Send,
    ) -> Result<(T, Vec<CommittedWrite>), CommitError<E>>
    where
        T: Send,
        E: Send,
    {
        self.commit_by(work, Recency::Recent).await
    }

    /// Does the same, but a rejection, or an answer without writes, may be of an older state: for controllers, which are called
    /// again when that changes.
    pub async fn commit_eventually<T, E>(
        &self,
        work: impl FnMut(&mut Transaction<'_>) -> Result<T, E> + Send,
    ) -> Result<(T, Vec<CommittedWrite>), CommitError<E>>
    where
        T: Send,
        E: Send,
    {
        self.commit_by(work, Recency::Past).await
    }

    async fn commit_by<T, E>(
        &self,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, E> + Send,
        recency: Recency,
    ) -> Result<(T, Vec<CommittedWrite>), CommitError<E>>
    where
        T: Send,
        E: Send,
    {
        let Some(log) = self.log() else {
            let answer = self.transact(work).map_err(CommitError::Rejected)?;
            return Ok((answer, Vec::new()));
        };
        // On the heap, so that commits without a log are not as large.
        let committing = Box::pin(async {
            let mut is_recent = recency == Recency::Past;
            for _ in 0..ATTEMPTS_MAX {
                let (prepared, revision) = self.prepare(&mut work);
                if !is_recent
                    && prepared
                        .as_ref()
                        .map_or(true, PreparedTransaction::only_reads)
                {
                    is_recent = true;
                    ask(|reply| log.catch_up(reply)).await?;
                    if self.revision() != revision {
                        continue;
                    }
                }
                let mut prepared = prepared.map_err(CommitError::Rejected)?;
                let Some(transaction) = prepared.take_transaction() else {
                    return Ok((prepared.answer, Vec::new()));
                };
                if let AppendOutcome::Committed(revisions) =
                    ask(|reply| log.append(transaction, reply)).await?
                {
                    return Ok(prepared.committed(&revisions));
                }
            }
            Err(contended())
        });
        committing.await
    }

    /// Does what [`commit`](Self::commit) does, and blocks the thread meanwhile: for callers outside of any runtime.
    pub fn commit_blocking<T, E>(
        &self,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<(T, Vec<CommittedWrite>), CommitError<E>> {
        let Some(log) = self.log() else {
            let answer = self.transact(work).map_err(CommitError::Rejected)?;
            return Ok((answer, Vec::new()));
        };
        ask_blocking(|reply| log.catch_up(reply))?;
        for _ in 0..ATTEMPTS_MAX {
            let mut prepared = self.prepare(&mut work).0.map_err(CommitError::Rejected)?;
            let Some(transaction) = prepared.take_transaction() else {
                return Ok((prepared.answer, Vec::new()));
            };
            if let AppendOutcome::Committed(revisions) =
                ask_blocking(|reply| log.append(transaction, reply))?
            {
                return Ok(prepared.committed(&revisions));
            }
        }
        Err(contended())
    }

    /// Waits until the store has every change that any server has committed before the call. Without a log, it has.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn catch_up(&self) -> Result<(), LogError> {
        match self.log() {
            None => Ok(()),
            Some(log) => ask(|reply| log.catch_up(reply)).await,
        }
    }

    /// Runs `work` under the lock, which others wait for as shortly as without a log. Returns the revision that it has read.
    fn prepare<T, E>(
        &self,
        work: &mut impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> (Result<PreparedTransaction<T>, E>, Revision) {
        let state = self.lock();
        let view = View(&state);
        let revision = view.revision();
        // Objects are numbered before they are compressed: the revision of a compressed object cannot be set.
        let mut transaction = Transaction::new(Base::recorded(view), &*self.fields, None);
        let answer = work(&mut transaction);
        let (changes, reads) = transaction.into_changes();
        let conditions = reads.into_conditions();
        let prepared = answer.map(|answer| PreparedTransaction {
            answer,
            transaction: LogTransaction {
                conditions,
                writes: changes.iter().map(LogWrite::of).collect(),
            },
            changes,
        });
        (prepared, revision)
    }

    /// Takes over `changes` of the log at `revision`, unless the store is there already.
    pub fn apply_logged(&self, revision: Revision, changes: Vec<LoggedChange>) {
        let made = changes.into_iter().map(|LoggedChange { key, object }| {
            let object = object.map(|object| self.stored(&key, revision, object));
            (key, object)
        });
        // Objects are serialized before the lock is taken.
        let made: Vec<_> = made.collect();
        let mut state = self.lock();
        if View(&state).revision() >= revision {
            return;
        }
        for (key, object) in made {
            let before = View(&state).get(&key).cloned();
            let after = object.map(|object| match &before {
                Some(before) => Arc::new(object.sharing(before)),
                None => Arc::new(object),
            });
            // A key may be deleted that this server could not read.
            if let Some(change) = Change::new(revision, before, after, Instant::now()) {
                let change = Arc::new(change);
                state.take(Arc::clone(&change), &self.packer);
                self.sink.changed(&change);
            }
        }
        state.advance(revision);
        state.compact_due(Instant::now());
        drop(state);
        self.advanced.notify_waiters();
    }

    /// Makes it a store that stands at `revision` with `objects`. Watches end, and none can start at an older revision.
    pub fn restore_logged(&self, revision: Revision, objects: Vec<LoggedObject>) {
        let made = objects.into_iter().map(|logged| {
            let LoggedObject {
                key,
                revision,
                object,
            } = logged;
            Arc::new(self.stored(&key, revision, object))
        });
        self.replace(revision, made.collect());
    }

    /// Forgets the states and changes up to `revision`.
    pub fn compact_to(&self, revision: Revision) {
        self.lock().compact_to(revision);
    }

    /// Returns an object of the log as it is stored here.
    fn stored(&self, key: &ObjectKey, revision: Revision, object: Value) -> StoredObject {
        let fields = (self.fields)(key.resource(), &object);
        let object = StoredObject::new(key.clone(), revision, object, fields);
        if let Some(packer) = self.current_packer() {
            object.pack(packer);
        }
        object
    }
}

/// Calls the log, and waits for its reply.
async fn ask<T: Send + 'static>(call: impl FnOnce(Reply<T>)) -> Result<T, LogError> {
    let (sender, receiver) = oneshot::channel();
    call(Box::new(move |result| drop(sender.send(result))));
    receiver.await.unwrap_or_else(|_| Err(LogError::closed()))
}

/// Does the same, and blocks the thread.
pub fn ask_blocking<T: Send + 'static>(call: impl FnOnce(Reply<T>)) -> Result<T, LogError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    call(Box::new(move |result| drop(sender.send(result))));
    // The log has threads of its own, so that the reply comes whatever runtime this is called in.
    block(|| receiver.recv().unwrap_or_else(|_| Err(LogError::closed())))
}

fn contended<E>() -> CommitError<E> {
    CommitError::Log(LogError::new(format!(
        "others have changed what the transaction reads in each of {ATTEMPTS_MAX} attempts"
    )))
}

// === impl CommitError ===

impl<E> From<LogError> for CommitError<E> {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

// === impl LogWrite ===

impl LogWrite {
    fn of(change: &Change) -> Self {
        Self {
            key: change.key().clone(),
            object: change.after().cloned(),
            lifetime: change.after().and_then(|_| lifetime(change.resource())),
        }
    }
}

// === impl PreparedTransaction ===

impl<T> PreparedTransaction<T> {
    fn only_reads(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the transaction to be committed; `None` if it writes nothing.
    fn take_transaction(&mut self) -> Option<LogTransaction> {
        let empty = LogTransaction {
            conditions: BTreeMap::new(),
            writes: Vec::new(),
        };
        let transaction = mem::replace(&mut self.transaction, empty);
        (!transaction.writes.is_empty()).then_some(transaction)
    }

    /// Returns the answer, and the writes at the revisions at which they were committed.
    fn committed(self, revisions: &[Revision]) -> (T, Vec<CommittedWrite>) {
        let numbered = self.changes.iter().zip(revisions);
        let writes = numbered.filter_map(|(change, revision)| {
            let before = change.before().cloned();
            Some(CommittedWrite {
                assumed: Revision::new(change.revision()),
                change: change.at(*revision, before, change.committed())?,
            })
        });
        (self.answer, writes.collect())
    }
}

#[cfg(test)]
mod tests;
