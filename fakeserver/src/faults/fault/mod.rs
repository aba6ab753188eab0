//! Every fault of this crate as a value, with its parameters.

mod problem;
mod rule;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ErrorBody, FaultSpec, GoneForm, LostAs, ThrottleForm};

/// A fault. [`CATALOGUE`](super::CATALOGUE) tells of each what it models; the function of its name makes the rule, and
/// says what the rule does.
///
/// As JSON it is its name in snake case, or an object of its name and its parameters in camel case:
/// `{"throttle":{"retryAfterSeconds":5}}`. Parameters that are left out have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
#[non_exhaustive]
pub enum Fault {
    /// F1: [`clean_end`](super::clean_end())
    CleanEnd,
    /// F1: [`disconnect`](super::disconnect())
    Disconnect,
    /// F2: [`reset_mid_line`](super::reset_mid_line())
    ResetMidLine,
    /// F2: [`reset_mid_body`](super::reset_mid_body())
    ResetMidBody,
    /// F3: [`silence`](super::silence())
    Silence,
    /// F4: [`trickle`](super::trickle())
    Trickle {
        /// How many bytes come at a time.
        #[serde(default = "sixteen")]
        bytes: u32,
        /// How much later each time.
        #[serde(default = "hundred")]
        every_ms: u64,
    },
    /// F5: [`slow_reader_evicted`](super::slow_reader_evicted())
    SlowReaderEvicted,
    /// F6: [`rechunk`](super::rechunk())
    Rechunk,
    /// F7: [`go_away`](super::go_away())
    GoAway,
    /// F8: [`end_before_initial_events_end`](super::end_before_initial_events_end())
    EndBeforeInitialEventsEnd,
    /// F9: [`end_after_bookmark`](super::end_after_bookmark())
    EndAfterBookmark,
    /// F10: [`compact`](super::compact())
    Compact,
    /// F10: [`expire`](super::expire())
    Expire,
    /// F10: [`expired_event`](super::expired_event())
    ExpiredEvent,
    /// F11: [`expired_status`](super::expired_status())
    ExpiredStatus {
        /// Whether a continuation is told how to go on.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        replacement_token: bool,
    },
    /// F12: [`expired_relist`](super::expired_relist())
    ExpiredRelist,
    /// F13: [`rollback`](super::rollback())
    Rollback {
        /// By how many revisions.
        #[serde(default = "five")]
        revisions: u64,
    },
    /// F14: [`version_too_large`](super::version_too_large())
    VersionTooLarge {
        /// How long it takes to say so.
        #[serde(default = "three_seconds")]
        wait_ms: u64,
    },
    /// F15: [`gone`](super::gone())
    Gone {
        /// How it is said.
        #[serde(default, skip_serializing_if = "is_default")]
        form: GoneForm,
    },
    /// F16: [`stale_view`](super::stale_view())
    StaleView {
        /// How many revisions behind the present it stands still.
        #[serde(default, skip_serializing_if = "is_default")]
        behind_revisions: u64,
        /// Whether reads of the most recent state are stale too.
        #[serde(default, skip_serializing_if = "is_default")]
        quorum: bool,
    },
    /// F16: [`lagging_replica`](super::lagging_replica())
    LaggingReplica {
        /// How long it is behind.
        #[serde(default = "three_seconds")]
        lag_ms: u64,
        /// Whether reads of the most recent state come late too.
        #[serde(default, skip_serializing_if = "is_default")]
        quorum: bool,
    },
    /// F17: [`time_travel`](super::time_travel())
    TimeTravel {
        /// How many revisions back.
        #[serde(default = "five")]
        behind_revisions: u64,
        /// Whether lists of the most recent state lead back too.
        #[serde(default, skip_serializing_if = "is_default")]
        quorum: bool,
    },
    /// F18: [`coalesce`](super::coalesce())
    Coalesce {
        /// How long a change waits for the next one.
        #[serde(default = "hundred")]
        window_ms: u64,
    },
    /// F18: [`unobserved`](super::unobserved())
    Unobserved {
        /// How long nothing is seen.
        #[serde(default = "three_seconds")]
        lasting_ms: u64,
    },
    /// F19: [`lost_answer`](super::lost_answer())
    LostAnswer {
        /// What the client hears.
        #[serde(default, skip_serializing_if = "is_default")]
        heard: LostAs,
        /// Whether the write takes effect.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        applied: bool,
    },
    /// F20, a negative control: [`drop_event`](super::drop_event())
    DropEvent,
    /// F21, a negative control: [`duplicate_event`](super::duplicate_event())
    DuplicateEvent,
    /// F22, a negative control: [`reorder_events`](super::reorder_events())
    ReorderEvents,
    /// F23, a negative control: [`bookmark_ahead`](super::bookmark_ahead())
    BookmarkAhead,
    /// F24: [`throttle`](super::throttle())
    Throttle {
        /// When to come back.
        #[serde(default = "one")]
        retry_after_seconds: u64,
        /// How it is said.
        #[serde(default, skip_serializing_if = "is_default")]
        form: ThrottleForm,
    },
    /// F25: [`server_error`](super::server_error())
    ServerError {
        /// The status code, from 400 to 599.
        #[serde(default = "five_hundred")]
        code: u16,
        /// Who says so; by default the API server for 500, and a load balancer for anything else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<ErrorBody>,
    },
    /// F26: [`connection_refused`](super::connection_refused())
    ConnectionRefused {
        /// For how long nobody can connect, over TCP.
        #[serde(default, skip_serializing_if = "is_default")]
        closed_ms: u64,
    },
    /// F27: [`latency`](super::latency())
    Latency {
        /// How much later requests are served.
        #[serde(default, skip_serializing_if = "is_default")]
        request_ms: u64,
        /// How much later frames are sent.
        #[serde(default, skip_serializing_if = "is_default")]
        frame_ms: u64,
        /// Up to how much later still.
        #[serde(default, skip_serializing_if = "is_default")]
        jitter_ms: u64,
    },
    /// F28: [`hang`](super::hang())
    Hang,
    /// F29: [`unauthorized`](super::unauthorized())
    Unauthorized,
    /// F30: [`forbidden`](super::forbidden())
    Forbidden {
        /// How long the right is away, and then there, and so on; away all the time if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flip_ms: Option<u64>,
    },
    /// F31: [`conflict`](super::conflict())
    Conflict,
    /// F32: [`already_exists`](super::already_exists())
    AlreadyExists,
    /// F33: [`denied`](super::denied())
    Denied {
        /// The status code: 403 or 422.
        #[serde(default = "four_hundred_three")]
        code: u16,
    },
    /// F34: [`slow_webhook`](super::slow_webhook())
    SlowWebhook {
        /// How long it takes.
        #[serde(default = "three_seconds")]
        takes_ms: u64,
        /// Whether the write is refused then.
        #[serde(default, skip_serializing_if = "is_default")]
        times_out: bool,
    },
    /// F35: [`resource_gone`](super::resource_gone())
    ResourceGone,
    /// F36: [`discovery_unavailable`](super::discovery_unavailable())
    DiscoveryUnavailable,
    /// F37: [`unknown_fields`](super::unknown_fields())
    UnknownFields,
    /// F37: [`huge_objects`](super::huge_objects())
    HugeObjects {
        /// How much larger each object is, at most 3 MiB.
        #[serde(default = "one_and_a_half_million")]
        bytes: u32,
    },
    /// F37: [`entity_too_large`](super::entity_too_large())
    EntityTooLarge,
    /// F38: [`watch_list_ignored`](super::watch_list_ignored())
    WatchListIgnored,
    /// F38: [`watch_list_rejected`](super::watch_list_rejected())
    WatchListRejected,
    /// F38: [`initial_events_end_missing`](super::initial_events_end_missing())
    InitialEventsEndMissing,
    /// F38: [`initial_events_shuffled`](super::initial_events_shuffled())
    InitialEventsShuffled,
    /// F38: [`changed_during_initial_events`](super::changed_during_initial_events())
    ChangedDuringInitialEvents {
        /// How much later the initial events end.
        #[serde(default = "three_seconds")]
        lasting_ms: u64,
    },
}

// === impl Fault ===

impl Fault {
    /// Its name, under which its firings are counted.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CleanEnd => "clean_end",
            Self::Disconnect => "disconnect",
            Self::ResetMidLine => "reset_mid_line",
            Self::ResetMidBody => "reset_mid_body",
            Self::Silence => "silence",
            Self::Trickle { .. } => "trickle",
            Self::SlowReaderEvicted => "slow_reader_evicted",
            Self::Rechunk => "rechunk",
            Self::GoAway => "go_away",
            Self::EndBeforeInitialEventsEnd => "end_before_initial_events_end",
            Self::EndAfterBookmark => "end_after_bookmark",
            Self::Compact => "compact",
            Self::Expire => "expire",
            Self::ExpiredEvent => "expired_event",
            Self::ExpiredStatus { .. } => "expired_status",
            Self::ExpiredRelist => "expired_relist",
            Self::Rollback { .. } => "rollback",
            Self::VersionTooLarge { .. } => "version_too_large",
            Self::Gone { .. } => "gone",
            Self::StaleView { .. } => "stale_view",
            Self::LaggingReplica { .. } => "lagging_replica",
            Self::TimeTravel { .. } => "time_travel",
            Self::Coalesce { .. } => "coalesce",
            Self::Unobserved { .. } => "unobserved",
            Self::LostAnswer { .. } => "lost_answer",
            Self::DropEvent => "drop_event",
            Self::DuplicateEvent => "duplicate_event",
            Self::ReorderEvents => "reorder_events",
            Self::BookmarkAhead => "bookmark_ahead",
            Self::Throttle { .. } => "throttle",
            Self::ServerError { .. } => "server_error",
            Self::ConnectionRefused { .. } => "connection_refused",
            Self::Latency { .. } => "latency",
            Self::Hang => "hang",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::Conflict => "conflict",
            Self::AlreadyExists => "already_exists",
            Self::Denied { .. } => "denied",
            Self::SlowWebhook { .. } => "slow_webhook",
            Self::ResourceGone => "resource_gone",
            Self::DiscoveryUnavailable => "discovery_unavailable",
            Self::UnknownFields => "unknown_fields",
            Self::HugeObjects { .. } => "huge_objects",
            Self::EntityTooLarge => "entity_too_large",
            Self::WatchListIgnored => "watch_list_ignored",
            Self::WatchListRejected => "watch_list_rejected",
            Self::InitialEventsEndMissing => "initial_events_end_missing",
            Self::InitialEventsShuffled => "initial_events_shuffled",
            Self::ChangedDuringInitialEvents { .. } => "changed_during_initial_events",
        }
    }

    /// The fault of this name with the defaults of its parameters, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        FaultSpec::from_value(json!({"fault": name}))
            .ok()
            .map(|spec| spec.fault)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_yes(value: &bool) -> bool {
    *value
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

fn five() -> u64 {
    5
}

fn sixteen() -> u32 {
    16
}

fn hundred() -> u64 {
    100
}

fn one_and_a_half_million() -> u32 {
    1_500_000
}

fn three_seconds() -> u64 {
    3_000
}

fn five_hundred() -> u16 {
    500
}

fn four_hundred_three() -> u16 {
    403
}
