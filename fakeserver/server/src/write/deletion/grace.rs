//! The grace period of pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The grace that a deletion leaves a pod.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grace {
    /// The object is no pod, or its grace period has ended: it can be deleted.
    None,
    /// The pod terminates already, and this deletion has no shorter grace period.
    Pending,
    Seconds {
        deadline: Timestamp,
        seconds: i64,
    },
}

// === impl Grace ===

impl Grace {
    pub(super) fn of_pod(pod: &Value, requested: Option<i64>, now: Timestamp) -> Self {
        let metadata = &pod["metadata"];
        if let Some(deleted) = metadata["deletionTimestamp"].as_str() {
            let left = metadata["deletionGracePeriodSeconds"]
                .as_i64()
                .unwrap_or_default();
            return match requested {
                _ if left == 0 => Self::None,
                Some(requested) if requested < left => {
                    Self::shortened(deleted, left, requested.max(0))
                }
                _ => Self::Pending,
            };
        }
        let spec = &pod["spec"];
        let is_running = spec["nodeName"]
            .as_str()
            .is_some_and(|node| !node.is_empty())
            && !matches!(
                pod["status"]["phase"].as_str(),
                Some("Succeeded" | "Failed")
            );
        let requested = requested
            .or_else(|| spec["terminationGracePeriodSeconds"].as_i64())
            .unwrap_or_default();
        let seconds = match requested {
            _ if !is_running => 0,
            requested if requested < 0 => 1,
            requested => requested,
        };
        Self::Seconds {
            deadline: after(now, seconds),
            seconds,
        }
    }

    /// Returns the earlier deadline of a pod whose grace period of `left` seconds is shortened to `requested`.
    fn shortened(deadline: &str, left: i64, requested: i64) -> Self {
        match deadline.parse::<Timestamp>() {
            Ok(deadline) => Self::Seconds {
                deadline: after(deadline, requested - left),
                seconds: requested,
            },
            Err(_) => Self::None,
        }
    }
}

/// In whole seconds, as objects write times.
pub(super) fn after(time: Timestamp, seconds: i64) -> Timestamp {
    let moved = time
        .checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX);
    Timestamp::from_second(moved.as_second()).unwrap_or(moved)
}
