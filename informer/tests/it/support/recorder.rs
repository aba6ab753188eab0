//! A metrics recorder that keeps all values.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// By name and labels: each increment of a counter, the value of a gauge, each value of a histogram.
#[derive(Clone, Default)]
pub(crate) struct RecordedMetrics(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

/// One series of it.
struct Series {
    recorded: RecordedMetrics,
    name: String,
}

// === impl RecordedMetrics ===

impl RecordedMetrics {
    /// Returns the values of a series; empty if it has none.
    pub(crate) fn values(&self, name: &str) -> Vec<f64> {
        let recorded = self.0.lock().unwrap();
        recorded.get(name).cloned().unwrap_or_default()
    }

    fn series(&self, key: &Key) -> Arc<Series> {
        let labels = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()));
        let labels: Vec<_> = labels.collect();
        Arc::new(Series {
            recorded: self.clone(),
            name: format!("{}{{{}}}", key.name(), labels.join(",")),
        })
    }
}

impl Recorder for RecordedMetrics {
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
    fn change(&self, change: impl FnOnce(&mut Vec<f64>)) {
        let mut recorded = self.recorded.0.lock().unwrap();
        change(recorded.entry(self.name.clone()).or_default());
    }
}

impl CounterFn for Series {
    #[expect(clippy::cast_precision_loss, reason = "the counts of a test are small")]
    fn increment(&self, value: u64) {
        self.change(|values| values.push(value as f64));
    }

    fn absolute(&self, _: u64) {
        panic!("no counter here is set");
    }
}

impl GaugeFn for Series {
    fn increment(&self, _: f64) {
        panic!("no gauge here counts");
    }

    fn decrement(&self, _: f64) {
        panic!("no gauge here counts");
    }

    fn set(&self, value: f64) {
        self.change(|values| *values = vec![value]);
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.change(|values| values.push(value));
    }
}
