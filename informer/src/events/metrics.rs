//! Metrics of a recorder, through the `metrics` facade. client-go has none.
//!
//! | name | kind | unit | what it counts | further labels |
//! |---|---|---|---|---|
//! | [`EVENTS_TOTAL`] | counter | events | events that a recorder received | |
//! | [`WRITES_TOTAL`] | counter | events | events that the server has, as objects or as counts | |
//! | [`DROPPED_TOTAL`] | counter | events | events that are not written | `reason` |
//! | [`FAILURES_TOTAL`] | counter | requests | requests that failed, also those that were tried again | |
//!
//! Each has the label `component`, the name of the recorder. Events are written or dropped once; those that wait are the
//! difference.
//!
//! | `reason` | why events are dropped |
//! |---|---|
//! | `queue_full` | the server is slower than the events come |
//! | `limited` | there are too many about one object; they show in the count of a later one |
//! | `refused` | the server does not take them, as in a namespace that is being deleted |
//! | `failed` | no attempt succeeded |
//! | `shutdown` | the recorder was shut down before, or meanwhile |

use std::sync::Arc;

use ::metrics::{Counter as Series, counter};

use crate::counter::Counter;

/// Events that a recorder received, a counter.
pub const EVENTS_TOTAL: &str = "event_recorder_events_total";
/// Events that the server has, a counter.
pub const WRITES_TOTAL: &str = "event_recorder_writes_total";
/// Events that are not written, a counter.
pub const DROPPED_TOTAL: &str = "event_recorder_dropped_total";
/// Requests that failed, a counter.
pub const FAILURES_TOTAL: &str = "event_recorder_failures_total";

/// The reason why an event is not written.
#[derive(Clone, Copy, Debug)]
pub(super) enum DropReason {
    QueueFull,
    Limited,
    Refused,
    Failed,
    Shutdown,
}

/// The series of one recorder, and the numbers that its handles show.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    events: Series,
    writes: Series,
    failures: Series,
    /// By reason, in the order of [`DropReason::ALL`].
    drops: [Series; 5],
    received_count: Counter,
    written_count: Counter,
    dropped_count: Counter,
}

// === impl DropReason ===

impl DropReason {
    const ALL: [Self; 5] = [
        Self::QueueFull,
        Self::Limited,
        Self::Refused,
        Self::Failed,
        Self::Shutdown,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Limited => "limited",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Shutdown => "shutdown",
        }
    }
}

// === impl Metrics ===

impl Metrics {
    pub(super) fn new(component: &Arc<str>) -> Self {
        describe();
        let label = || Arc::clone(component);
        let drops = DropReason::ALL.map(
            |reason| counter!(DROPPED_TOTAL, "component" => label(), "reason" => reason.as_str()),
        );
        Self {
            events: counter!(EVENTS_TOTAL, "component" => label()),
            writes: counter!(WRITES_TOTAL, "component" => label()),
            failures: counter!(FAILURES_TOTAL, "component" => label()),
            drops,
            received_count: Counter::default(),
            written_count: Counter::default(),
            dropped_count: Counter::default(),
        }
    }

    pub(super) fn note_recorded(&self) {
        self.received_count.increment();
        self.events.increment(1);
    }

    pub(super) fn written(&self) {
        self.written_count.increment();
        self.writes.increment(1);
    }

    pub(super) fn failed(&self) {
        self.failures.increment(1);
    }

    pub(super) fn dropped(&self, reason: DropReason) {
        self.dropped_count.increment();
        self.drops[reason as usize].increment(1);
    }

    pub(super) fn dropped_count(&self) -> u64 {
        self.dropped_count.get()
    }

    /// Returns the number of events that are neither written nor dropped.
    pub(super) fn pending_count(&self) -> u64 {
        // An event is counted as received before it is counted as done, and read in the other order, so that the difference is never
        // negative.
        let done = self.written_count.get() + self.dropped_count.get();
        self.received_count.get().saturating_sub(done)
    }
}

fn describe() {
    use ::metrics::{Unit, describe_counter};

    describe_counter!(EVENTS_TOTAL, Unit::Count, "events that a recorder received");
    describe_counter!(WRITES_TOTAL, Unit::Count, "events that the server has");
    describe_counter!(DROPPED_TOTAL, Unit::Count, "events that are not written");
    describe_counter!(FAILURES_TOTAL, Unit::Count, "requests that failed");
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::{Mutex, PoisonError, atomic::AtomicU64},
    };

    use ::metrics::{
        Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit, with_local_recorder,
    };

    use super::*;

    /// Counters by name and labels.
    #[derive(Default)]
    struct Report(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

    impl Recorder for Report {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Series {
            let labels = key.labels();
            let labels: Vec<_> = labels
                .map(|label| format!("{}={}", label.key(), label.value()))
                .collect();
            let name = format!("{}{{{}}}", key.name(), labels.join(","));
            let mut counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Series::from_arc(Arc::clone(counters.entry(name).or_default()))
        }

        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::noop()
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            Histogram::noop()
        }
    }

    #[test]
    fn each_event_is_written_or_dropped_for_a_reason() {
        let report = Report::default();
        let metrics = with_local_recorder(&report, || Metrics::new(&"it".into()));
        for _ in 0..9 {
            metrics.note_recorded();
        }
        metrics.written();
        metrics.written();
        metrics.failed();
        for reason in DropReason::ALL {
            metrics.dropped(reason);
        }
        metrics.dropped(DropReason::Limited);
        assert_eq!((metrics.dropped_count(), metrics.pending_count()), (6, 1));
        let counters = report.0.into_inner().unwrap();
        let counters: Vec<_> = counters
            .iter()
            .map(|(name, count)| {
                format!(
                    "{name} {}",
                    count.load(std::sync::atomic::Ordering::Relaxed)
                )
            })
            .collect();
        let expected = [
            "event_recorder_dropped_total{component=it,reason=failed} 1",
            "event_recorder_dropped_total{component=it,reason=limited} 2",
            "event_recorder_dropped_total{component=it,reason=queue_full} 1",
            "event_recorder_dropped_total{component=it,reason=refused} 1",
            "event_recorder_dropped_total{component=it,reason=shutdown} 1",
            "event_recorder_events_total{component=it} 9",
            "event_recorder_failures_total{component=it} 1",
            "event_recorder_writes_total{component=it} 2",
        ];
        assert_eq!(counters, expected);
    }
}
