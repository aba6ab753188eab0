//! Options of a reflector.

use std::time::Duration;

use crate::backoff::BackoffOptions;

/// Options of a reflector: its requests and their time limits.
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
    /// Requests the present state as the first events of a watch (WatchList), which costs the server far less than a
    /// list; true. A server that cannot is noticed, and asked for a list instead.
    pub streaming_lists: bool,
    /// For how long it is remembered that the server cannot stream lists; 10 min.
    pub streaming_fallback_memory: Duration,
    /// The time limit of a streaming list; 2 min.
    pub initial_events_timeout: Duration,
    /// The longest silence of a streaming list; 30 s.
    pub initial_events_silence: Duration,
    /// The time limit of one page of a list, to the end of its body; 2 min.
    pub list_timeout: Duration,
    /// The time until the response to a watch has to begin; 30 s.
    pub header_timeout: Duration,
    /// Each watch asks the server to end it after a time drawn between this and its double, so that watches do not all
    /// restart at once; 5 min. At least 1 s.
    #[doc(alias = "MinWatchTimeout")]
    pub watch_timeout_min: Duration,
    /// The time for which a watch may outlast its requested timeout; 30 s.
    pub watch_timeout_slack: Duration,
    /// The longest silence of a watch, bookmarks included, before it is reopened; 3 min. A server sends a bookmark
    /// about once a minute.
    pub watch_silence: Duration,
    /// The lifetime that proves the server healthy if a watch brings nothing; 30 s. Only then, or when changes came,
    /// delays begin again with the shortest.
    pub healthy_after: Duration,
    /// The delays before something that failed is tried again.
    pub backoff: BackoffOptions,
    /// Pauses for a resource that the server does not have or give any more; `None` to ask for ever, at the longest
    /// delay of the backoff.
    pub pause: Option<PauseOptions>,
    /// The seed of all jitter; `None` to draw one from the operating system when the reflector begins to run, so that no two
    /// copies of a program come back to a server at the same moments. Equal seeds give equal delays for one resource.
    pub seed: Option<u64>,
}

/// Options of a pause: its condition, and the treatment of the cache.
///
/// A resource whose CRD was removed (404), or for which the permission was withdrawn (403), may be gone permanently.
/// After several such responses in a row, the reflector pauses: it sends a probe now and then, and no other request.
/// The pause is logged and shown once; the first probe that succeeds ends it, and so does
/// [`ReflectorControl::resume`](super::ReflectorControl::resume).
///
/// Begin with [`PauseOptions::default`] and change what you need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PauseOptions {
    /// The number of consecutive denials that cause a pause; 3, which is about 5 s. At least 1. A server that has just
    /// begun may not know all of its resources.
    pub after_failures: u32,
    /// Each probe comes after a time drawn between this and its double; 2 min. At least 1 s.
    pub probe_period: Duration,
    /// The treatment of the objects of a resource that the server no longer has.
    pub when_removed: WhenRemoved,
}

/// The treatment of the objects of a resource that the server no longer has (404).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenRemoved {
    /// The store keeps what it held. When the resource comes back, a list reports the differences.
    #[default]
    KeepStore,
    /// The store is emptied: handlers receive a tombstone for each object.
    EmptyStore,
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
            pause: Some(PauseOptions::default()),
            seed: None,
        }
    }
}

impl ReflectorOptions {
    /// Lists with at most `page_size` items in one page of a list; at least 1.
    #[doc(alias = "WatchListPageSize")]
    #[must_use]
    pub fn with_page_size(mut self, page_size: u32) -> Self {
        self.page_size = Some(page_size.max(1));
        self
    }

    /// Requests streaming lists (WatchList), or does not.
    #[must_use]
    pub fn with_streaming_lists(mut self, streaming_lists: bool) -> Self {
        self.streaming_lists = streaming_lists;
        self
    }

    /// Sets the time for which it is remembered that the server cannot stream lists.
    #[must_use]
    pub fn with_streaming_fallback_memory(mut self, memory: Duration) -> Self {
        self.streaming_fallback_memory = memory;
        self
    }

    /// Gives up a streaming list that takes longer.
    #[must_use]
    pub fn with_initial_events_timeout(mut self, timeout: Duration) -> Self {
        self.initial_events_timeout = timeout;
        self
    }

    /// Gives up a streaming list that is silent for longer.
    #[must_use]
    pub fn with_initial_events_silence(mut self, silence: Duration) -> Self {
        self.initial_events_silence = silence;
        self
    }

    /// Gives up a page of a list that takes longer.
    #[must_use]
    pub fn with_list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// Gives up a watch whose response takes longer to begin.
    #[must_use]
    pub fn with_header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// Asks the server to end each watch after a time between `min` and its double.
    #[must_use]
    pub fn with_watch_timeout_min(mut self, min: Duration) -> Self {
        self.watch_timeout_min = min;
        self
    }

    /// Gives up a watch that lasts longer than its requested timeout plus `slack`.
    #[must_use]
    pub fn with_watch_timeout_slack(mut self, slack: Duration) -> Self {
        self.watch_timeout_slack = slack;
        self
    }

    /// Sets the silence after which a watch is reopened.
    #[must_use]
    pub fn with_watch_silence(mut self, silence: Duration) -> Self {
        self.watch_silence = silence;
        self
    }

    /// Sets the lifetime of a watch that proves the server healthy.
    #[must_use]
    pub fn with_healthy_after(mut self, lifetime: Duration) -> Self {
        self.healthy_after = lifetime;
        self
    }

    /// Waits as `backoff` says before it tries again.
    #[must_use]
    pub fn with_backoff(mut self, backoff: BackoffOptions) -> Self {
        self.backoff = backoff;
        self
    }

    /// Pauses as `pause` says.
    #[must_use]
    pub fn with_pause(mut self, pause: PauseOptions) -> Self {
        self.pause = Some(pause);
        self
    }

    /// Never pauses by itself.
    #[must_use]
    pub fn without_pause(mut self) -> Self {
        self.pause = None;
        self
    }

    /// Draws all jitter from `seed`.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

// === impl PauseOptions ===

impl Default for PauseOptions {
    fn default() -> Self {
        Self {
            after_failures: 3,
            probe_period: Duration::from_mins(2),
            when_removed: WhenRemoved::default(),
        }
    }
}

impl PauseOptions {
    /// Pauses after `count` refusals in a row; at least 1.
    #[must_use]
    pub fn with_after_failures(mut self, count: u32) -> Self {
        self.after_failures = count.max(1);
        self
    }

    /// Probes after a time between `period` and its double; at least 1 s.
    #[must_use]
    pub fn with_probe_period(mut self, period: Duration) -> Self {
        self.probe_period = period;
        self
    }

    /// Sets the treatment of the objects of a resource that is gone.
    #[must_use]
    pub fn with_when_removed(mut self, when_removed: WhenRemoved) -> Self {
        self.when_removed = when_removed;
        self
    }
}
