//! The rule that each fault is.

use std::time::Duration;

use http::StatusCode;

use crate::faults::{
    Effect, Fault, NamedRule, already_exists, bookmark_ahead, changed_during_initial_events,
    clean_end, coalesce, compact, conflict, connection_refused, denied, disconnect,
    discovery_unavailable, drop_event, duplicate_event, end_after_bookmark,
    end_before_initial_events_end, entity_too_large, expire, expired_event, expired_relist,
    expired_status, forbidden, go_away, gone, hang, huge_objects, initial_events_end_missing,
    initial_events_shuffled, lagging_replica, latency, lost_answer, rechunk, reorder_events,
    reset_mid_body, reset_mid_line, resource_gone, rollback, server_error, silence,
    slow_reader_evicted, slow_webhook, stale_view, throttle, time_travel, trickle, unauthorized,
    unknown_fields, unobserved, version_too_large, watch_list_ignored, watch_list_rejected,
};

// === impl Fault ===

impl Fault {
    /// A rule that does this to everybody, at each occasion.
    pub fn rule(self) -> NamedRule<Box<dyn Effect>> {
        let effect = self.to_streams().or_else(|| self.to_the_past());
        let effect = effect.or_else(|| self.to_what_is_seen());
        let effect = effect.or_else(|| self.to_writes());
        effect.unwrap_or_else(|| self.to_requests())
    }

    /// What it does, if it is about the streams of watches.
    fn to_streams(self) -> Option<NamedRule<Box<dyn Effect>>> {
        Some(match self {
            Self::CleanEnd => clean_end().boxed(),
            Self::Disconnect => disconnect().boxed(),
            Self::ResetMidLine => reset_mid_line().boxed(),
            Self::ResetMidBody => reset_mid_body().boxed(),
            Self::Silence => silence().boxed(),
            Self::Trickle { bytes, every_ms } => trickle(size(bytes), ms(every_ms)).boxed(),
            Self::SlowReaderEvicted => slow_reader_evicted().boxed(),
            Self::Rechunk => rechunk().boxed(),
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
            Self::InitialEventsShuffled => initial_events_shuffled().boxed(),
            Self::ChangedDuringInitialEvents { lasting_ms } => {
                changed_during_initial_events(ms(lasting_ms)).boxed()
            }
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
            Self::Rollback { revisions } => rollback(revisions).boxed(),
            Self::VersionTooLarge { wait_ms } => version_too_large(ms(wait_ms)).boxed(),
            Self::Gone { form } => gone(form).boxed(),
            _ => return None,
        })
    }

    /// What it does, if it is about what is seen of the cluster's states and objects.
    fn to_what_is_seen(self) -> Option<NamedRule<Box<dyn Effect>>> {
        Some(match self {
            Self::StaleView {
                behind_revisions,
                quorum,
            } => match stale_view(behind_revisions) {
                rule if quorum => rule.and_quorum().boxed(),
                rule => rule.boxed(),
            },
            Self::LaggingReplica { lag_ms, quorum } => match lagging_replica(ms(lag_ms)) {
                rule if quorum => rule.and_quorum().boxed(),
                rule => rule.boxed(),
            },
            Self::TimeTravel {
                behind_revisions,
                quorum,
            } => match time_travel(behind_revisions) {
                rule if quorum => rule.and_quorum().boxed(),
                rule => rule.boxed(),
            },
            Self::Coalesce { window_ms } => coalesce(ms(window_ms)).boxed(),
            Self::Unobserved { lasting_ms } => unobserved(ms(lasting_ms)).boxed(),
            Self::DiscoveryUnavailable => discovery_unavailable().boxed(),
            Self::UnknownFields => unknown_fields().boxed(),
            Self::HugeObjects { bytes } => huge_objects(size(bytes)).boxed(),
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
            Self::ConnectionRefused { closed_ms } => {
                connection_refused().closing_for(ms(closed_ms)).boxed()
            }
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
}

fn size(bytes: u32) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What is checked for a [`FaultSpec`](super::super::FaultSpec) is taken as 500 where nobody has checked it.
fn status_code(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
