//! What goes wrong between the server and a client, on demand.
//!
//! A [`Rule`] sees each request before it is served and each frame of a watch before it is sent, and gives a verdict.
//! It is in force from [`install`](Faults::install) until its [`RuleGuard`] is dropped. The rules of this module are
//! the faults that a client of a real cluster meets, by name; every firing is counted.
//!
//! # Examples
//!
//! ```
//! use fakeserver::faults::{self, Filter};
//!
//! let server = fakeserver::FakeServer::builder().build();
//! // The third frame of any watch on pods is the last one of its stream.
//! let rule = faults::clean_end().matching(Filter::any().resource("pods")).nth(3).times(1);
//! let guard = server.faults().install(rule);
//! assert_eq!(server.faults().fired().get("clean_end"), None);
//! drop(guard);
//! ```

mod connection;
mod door;
mod facts;
mod verdict;
mod filter;
mod rules;
mod named;
mod clean_end;
mod reset_mid_line;
mod silence;
mod expired_event;
mod expired_status;
mod throttle;
mod server_error;
mod latency;
mod hang;
mod hook;
mod watch_list_ignored;
mod watch_list_rejected;
mod end_before_initial_events_end;
mod drop_event;
mod duplicate_event;
mod reorder_events;
mod bookmark_ahead;

pub use self::{
    bookmark_ahead::{BookmarkAhead, bookmark_ahead},
    clean_end::{CleanEnd, clean_end},
    connection::{Breakage, Connection},
    door::Door,
    drop_event::{DropEvent, drop_event},
    duplicate_event::{DuplicateEvent, duplicate_event},
    end_before_initial_events_end::{EndBeforeInitialEventsEnd, end_before_initial_events_end},
    expired_event::{ExpiredEvent, expired_event},
    expired_status::{ExpiredStatus, expired_status},
    facts::{EventType, FrameFacts, RequestFacts},
    filter::Filter,
    hang::{Hang, hang},
    hook::{Hook, hook},
    latency::{Latency, latency},
    named::{Effect, NamedRule},
    reorder_events::{ReorderEvents, reorder_events},
    reset_mid_line::{ResetMidLine, reset_mid_line},
    rules::{Faults, Rule, RuleGuard},
    server_error::{ServerError, server_error},
    silence::{Silence, silence},
    throttle::{Throttle, throttle},
    verdict::{Answer, FrameVerdict, RequestVerdict},
    watch_list_ignored::{WatchListIgnored, watch_list_ignored},
    watch_list_rejected::{WatchListRejected, watch_list_rejected},
};

#[cfg(test)]
mod tests;
