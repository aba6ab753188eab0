//! Fans notifications out to handlers: each has its own mailbox and task, so that a slow one delays nobody.
//!
//! A handler is called on its task, or awaited there, or called on a thread that it may block; or its mailbox is read as a
//! stream, without a task.
//!
//! A batch of notifications is shared by all mailboxes. What a handler that joins late is told first, and what it is told
//! again on a resync, is one item that reads a snapshot as it goes: it costs the writer nothing, and no memory but what the
//! snapshot keeps alive.
//!
//! A mailbox is a ring that grows. Up to a limit everything waits in order; what becomes of the rest is for the handler's
//! [`Buffer`] to say: it is merged by key, which is the default, or kept, or the handler is removed. Waiting would make one
//! slow handler everybody's problem. What waits is measured ([`ListenerMetrics::pending`]) and warned about
//! ([`HandlerOptions::with_warning_at`]).

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
    item::Present,
    listener::Listener,
    options::HandlerOptions,
    registration::HandlerRegistration,
    stream::NotificationStream,
};
