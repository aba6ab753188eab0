//! Which faults are drawn: all that a client meets which only reads, and that a correct one gets over.

use fakeserver::faults::{ErrorBody, GoneForm, ThrottleForm};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{FaultKind, swarm::pick};

/// One drawing a kind of fault. Negative controls are never drawn.
pub(super) const DRAWN: [fn(&mut ChaCha8Rng) -> FaultKind; 25] = [
    |_| FaultKind::CleanEnd,
    |_| FaultKind::Disconnect,
    |_| FaultKind::ResetMidLine,
    |_| FaultKind::Silence,
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
    |_| FaultKind::ConnectionRefused,
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
    |rng| FaultKind::Forbidden {
        flip_ms: pick(rng, &[None, Some(1_000), Some(10_000)]),
    },
    |_| FaultKind::ResourceGone,
    |_| FaultKind::WatchListIgnored,
    |_| FaultKind::WatchListRejected,
    |_| FaultKind::InitialEventsEndMissing,
];

/// Whether it is about streaming lists only, which are rare but at the beginning.
pub(super) fn is_about_streaming_lists(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::WatchListIgnored
            | FaultKind::WatchListRejected
            | FaultKind::EndBeforeInitialEventsEnd
            | FaultKind::InitialEventsEndMissing
    )
}
