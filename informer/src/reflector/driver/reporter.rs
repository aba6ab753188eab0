//! The reports of a reflector to its observer and to the log.

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    list_watch::{ListRequest, ListWatchError},
    object::{DecodeError, ResourceVersion},
    reflector::{
        Failure, FailureCause, ListSummary, Phase, ReflectorObserver, Request, WatchSummary,
    },
};

/// Reports to the observer and to the log, each thing once.
pub(super) struct Reporter {
    observer: Arc<dyn ReflectorObserver>,
    phase: Option<Phase>,
    /// The list under way.
    listing: Option<Tally>,
    /// The open watch.
    watching: Option<Tally>,
    /// True from the first log line of a pause until the next watch.
    is_pause_logged: bool,
    paused_for: Option<FailureCause>,
}

/// The beginning of a list or a watch, and the number of its items so far.
#[derive(Clone, Copy)]
struct Tally {
    began: Instant,
    items: u64,
}

// === impl Reporter ===

impl Reporter {
    pub(super) fn new(observer: Arc<dyn ReflectorObserver>) -> Self {
        Self {
            observer,
            phase: None,
            listing: None,
            watching: None,
            is_pause_logged: false,
            paused_for: None,
        }
    }

    fn note_requested(&self, request: Request) {
        self.observer.requested(request);
    }

    pub(super) fn note_watch_requested(&mut self, request: Request) {
        // A list that was given up, or asked only whether a version exists, never becomes whole.
        self.listing = None;
        self.note_requested(request);
    }

    pub(super) fn note_list_requested(&mut self, request: &ListRequest) {
        self.note_requested(Request::List);
        if request.continue_token.is_none() {
            self.listing = Some(Tally::new());
        }
    }

    pub(super) fn note_page(&mut self, len: usize) {
        if let Some(listing) = &mut self.listing {
            listing.items += len as u64;
        }
    }

    /// Reports the list that is whole. A state that came by a stream is none.
    pub(super) fn note_listed(&mut self, version: &ResourceVersion) {
        if let Some(listing) = self.listing.take() {
            self.observer.listed(ListSummary {
                resource_version: version,
                items: listing.items,
                duration: listing.began.elapsed(),
            });
        }
    }

    pub(super) fn note_opened(&mut self) {
        self.watching = Some(Tally::new());
    }

    pub(super) fn note_event(&mut self) {
        if let Some(watching) = &mut self.watching {
            watching.items += 1;
        }
    }

    pub(super) fn note_watched(&mut self) {
        if let Some(watching) = self.watching.take() {
            self.observer.watched(WatchSummary {
                items: watching.items,
                duration: watching.began.elapsed(),
            });
        }
    }

    pub(super) fn note_phase(&mut self, phase: Phase) {
        if self.phase == Some(phase) {
            return;
        }
        self.phase = Some(phase);
        self.observer.phase_changed(phase);
        match phase {
            // Logged once, however many probes fail.
            Phase::Paused { cause, probe_after }
                if !self.is_pause_logged || self.paused_for != cause =>
            {
                self.is_pause_logged = true;
                self.paused_for = cause;
                let delay_ms = probe_after.map(|after| after.as_millis());
                if let Some(cause) = cause {
                    tracing::warn!(%cause, delay_ms, "paused");
                } else {
                    tracing::info!("paused");
                }
            }
            Phase::Watching if self.is_pause_logged => {
                self.is_pause_logged = false;
                self.paused_for = None;
                tracing::info!("resumed");
            }
            _ => {}
        }
    }

    /// Reports a failure that led to the phase `next`.
    pub(super) fn note_failure(&self, failure: &Failure<'_>, next: Phase) {
        let error = failure.error.map(ListWatchError::in_full);
        let delay_ms = failure.delay.as_millis();
        let (cause, attempt) = (failure.cause, failure.attempt);
        let is_paused = matches!(next, Phase::Paused { .. });
        let is_known = is_paused || self.paused_for == Some(cause);
        // A stream that was good until it broke off or fell silent is opened again, as one that ended.
        let was_good = failure.delay.is_zero()
            && failure.phase == Phase::Watching
            && matches!(cause, FailureCause::TimedOut | FailureCause::Transport);
        if is_known || was_good || matches!(cause, FailureCause::Expired | FailureCause::EndedEarly)
        {
            tracing::debug!(error, %cause, attempt, delay_ms, "trying again");
        } else {
            tracing::warn!(error, %cause, attempt, delay_ms, "trying again");
        }
        self.observer.failed(failure);
    }

    pub(super) fn note_went_back(
        &self,
        from: &ResourceVersion,
        to: &ResourceVersion,
        is_accepted: bool,
    ) {
        tracing::warn!(rv = %from, to_rv = %to, is_accepted, "the server went back");
        self.observer.version_went_back(from, to, is_accepted);
    }

    pub(super) fn note_undecodable(&self, error: &DecodeError) {
        // The decoder's message quotes the object; the place in the object does not.
        let (line, column) = (error.source.line(), error.source.column());
        tracing::warn!(key = %error.key, rv = %error.resource_version, line, column, "cannot decode an object");
        self.observer.undecodable(error);
    }
}

// === impl Tally ===

impl Tally {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            items: 0,
        }
    }
}
