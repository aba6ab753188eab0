//! What a reflector waits for, wrongly chosen.

use std::time::Duration;

use informer::reflector::ReflectorOptions;

use super::Bug;

/// As good as never.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    NoTimeLimits,
    SilenceTrusted,
    HealthyAtOnce,
    FlatBackoff,
    NoBackoff,
}

pub(super) const MISTAKES: &[(Mistake, &str, &str)] = &[
    (
        Mistake::NoTimeLimits,
        "no-time-limits",
        "a request without an answer is waited for, however long that takes",
    ),
    (
        Mistake::SilenceTrusted,
        "silence-trusted",
        "a stream that fell silent is waited for, however long that takes",
    ),
    (
        Mistake::HealthyAtOnce,
        "healthy-at-once",
        "the backoff begins anew as soon as a stream is open, before it has brought anything",
    ),
    (
        Mistake::FlatBackoff,
        "flat-backoff",
        "delays do not grow from failure to failure",
    ),
    (
        Mistake::NoBackoff,
        "no-backoff",
        "what failed is tried again without delay",
    ),
];

// === impl Bug ===

impl Bug {
    /// Spoils options, if that is what this bug is about.
    pub fn spoil(self, options: &mut ReflectorOptions) {
        let super::Mistake::Options(mistake) = self.mistake else {
            return;
        };
        match mistake {
            Mistake::NoTimeLimits => {
                options.list_timeout = FOR_EVER;
                options.header_timeout = FOR_EVER;
            }
            Mistake::SilenceTrusted => {
                options.watch_silence = FOR_EVER;
                options.watch_timeout_slack = FOR_EVER;
            }
            Mistake::HealthyAtOnce => options.healthy_after = Duration::ZERO,
            Mistake::FlatBackoff => options.backoff.factor = 1.0,
            Mistake::NoBackoff => {
                options.backoff.initial = Duration::ZERO;
                options.backoff.max = Duration::ZERO;
            }
        }
    }
}
