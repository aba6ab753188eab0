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
        let requested = requested.map(positive);
        let metadata = &pod["metadata"];
        if let Some(deleted) = metadata["deletionTimestamp"].as_str() {
            let left = metadata["deletionGracePeriodSeconds"].as_i64();
            let left = positive(left.unwrap_or_default());
            return match requested {
                _ if left == 0 => Self::None,
                Some(requested) if requested < left => {
                    Self::shortened(deleted, left, requested, now)
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
            requested => positive(requested),
        };
        Self::Seconds {
            deadline: after(now, seconds),
            seconds,
        }
    }

    /// Returns the earlier deadline of a pod whose grace period of `left` seconds is shortened to `requested`.
    ///
    /// The deadline does not move into the past. A kubelet still has to delete a pod whose shorter period has passed.
    fn shortened(deadline: &str, left: i64, requested: i64, now: Timestamp) -> Self {
        let Ok(deadline) = deadline.parse::<Timestamp>() else {
            return Self::None;
        };
        let deadline = after(deadline, requested - left);
        if deadline >= now {
            return Self::Seconds {
                deadline,
                seconds: requested,
            };
        }
        Self::Seconds {
            deadline: after(now, 0),
            seconds: requested.min(1),
        }
    }
}

/// Returns the period of a negative one, which counts as a second.
pub(super) fn positive(seconds: i64) -> i64 {
    if seconds < 0 { 1 } else { seconds }
}

/// In whole seconds, as objects write times.
pub(super) fn after(time: Timestamp, seconds: i64) -> Timestamp {
    let moved = time
        .checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX);
    Timestamp::from_second(moved.as_second()).unwrap_or(moved)
}
