//! Following changes after a whole state.

use std::time::Duration;

use super::{Brought, Effect, EventKind, Failing, Input, Machine, Moment, Plan, Reading, State};
use crate::{object::ResourceVersion, reflector::Cause};

/// A watch that lives for less is short: opening it again at once could become a hot loop.
pub(super) const SHORT: Duration = Duration::from_secs(1);
/// So many short watches in a row that brought changes are opened again at once.
const SHORT_WITH_CHANGES_MAX: u32 = 3;

/// How the watches at the last versions have been doing.
#[derive(Debug, Default)]
pub(super) struct WatchHealth {
    /// How many failed in a row.
    failure_count: u32,
    /// How many in a row were short, although they brought changes.
    short_count: u32,
    /// When the server last told anything of the last version: on a watch, by a state, or when it was checked.
    heard_at: Moment,
    /// When a check was made last.
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

    /// Whether so much time has passed since anything was heard.
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
        mut reading: Reading,
        input: Input<'_>,
        effects: &mut Vec<Effect>,
    ) -> State {
        match input {
            Input::Event { kind, version } => {
                effects.push(Effect::Deliver);
                self.health.note_heard(now);
                reading.is_unordered &= kind == EventKind::Added;
                let is_new = !reading.is_unordered && self.advance(version, effects);
                reading.heard(now, Brought::of(is_new));
                State::Reading(reading)
            }
            Input::Bookmark { version, .. } => {
                reading.is_unordered = false;
                self.health.note_heard(now);
                let went_back = version.is_before(self.resume.last());
                let is_new = self.advance(version, effects);
                if went_back && !self.health.was_checked(now, self.options.watch_silence) {
                    return self.check(now);
                }
                if is_new {
                    effects.push(Effect::Bookmark {
                        version: version.clone(),
                    });
                }
                reading.heard(now, Brought::of(is_new));
                State::Reading(reading)
            }
            Input::Ended => {
                self.note_health(now, &reading);
                if let Some(state) = self.rewatch_at_once(now, &reading) {
                    return state;
                }
                let failing = Failing {
                    cause: Cause::EndedEarly,
                    retry_after: None,
                };
                self.on_watch_failed(now, Some(&reading), failing, effects)
            }
            Input::Failed { cause, retry_after } => {
                let failing = Failing { cause, retry_after };
                self.on_watch_failed(now, Some(&reading), failing, effects)
            }
            input => {
                debug_assert!(false, "{input:?} is not what an open stream can give");
                State::Reading(reading)
            }
        }
    }

    /// A watch could not be opened, or failed later (`reading`).
    pub(super) fn on_watch_failed(
        &mut self,
        now: Moment,
        reading: Option<&Reading>,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        if let Some(reading) = reading {
            self.note_health(now, reading);
            // A stream that broke off or fell silent after it had worked is one that ended.
            if matches!(failing.cause, Cause::Transport | Cause::TimedOut)
                && let Some(state) = self.rewatch_at_once(now, reading)
            {
                self.report(failing.cause, Duration::ZERO, effects);
                return state;
            }
        }
        let retries_max = match failing.cause {
            Cause::Expired | Cause::TooLargeVersion | Cause::Unreadable => Some(0),
            Cause::Throttled | Cause::Refused => None,
            Cause::Unavailable | Cause::Transport | Cause::TimedOut => Some(4),
            _ => Some(1),
        };
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
    fn rewatch_at_once(&mut self, now: Moment, reading: &Reading) -> Option<State> {
        if reading.lived(now) >= SHORT {
            self.health.short_count = 0;
        } else if reading.has_changes() && self.health.short_count < SHORT_WITH_CHANGES_MAX {
            self.health.short_count += 1;
        } else {
            return None;
        }
        // One silent stream may have lost its connection; a second one says more of the server.
        let silence = self.options.watch_silence.saturating_mul(2);
        if reading.brought == Brought::Nothing && self.health.is_silent(now, silence) {
            return Some(self.check(now));
        }
        Some(self.rewatch(now))
    }

    /// Begins delays anew, and the count of failures, if the stream has proved the server healthy: a stream that brought
    /// changes has only to be slowed down, for the version it got to is sound.
    fn note_health(&mut self, now: Moment, reading: &Reading) {
        if reading.has_changes() || reading.lived(now) >= self.options.healthy_after {
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
