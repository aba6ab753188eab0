//! Faults of the streams of watches, and of connections.

pub(super) mod clean_end;
pub(super) mod disconnect;
pub(super) mod end_after_bookmark;
pub(super) mod go_away;
pub(super) mod rechunk;
pub(super) mod reset_mid_body;
pub(super) mod reset_mid_line;
pub(super) mod silence;
pub(super) mod slow_reader_evicted;
pub(super) mod trickle;
