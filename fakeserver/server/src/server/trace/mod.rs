//! The trace of a server: requests, changes of objects and faults, in the format of `conformance/docs/trace.md`.
//!
//! ```text
//! store ── Change ──► log (ChangeSink, under the store's lock)  ┐
//! request_log ── asked, answered, ended ──► requests            ├─► table (numbers of actors and objects, lines) ─► a file
//! faults ── installed, removed ──► faults                       ┘
//! ```
//!
//! The format is that of `conformance`, which this crate does not know: the lines are written here from its description, and a
//! test of `conformance` reads them.

mod delta;
mod line;
mod table;
mod log;
mod requests;
mod faults;

pub use self::log::TraceLog;
pub(super) use self::{faults::follow, requests::Traced};
