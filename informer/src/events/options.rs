//! Options of an event recorder.

use std::time::Duration;

use crate::leader_election::WallClock;

/// The limits of an event recorder.
///
/// Begin with [`EventRecorderOptions::default`], client-go's values, and change what you need.
#[doc(alias = "CorrelatorOptions")]
#[doc(alias = "EventCorrelator")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventRecorderOptions {
    /// The copy of the program that reports, such as the name of its pod; empty. It becomes `reportingInstance` and
    /// `source.host`.
    pub instance: String,
    /// The number of similar events, which differ only by their messages, from which on they are combined; 10. The tenth is
    /// the first that is combined. Less than 1 counts as 1.
    #[doc(alias = "EventAggregator")]
    #[doc(alias = "MaxEvents")]
    pub aggregate_from: usize,
    /// The time without a similar event after which the count begins again; 10 min.
    #[doc(alias = "MaxIntervalInSeconds")]
    pub aggregate_interval: Duration,
    /// The number of events of one type about one object that are written at once; 25. With 0, nothing is written.
    #[doc(alias = "EventSourceObjectSpamFilter")]
    #[doc(alias = "BurstSize")]
    pub burst: u32,
    /// The time after which one more is written; 5 min. With 0, there is no limit.
    pub refill_interval: Duration,
    /// The number of events, of groups of similar events, and of objects that are remembered, each; 4,096. The one that was not
    /// used for longest is forgotten first. Less than 1 counts as 1.
    #[doc(alias = "LRUCacheSize")]
    pub remembered_max: usize,
    /// The number of events that wait to be written; 1,000. Others are dropped. Less than 1 counts as 1.
    pub queue_max: usize,
    /// The number of attempts to write an event; 12. Less than 1 counts as 1.
    pub tries_max: u32,
    /// The pause between two attempts; 10 s. The first is a random part of it.
    pub retry_delay: Duration,
    /// The time limit of one request; 30 s.
    pub request_timeout: Duration,
    /// The time in which a recorder that is shut down, or dropped, writes what is queued; 10 s.
    pub shutdown_timeout: Duration,
    /// The time of day that events show.
    pub clock: WallClock,
    /// The seed of the pauses. `None` draws one, which no other process has.
    pub seed: Option<u64>,
}

impl Default for EventRecorderOptions {
    fn default() -> Self {
        Self {
            instance: String::new(),
            aggregate_from: 10,
            aggregate_interval: Duration::from_mins(10),
            burst: 25,
            refill_interval: Duration::from_mins(5),
            remembered_max: 4096,
            queue_max: 1000,
            tries_max: 12,
            retry_delay: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
            clock: WallClock::system(),
            seed: None,
        }
    }
}
