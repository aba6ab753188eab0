//! The reports of an informer about itself: to its observer, and by its numbers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{
    DecodeError, InformerMetrics, ListenerMetrics, ResourceVersion, SharedInformer,
    reflector::{
        Decision, Failure, FailureCause, ListSummary, Phase, ReflectorObserver, WatchSummary,
    },
};

use super::facade::ReportedRequests;
use crate::trace::{Counts, HandlerCounts, Observation, Recorder, Report};

/// The beginning of the names of handlers, before their numbers.
const NAME: &str = "handler-";

/// Records the reports of one informer.
pub(super) struct ReportRecorder {
    informer: usize,
    recorder: Recorder,
    reported: Mutex<ReportedRequests>,
    consulted: Mutex<PolicyQuestions>,
}

/// The questions to the policy about failures, compared with the reports to the observer.
#[derive(Debug, Default)]
struct PolicyQuestions {
    /// The last failure of which the policy was asked: its cause, attempt and delay.
    last: Option<(FailureCause, u32, Duration)>,
    /// A failure that was reported to the observer before the policy was asked.
    unasked: Option<String>,
    /// The number of undecodable objects in questions to the policy, minus those in reports to the observer.
    undecodable: i64,
    went_back: u64,
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
            consulted: Mutex::default(),
        })
    }

    /// Returns what was reported of lists and watches.
    pub(super) fn reported(&self) -> ReportedRequests {
        *self.reported.lock().expect("no holder panics")
    }

    /// Takes note of a failure as the policy about failures is asked about it, and decides nothing.
    pub(super) fn decide(&self, failure: &Failure<'_>) -> Decision {
        self.consulted(|consulted| {
            consulted.undecodable += i64::from(failure.cause == FailureCause::Undecodable);
            consulted.last = Some((failure.cause, failure.attempt, failure.delay));
        });
        Decision::Default
    }

    /// Describes a difference of `metrics`, or of what the policy about failures was asked, from what was reported.
    pub(super) fn difference(&self, metrics: &InformerMetrics) -> Option<String> {
        self.consulted(|consulted| {
            if let Some(text) = &consulted.unasked {
                return Some(format!("the policy was not asked about {text}"));
            }
            let InformerMetrics {
                gone_back_versions,
                transform_failures,
                inconsistencies,
                out_of_shard,
                ..
            } = metrics;
            let got = [
                gone_back_versions,
                transform_failures,
                inconsistencies,
                out_of_shard,
            ];
            let want = [consulted.went_back, 0, 0, 0];
            (got != [&want[0], &want[1], &want[2], &want[3]])
                .then(|| format!("want {want:?}, got {got:?}"))
        })
    }

    /// Returns true if the policy was asked about each object that does not decode, once: so it is when nothing is under way.
    pub(super) fn is_asked_about_objects(&self) -> bool {
        self.consulted(|consulted| consulted.undecodable == 0)
    }

    fn consulted<T>(&self, see: impl FnOnce(&mut PolicyQuestions) -> T) -> T {
        see(&mut self.consulted.lock().expect("no holder panics"))
    }

    fn note(&self, note: impl FnOnce(&mut ReportedRequests)) {
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
        self.consulted(|consulted| {
            let failure_of_report = Some((failure.cause, failure.attempt, failure.delay));
            consulted.undecodable -= i64::from(failure.cause == FailureCause::Undecodable);
            if consulted.last.take() != failure_of_report {
                consulted.unasked = Some(format!("{failure_of_report:?}"));
            }
        });
        self.record(Report::Failed {
            cause: failure.cause,
            attempt: failure.attempt,
            delay: failure.delay,
        });
    }

    fn version_went_back(&self, _: &ResourceVersion, _: &ResourceVersion, _is_accepted: bool) {
        self.consulted(|consulted| consulted.went_back += 1);
    }

    fn undecodable(&self, error: &DecodeError) {
        self.consulted(|consulted| consulted.undecodable -= 1);
        self.record(Report::Undecodable {
            key: error.key.to_string().into(),
            revision: error.resource_version.as_str().parse().unwrap_or(0),
        });
    }
}
