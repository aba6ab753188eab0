//! Pausing, and what the owner says: orders and decisions.

use std::time::Duration;

use super::{Effect, Failing, Machine, Moment, Plan, State};
use crate::reflector::{Decision, FailureCause, WhenRemoved, control::Order};

/// The shortest delay that a decision can ask for.
const DECIDED_DELAY_MIN: Duration = Duration::from_millis(100);
/// The shortest period of probes.
const PROBE_PERIOD_MIN: Duration = Duration::from_secs(1);
/// The period of probes for a policy that pauses where the reflector itself never would.
const PROBE_PERIOD_DEFAULT: Duration = Duration::from_mins(2);
/// The longest period of probes.
const PROBE_PERIOD_MAX: Duration = Duration::from_hours(24 * 365);

/// The number of times that the server has denied the resource or the permission for it.
#[derive(Debug, Default)]
pub(super) struct Denials {
    /// The number of denials since a watch was open.
    count: u32,
    /// True if the store was emptied since the last whole state.
    is_emptied: bool,
}

// === impl Denials ===

impl Denials {
    /// Both the resource and the permission to watch it are there.
    pub(super) fn note_opened(&mut self) {
        self.count = 0;
    }

    pub(super) fn note_state_acquired(&mut self) {
        self.is_emptied = false;
    }

    pub(super) fn note_emptied(&mut self) {
        self.is_emptied = true;
    }
}

// === impl Machine ===

impl Machine {
    /// Counts a failure. Whether it is one too many.
    pub(super) fn is_to_pause(&mut self, cause: FailureCause) -> bool {
        let Some(pause) = &self.options.pause else {
            return false;
        };
        if !cause.is_withdrawn() {
            return false;
        }
        self.denials.count = self.denials.count.saturating_add(1);
        self.denials.count >= pause.after_failures
    }

    /// Returns the delay until the next probe, at least `min`.
    pub(super) fn probe_after(&mut self, min: Duration) -> Duration {
        let pause = self.options.pause.as_ref();
        let period = pause.map_or(PROBE_PERIOD_DEFAULT, |pause| pause.probe_period);
        let period = period.clamp(PROBE_PERIOD_MIN, PROBE_PERIOD_MAX);
        min.max(period.mul_f64(1.0 + self.jitter.share()))
    }

    /// Paused by itself or by the policy, until a probe.
    pub(super) fn paused(&self, now: Moment, cause: FailureCause, after: Duration) -> State {
        let pause = self.options.pause.as_ref();
        // Only for a removed resource: without the permission the objects may exist all the same.
        let is_emptying = cause == FailureCause::NotFound
            && pause.is_some_and(|pause| pause.when_removed == WhenRemoved::EmptyStore)
            && !self.denials.is_emptied
            && !self.resume.last().is_unknown();
        State::Paused {
            cause: Some(cause),
            probe: Some((now.saturating_add(after), after)),
            is_emptying,
            then: Plan::Acquire,
        }
    }

    pub(super) fn on_order(
        &mut self,
        now: Moment,
        state: State,
        order: Order,
        effects: &mut Vec<Effect>,
    ) -> State {
        match (order, state) {
            (Order::Pause, state) => State::Paused {
                cause: None,
                probe: None,
                is_emptying: false,
                then: interrupted(state, effects),
            },
            (Order::Resume, State::Paused { then, .. } | State::BackingOff { then, .. }) => {
                self.go_on(now, then)
            }
            (Order::Resume, state) => state,
        }
    }

    /// Puts the owner's decision in the place of what was decided here.
    pub(super) fn on_decided(
        &mut self,
        now: Moment,
        state: State,
        decision: Decision,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        match decision {
            Decision::Default => state,
            Decision::Stop => {
                effects.push(Effect::Discard);
                State::Stopped
            }
            Decision::Pause => {
                effects.push(Effect::Discard);
                let delay = self.backoff.next_delay(failing.retry_after);
                let after = self.probe_after(delay);
                self.paused(now, failing.cause, after)
            }
            Decision::Retry => match state {
                // That is what is being done.
                State::Checking => State::Checking,
                State::Opening(request) if !request.send_initial_events => State::Opening(request),
                state => self.decided(now, state, Plan::Watch, failing, effects),
            },
            Decision::Relist => self.decided(now, state, Plan::Acquire, failing, effects),
            Decision::BackOff(delay) => {
                // The owner may wait for longer than the server asks, but not for less.
                let retry_after = failing.retry_after.unwrap_or_default();
                let retry_after = retry_after.min(self.options.backoff.retry_after_max);
                let delay = delay.max(retry_after).max(DECIDED_DELAY_MIN);
                State::BackingOff {
                    until: now.saturating_add(delay),
                    delay,
                    cause: failing.cause,
                    then: plan_of(state, effects),
                }
            }
        }
    }

    /// Continues with `then` after the usual delay.
    fn decided(
        &mut self,
        now: Moment,
        state: State,
        then: Plan,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        let cause = failing.cause;
        // The delay that was drawn for this failure is kept: another draw would count the failure twice.
        let (until, delay) = if let State::BackingOff { until, delay, .. } = state {
            (until, delay)
        } else {
            let delay = self.backoff.next_delay(failing.retry_after);
            (now.saturating_add(delay), delay)
        };
        // The current request or watch is given up, with what was staged of it.
        interrupted(state, effects);
        State::BackingOff {
            until,
            delay,
            cause,
            then,
        }
    }
}

/// Returns the plan that continues what is under way later.
fn plan_of(state: State, effects: &mut Vec<Effect>) -> Plan {
    match state {
        State::Listing(listing) => Plan::Page(listing),
        State::Opening(request) if request.send_initial_events => Plan::Acquire,
        State::Reading(watch) if watch.is_initial => {
            effects.push(Effect::Discard);
            Plan::Acquire
        }
        State::Opening(_) | State::Reading(_) | State::Checking => Plan::Watch,
        State::BackingOff { then, .. } | State::Paused { then, .. } => then,
        State::Stopped => Plan::Acquire,
    }
}

/// The same for a pause, over which no part of a list is held.
fn interrupted(state: State, effects: &mut Vec<Effect>) -> Plan {
    match plan_of(state, effects) {
        Plan::Page(_) => {
            effects.push(Effect::Discard);
            Plan::Acquire
        }
        plan => plan,
    }
}
