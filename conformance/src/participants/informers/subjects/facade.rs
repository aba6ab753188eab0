//! The metrics of an informer by the `metrics` facade, each compared with what the informer tells in other ways.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use informer::{ResourceVersion, metrics as names};
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

use crate::trace::Counts;

/// A watch that lives for less, and brings nothing, counts as short.
const SHORT: Duration = Duration::from_secs(1);
/// A gauge shows the last digits of a version.
const VERSION_MODULUS: u64 = 1_000_000_000_000_000;

/// Records the series of the informers that are built through it.
#[derive(Clone, Debug, Default)]
pub(super) struct Facade(Arc<Mutex<Series>>);

#[derive(Debug, Default)]
struct Series {
    /// Counters, and gauges as the bits of their values.
    numbers: BTreeMap<String, Arc<AtomicU64>>,
    distributions: BTreeMap<String, Arc<Distribution>>,
}

/// The values of a histogram: their number and their sum.
#[derive(Debug, Default)]
struct Distribution(Mutex<(u64, f64)>);

/// The lists and watches that an informer has reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportedRequests {
    lists: (u64, Duration, u64),
    watches: (u64, Duration, u64),
    short_watches: u64,
    last_version: u64,
}

// === impl Facade ===

impl Facade {
    /// Compares the series with what the informer tells of itself otherwise, while it shows `version`.
    pub(super) fn differences(
        &self,
        counts: &Counts,
        version: &ResourceVersion,
        reported: &ReportedRequests,
    ) -> Vec<(&'static str, String)> {
        let mut differences = Vec::new();
        let mut expect = |name: &'static str, want: f64, got: f64| {
            if (want - got).abs() > 1e-6 {
                differences.push((name, format!("want {want}, got {got}")));
            }
        };
        let watches = counts.watches + counts.streaming_lists;
        for (name, want) in [
            (names::LISTS_TOTAL, counts.lists),
            (names::WATCHES_TOTAL, watches),
            (names::FAILURES_TOTAL, counts.failures),
            (names::SHORT_WATCHES_TOTAL, reported.short_watches),
        ] {
            expect(name, float(want), float(self.number(name)));
        }
        let revision = version.as_str().parse().unwrap_or(0);
        for (name, want) in [
            (names::STORE_OBJECTS, counts.objects),
            (names::STORE_RESOURCE_VERSION, revision % VERSION_MODULUS),
            (
                names::LAST_RESOURCE_VERSION,
                reported.last_version % VERSION_MODULUS,
            ),
        ] {
            expect(name, float(want), f64::from_bits(self.number(name)));
        }
        for (durations, sizes, (count, lasted, size)) in [
            (
                names::LIST_DURATION_SECONDS,
                names::ITEMS_PER_LIST,
                reported.lists,
            ),
            (
                names::WATCH_DURATION_SECONDS,
                names::ITEMS_PER_WATCH,
                reported.watches,
            ),
        ] {
            for (name, sum) in [(durations, lasted.as_secs_f64()), (sizes, float(size))] {
                let (got_count, got_sum) = self.distribution(name);
                expect(name, float(count), float(got_count));
                expect(name, sum, got_sum);
            }
        }
        differences
    }

    fn number(&self, name: &str) -> u64 {
        let series = self.series();
        let number = series.numbers.get(name);
        number.map_or(0, |number| number.load(Ordering::Relaxed))
    }

    fn distribution(&self, name: &str) -> (u64, f64) {
        let series = self.series();
        let values = series.distributions.get(name);
        values.map_or((0, 0.0), |values| *values.values())
    }

    fn new_number(&self, key: &Key) -> Arc<AtomicU64> {
        let mut series = self.series();
        Arc::clone(series.numbers.entry(key.name().to_owned()).or_default())
    }

    fn series(&self) -> MutexGuard<'_, Series> {
        self.0.lock().expect("no holder panics")
    }
}

impl Recorder for Facade {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.new_number(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.new_number(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let mut series = self.series();
        let values = series.distributions.entry(key.name().to_owned());
        Histogram::from_arc(Arc::clone(values.or_default()))
    }
}

// === impl Distribution ===

impl Distribution {
    fn values(&self) -> MutexGuard<'_, (u64, f64)> {
        self.0.lock().expect("no holder panics")
    }
}

impl HistogramFn for Distribution {
    fn record(&self, value: f64) {
        let mut values = self.values();
        values.0 += 1;
        values.1 += value;
    }
}

// === impl ReportedRequests ===

impl ReportedRequests {
    pub(super) fn note_listed(&mut self, version: u64, item_count: u64, took: Duration) {
        self.lists.0 += 1;
        self.lists.1 += took;
        self.lists.2 += item_count;
        self.last_version = version;
    }

    pub(super) fn note_watched(&mut self, item_count: u64, took: Duration) {
        self.watches.0 += 1;
        self.watches.1 += took;
        self.watches.2 += item_count;
        self.short_watches += u64::from(item_count == 0 && took < SHORT);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a run, and versions of as many digits as a float has"
)]
fn float(count: u64) -> f64 {
    count as f64
}
