//! Which faults are drawn: all that a client meets which only reads, and that a correct one gets over.

use fakeserver::faults::{ErrorBody, GoneForm, ThrottleForm};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{FaultKind, swarm::pick};

/// One drawing a kind of fault. Negative controls are never drawn.
pub(super) const DRAWN: [fn(&mut ChaCha8Rng) -> FaultKind; 38] = [
    |_| FaultKind::CleanEnd,
    |_| FaultKind::Disconnect,
    |_| FaultKind::ResetMidLine,
    |_| FaultKind::ResetMidBody,
    |_| FaultKind::Silence,
    |rng| FaultKind::Trickle {
        bytes: pick(rng, &[16, 200, 1_000]),
        every_ms: pick(rng, &[1, 50, 100]),
    },
    |_| FaultKind::SlowReaderEvicted,
    |_| FaultKind::Rechunk,
    |_| FaultKind::GoAway,
    |_| FaultKind::EndBeforeInitialEventsEnd,
    |_| FaultKind::EndAfterBookmark,
    |_| FaultKind::Compact,
    |_| FaultKind::Expire,
    |_| FaultKind::ExpiredEvent,
    |rng| FaultKind::ExpiredStatus {
        replacement_token: rng.random_bool(0.7),
    },
    |_| FaultKind::ExpiredRelist,
    |rng| FaultKind::VersionTooLarge {
        wait_ms: rng.random_range(0..=3_000),
    },
    |rng| FaultKind::Gone {
        form: pick(rng, &[GoneForm::Event, GoneForm::Status, GoneForm::Text]),
    },
    |rng| FaultKind::Throttle {
        retry_after_seconds: rng.random_range(1..=20),
        form: pick(rng, &[ThrottleForm::Text, ThrottleForm::Status]),
    },
    |rng| FaultKind::ServerError {
        code: pick(rng, &[500, 503, 504]),
        body: pick(
            rng,
            &[
                None,
                Some(ErrorBody::Status),
                Some(ErrorBody::Text),
                Some(ErrorBody::Html),
            ],
        ),
    },
    |_| FaultKind::ConnectionRefused { closed_ms: 0 },
    |rng| {
        let request_ms = rng.random_range(1..=5_000);
        FaultKind::Latency {
            request_ms,
            frame_ms: request_ms / 10,
            jitter_ms: pick(rng, &[0, 0, request_ms / 2]),
        }
    },
    |_| FaultKind::Hang,
    |_| FaultKind::Unauthorized,
    |rng| FaultKind::LaggingReplica {
        lag_ms: rng.random_range(10..10_000),
        quorum: false,
    },
    |rng| FaultKind::TimeTravel {
        behind_revisions: rng.random_range(1..20),
        quorum: false,
    },
    |rng| FaultKind::StaleView {
        behind_revisions: pick(rng, &[0, 0, 1, 5, 20]),
        quorum: false,
    },
    |rng| FaultKind::Coalesce {
        window_ms: pick(rng, &[10, 100, 1_000, 5_000]),
    },
    |rng| FaultKind::Unobserved {
        lasting_ms: pick(rng, &[10, 1_000, 10_000]),
    },
    |_| FaultKind::UnknownFields,
    |rng| FaultKind::HugeObjects {
        bytes: pick(rng, &[1_000, 10_000, 100_000]),
    },
    |rng| FaultKind::Forbidden {
        flip_ms: pick(rng, &[None, Some(1_000), Some(10_000)]),
    },
    |_| FaultKind::ResourceGone,
    |_| FaultKind::WatchListIgnored,
    |_| FaultKind::WatchListRejected,
    |_| FaultKind::InitialEventsEndMissing,
    |_| FaultKind::InitialEventsShuffled,
    |rng| FaultKind::ChangedDuringInitialEvents {
        lasting_ms: rng.random_range(1..5_000),
    },
];

/// Whether it is about streaming lists only, which are rare but at the beginning.
pub(super) fn is_about_streaming_lists(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::WatchListIgnored
            | FaultKind::WatchListRejected
            | FaultKind::EndBeforeInitialEventsEnd
            | FaultKind::InitialEventsEndMissing
            | FaultKind::InitialEventsShuffled
            | FaultKind::ChangedDuringInitialEvents { .. }
    )
}
