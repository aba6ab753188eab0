//! The watch cache: recent changes, dispatched to all watchers.
//!
//! ```text
//! storage ── Change ──► Watchers ── bounded buffer each ──► driver (a task each) ── bounded channel ──► body
//!   under its lock       what is it to this selection?       frames, faults, bookmarks, deadline
//! ```
//!
//! A watch begins under the store's lock, so that its live changes begin exactly where its replayed ones end. A watcher
//! whose buffer is full is evicted: it receives the queued changes, in order, and then the end of its stream. It never
//! has a gap.

mod selection;
mod watchers;
mod bookmarks;
mod body;
mod gate;
mod driver;

pub(crate) use self::{
    driver::{Initial, Watch, open},
    gate::{Encode, Flow, Frame, Gate, Outcome, WatchOutput},
    selection::{EventKind, Selection},
    watchers::{QueuedChange, Watcher, Watchers},
};

#[cfg(test)]
mod tests;
