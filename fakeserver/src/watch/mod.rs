//! Recent changes, replayed to everybody who watches.
//!
//! ```text
//! storage ── Change ──► Watchers ── bounded buffer each ──► driver (a task each) ── bounded channel ──► body
//!   under its lock       what is it to this selection?       frames, faults, bookmarks, deadline
//! ```
//!
//! A watch begins under the store's lock: what it replays ends exactly where what it is sent begins. A watcher whose
//! buffer is full is cut off: it gets what was queued, in order, and then the end of its stream. It never has a gap.

mod selection;
mod watchers;
mod bookmarks;
mod body;
mod gate;
mod driver;

pub(crate) use self::{
    driver::{Initial, Watch, open},
    gate::{Encode, Flow, Frame, Gate, Outcome, Outlet},
    selection::{EventKind, Selection},
    watchers::{Queued, Watcher, Watchers},
};

#[cfg(test)]
mod tests;
