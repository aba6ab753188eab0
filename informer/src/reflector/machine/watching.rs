//! Following changes after a whole state.

use std::time::Duration;

use super::{
    Effect, EventKind, Failing, Input, Machine, Mode, Moment, OpenWatch, Plan, ReceivedEvents,
    State,
};
use crate::{object::ResourceVersion, reflector::FailureCause};

/// A watch that lives for less is short: opening it again at once could become a hot loop.
pub(super) const SHORT: Duration = Duration::from_secs(1);
/// The number of short watches in a row that brought changes and are reopened at once.
const SHORT_WITH_CHANGES_MAX: u32 = 3;

/// The health of the watches at the last versions.
#[derive(Debug, Default)]
pub(super) struct WatchHealth {
    /// The number of consecutive failures.
    failure_count: u32,
    /// The number of consecutive watches that were short, although they brought changes.
    short_count: u32,
    /// The time at which the server last confirmed the last version: on a watch, by a state, or when it was checked.
    heard_at: Moment,
    /// The time of the last check.
    checked_at: Option<Moment>,
}

// === impl WatchHealth ===

impl WatchHealth {
    pub(super) fn note_heard(&mut self, now: Moment) {
        self.heard_at = now;
    }

    pub(super) fn note_checked(&mut self, now: Moment) {
        self.checked_at = Some(now);
    }

    /// Returns true if so much time has passed since the last event.
    fn is_silent(&self, now: Moment, silence: Duration) -> bool {
        now.saturating_sub(self.heard_at) >= silence
    }

    fn was_checked(&self, now: Moment, within: Duration) -> bool {
        let checked_at = self.checked_at;
        checked_at.is_some_and(|checked_at| now.saturating_sub(checked_at) < within)
    }
}

// === impl Machine ===

impl Machine {
    /// Something came on a stream of changes.
    pub(super) fn on_item(
        &mut self,
        now: Moment,
        watch: OpenWatch,
        input: Input<'_>,
        effects: &mut Vec<Effect>,
    ) -> State {
        match input {
            Input::Event { kind, version } => self.on_event(now, watch, kind, version, effects),
            Input::Bookmark { version, .. } => self.on_bookmark(now, watch, version, effects),
            Input::Ended => {
                self.note_health(now, &watch);
                if let Some(state) = self.rewatch_at_once(now, &watch) {
                    return state;
                }
                let failing = FailureCause::EndedEarly.into();
                self.on_watch_failed(now, Some(&watch), failing, effects)
            }
            Input::Failed { cause, retry_after } => {
                let failing = Failing { cause, retry_after };
                self.on_watch_failed(now, Some(&watch), failing, effects)
            }
            input => {
                debug_assert!(false, "{input:?} is not what an open stream can give");
                State::Reading(watch)
            }
        }
    }

    fn on_event(
        &mut self,
        now: Moment,
        mut watch: OpenWatch,
        kind: EventKind,
        version: &ResourceVersion,
        effects: &mut Vec<Effect>,
    ) -> State {
        let is_mirror = self.mode == Mode::Mirror;
        if !is_mirror && !version.is_resumable() {
            // The watch cannot be resumed after it.
            return self.on_watch_failed(
                now,
                Some(&watch),
                FailureCause::Unreadable.into(),
                effects,
            );
        }
        self.health.note_heard(now);
        // A watch without a version begins with additions in any order; anything else ends them.
        watch.is_unordered &= kind == EventKind::Added;
        // The object at hand is delivered before `advance` reports anything about its version.
        let first = effects.len();
        let is_new = !watch.is_unordered && self.advance(version, effects);
        // The store of a mirror judges each version by the one that it holds of the key.
        if is_new || is_mirror {
            effects.insert(first, Effect::Deliver);
        }
        watch.note_received(now, ReceivedEvents::of(is_new));
        State::Reading(watch)
    }

    fn on_bookmark(
        &mut self,
        now: Moment,
        mut watch: OpenWatch,
        version: &ResourceVersion,
        effects: &mut Vec<Effect>,
    ) -> State {
        watch.is_unordered = false;
        self.health.note_heard(now);
        let went_back = version.is_before(self.resume.last());
        let is_new = self.advance(version, effects);
        // A check is a list, which a watch without a list never sends.
        let can_check = self.mode != Mode::Follow;
        if went_back && can_check && !self.health.was_checked(now, self.options.watch_silence) {
            return self.check(now);
        }
        if is_new {
            effects.push(Effect::Bookmark {
                version: version.clone(),
            });
        }
        watch.note_received(now, ReceivedEvents::of(is_new));
        State::Reading(watch)
    }

    /// A watch could not be opened, or failed later (`watch`).
    pub(super) fn on_watch_failed(
        &mut self,
        now: Moment,
        watch: Option<&OpenWatch>,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        if let Some(watch) = watch {
            self.note_health(now, watch);
            // A stream that broke off or fell silent after it had worked is one that ended.
            if matches!(
                failing.cause,
                FailureCause::Transport | FailureCause::TimedOut
            ) && let Some(state) = self.rewatch_at_once(now, watch)
            {
                self.report(failing.cause, Duration::ZERO, effects);
                return state;
            }
        }
        let is_lost = matches!(
            failing.cause,
            FailureCause::Expired | FailureCause::Unreadable
        );
        let retries_max = match (self.mode, failing.cause) {
            (Mode::Follow, cause) if is_lost || cause.is_rejected() => return State::Stopped,
            (Mode::Wait, _) if is_lost => Some(0),
            (Mode::Wait | Mode::Follow, _)
            | (Mode::Mirror, FailureCause::Throttled | FailureCause::Refused) => None,
            (Mode::Mirror, FailureCause::TooLargeVersion) => Some(0),
            (Mode::Mirror, _) if is_lost => Some(0),
            (
                Mode::Mirror,
                FailureCause::Unavailable | FailureCause::Transport | FailureCause::TimedOut,
            ) => Some(4),
            (Mode::Mirror, _) => Some(1),
        };
        // After the streams that are reopened at once: those are no failures.
        self.health.failure_count += 1;
        let is_relist = retries_max.is_some_and(|max| self.health.failure_count > max);
        let then = if is_relist {
            self.health.failure_count = 0;
            Plan::Acquire
        } else {
            Plan::Watch
        };
        self.back_off(now, then, failing, effects)
    }

    /// Opens the watch again without delay, if that cannot become a hot loop.
    fn rewatch_at_once(&mut self, now: Moment, watch: &OpenWatch) -> Option<State> {
        if watch.lived(now) >= SHORT {
            self.health.short_count = 0;
        } else if watch.has_changes() && self.health.short_count < SHORT_WITH_CHANGES_MAX {
            self.health.short_count += 1;
        } else {
            return None;
        }
        // One silent stream may have lost its connection; a second one says more of the server.
        let silence = self.options.watch_silence.saturating_mul(2);
        if self.mode != Mode::Follow
            && watch.received == ReceivedEvents::Nothing
            && self.health.is_silent(now, silence)
        {
            return Some(self.check(now));
        }
        Some(self.rewatch(now))
    }

    /// Resets the delays and the count of failures if the stream has proved the server healthy: a stream that brought
    /// changes has only to be slowed down, for the version it got to is sound.
    fn note_health(&mut self, now: Moment, watch: &OpenWatch) {
        if watch.has_changes() || watch.lived(now) >= self.options.healthy_after {
            self.backoff.reset();
            self.health.failure_count = 0;
        }
    }

    fn advance(&mut self, version: &ResourceVersion, effects: &mut Vec<Effect>) -> bool {
        if version.is_before(self.resume.last()) {
            self.report_went_back(version, false, effects);
        }
        self.resume.advance(version)
    }
}
