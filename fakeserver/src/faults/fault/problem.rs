//! Parameters that make no sense.

use super::Fault;

/// The longest time that a parameter may name: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1_000;
/// How much larger an object can be made.
const PADDING_MAX_BYTES: u32 = 3 << 20;

// === impl Fault ===

impl Fault {
    /// Which of its parameters makes no sense, with why.
    pub(in crate::faults) fn problem(self) -> Option<(&'static str, String)> {
        let no_code =
            |code: u16, expected: &str| Some(("code", format!("{code} is not {expected}")));
        let times: &[(&'static str, u64)] = match self {
            Self::ServerError { code, .. } if !(400..600).contains(&code) => {
                return no_code(code, "from 400 to 599");
            }
            Self::Denied { code } if ![403, 422].contains(&code) => {
                return no_code(code, "403 or 422");
            }
            Self::HugeObjects { bytes } if bytes > PADDING_MAX_BYTES => {
                let why = format!("{bytes} is more than {PADDING_MAX_BYTES}");
                return Some(("bytes", why));
            }
            Self::Trickle { bytes: 0, .. } => {
                return Some(("bytes", "no bytes would come at all".to_owned()));
            }
            Self::Trickle { every_ms, .. } => &[("everyMs", every_ms)],
            Self::LaggingReplica { lag_ms, .. } => &[("lagMs", lag_ms)],
            Self::Coalesce { window_ms } => &[("windowMs", window_ms)],
            Self::Unobserved { lasting_ms } | Self::ChangedDuringInitialEvents { lasting_ms } => {
                &[("lastingMs", lasting_ms)]
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
