//! Fans notifications out to handlers: each has its own mailbox and task, so that a slow one does not delay the others.
//!
//! A handler is called on its task, or awaited there, or called on a thread that it may block; or its mailbox is read as a
//! stream, without a task.
//!
//! A batch of notifications is shared by all mailboxes. The initial state of a handler that joins late, and each
//! resync, is one item that reads a snapshot lazily: it costs the writer nothing, and no memory but what the snapshot
//! keeps alive.
//!
//! A mailbox is a ring that grows. Up to a limit notifications wait in order. Beyond it the handler's [`Buffer`]
//! decides: they are merged by key, which is the default, or kept, or the handler is removed. If the writer waited
//! instead, one slow handler would delay all others. The number of pending notifications is measured
//! ([`ListenerMetrics::pending`]), and a large one is logged as a warning ([`HandlerOptions::with_warning_at`]).

mod error;
mod buffer;
mod options;
mod coalesce;
mod item;
mod mailbox;
pub(crate) mod metrics;
mod control;
mod registration;
mod delivery;
mod stream;
mod listener;
mod schedule;
mod driver;
#[cfg(test)]
mod tests;

pub(crate) use self::driver::ListenerList;
pub use self::{
    buffer::Buffer,
    control::ListenerMetrics,
    driver::Processor,
    error::{HandlerEnd, HandlerSyncError},
    item::PresentObjects,
    listener::Listener,
    options::HandlerOptions,
    registration::HandlerRegistration,
    stream::NotificationStream,
};
