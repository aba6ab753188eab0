//! Metrics of a named queue: client-go's `metrics_test.go`, by sentence.
#![expect(
    clippy::float_cmp,
    reason = "counts are exact, and times are on a paused clock"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use tokio::time::{advance, sleep};

use super::{
    super::{AddOptions, WorkQueue, WorkQueueOptions},
    MS, S, next, work_off,
};
use crate::task::TaskSet;

/// Counters and gauges by name and labels, and every value a histogram was given.
#[derive(Clone, Default)]
struct Report(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

/// One series of it.
struct Series {
    report: Report,
    name: String,
}

// === impl Report ===

impl Report {
    /// The value of a counter or gauge; zero if nothing was reported.
    fn value(&self, name: &str) -> f64 {
        self.values(name).iter().sum()
    }

    /// The values given to a histogram.
    fn values(&self, name: &str) -> Vec<f64> {
        let report = self.0.lock().unwrap();
        report.get(name).cloned().unwrap_or_default()
    }

    fn depth(&self, priority: &str) -> f64 {
        self.value(&format!("workqueue_depth{{name=q,priority={priority}}}"))
    }

    fn series(&self, key: &Key) -> Arc<Series> {
        let labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        let report = self.clone();
        Arc::new(Series { report, name })
    }
}

impl Recorder for Report {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.series(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.series(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.series(key))
    }
}

// === impl Series ===

impl Series {
    fn push(&self, value: f64) {
        let mut report = self.report.0.lock().unwrap();
        report.entry(self.name.clone()).or_default().push(value);
    }
}

impl CounterFn for Series {
    fn increment(&self, value: u64) {
        self.push(f64::from(u32::try_from(value).unwrap()));
    }

    fn absolute(&self, _: u64) {
        unreachable!("queues of one name add up");
    }
}

impl GaugeFn for Series {
    fn increment(&self, value: f64) {
        self.push(value);
    }

    fn decrement(&self, value: f64) {
        self.push(-value);
    }

    fn set(&self, value: f64) {
        let mut report = self.report.0.lock().unwrap();
        report.insert(self.name.clone(), vec![value]);
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.push(value);
    }
}

const ADDS: &str = "workqueue_adds_total{name=q}";
const RETRIES: &str = "workqueue_retries_total{name=q}";
const QUEUE_DURATION: &str = "workqueue_queue_duration_seconds{name=q}";
const WORK_DURATION: &str = "workqueue_work_duration_seconds{name=q}";
const UNFINISHED: &str = "workqueue_unfinished_work_seconds{name=q}";
const LONGEST: &str = "workqueue_longest_running_processor_seconds{name=q}";

fn queue(options: WorkQueueOptions<&'static str>) -> WorkQueue<&'static str> {
    WorkQueue::with_options(options.with_name("q"))
}

#[tokio::test(start_paused = true)]
async fn depth_adds_and_times_are_reported() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    queue.add("foo");
    queue.add("foo");
    assert_eq!((report.value(ADDS), report.depth("0")), (1.0, 1.0));
    advance(MS(50)).await;
    let item = next(&queue);
    assert_eq!(report.depth("0"), 0.0);
    assert_eq!(report.values(QUEUE_DURATION), [0.05]);
    // Added while in flight: in need of work, but not in the queue.
    queue.add("foo");
    assert_eq!((report.value(ADDS), report.depth("0")), (2.0, 0.0));
    advance(MS(25)).await;
    item.done();
    assert_eq!(report.values(WORK_DURATION), [0.025]);
    assert_eq!(report.depth("0"), 1.0);
    advance(MS(10)).await;
    // It was in need of work while its worker was still at it.
    let item = next(&queue);
    assert_eq!(report.values(QUEUE_DURATION), [0.05, 0.035]);
    item.done();
    assert_eq!(report.values(WORK_DURATION), [0.025, 0.0]);
    assert_eq!(report.value(RETRIES), 0.0);
}

#[tokio::test(start_paused = true)]
async fn every_delayed_add_is_a_retry_and_is_added_when_it_is_due() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    queue.add_after("foo", S(1));
    queue.add_after("foo", S(1));
    queue.add_rate_limited("bar");
    queue.add_after("baz", MS(0));
    assert_eq!((report.value(RETRIES), report.value(ADDS)), (4.0, 1.0));
    work_off(&queue);
    advance(S(3)).await;
    assert_eq!(queue.len(), 2);
    assert_eq!((report.value(ADDS), report.depth("0")), (3.0, 2.0));
    // Since it was due, not since a worker looked.
    work_off(&queue);
    assert_eq!(report.values(QUEUE_DURATION), [0.0, 2.995, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn work_in_flight_is_reported_twice_a_second() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let tasks = TaskSet::new();
    tasks.spawn(queue.refresh_metrics());
    queue.add("foo");
    queue.add("bar");
    let first = next(&queue);
    sleep(S(1)).await;
    let second = next(&queue);
    sleep(MS(501)).await;
    assert_eq!(
        (report.value(UNFINISHED), report.value(LONGEST)),
        (2.0, 1.5)
    );
    first.done();
    sleep(MS(500)).await;
    assert_eq!(
        (report.value(UNFINISHED), report.value(LONGEST)),
        (1.0, 1.0)
    );
    second.done();
    sleep(MS(500)).await;
    assert_eq!(
        (report.value(UNFINISHED), report.value(LONGEST)),
        (0.0, 0.0)
    );
}

#[tokio::test(start_paused = true)]
async fn the_depth_is_right_though_all_workers_are_busy() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let tasks = TaskSet::new();
    tasks.spawn(queue.refresh_metrics());
    queue.add_after("foo", S(1));
    sleep(MS(1_501)).await;
    assert_eq!(report.depth("0"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_refreshed_after_a_shutdown() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let tasks = TaskSet::new();
    tasks.spawn(queue.refresh_metrics());
    queue.add("foo");
    let item = next(&queue);
    sleep(MS(1_001)).await;
    queue.shut_down();
    assert_eq!(report.value(LONGEST), 1.0);
    sleep(MS(1_000)).await;
    assert_eq!(report.value(LONGEST), 2.0, "still in flight");
    item.done();
    assert_eq!(
        (report.value(UNFINISHED), report.value(LONGEST)),
        (0.0, 0.0)
    );
    tasks.wait().await;
    let before = report.0.lock().unwrap().clone();
    queue.add("foo");
    queue.add_after("foo", S(1));
    sleep(S(10)).await;
    assert_eq!(*report.0.lock().unwrap(), before);
}

#[tokio::test(start_paused = true)]
async fn the_depth_of_a_priority_is_right_when_an_item_is_raised_or_its_delay_dropped() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::controller_runtime());
    let low = AddOptions::new().with_priority(-100);
    queue.add_with("foo", low.with_after(S(1)));
    assert_eq!((report.depth("-100"), report.value(ADDS)), (0.0, 0.0));
    queue.add_with("foo", low);
    assert_eq!((report.depth("-100"), report.value(ADDS)), (1.0, 1.0));
    queue.add("foo");
    assert_eq!((report.depth("-100"), report.depth("0")), (0.0, 1.0));
    assert_eq!(report.value(ADDS), 1.0);
    let item = next(&queue);
    assert_eq!((report.depth("-100"), report.depth("0")), (0.0, 0.0));
    queue.add_with("foo", low);
    assert_eq!(report.depth("-100"), 0.0, "locked items are not queued");
    item.done();
    assert_eq!(report.depth("-100"), 1.0);
    queue.shut_down_now();
    assert_eq!((report.depth("-100"), report.depth("0")), (0.0, 0.0));
}

#[tokio::test(start_paused = true)]
async fn an_item_whose_getter_was_dropped_is_in_the_depth_again_and_was_never_started() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let mut getter = super::counted::WakeCounter::new(queue.get());
    assert!(getter.poll().is_pending());
    queue.add("foo");
    assert_eq!(report.depth("0"), 0.0);
    drop(getter);
    assert_eq!(report.depth("0"), 1.0);
    assert!(report.values(QUEUE_DURATION).is_empty());
    assert!(report.values(WORK_DURATION).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_item_put_aside_for_a_worker_waits_until_that_one_runs() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let mut getter = super::counted::WakeCounter::new(queue.get());
    assert!(getter.poll().is_pending());
    queue.add("foo");
    advance(MS(20)).await;
    let item = getter.poll_ready();
    assert_eq!(report.values(QUEUE_DURATION), [0.02]);
    advance(MS(30)).await;
    drop(item);
    assert_eq!(report.values(WORK_DURATION), [0.03]);
}

#[tokio::test(start_paused = true)]
async fn so_many_priorities_do_not_make_as_many_series() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = queue(WorkQueueOptions::new());
    let items: Vec<&'static str> = "abcdefghijklmnopqrstuvwxyzABCD".split("").collect();
    for (priority, item) in (0..).zip(&items[1..31]) {
        queue.add_with(item, AddOptions::new().with_priority(priority));
    }
    assert_eq!(report.depth("24"), 1.0);
    assert_eq!(report.depth("25"), 0.0);
    assert_eq!(report.depth("exceeded_cardinality_limit"), 5.0);
    work_off(&queue);
    assert_eq!(report.depth("24"), 0.0);
    assert_eq!(report.depth("exceeded_cardinality_limit"), 0.0);
}

#[tokio::test(start_paused = true)]
async fn queues_of_one_name_add_up_and_leave_nothing_behind() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let first = queue(WorkQueueOptions::new());
    let second = queue(WorkQueueOptions::new());
    first.add("foo");
    second.add("foo");
    second.add("bar");
    assert_eq!(report.depth("0"), 3.0);
    drop(second);
    assert_eq!(report.depth("0"), 1.0);
    let refresh = first.refresh_metrics();
    drop(first);
    assert_eq!(report.depth("0"), 0.0);
    // It ends, for the queue is gone.
    refresh.await;
}

#[tokio::test(start_paused = true)]
async fn a_queue_without_a_name_reports_nothing_and_has_nothing_to_refresh() {
    let report = Report::default();
    let _recording = metrics::set_default_local_recorder(&report);
    let queue = WorkQueue::new();
    queue.add("foo");
    work_off(&queue);
    queue.refresh_metrics().await;
    assert!(report.0.lock().unwrap().is_empty());
}
