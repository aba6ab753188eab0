//! Short time limits of an informer: in real time, a run that lasts less than a second cannot wait for the usual ones.

use std::time::Duration;

use informer::reflector::{BackoffOptions, ReflectorOptions};

/// Shortens all waits and time limits, so that an informer recovers from any fault within about a second.
pub(super) fn hurry(options: &mut ReflectorOptions) {
    options.initial_events_timeout = Duration::from_secs(2);
    options.initial_events_silence = Duration::from_millis(500);
    options.list_timeout = Duration::from_secs(2);
    options.header_timeout = Duration::from_secs(1);
    options.watch_silence = Duration::from_millis(500);
    options.watch_timeout_slack = Duration::from_millis(500);
    options.healthy_after = Duration::from_millis(100);
    options.streaming_fallback_memory = Duration::from_millis(500);
    options.backoff = BackoffOptions::default()
        .with_initial(Duration::from_millis(10))
        .with_max(Duration::from_millis(100))
        .with_retry_after_max(Duration::from_millis(100));
    // The shortest pause is longer than a run.
    options.pause = None;
}
