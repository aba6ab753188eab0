//! The reports of an informer about itself: to its observer, and by its numbers.

use std::sync::{Arc, Mutex};

use informer::{
    DecodeError, InformerMetrics, ListenerMetrics, SharedInformer,
    reflector::{Failure, ListSummary, Phase, ReflectorObserver, WatchSummary},
};

use super::facade::Reported;
use crate::trace::{Counts, HandlerCounts, Observation, Recorder, Report};

/// The beginning of the names of handlers, before their numbers.
const NAME: &str = "handler-";

/// Records the reports of one informer.
pub(super) struct ReportRecorder {
    informer: usize,
    recorder: Recorder,
    reported: Mutex<Reported>,
}

/// Returns the name of a handler.
pub(super) fn handler_name(handler: usize) -> String {
    format!("{NAME}{handler}")
}

/// Returns the numbers that `informer` tells of itself.
pub(super) fn counts<K: Send + Sync + 'static>(informer: &SharedInformer<K>) -> Counts {
    let status = informer.status();
    let InformerMetrics {
        queued_items,
        objects,
        undecodable,
        lists,
        streaming_lists,
        watches,
        failures,
        replacements,
        listeners,
        ..
    } = informer.metrics();
    Counts {
        queued: queued_items,
        objects,
        undecodable,
        lists,
        streaming_lists,
        watches,
        failures,
        replacements,
        failed_attempts: status.failed_attempts,
        last_cause: status.last_cause,
        handlers: listeners.iter().filter_map(of_handler).collect(),
    }
}

fn of_handler(listener: &ListenerMetrics) -> Option<HandlerCounts> {
    Some(HandlerCounts {
        handler: listener.handler.strip_prefix(NAME)?.parse().ok()?,
        pending: listener.pending,
        delivered: listener.delivered,
        coalesced: listener.coalesced,
        panics: listener.panics,
    })
}

// === impl ReportRecorder ===

impl ReportRecorder {
    /// Creates the observer of the informer at this place in the plan.
    pub(super) fn new(informer: usize, recorder: Recorder) -> Arc<Self> {
        Arc::new(Self {
            informer,
            recorder,
            reported: Mutex::default(),
        })
    }

    /// Returns what was reported of lists and watches.
    pub(super) fn reported(&self) -> Reported {
        *self.reported.lock().expect("no holder panics")
    }

    fn note(&self, note: impl FnOnce(&mut Reported)) {
        note(&mut self.reported.lock().expect("no holder panics"));
    }

    fn record(&self, report: Report) {
        self.recorder.record(Observation::Reported {
            informer: self.informer,
            report,
        });
    }
}

impl ReflectorObserver for ReportRecorder {
    fn phase_changed(&self, phase: Phase) {
        match phase {
            Phase::Watching => self.record(Report::Follows),
            Phase::BackingOff { cause, delay } => self.record(Report::Waits {
                cause: Some(cause),
                delay: Some(delay),
            }),
            Phase::Paused { cause, probe_after } => self.record(Report::Waits {
                cause,
                delay: probe_after,
            }),
            _ => {}
        }
    }

    fn listed(&self, list: ListSummary<'_>) {
        let revision = list.resource_version.as_str().parse().unwrap_or(0);
        self.note(|reported| reported.note_listed(revision, list.items, list.duration));
        self.record(Report::Listed {
            revision,
            item_count: list.items,
            took: list.duration,
        });
    }

    fn watched(&self, watch: WatchSummary) {
        self.note(|reported| reported.note_watched(watch.items, watch.duration));
        self.record(Report::Watched {
            item_count: watch.items,
            took: watch.duration,
        });
    }

    fn failed(&self, failure: &Failure<'_>) {
        self.record(Report::Failed {
            cause: failure.cause,
            attempt: failure.attempt,
            delay: failure.delay,
        });
    }

    fn undecodable(&self, error: &DecodeError) {
        self.record(Report::Undecodable {
            key: error.key.to_string().into(),
            revision: error.resource_version.as_str().parse().unwrap_or(0),
        });
    }
}
