//! Options of a reflector.

use std::time::Duration;

use crate::backoff::BackoffOptions;

/// How a reflector asks, and how long it waits.
///
/// Begin with [`ReflectorOptions::default`] and change what you need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReflectorOptions {
    /// The most items in one page of a list.
    ///
    /// `None` leaves the choice to the reflector: 500 for a first list, and no limit for a relist at a known version, since
    /// the server then answers from its memory at once.
    pub page_size: Option<u32>,
    /// Whether to ask for the present state as the first events of a watch (WatchList), which costs the server far less
    /// than a list; true. A server that cannot is noticed, and asked for a list instead.
    pub streaming_lists: bool,
    /// For how long it is remembered that the server cannot stream lists; 10 min.
    pub streaming_fallback_memory: Duration,
    /// How long a streaming list may take; 2 min.
    pub initial_events_timeout: Duration,
    /// How long a streaming list may be silent; 30 s.
    pub initial_events_silence: Duration,
    /// How long one page of a list may take, to the end of its body; 2 min.
    pub list_timeout: Duration,
    /// How long the response to a watch may take to begin; 30 s.
    pub header_timeout: Duration,
    /// Each watch asks the server to end it after a time drawn between this and its double, so that watches do not all
    /// begin anew at once; 5 min. At least 1 s.
    #[doc(alias = "MinWatchTimeout")]
    pub watch_timeout_min: Duration,
    /// How long after the time it was asked to end a watch may go on, before it is given up; 30 s.
    pub watch_timeout_slack: Duration,
    /// How long a watch may be silent, bookmarks included, before it is opened anew; 3 min. A server sends a bookmark about
    /// once a minute.
    pub watch_silence: Duration,
    /// How long a watch must live to prove the server healthy, if it brings nothing; 30 s. Only then, or when changes came,
    /// delays begin again with the shortest.
    pub healthy_after: Duration,
    /// The delays before something that failed is tried again.
    pub backoff: BackoffOptions,
    /// The seed of all jitter. Equal seeds give equal delays for one resource: many copies of a program against one server
    /// should have different ones.
    pub seed: u64,
}

// === impl ReflectorOptions ===

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            page_size: None,
            streaming_lists: true,
            streaming_fallback_memory: Duration::from_mins(10),
            initial_events_timeout: Duration::from_mins(2),
            initial_events_silence: Duration::from_secs(30),
            list_timeout: Duration::from_mins(2),
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
