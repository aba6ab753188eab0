//! Metrics of a named queue: client-go's, through the `metrics` facade.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use ::metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use super::{
    priority::Priority,
    queue::{Effect, UnfinishedItems},
};

/// Items that are queued now, a gauge with the labels `name` and `priority`.
pub const DEPTH: &str = "workqueue_depth";
/// Items that became in need of work, a counter.
pub const ADDS_TOTAL: &str = "workqueue_adds_total";
/// Seconds from then until a worker got the item, a histogram.
pub const QUEUE_DURATION_SECONDS: &str = "workqueue_queue_duration_seconds";
/// Seconds from then until it was done, a histogram.
pub const WORK_DURATION_SECONDS: &str = "workqueue_work_duration_seconds";
/// Seconds that the items in flight have taken so far, a gauge, as of the last refresh.
pub const UNFINISHED_WORK_SECONDS: &str = "workqueue_unfinished_work_seconds";
/// The longest of them, a gauge, as of the last refresh.
pub const LONGEST_RUNNING_PROCESSOR_SECONDS: &str = "workqueue_longest_running_processor_seconds";
/// Items that were added with a delay or a rate limit, a counter.
pub const RETRIES_TOTAL: &str = "workqueue_retries_total";

/// The upper bounds of the two histograms' buckets, in seconds, for the configuration of an exporter: client-go's.
pub const DURATION_BUCKETS_SECONDS: [f64; 10] =
    [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The interval at which the two gauges of work in flight are refreshed.
pub(super) const REFRESH_INTERVAL: Duration = Duration::from_millis(500);

/// The number of priorities that get a label of their own.
const PRIORITIES_MAX: usize = 25;
/// The label of the others, as controller-runtime calls it.
const PRIORITIES_EXCEEDED: &str = "exceeded_cardinality_limit";

#[derive(Debug)]
pub(super) struct Metrics {
    name: Arc<str>,
    adds: Counter,
    retries: Counter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished_work: Gauge,
    longest_running: Gauge,
    depth: BTreeMap<Priority, Depth>,
    depth_exceeded: Option<Depth>,
}

/// Counted up and down and never set, so that queues of one name add up.
#[derive(Debug)]
struct Depth {
    gauge: Gauge,
    len: u32,
}

// === impl Metrics ===

impl Metrics {
    pub(super) fn new(name: Arc<str>) -> Self {
        describe();
        let label = || Arc::clone(&name);
        Self {
            adds: counter!(ADDS_TOTAL, "name" => label()),
            retries: counter!(RETRIES_TOTAL, "name" => label()),
            queue_duration: histogram!(QUEUE_DURATION_SECONDS, "name" => label()),
            work_duration: histogram!(WORK_DURATION_SECONDS, "name" => label()),
            unfinished_work: gauge!(UNFINISHED_WORK_SECONDS, "name" => label()),
            longest_running: gauge!(LONGEST_RUNNING_PROCESSOR_SECONDS, "name" => label()),
            depth: BTreeMap::new(),
            depth_exceeded: None,
            name,
        }
    }

    pub(super) fn record(&mut self, effect: Effect) {
        match effect {
            Effect::Added => self.adds.increment(1),
            Effect::Retried => self.retries.increment(1),
            Effect::Queued(priority) => self.depth(priority).up(),
            Effect::Unqueued(priority) => self.depth(priority).down(),
            Effect::Started { waited } => self.queue_duration.record(waited),
            Effect::Finished { worked } => self.work_duration.record(worked),
        }
    }

    pub(super) fn refresh(&self, unfinished: UnfinishedItems) {
        self.unfinished_work.set(unfinished.total);
        self.longest_running.set(unfinished.longest);
    }

    fn depth(&mut self, priority: Priority) -> &mut Depth {
        let name = &self.name;
        if self.depth.contains_key(&priority) || self.depth.len() < PRIORITIES_MAX {
            let make = || Depth::new(name, priority.to_string());
            self.depth.entry(priority).or_insert_with(make)
        } else {
            let make = || Depth::new(name, PRIORITIES_EXCEEDED.to_owned());
            self.depth_exceeded.get_or_insert_with(make)
        }
    }
}

impl Drop for Metrics {
    /// A queue that is gone is empty and does nothing.
    fn drop(&mut self) {
        for depth in self.depth.values().chain(&self.depth_exceeded) {
            depth.gauge.decrement(depth.len);
        }
        self.refresh(UnfinishedItems::default());
    }
}

// === impl Depth ===

impl Depth {
    fn new(name: &Arc<str>, priority: String) -> Self {
        Self {
            gauge: gauge!(DEPTH, "name" => Arc::clone(name), "priority" => priority),
            len: 0,
        }
    }

    fn up(&mut self) {
        self.len += 1;
        self.gauge.increment(1);
    }

    fn down(&mut self) {
        self.len -= 1;
        self.gauge.decrement(1);
    }
}

fn describe() {
    use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

    describe_gauge!(DEPTH, Unit::Count, "items that are queued now");
    describe_counter!(ADDS_TOTAL, Unit::Count, "items that became in need of work");
    describe_histogram!(
        QUEUE_DURATION_SECONDS,
        Unit::Seconds,
        "time from the add of an item until a worker got it"
    );
    describe_histogram!(
        WORK_DURATION_SECONDS,
        Unit::Seconds,
        "time from when a worker got an item until it was done"
    );
    describe_gauge!(
        UNFINISHED_WORK_SECONDS,
        Unit::Seconds,
        "time spent so far on the items in flight, summed"
    );
    describe_gauge!(
        LONGEST_RUNNING_PROCESSOR_SECONDS,
        Unit::Seconds,
        "time spent so far on the item that is longest in flight"
    );
    describe_counter!(
        RETRIES_TOTAL,
        Unit::Count,
        "items that were added with a delay or a rate limit"
    );
}
