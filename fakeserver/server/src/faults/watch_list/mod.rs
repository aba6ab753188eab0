//! Faults of streaming lists.

pub(super) mod changed_during_initial_events;
pub(super) mod end_before_initial_events_end;
pub(super) mod initial_events_end_missing;
pub(super) mod initial_events_shuffled;
pub(super) mod watch_list_ignored;
pub(super) mod watch_list_rejected;
