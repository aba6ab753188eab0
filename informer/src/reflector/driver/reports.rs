//! Tells of what happened: to the error policy, which may decide about it, to the observer and to the log.

use std::time::Duration;

use super::Driver;
use crate::{
    list_watch::{ListWatch, ListWatchError},
    object::{DecodeError, ResourceVersion},
    reflector::{
        Cause, Decision, Failure, ListSummary, Phase, WatchSummary,
        machine::{Effect, Input},
    },
    store::ReflectorStore,
};

// === impl Driver ===

impl<K, L, S> Driver<K, L, S>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
    S: ReflectorStore<K>,
{
    /// Asks the policy about a failure, and does what it says. Gives the failure as it is then.
    pub(super) fn consult<'a>(&mut self, failure: Failure<'a>) -> Failure<'a> {
        let decision = self.policy.decide(&failure);
        if decision == Decision::Default {
            return failure;
        }
        tracing::debug!(cause = %failure.cause, decision = ?decision, "decided by the error policy");
        let input = Input::Decided {
            decision,
            cause: failure.cause,
            retry_after: failure.error.and_then(ListWatchError::retry_after),
        };
        let mut effects = Vec::new();
        self.machine
            .handle(self.began.elapsed(), input, &mut effects);
        // All that a decision does to what came before is to drop what was staged.
        if effects.contains(&Effect::Discard) {
            self.staging.discard();
        }
        Failure {
            attempt: self.machine.attempt(),
            delay: match self.machine.phase() {
                Phase::BackingOff { delay, .. } => delay,
                Phase::Paused { probe_after, .. } => probe_after.unwrap_or_default(),
                _ => Duration::ZERO,
            },
            ..failure
        }
    }

    /// Asks the policy about objects that cannot be decoded. The first decision counts.
    pub(super) fn consult_about_objects(&mut self, refused: impl IntoIterator<Item = DecodeError>) {
        if !self.policy.is_set() {
            return;
        }
        for error in refused {
            let phase = self.machine.phase();
            let error = ListWatchError::Decode(error);
            self.consult(Failure {
                phase,
                cause: Cause::Undecodable,
                error: Some(&error),
                attempt: self.machine.attempt(),
                delay: Duration::ZERO,
            });
            if self.machine.phase() != phase {
                return;
            }
        }
    }

    /// Tells of the list that is whole now, unless the state came by a stream.
    pub(super) fn note_listed(&mut self, version: &ResourceVersion) {
        if let Some(listing) = self.listing.take() {
            self.observer.listed(ListSummary {
                resource_version: version,
                items: listing.items,
                duration: listing.began.elapsed(),
            });
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

    pub(super) fn note_phase(&mut self) {
        let phase = self.machine.phase();
        if self.phase == Some(phase) {
            return;
        }
        self.phase = Some(phase);
        self.observer.phase_changed(phase);
        match phase {
            // Told once, however often it is probed in vain.
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

    pub(super) fn note_failure(&self, failure: &Failure<'_>) {
        let error = failure.error.map(ListWatchError::in_full);
        let delay_ms = failure.delay.as_millis();
        let (cause, attempt) = (failure.cause, failure.attempt);
        let is_paused = matches!(self.machine.phase(), Phase::Paused { .. });
        let is_known = is_paused || self.paused_for == Some(cause);
        // A stream that was good until it broke off or fell silent is opened again, as one that ended.
        let was_good = failure.delay.is_zero()
            && failure.phase == Phase::Watching
            && matches!(cause, Cause::TimedOut | Cause::Transport);
        if is_known || was_good || matches!(cause, Cause::Expired | Cause::EndedEarly) {
            tracing::debug!(error, %cause, attempt, delay_ms, "trying again");
        } else {
            tracing::warn!(error, %cause, attempt, delay_ms, "trying again");
        }
        self.observer.failed(failure);
    }

    pub(super) fn note_undecodable(&self, error: &DecodeError) {
        // What the decoder says quotes the object; its place in the object does not.
        let (line, column) = (error.source.line(), error.source.column());
        tracing::warn!(key = %error.key, rv = %error.resource_version, line, column, "cannot decode an object");
        self.observer.undecodable(error);
    }
}
