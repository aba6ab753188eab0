//! Every fault of this crate as a value, with its parameters.

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Effect, ErrorBody, FaultSpec, GoneForm, LostAs, NamedRule, ThrottleForm, already_exists,
    bookmark_ahead, clean_end, compact, conflict, connection_refused, denied, disconnect,
    drop_event, duplicate_event, end_after_bookmark, end_before_initial_events_end,
    entity_too_large, expire, expired_event, expired_relist, expired_status, forbidden, go_away,
    gone, hang, initial_events_end_missing, latency, lost_answer, reorder_events, reset_mid_line,
    resource_gone, server_error, silence, slow_webhook, throttle, unauthorized, version_too_large,
    watch_list_ignored, watch_list_rejected,
};

/// The longest time that a parameter may name: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1_000;

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
    /// F1: [`clean_end`]
    CleanEnd,
    /// F1: [`disconnect`]
    Disconnect,
    /// F2: [`reset_mid_line`]
    ResetMidLine,
    /// F3: [`silence`]
    Silence,
    /// F7: [`go_away`]
    GoAway,
    /// F8: [`end_before_initial_events_end`]
    EndBeforeInitialEventsEnd,
    /// F9: [`end_after_bookmark`]
    EndAfterBookmark,
    /// F10: [`compact`]
    Compact,
    /// F10: [`expire`]
    Expire,
    /// F10: [`expired_event`]
    ExpiredEvent,
    /// F11: [`expired_status`]
    ExpiredStatus {
        /// Whether a continuation is told how to go on.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        replacement_token: bool,
    },
    /// F12: [`expired_relist`]
    ExpiredRelist,
    /// F14: [`version_too_large`]
    VersionTooLarge {
        /// How long it takes to say so.
        #[serde(default = "three_seconds")]
        wait_ms: u64,
    },
    /// F15: [`gone`]
    Gone {
        /// How it is said.
        #[serde(default, skip_serializing_if = "is_default")]
        form: GoneForm,
    },
    /// F19: [`lost_answer`]
    LostAnswer {
        /// What the client hears.
        #[serde(default, skip_serializing_if = "is_default")]
        heard: LostAs,
        /// Whether the write takes effect.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        applied: bool,
    },
    /// F20, a negative control: [`drop_event`]
    DropEvent,
    /// F21, a negative control: [`duplicate_event`]
    DuplicateEvent,
    /// F22, a negative control: [`reorder_events`]
    ReorderEvents,
    /// F23, a negative control: [`bookmark_ahead`]
    BookmarkAhead,
    /// F24: [`throttle`]
    Throttle {
        /// When to come back.
        #[serde(default = "one")]
        retry_after_seconds: u64,
        /// How it is said.
        #[serde(default, skip_serializing_if = "is_default")]
        form: ThrottleForm,
    },
    /// F25: [`server_error`]
    ServerError {
        /// The status code, from 400 to 599.
        #[serde(default = "five_hundred")]
        code: u16,
        /// Who says so; by default the API server for 500, and a load balancer for anything else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<ErrorBody>,
    },
    /// F26: [`connection_refused`]
    ConnectionRefused,
    /// F27: [`latency`]
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
    /// F28: [`hang`]
    Hang,
    /// F29: [`unauthorized`]
    Unauthorized,
    /// F30: [`forbidden`]
    Forbidden {
        /// How long the right is away, and then there, and so on; away all the time if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flip_ms: Option<u64>,
    },
    /// F31: [`conflict`]
    Conflict,
    /// F32: [`already_exists`]
    AlreadyExists,
    /// F33: [`denied`]
    Denied {
        /// The status code: 403 or 422.
        #[serde(default = "four_hundred_three")]
        code: u16,
    },
    /// F34: [`slow_webhook`]
    SlowWebhook {
        /// How long it takes.
        #[serde(default = "three_seconds")]
        takes_ms: u64,
        /// Whether the write is refused then.
        #[serde(default, skip_serializing_if = "is_default")]
        times_out: bool,
    },
    /// F35: [`resource_gone`]
    ResourceGone,
    /// F37: [`entity_too_large`]
    EntityTooLarge,
    /// F38: [`watch_list_ignored`]
    WatchListIgnored,
    /// F38: [`watch_list_rejected`]
    WatchListRejected,
    /// F38: [`initial_events_end_missing`]
    InitialEventsEndMissing,
}

// === impl Fault ===

impl Fault {
    /// Its name, under which its firings are counted.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CleanEnd => "clean_end",
            Self::Disconnect => "disconnect",
            Self::ResetMidLine => "reset_mid_line",
            Self::Silence => "silence",
            Self::GoAway => "go_away",
            Self::EndBeforeInitialEventsEnd => "end_before_initial_events_end",
            Self::EndAfterBookmark => "end_after_bookmark",
            Self::Compact => "compact",
            Self::Expire => "expire",
            Self::ExpiredEvent => "expired_event",
            Self::ExpiredStatus { .. } => "expired_status",
            Self::ExpiredRelist => "expired_relist",
            Self::VersionTooLarge { .. } => "version_too_large",
            Self::Gone { .. } => "gone",
            Self::LostAnswer { .. } => "lost_answer",
            Self::DropEvent => "drop_event",
            Self::DuplicateEvent => "duplicate_event",
            Self::ReorderEvents => "reorder_events",
            Self::BookmarkAhead => "bookmark_ahead",
            Self::Throttle { .. } => "throttle",
            Self::ServerError { .. } => "server_error",
            Self::ConnectionRefused => "connection_refused",
            Self::Latency { .. } => "latency",
            Self::Hang => "hang",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::Conflict => "conflict",
            Self::AlreadyExists => "already_exists",
            Self::Denied { .. } => "denied",
            Self::SlowWebhook { .. } => "slow_webhook",
            Self::ResourceGone => "resource_gone",
            Self::EntityTooLarge => "entity_too_large",
            Self::WatchListIgnored => "watch_list_ignored",
            Self::WatchListRejected => "watch_list_rejected",
            Self::InitialEventsEndMissing => "initial_events_end_missing",
        }
    }

    /// The fault of this name with the defaults of its parameters, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        FaultSpec::from_value(json!({"fault": name}))
            .ok()
            .map(|spec| spec.fault)
    }

    /// A rule that does this to everybody, at each occasion.
    pub fn rule(self) -> NamedRule<Box<dyn Effect>> {
        let effect = self.to_streams().or_else(|| self.to_the_past());
        let effect = effect.or_else(|| self.to_writes());
        effect.unwrap_or_else(|| self.to_requests())
    }

    /// What it does, if it is about the streams of watches.
    fn to_streams(self) -> Option<NamedRule<Box<dyn Effect>>> {
        Some(match self {
            Self::CleanEnd => clean_end().boxed(),
            Self::Disconnect => disconnect().boxed(),
            Self::ResetMidLine => reset_mid_line().boxed(),
            Self::Silence => silence().boxed(),
            Self::GoAway => go_away().boxed(),
            Self::EndBeforeInitialEventsEnd => end_before_initial_events_end().boxed(),
            Self::EndAfterBookmark => end_after_bookmark().boxed(),
            Self::DropEvent => drop_event().boxed(),
            Self::DuplicateEvent => duplicate_event().boxed(),
            Self::ReorderEvents => reorder_events().boxed(),
            Self::BookmarkAhead => bookmark_ahead().boxed(),
            Self::WatchListIgnored => watch_list_ignored().boxed(),
            Self::WatchListRejected => watch_list_rejected().boxed(),
            Self::InitialEventsEndMissing => initial_events_end_missing().boxed(),
            _ => return None,
        })
    }

    /// What it does, if it is about versions and the past.
    fn to_the_past(self) -> Option<NamedRule<Box<dyn Effect>>> {
        Some(match self {
            Self::Compact => compact().boxed(),
            Self::Expire => expire().boxed(),
            Self::ExpiredEvent => expired_event().boxed(),
            Self::ExpiredStatus { replacement_token } if replacement_token => {
                expired_status().boxed()
            }
            Self::ExpiredStatus { .. } => expired_status().without_replacement_token().boxed(),
            Self::ExpiredRelist => expired_relist().boxed(),
            Self::VersionTooLarge { wait_ms } => version_too_large(ms(wait_ms)).boxed(),
            Self::Gone { form } => gone(form).boxed(),
            _ => return None,
        })
    }

    /// What it does, if it is about writes.
    fn to_writes(self) -> Option<NamedRule<Box<dyn Effect>>> {
        Some(match self {
            Self::LostAnswer { heard, applied } if applied => lost_answer(heard).boxed(),
            Self::LostAnswer { heard, .. } => lost_answer(heard).not_applied().boxed(),
            Self::Conflict => conflict().boxed(),
            Self::AlreadyExists => already_exists().boxed(),
            Self::Denied { code } => denied(status_code(code)).boxed(),
            Self::SlowWebhook {
                takes_ms,
                times_out,
            } if times_out => slow_webhook(ms(takes_ms)).timing_out().boxed(),
            Self::SlowWebhook { takes_ms, .. } => slow_webhook(ms(takes_ms)).boxed(),
            Self::EntityTooLarge => entity_too_large().boxed(),
            _ => return None,
        })
    }

    /// What it does, if it is about requests of any kind.
    fn to_requests(self) -> NamedRule<Box<dyn Effect>> {
        match self {
            Self::Throttle {
                retry_after_seconds,
                form,
            } => throttle(Duration::from_secs(retry_after_seconds))
                .with_form(form)
                .boxed(),
            Self::ServerError { code, body } => {
                let rule = server_error(status_code(code));
                match body {
                    Some(body) => rule.with_body(body).boxed(),
                    None => rule.boxed(),
                }
            }
            Self::ConnectionRefused => connection_refused().boxed(),
            Self::Latency {
                request_ms,
                frame_ms,
                jitter_ms,
            } => latency(ms(request_ms))
                .and_frames(ms(frame_ms))
                .with_jitter(ms(jitter_ms))
                .boxed(),
            Self::Unauthorized => unauthorized().boxed(),
            Self::Forbidden {
                flip_ms: Some(flip),
            } => forbidden().flipping(ms(flip)).boxed(),
            Self::Forbidden { flip_ms: None } => forbidden().boxed(),
            Self::ResourceGone => resource_gone().boxed(),
            _ => {
                debug_assert_eq!(self, Self::Hang, "every other fault has its rule");
                hang().boxed()
            }
        }
    }

    /// Which of its parameters makes no sense, with why.
    pub(super) fn problem(self) -> Option<(&'static str, String)> {
        let no_code =
            |code: u16, expected: &str| Some(("code", format!("{code} is not {expected}")));
        let times: &[(&'static str, u64)] = match self {
            Self::ServerError { code, .. } if !(400..600).contains(&code) => {
                return no_code(code, "from 400 to 599");
            }
            Self::Denied { code } if ![403, 422].contains(&code) => {
                return no_code(code, "403 or 422");
            }
            Self::VersionTooLarge { wait_ms } => &[("waitMs", wait_ms)],
            Self::SlowWebhook { takes_ms, .. } => &[("takesMs", takes_ms)],
            Self::Forbidden {
                flip_ms: Some(flip),
            } => &[("flipMs", flip)],
            Self::Latency {
                request_ms,
                frame_ms,
                jitter_ms,
            } => &[
                ("requestMs", request_ms),
                ("frameMs", frame_ms),
                ("jitterMs", jitter_ms),
            ],
            _ => &[],
        };
        let (field, found) = times.iter().find(|(_, ms)| *ms > LONGEST_MS)?;
        Some((field, format!("{found} ms is more than a day")))
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What is checked for a [`FaultSpec`] is taken as 500 where nobody has checked it.
fn status_code(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
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

fn three_seconds() -> u64 {
    3_000
}

fn five_hundred() -> u16 {
    500
}

fn four_hundred_three() -> u16 {
    403
}
