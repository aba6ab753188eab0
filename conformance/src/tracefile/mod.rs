//! The trace file: a run as lines of JSON, which are written while it goes on.
//!
//! `docs/trace.md` defines the format. `event` is its vocabulary, [`Writer`] and [`TraceFile`] write and read it, and
//! [`Truth`] writes what a server does. The other modules derive from what was read: `words` and `text` a line for people, `state` belief and truth at an
//! instant, `diff` the event at which two runs part, `perfetto` and `html` other files.

mod event;
mod header;
mod delta;
mod writer;
mod truth;
mod reader;
mod words;
mod text;
mod state;
mod diff;
mod perfetto;
mod html;

pub use self::{
    diff::diff,
    event::{Broken, Ending, Event, EventKind, Mirrored, NewState, Standstill},
    header::{Actor, Header, ObjectName, Role},
    html::page,
    perfetto::perfetto,
    reader::{ReadError, TraceFile},
    state::{Belief, State},
    text::{Filter, seconds, text},
    truth::{Followed, Truth, Written},
    writer::Writer,
};

#[cfg(test)]
mod tests;
