//! The trace file: a run as lines of JSON, which are written during the run.
//!
//! `docs/trace.md` defines the format. `event` is its vocabulary, [`Writer`] and [`TraceFile`] write and read it, and
//! [`Truth`] writes what a server does. The other modules derive from what was read: `words` and `text` a line for people, `diff` the event at which two runs part, `perfetto` and `html` other files.

mod event;
mod header;
mod delta;
mod writer;
mod truth;
mod file;
mod reader;
mod words;
mod text;
mod diff;
mod perfetto;
mod html;

pub use self::{
    delta::applied,
    diff::diff,
    event::{
        BrokenPromise, Ending, Event, EventKind, MirroredSelection, NewState, Standstill, pairs,
    },
    file::read_text,
    header::{Actor, Header, ObjectName, Role},
    html::page,
    perfetto::perfetto,
    reader::{ReadError, TraceFile},
    text::{Filter, seconds, text},
    truth::{FollowedResource, Truth, WrittenChange},
    writer::Writer,
};

#[cfg(test)]
mod tests;
