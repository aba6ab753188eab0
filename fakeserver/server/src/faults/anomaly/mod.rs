//! Negative controls: no correct server does this, and a checker has to find it.

pub(super) mod bookmark_ahead;
pub(super) mod drop_event;
pub(super) mod duplicate_event;
pub(super) mod reorder_events;
