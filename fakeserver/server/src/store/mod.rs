//! The state: every write takes the next revision, and every state since the last compaction can be read again.
//!
//! ```text
//! transact ──► Change (revision, before, after) ──┬─► Table: objects now, and as they were after each change
//!                                                 └─► ChangeSink: the watch cache, told in order, under the lock
//! ```
//!
//! Objects are serialized once, when they are written ([`StoredObject`]); lists and watch frames are built from those
//! bytes. The maps of a `Table` are persistent. So a reader takes a [`Snapshot`] in constant time and walks it without
//! the lock, while others write and compact.
//!
//! A store may commit by a [`CommitLog`] that it has in common with others, and follow it.

mod key;
mod packer;
mod object;
mod stencil;
mod change;
mod table;
mod compaction;
mod state;
mod foundation;
mod base;
mod transaction;
mod commit_log;
mod storage;
mod leases;
mod commit;
pub mod continue_token;
pub mod snapshot;
pub mod manifests;

pub use self::stencil::{Stencil, number_hole, raw_hole, text_hole};
pub use self::{
    change::{Change, ChangeKind},
    commit::{CommitError, CommittedWrite, ask_blocking},
    commit_log::{
        AppendOutcome, CommitLog, LogError, LogFollower, LogSource, LogTransaction, LogWrite,
        LoggedChange, LoggedObject, Reply,
    },
    compaction::Compaction,
    object::StoredObject,
};
pub use self::{
    foundation::Foundation,
    key::ObjectKey,
    leases::Leases,
    state::{HistoryError, RevisionTooOld, View},
    storage::{ChangeSink, OptimisticError, Storage},
    table::{Range, Snapshot},
    transaction::Transaction,
};

#[cfg(test)]
mod tests;
