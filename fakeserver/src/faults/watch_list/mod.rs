//! What happens to streaming lists.

mod changed_during_initial_events;
mod end_before_initial_events_end;
mod initial_events_end_missing;
mod initial_events_shuffled;
mod watch_list_ignored;
mod watch_list_rejected;

pub use self::{
    changed_during_initial_events::{ChangedDuringInitialEvents, changed_during_initial_events},
    end_before_initial_events_end::{EndBeforeInitialEventsEnd, end_before_initial_events_end},
    initial_events_end_missing::{InitialEventsEndMissing, initial_events_end_missing},
    initial_events_shuffled::{InitialEventsShuffled, initial_events_shuffled},
    watch_list_ignored::{WatchListIgnored, watch_list_ignored},
    watch_list_rejected::{WatchListRejected, watch_list_rejected},
};
