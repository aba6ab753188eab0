//! What happens to streaming lists.

mod end_before_initial_events_end;
mod initial_events_end_missing;
mod watch_list_ignored;
mod watch_list_rejected;

pub use self::{
    end_before_initial_events_end::{EndBeforeInitialEventsEnd, end_before_initial_events_end},
    initial_events_end_missing::{InitialEventsEndMissing, initial_events_end_missing},
    watch_list_ignored::{WatchListIgnored, watch_list_ignored},
    watch_list_rejected::{WatchListRejected, watch_list_rejected},
};
