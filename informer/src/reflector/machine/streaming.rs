//! Getting a whole state as the first events of a watch.

use std::time::Duration;

use super::{
    Belief, Effect, Failing, Input, Machine, Moment, OpenWatch, Plan, ReceivedEvents, State,
    watching::SHORT,
};
use crate::{list_watch::WatchRequest, object::ResourceVersion, reflector::FailureCause};

/// The number of streams without an end bookmark after which the server counts as one without streaming lists.
const INCOMPLETE_MAX: u32 = 2;
/// The number of transient failures of streaming lists after which the next state is read by a list.
const FAILURES_MAX: u32 = 2;

/// The known support of streaming lists by the server.
#[derive(Debug, Default)]
pub(super) struct StreamingSupport {
    /// Until when it is remembered that they do not work.
    distrusted_until: Option<Moment>,
    /// The number of consecutive ones that ended before their end bookmark.
    incomplete_count: u32,
    /// The number of failures since the last whole state.
    failure_count: u32,
}

// === impl StreamingSupport ===

impl StreamingSupport {
    pub(super) fn is_expected_to_work(&self, now: Moment) -> bool {
        self.failure_count < FAILURES_MAX && self.distrusted_until.is_none_or(|until| now >= until)
    }

    pub(super) fn note_state_acquired(&mut self) {
        self.failure_count = 0;
    }
}

// === impl Machine ===

impl Machine {
    /// Something came on a stream that has not given its whole initial state yet.
    pub(super) fn on_initial_item(
        &mut self,
        now: Moment,
        mut watch: OpenWatch,
        input: Input<'_>,
        effects: &mut Vec<Effect>,
    ) -> State {
        match input {
            Input::Event { .. } => {
                effects.push(Effect::Stage);
                watch.note_received(now, ReceivedEvents::Items);
                State::Reading(watch)
            }
            Input::Bookmark {
                version,
                is_end_of_initial_events: true,
            } => self.on_end_of_initial_events(now, watch, version, effects),
            Input::Bookmark { .. } => {
                watch.note_received(now, ReceivedEvents::Items);
                State::Reading(watch)
            }
            Input::Ended => self.on_streaming_cut_off(now, &watch, effects),
            Input::Failed { cause, retry_after } => {
                let failing = Failing { cause, retry_after };
                self.on_streaming_failed(now, &watch.request, true, failing, effects)
            }
            input => {
                debug_assert!(false, "{input:?} is not what an open stream can give");
                State::Reading(watch)
            }
        }
    }

    fn on_end_of_initial_events(
        &mut self,
        now: Moment,
        mut watch: OpenWatch,
        version: &ResourceVersion,
        effects: &mut Vec<Effect>,
    ) -> State {
        let requested = watch.request.resource_version.clone();
        let belief = self.resume.judge(&requested, version);
        if belief != Belief::Accept {
            self.report_went_back(version, belief == Belief::AcceptBack, effects);
        }
        if belief == Belief::Refuse {
            effects.push(Effect::Discard);
            self.resume.give_up_version();
            return self.open_streaming();
        }
        self.streaming.incomplete_count = 0;
        self.commit(now, &requested, version, effects);
        // What came until now was the state; whether changes come is yet to be seen.
        watch.heard_at = now;
        watch.received = ReceivedEvents::Nothing;
        watch.is_initial = false;
        // From here on events are in the order of versions, even if the initial ones were not.
        watch.is_unordered = false;
        State::Reading(watch)
    }

    /// The stream ended in good order, but before its end bookmark.
    fn on_streaming_cut_off(
        &mut self,
        now: Moment,
        watch: &OpenWatch,
        effects: &mut Vec<Effect>,
    ) -> State {
        effects.push(Effect::Discard);
        self.streaming.incomplete_count += 1;
        if self.streaming.incomplete_count >= INCOMPLETE_MAX {
            self.report(FailureCause::EndedEarly, Duration::ZERO, effects);
            return self.distrust_streaming(now);
        }
        // At once only if something came or time passed: otherwise this could become a hot loop.
        if watch.received > ReceivedEvents::Nothing || watch.lived(now) >= SHORT {
            self.report(FailureCause::EndedEarly, Duration::ZERO, effects);
            return self.open_streaming();
        }
        let failing = FailureCause::EndedEarly.into();
        self.back_off(now, Plan::Acquire, failing, effects)
    }

    pub(super) fn on_streaming_failed(
        &mut self,
        now: Moment,
        request: &WatchRequest,
        was_open: bool,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        // In all cases: the initial events of another stream begin anew.
        effects.push(Effect::Discard);
        match failing.cause {
            FailureCause::Expired | FailureCause::TooLargeVersion
                if !request.resource_version.is_unknown() =>
            {
                self.resume.give_up_version();
                self.report(failing.cause, Duration::ZERO, effects);
                self.open_streaming()
            }
            FailureCause::Throttled | FailureCause::Refused => {
                self.back_off(now, Plan::Acquire, failing, effects)
            }
            FailureCause::Invalid => {
                self.report(failing.cause, Duration::ZERO, effects);
                self.distrust_streaming(now)
            }
            // The response began, but the end bookmark does not come: the server ignored what was asked.
            FailureCause::TimedOut if was_open => {
                self.report(failing.cause, Duration::ZERO, effects);
                self.distrust_streaming(now)
            }
            // Lists may still be allowed where watches are not.
            cause if cause.is_denied() => {
                self.streaming.failure_count += 1;
                self.report(failing.cause, Duration::ZERO, effects);
                self.list()
            }
            _ => {
                self.streaming.failure_count += 1;
                self.back_off(now, Plan::Acquire, failing, effects)
            }
        }
    }

    /// Lists, and remembers for a while to do so.
    fn distrust_streaming(&mut self, now: Moment) -> State {
        self.streaming.incomplete_count = 0;
        self.streaming.distrusted_until =
            Some(now.saturating_add(self.options.streaming_fallback_memory));
        self.list()
    }
}
