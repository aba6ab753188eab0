//! What goes wrong between the server and a client, on demand.
//!
//! A [`Rule`] sees each request before it is served and each frame of a watch before it is sent, and gives a verdict.
//! It is in force from [`install`](Faults::install) until its [`RuleGuard`] is dropped. The rules of this module are
//! the faults that a client of a real cluster meets, by name; [`CATALOGUE`] lists them, and every firing is counted.
//!
//! A rule is made by the function of its name, or of a [`FaultSpec`], which has a form in JSON.
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
mod rewrite;
mod verdict;
mod course;
mod filter;
mod when;
mod table;
mod firing;
mod dice;
mod named;
mod hook;
mod stream;
mod watch_list;
mod history;
mod view;
mod anomaly;
mod load;
mod write;
mod schema;
mod fault;
mod catalogue;
mod spec;
mod error;

pub use self::{
    anomaly::{
        BookmarkAhead, DropEvent, DuplicateEvent, ReorderEvents, bookmark_ahead, drop_event,
        duplicate_event, reorder_events,
    },
    catalogue::{CATALOGUE, CatalogueEntry},
    connection::{Breakage, Connection},
    course::{Course, Heard},
    door::Door,
    error::SpecError,
    facts::{EventType, FrameFacts, RequestFacts},
    fault::Fault,
    filter::Filter,
    firing::{Firing, InstalledFault},
    history::{
        Compact, Expire, ExpiredEvent, ExpiredRelist, ExpiredStatus, Gone, GoneForm, Rollback,
        VersionTooLarge, compact, expire, expired_event, expired_relist, expired_status, gone,
        rollback, version_too_large,
    },
    hook::{Hook, hook},
    load::{
        ConnectionRefused, ErrorBody, Forbidden, Hang, Latency, ServerError, Throttle,
        ThrottleForm, Unauthorized, connection_refused, forbidden, hang, latency, server_error,
        throttle, unauthorized,
    },
    named::{Effect, NamedRule},
    rewrite::Rewrite,
    schema::{
        DiscoveryUnavailable, HugeObjects, ResourceGone, UnknownFields, discovery_unavailable,
        huge_objects, resource_gone, unknown_fields,
    },
    spec::FaultSpec,
    stream::{
        CleanEnd, Disconnect, EndAfterBookmark, GoAway, Rechunk, ResetMidBody, ResetMidLine,
        Silence, SlowReaderEvicted, Trickle, clean_end, disconnect, end_after_bookmark, go_away,
        rechunk, reset_mid_body, reset_mid_line, silence, slow_reader_evicted, trickle,
    },
    table::{Faults, Rule, RuleGuard},
    verdict::{Action, Answer, BodyFault, FrameVerdict, RequestVerdict, Severed, Sight},
    view::{
        Coalesce, LaggingReplica, StaleView, TimeTravel, Unobserved, coalesce, lagging_replica,
        stale_view, time_travel, unobserved,
    },
    watch_list::{
        ChangedDuringInitialEvents, EndBeforeInitialEventsEnd, InitialEventsEndMissing,
        InitialEventsShuffled, WatchListIgnored, WatchListRejected, changed_during_initial_events,
        end_before_initial_events_end, initial_events_end_missing, initial_events_shuffled,
        watch_list_ignored, watch_list_rejected,
    },
    when::When,
    write::{
        AlreadyExists, Conflict, Denied, EntityTooLarge, LostAnswer, LostAs, SlowWebhook,
        already_exists, conflict, denied, entity_too_large, lost_answer, slow_webhook,
    },
};

#[cfg(test)]
mod tests;
