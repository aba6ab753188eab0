//! A commit log outside of the process: several servers can have one in common, each with tables of its own.
//!
//! ```text
//! commit ── reads with their revisions, writes ──► CommitLog ── revision, or conflict ──► commit
//!                                                      │
//!                                  every change of every server, in order
//!                                                      ▼
//!                                           LogFollower ──► tables, watchers
//! ```
//!
//! Without one, the store itself is the log: a transaction commits under its lock.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use fakeserver_kinds::registry::Registry;
use fakeserver_value::revision::Revision;
use serde_json::Value;
use thiserror::Error;

use super::{ObjectKey, StoredObject};

/// The options of a log, from which a server opens its own.
pub trait LogSource: fmt::Debug + Send + Sync {
    /// Opens the log. Nothing is read or written yet.
    fn open(&self) -> Result<Arc<dyn CommitLog>, LogError>;
}

/// A function that takes the result of a call to the log. It must be quick.
pub type Reply<T> = Box<dyn FnOnce(Result<T, LogError>) + Send>;

/// A log of the changes of all servers that have it in common.
///
/// Each call returns at once. Its reply comes within a limit of the log's own, unless the log is dropped first, which drops the
/// reply.
pub trait CommitLog: fmt::Debug + Send + Sync {
    /// Returns a number that no other server has: the seed of its uids and names.
    fn seed(&self) -> u64;

    /// Passes the state to `follower`, replies, and then passes every change on, until the log is dropped.
    fn start(&self, follower: Arc<dyn LogFollower>, reply: Reply<()>);

    /// Commits `transaction`. Before the reply, the follower has what was committed, or what was in conflict.
    fn append(&self, transaction: LogTransaction, reply: Reply<AppendOutcome>);

    /// Replies when the follower has every change that any server had committed before the call.
    fn catch_up(&self, reply: Reply<()>);
}

/// Takes the changes of a log over, in their order. It is called from one task at a time.
pub trait LogFollower: Send + Sync {
    /// Returns the resources that are served now, by whose types values are read and written; `None` once the server has ended.
    fn registry(&self) -> Option<Arc<Registry>>;

    /// Takes the whole state at `revision` instead of the present one.
    fn restore(&self, revision: Revision, objects: Vec<LoggedObject>);

    /// Takes the changes of `revision`, the last one so far. They are none if only the revision has advanced.
    fn apply(&self, revision: Revision, changes: Vec<LoggedChange>);

    /// Handles that the states before `revision` are gone from the log.
    fn compact(&self, revision: Revision);
}

/// A transaction for a log: its writes, and what they depend on.
///
/// Each write gets a revision of its own, so a log may carry out the writes one after the other. A transaction that fails in
/// the middle leaves its first writes behind.
#[derive(Debug)]
pub struct LogTransaction {
    /// The revisions at which the transaction has read these keys, 0 of a key without an object. Those of written keys are
    /// among them. A write always depends on that of its own key; on the others as far as a log can.
    pub conditions: BTreeMap<ObjectKey, Revision>,
    /// In their order. A key may be written several times.
    pub writes: Vec<LogWrite>,
}

/// A write to one key.
#[derive(Debug)]
pub struct LogWrite {
    pub key: ObjectKey,
    /// The new object; `None` deletes the key.
    pub object: Option<Arc<StoredObject>>,
    /// The time after which the log deletes the object.
    pub lifetime: Option<Duration>,
}

/// The result of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The revisions of its writes, in their order.
    Committed(Vec<Revision>),
    /// A key is not at its revision any more. Writes before that of the conflict are committed.
    Conflict,
}

/// An object in a log, in the form in which the store has it: without its `kind`, and with the `apiVersion` of a custom one.
#[derive(Debug, Clone)]
pub struct LoggedObject {
    pub key: ObjectKey,
    pub revision: Revision,
    pub object: Value,
}

/// A change in a log.
#[derive(Debug)]
pub struct LoggedChange {
    pub key: ObjectKey,
    /// The new object, in the form of the store; `None` if the key was deleted.
    pub object: Option<Value>,
}

/// A log that cannot be reached, or whose content cannot be read. After a write, the write may have been committed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LogError(String);

// === impl LogError ===

impl LogError {
    /// Creates an error with a message that names what failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The error of a log that was dropped.
    pub(super) fn closed() -> Self {
        Self::new("the commit log was closed")
    }
}
