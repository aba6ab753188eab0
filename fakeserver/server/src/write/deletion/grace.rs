//! The grace period of pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The grace that a deletion leaves a pod.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grace {
    /// The object is no pod, or has no grace period left: the delete continues.
    None,
    /// It is stopping already, and this delete would not make it stop earlier.
    Pending,
    Seconds {
        deadline: Timestamp,
        seconds: i64,
    },
}

// === impl Grace ===

impl Grace {
    pub(super) fn of_pod(pod: &Value, asked: Option<i64>, now: Timestamp) -> Self {
        let metadata = &pod["metadata"];
        if let Some(deleted) = metadata["deletionTimestamp"].as_str() {
            let left = metadata["deletionGracePeriodSeconds"]
                .as_i64()
                .unwrap_or_default();
            return match asked {
                _ if left == 0 => Self::None,
                Some(asked) if asked < left => Self::shortened(deleted, left, asked.max(0)),
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
        let asked = asked
            .or_else(|| spec["terminationGracePeriodSeconds"].as_i64())
            .unwrap_or_default();
        let seconds = match asked {
            _ if !is_running => 0,
            asked if asked < 0 => 1,
            asked => asked,
        };
        Self::Seconds {
            deadline: after(now, seconds),
            seconds,
        }
    }

    /// The deadline of a pod that was to have `left` seconds, and now has `asked`.
    fn shortened(deadline: &str, left: i64, asked: i64) -> Self {
        match deadline.parse::<Timestamp>() {
            Ok(deadline) => Self::Seconds {
                deadline: after(deadline, asked - left),
                seconds: asked,
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
