//! Which faults are drawn: all that a client meets which only reads, and that a correct one gets over.

use fakeserver::faults::{
    ChangedDuringInitialEvents, Coalesce, ConnectionRefused, ErrorBody, ExpiredStatus, Fault,
    Forbidden, Gone, GoneForm, HugeObjects, LaggingReplica, Latency, ServerError, StaleView,
    Throttle, ThrottleForm, TimeTravel, Trickle, Unobserved, VersionTooLarge,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::swarm::pick;

/// One drawing a kind of fault. Negative controls are never drawn.
pub(super) const DRAWN: [fn(&mut ChaCha8Rng) -> Fault; 38] = [
    |_| Fault::CleanEnd,
    |_| Fault::Disconnect,
    |_| Fault::ResetMidLine,
    |_| Fault::ResetMidBody,
    |_| Fault::Silence,
    |rng| {
        Fault::Trickle(Trickle {
            bytes: pick(rng, &[16, 200, 1_000]),
            every_ms: pick(rng, &[1, 50, 100]),
        })
    },
    |_| Fault::SlowReaderEvicted,
    |_| Fault::Rechunk,
    |_| Fault::GoAway,
    |_| Fault::EndBeforeInitialEventsEnd,
    |_| Fault::EndAfterBookmark,
    |_| Fault::Compact,
    |_| Fault::Expire,
    |_| Fault::ExpiredEvent,
    |rng| {
        Fault::ExpiredStatus(ExpiredStatus {
            replacement_token: rng.random_bool(0.7),
        })
    },
    |_| Fault::ExpiredRelist,
    |rng| {
        Fault::VersionTooLarge(VersionTooLarge {
            wait_ms: rng.random_range(0..=3_000),
        })
    },
    |rng| {
        Fault::Gone(Gone {
            form: pick(rng, &[GoneForm::Event, GoneForm::Status, GoneForm::Text]),
        })
    },
    |rng| {
        Fault::Throttle(Throttle {
            retry_after_seconds: rng.random_range(1..=20),
            form: pick(rng, &[ThrottleForm::Text, ThrottleForm::Status]),
        })
    },
    |rng| {
        Fault::ServerError(ServerError {
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
        })
    },
    |_| Fault::ConnectionRefused(ConnectionRefused { closed_ms: 0 }),
    |rng| {
        let request_ms = rng.random_range(1..=5_000);
        Fault::Latency(Latency {
            request_ms,
            frame_ms: request_ms / 10,
            jitter_ms: pick(rng, &[0, 0, request_ms / 2]),
        })
    },
    |_| Fault::Hang,
    |_| Fault::Unauthorized,
    |rng| {
        Fault::LaggingReplica(LaggingReplica {
            lag_ms: rng.random_range(10..10_000),
            quorum: false,
        })
    },
    |rng| {
        Fault::TimeTravel(TimeTravel {
            behind_revisions: rng.random_range(1..20),
            quorum: false,
        })
    },
    |rng| {
        Fault::StaleView(StaleView {
            behind_revisions: pick(rng, &[0, 0, 1, 5, 20]),
            quorum: false,
        })
    },
    |rng| {
        Fault::Coalesce(Coalesce {
            window_ms: pick(rng, &[10, 100, 1_000, 5_000]),
        })
    },
    |rng| {
        Fault::Unobserved(Unobserved {
            lasting_ms: pick(rng, &[10, 1_000, 10_000]),
        })
    },
    |_| Fault::UnknownFields,
    |rng| {
        Fault::HugeObjects(HugeObjects {
            bytes: pick(rng, &[1_000, 10_000, 100_000]),
        })
    },
    |rng| {
        Fault::Forbidden(Forbidden {
            flip_ms: pick(rng, &[None, Some(1_000), Some(10_000)]),
        })
    },
    |_| Fault::ResourceGone,
    |_| Fault::WatchListIgnored,
    |_| Fault::WatchListRejected,
    |_| Fault::InitialEventsEndMissing,
    |_| Fault::InitialEventsShuffled,
    |rng| {
        Fault::ChangedDuringInitialEvents(ChangedDuringInitialEvents {
            lasting_ms: rng.random_range(1..5_000),
        })
    },
];

/// Returns whether it concerns streaming lists only, which are rare but at the beginning.
pub(super) fn is_about_streaming_lists(kind: Fault) -> bool {
    matches!(
        kind,
        Fault::WatchListIgnored
            | Fault::WatchListRejected
            | Fault::EndBeforeInitialEventsEnd
            | Fault::InitialEventsEndMissing
            | Fault::InitialEventsShuffled
            | Fault::ChangedDuringInitialEvents(_)
    )
}
