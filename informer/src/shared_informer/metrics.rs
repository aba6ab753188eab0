//! Metrics of an informer, by the `metrics` facade. Their documentation is the page of [`crate::metrics`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ::metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::{
    object::ResourceVersion,
    reflector::{Failure, ListSummary, ReflectorObserver, Request, WatchSummary},
};

/// Pages of lists that were asked for, a counter.
pub const LISTS_TOTAL: &str = "reflector_lists_total";
/// Seconds from the first page to the last of a list, a histogram.
pub const LIST_DURATION_SECONDS: &str = "reflector_list_duration_seconds";
/// Objects in a list, a histogram.
pub const ITEMS_PER_LIST: &str = "reflector_items_per_list";
/// Watches that were asked for, a counter.
pub const WATCHES_TOTAL: &str = "reflector_watches_total";
/// Watches that ended within a second and brought nothing, a counter.
pub const SHORT_WATCHES_TOTAL: &str = "reflector_short_watches_total";
/// Seconds that a watch lived, a histogram.
pub const WATCH_DURATION_SECONDS: &str = "reflector_watch_duration_seconds";
/// Events and bookmarks of a watch, a histogram.
pub const ITEMS_PER_WATCH: &str = "reflector_items_per_watch";
/// The version of the last whole state, a gauge.
pub const LAST_RESOURCE_VERSION: &str = "reflector_last_resource_version";
/// Requests and streams that failed, a counter.
pub const FAILURES_TOTAL: &str = "reflector_failures_total";
/// Changes that wait to be applied, a gauge.
pub const QUEUED_ITEMS: &str = "informer_queued_items";
/// Seconds that it took to apply a batch, a histogram.
pub const PROCESSING_LATENCY_SECONDS: &str = "informer_processing_latency_seconds";
/// The version at which the cache stands, a gauge.
pub const STORE_RESOURCE_VERSION: &str = "informer_store_resource_version";
/// Objects in the cache, a gauge.
pub const STORE_OBJECTS: &str = "informer_store_objects";
/// Objects and events that the server sent although they are outside of the informer's shard, a counter.
pub const OUT_OF_SHARD_TOTAL: &str = "informer_out_of_shard_total";

/// The upper bounds of the buckets of [`PROCESSING_LATENCY_SECONDS`], for the configuration of an exporter:
/// client-go's.
pub const PROCESSING_LATENCY_BUCKETS_SECONDS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// A watch that lives for less is short, if it brings nothing.
const SHORT: Duration = Duration::from_secs(1);
/// Ten to the number of digits that a gauge holds exactly.
const VERSION_MODULUS: u64 = 1_000_000_000_000_000;

/// The series of one informer.
#[derive(Debug)]
pub(super) struct Metrics {
    lists: Counter,
    list_duration: Histogram,
    items_per_list: Histogram,
    watches: Counter,
    short_watches: Counter,
    watch_duration: Histogram,
    items_per_watch: Histogram,
    last_version: Gauge,
    failures: Counter,
    queued_items: Gauge,
    processing_latency: Histogram,
    store_version: Gauge,
    store_objects: Gauge,
    /// The series of an informer of a shard, and what it has counted.
    out_of_shard: Option<(Counter, AtomicU64)>,
}

/// The state of the cache and its queue after a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplyMetrics<'a> {
    pub(super) took: Duration,
    pub(super) queued_items: u64,
    pub(super) objects: usize,
    pub(super) version: &'a ResourceVersion,
    pub(super) out_of_shard: u64,
}

// === impl Metrics ===

impl Metrics {
    pub(super) fn new(name: &Arc<str>, resource: &Arc<str>, has_shard: bool) -> Self {
        describe();
        let labels = [
            ("name", Arc::clone(name)),
            ("resource", Arc::clone(resource)),
        ];
        Self {
            lists: counter!(LISTS_TOTAL, &labels),
            list_duration: histogram!(LIST_DURATION_SECONDS, &labels),
            items_per_list: histogram!(ITEMS_PER_LIST, &labels),
            watches: counter!(WATCHES_TOTAL, &labels),
            short_watches: counter!(SHORT_WATCHES_TOTAL, &labels),
            watch_duration: histogram!(WATCH_DURATION_SECONDS, &labels),
            items_per_watch: histogram!(ITEMS_PER_WATCH, &labels),
            last_version: gauge!(LAST_RESOURCE_VERSION, &labels),
            failures: counter!(FAILURES_TOTAL, &labels),
            queued_items: gauge!(QUEUED_ITEMS, &labels),
            processing_latency: histogram!(PROCESSING_LATENCY_SECONDS, &labels),
            store_version: gauge!(STORE_RESOURCE_VERSION, &labels),
            store_objects: gauge!(STORE_OBJECTS, &labels),
            out_of_shard: has_shard
                .then(|| (counter!(OUT_OF_SHARD_TOTAL, &labels), AtomicU64::default())),
        }
    }

    /// A batch was applied.
    pub(super) fn note_applied(&self, applying: ApplyMetrics<'_>) {
        self.processing_latency.record(applying.took);
        self.queued_items.set(float(applying.queued_items));
        self.store_objects.set(float(applying.objects as u64));
        self.store_version.set(version_in_short(applying.version));
        if let Some((series, counted)) = &self.out_of_shard {
            let before = counted.swap(applying.out_of_shard, Ordering::Relaxed);
            series.increment(applying.out_of_shard.saturating_sub(before));
        }
    }
}

impl ReflectorObserver for Metrics {
    fn requested(&self, request: Request) {
        match request {
            Request::List => self.lists.increment(1),
            Request::StreamingList | Request::Watch => self.watches.increment(1),
        }
    }

    fn listed(&self, list: ListSummary<'_>) {
        self.list_duration.record(list.duration);
        self.items_per_list.record(float(list.items));
        self.last_version
            .set(version_in_short(list.resource_version));
    }

    fn watched(&self, watch: WatchSummary) {
        self.watch_duration.record(watch.duration);
        self.items_per_watch.record(float(watch.items));
        if watch.items == 0 && watch.duration < SHORT {
            self.short_watches.increment(1);
        }
    }

    fn failed(&self, _failure: &Failure<'_>) {
        self.failures.increment(1);
    }
}

impl Drop for Metrics {
    /// An informer that is gone holds nothing.
    fn drop(&mut self) {
        for gauge in [
            &self.last_version,
            &self.queued_items,
            &self.store_version,
            &self.store_objects,
        ] {
            gauge.set(0.0);
        }
    }
}

/// The last 15 digits of a version; zero if it is no number.
pub(super) fn version_in_short(version: &ResourceVersion) -> f64 {
    let digits = version.as_str();
    let tail = digits
        .get(digits.len().saturating_sub(18)..)
        .unwrap_or_default();
    float(tail.parse::<u64>().unwrap_or_default() % VERSION_MODULUS)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for so large a count the nearest double is exact enough"
)]
fn float(count: u64) -> f64 {
    count as f64
}

fn describe() {
    use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

    describe_counter!(
        LISTS_TOTAL,
        Unit::Count,
        "pages of lists that were asked for"
    );
    describe_histogram!(
        LIST_DURATION_SECONDS,
        Unit::Seconds,
        "time from the first page to the last of a list"
    );
    describe_histogram!(ITEMS_PER_LIST, Unit::Count, "objects in a list");
    describe_counter!(WATCHES_TOTAL, Unit::Count, "watches that were asked for");
    describe_counter!(
        SHORT_WATCHES_TOTAL,
        Unit::Count,
        "watches that ended within a second and brought nothing"
    );
    describe_histogram!(
        WATCH_DURATION_SECONDS,
        Unit::Seconds,
        "how long a watch lived"
    );
    describe_histogram!(
        ITEMS_PER_WATCH,
        Unit::Count,
        "events and bookmarks of a watch"
    );
    describe_gauge!(LAST_RESOURCE_VERSION, "the version of the last whole state");
    describe_counter!(
        FAILURES_TOTAL,
        Unit::Count,
        "requests and streams that failed"
    );
    describe_gauge!(QUEUED_ITEMS, Unit::Count, "changes that wait to be applied");
    describe_histogram!(
        PROCESSING_LATENCY_SECONDS,
        Unit::Seconds,
        "time it took to apply a batch"
    );
    describe_gauge!(
        STORE_RESOURCE_VERSION,
        "the version at which the cache stands"
    );
    describe_gauge!(STORE_OBJECTS, Unit::Count, "objects in the cache");
    describe_counter!(
        OUT_OF_SHARD_TOTAL,
        Unit::Count,
        "objects and events that the server sent although they are outside of the shard"
    );
}
