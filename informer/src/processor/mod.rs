//! Fans notifications out to handlers: each has its own mailbox and task, so that a slow one delays nobody.
//!
//! A batch of notifications is shared by all mailboxes. What a handler that joins late is told first, and what it is told
//! again on a resync, is one item that reads a snapshot as it goes: it costs the writer nothing, and no memory but what the
//! snapshot keeps alive.
//!
//! A mailbox is not bounded, since dropping notifications would break the promise of [`EventHandler`] and waiting would make
//! one slow handler everybody's problem. It is measured ([`ListenerMetrics::pending`]) and warned about
//! ([`HandlerOptions::with_warning_at`]).
//!
//! [`EventHandler`]: crate::EventHandler

mod error;
mod options;
mod mailbox;
mod control;
mod registration;
mod listener;
mod schedule;
mod driver;
#[cfg(test)]
mod tests;

pub(crate) use self::driver::ListenerList;
pub use self::{
    control::ListenerMetrics, driver::Processor, error::HandlerSyncError, listener::Listener,
    mailbox::Present, options::HandlerOptions, registration::HandlerRegistration,
};
