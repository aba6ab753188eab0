//! Seeded bugs in the reflector's options: wrong limits and delays.

use std::time::Duration;

use informer::reflector::ReflectorOptions;

use super::Bug;

/// Practically never.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// The bugs of this seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionsBug {
    NoTimeLimits,
    SilenceTrusted,
    HealthyAtOnce,
    FlatBackoff,
    NoBackoff,
}

pub(super) const BUGS: &[(OptionsBug, &str, &str)] = &[
    (
        OptionsBug::NoTimeLimits,
        "no-time-limits",
        "requests have no time limit",
    ),
    (
        OptionsBug::SilenceTrusted,
        "silence-trusted",
        "silent streams have no time limit",
    ),
    (
        OptionsBug::HealthyAtOnce,
        "healthy-at-once",
        "the backoff is reset when a stream opens, before its first event",
    ),
    (
        OptionsBug::FlatBackoff,
        "flat-backoff",
        "delays do not grow from failure to failure",
    ),
    (
        OptionsBug::NoBackoff,
        "no-backoff",
        "failures are retried without delay",
    ),
];

// === impl Bug ===

impl Bug {
    /// Injects the bug into `options`, if it is one of this seam.
    pub fn inject(self, options: &mut ReflectorOptions) {
        let super::BugKind::Options(kind) = self.kind else {
            return;
        };
        match kind {
            OptionsBug::NoTimeLimits => {
                options.list_timeout = FOR_EVER;
                options.header_timeout = FOR_EVER;
            }
            OptionsBug::SilenceTrusted => {
                options.watch_silence = FOR_EVER;
                options.watch_timeout_slack = FOR_EVER;
            }
            OptionsBug::HealthyAtOnce => options.healthy_after = Duration::ZERO,
            OptionsBug::FlatBackoff => options.backoff.factor = 1.0,
            OptionsBug::NoBackoff => {
                options.backoff.initial = Duration::ZERO;
                options.backoff.max = Duration::ZERO;
            }
        }
    }
}
