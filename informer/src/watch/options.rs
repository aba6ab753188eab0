//! Options of waits and watches.

use std::time::Duration;

use crate::{backoff::BackoffOptions, reflector::ReflectorOptions};

/// Options of requests, and their time limits.
///
/// Begin with [`WatchOptions::default`] and change what you need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// The least time between the beginnings of two watches; 1 s.
    pub start_interval_min: Duration,
    /// The time limit of one page of a list, to the end of its body; 2 min.
    pub list_timeout: Duration,
    /// The most items in one page of a list; 500. `None` for all in one.
    pub page_size: Option<u32>,
    /// The time until the response to a watch has to begin; 30 s.
    pub header_timeout: Duration,
    /// Each watch asks the server to end it after a time drawn between this and its double; 5 min. At least 1 s.
    pub watch_timeout_min: Duration,
    /// The time for which a watch may outlast its requested timeout; 30 s.
    pub watch_timeout_slack: Duration,
    /// The longest silence of a watch, bookmarks included, before it is reopened; 3 min.
    pub watch_silence: Duration,
    /// The lifetime that proves the server healthy if a watch brings nothing; 30 s. Only then, or when changes came,
    /// delays begin again with the shortest.
    pub healthy_after: Duration,
    /// The delays before something that failed is tried again.
    pub backoff: BackoffOptions,
    /// The seed of all jitter. Equal seeds give equal delays.
    pub seed: u64,
}

// === impl WatchOptions ===

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            start_interval_min: Duration::from_secs(1),
            list_timeout: Duration::from_mins(2),
            page_size: Some(500),
            header_timeout: Duration::from_secs(30),
            watch_timeout_min: Duration::from_mins(5),
            watch_timeout_slack: Duration::from_secs(30),
            watch_silence: Duration::from_mins(3),
            healthy_after: Duration::from_secs(30),
            backoff: BackoffOptions::default(),
            seed: 0,
        }
    }
}

impl WatchOptions {
    /// Returns the options of the reflector that does the work.
    pub(super) fn into_reflector(self) -> ReflectorOptions {
        let mut options = ReflectorOptions::default()
            .with_streaming_lists(false)
            .with_list_timeout(self.list_timeout)
            .with_header_timeout(self.header_timeout)
            .with_watch_timeout_min(self.watch_timeout_min)
            .with_watch_timeout_slack(self.watch_timeout_slack)
            .with_watch_silence(self.watch_silence)
            .with_healthy_after(self.healthy_after)
            .with_backoff(self.backoff)
            .without_pause()
            .with_seed(self.seed);
        options.page_size = self.page_size;
        options
    }
}
