//! Options of what waits and watches.

use std::time::Duration;

use crate::backoff::BackoffOptions;

/// How a server is asked, and how long its answers are waited for.
///
/// Begin with [`WatchOptions::default`] and change what you need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// The least time between the beginnings of two watches; 1 s.
    pub start_interval_min: Duration,
    /// How long one page of a list may take, to the end of its body; 2 min.
    pub list_timeout: Duration,
    /// The most items in one page of a list; 500. `None` for all in one.
    pub page_size: Option<u32>,
    /// How long the response to a watch may take to begin; 30 s.
    pub header_timeout: Duration,
    /// Each watch asks the server to end it after a time drawn between this and its double; 5 min. At least 1 s.
    pub watch_timeout_min: Duration,
    /// How long after the time it was asked to end a watch may go on, before it is given up; 30 s.
    pub watch_timeout_slack: Duration,
    /// How long a watch may be silent, bookmarks included, before it is opened anew; 3 min.
    pub watch_silence: Duration,
    /// How long a watch must live to prove the server healthy, if it brings nothing; 30 s. Only then, or when changes came,
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
