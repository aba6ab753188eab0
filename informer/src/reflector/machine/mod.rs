//! Decides the next action of a reflector: a pure function of inputs and their times, without clock, I/O or objects.
//!
//! The driver asks for the [`Step`], performs it, and gives the result as an [`Input`]; the answer is a list of [`Effect`]s,
//! which it performs in order before it asks for the next step. There is exactly one step at a time, so never more than one
//! request in flight. Objects go past the machine: it sees kinds and versions, and its effects say whether the object at hand
//! is staged, delivered, or dropped.
//!
//! ```text
//!           ┌──────────────────────────── acquire ◄───────────────────────────┐
//!           │ streaming lists work            │ they do not                    │
//!           ▼                                 ▼                                │
//!   Opening (streaming) ── denied, ───►   Listing ◄─┐ next page                │ expired,
//!           │ headers      invalid         │ ▲ │ └──┘                          │ or failed
//!           ▼                              │ │ └─ expired: again,              │ again
//!   Reading (streaming) ── cut off ────────┼─┘    without version or limit     │
//!           │              twice, silent   │ last page: commit                 │
//!           │ end bookmark: commit         ▼                                   │
//!           │                    Opening (watch) ◄─ ended, silent: rewatch ─┐  │
//!           │                              │ headers                        │  │
//!           └────────────► Reading (watch) ◄┘ ──────────────────────────────┘──┘
//!
//!   From everywhere: BackingOff, until its time; then acquire, the same page, or the same watch.
//!                    Paused, until a probe or an order; then acquire, or the same watch.
//!   From Reading (watch), after long silence: Checking; then acquire, or the same watch.
//! ```
//!
//! | in | input | then |
//! |---|---|---|
//! | Listing | a page with a token | stage it, ask for the next page |
//! | | the last page | stage it, commit, open a watch at its version |
//! | | a page older than what was seen | refuse it, ask again without a version, at once |
//! | | expired or too large at a version | ask again without a version, at once |
//! | | expired at a continue token | discard, ask for all in one page at the first version, at once; if that too is paged and expires, back off |
//! | | a passing failure of a later page | back off, ask for the same page, three times at most |
//! | | any other failure | discard, back off, acquire |
//! | Opening or Reading (streaming) | an event, a bookmark | stage it |
//! | | the end bookmark | commit, read on as a watch |
//! | | the end bookmark, older than what was seen | discard, stream again without a version, at once |
//! | | expired or too large at a version | stream again without a version, at once |
//! | | invalid, or no end bookmark in time | discard, remember that streaming does not work, list at once |
//! | | denied | list at once |
//! | | the end, before the end bookmark | stream again (after a delay if it was empty); the second time remember and list |
//! | | any other failure | discard, back off, acquire; after the second one by a list |
//! | Opening or Reading (watch) | an event | deliver it, advance |
//! | | a bookmark | advance |
//! | | the end, a break or silence, after a second or with changes | open again at once; after three such within a second each, back off |
//! | | the end at once with nothing | as any other failure |
//! | | expired, too large, or unreadable storage | back off, acquire |
//! | | the end, a break or silence, and nothing at this version for twice as long as a watch may be silent | check the version |
//! | | a bookmark older than what was seen, the first for so long | check the version |
//! | | refused, throttled | back off, open again |
//! | | unavailable, broken or silent at opening | back off, open again; acquire every fifth time |
//! | | any other failure | back off, open again; acquire every second time |
//! | Checking | a page | open again at the last version |
//! | | a page older than what was seen, expired, or too large | acquire without a version, at once |
//! | | any other failure | as that of a watch |
//! | `BackingOff`, Paused | its time, an order to resume | continue as planned |
//! | Paused | the store is empty | wait |
//! | any | the third answer in a row that the resource or the permission is gone | pause, empty the store if so chosen; probe by acquiring |
//! | | an order to pause | discard, pause until an order to resume |
//! | | a decision about the failure that was just reported | see `Decision` |
//!
//! A server that was restored to an earlier revision is silent on a watch at a version that it has not reached again, and lets
//! no bookmark through: hence the check, one list of at most one object, which such a server answers with an older version or
//! as too large.
//!
//! Delays grow from failure to failure and are reset only when the server has proved healthy: a watch brought changes,
//! or lasted for a while.
//!
//! # Modes
//!
//! The table is that of [`Mode::Mirror`]. [`Mode::Wait`], for a wait for conditions, differs in this:
//!
//! - Each list asks for the most recent state, and one at a version that cannot be watched from is refused.
//! - A change is delivered only if it is later than all before it.
//! - A watch is opened again however often it fails; only an expired version, unreadable storage and a change without a version
//!   lead to a list.
//!
//! [`Mode::Follow`], for a watch without a list, differs from that in this: it begins with a watch, it never lists or checks, and
//! it stops where the others would list, and when the server rejects the request.

mod protocol;
mod resume;
mod open_watch;
mod listing;
mod streaming;
mod watching;
mod checking;
mod pausing;

#[cfg(any(test, feature = "_fuzzing"))]
mod chances;
#[cfg(test)]
mod tests;

use std::time::Duration;

#[cfg(feature = "_fuzzing")]
pub(crate) use self::chances::{Chance, Chances};
pub(super) use self::protocol::{Effect, Input, Moment, Step};
pub(crate) use self::protocol::{EventKind, Mode};
use self::{
    listing::Listing,
    open_watch::{OpenWatch, ReceivedEvents},
    pausing::Denials,
    resume::{Belief, Resume},
    streaming::StreamingSupport,
    watching::WatchHealth,
};
use super::{FailureCause, Phase, ReflectorOptions};
use crate::{
    backoff::{Backoff, Jitter},
    list_watch::WatchRequest,
    object::ResourceVersion,
};

/// The most that a watch is asked to last at least: a year.
const WATCH_TIMEOUT_MAX_SECONDS: u64 = 365 * 86_400;

/// Decides what a reflector does next.
pub(super) struct Machine {
    mode: Mode,
    options: ReflectorOptions,
    state: State,
    resume: Resume,
    streaming: StreamingSupport,
    health: WatchHealth,
    denials: Denials,
    backoff: Backoff,
    jitter: Jitter,
}

enum State {
    Listing(Listing),
    Opening(WatchRequest),
    Reading(OpenWatch),
    /// Asks whether the server still has the version to watch from.
    Checking,
    BackingOff {
        until: Moment,
        delay: Duration,
        cause: FailureCause,
        then: Plan,
    },
    Paused {
        /// `None` if the owner asked for it.
        cause: Option<FailureCause>,
        /// The time of the next probe, and its delay from the beginning.
        probe: Option<(Moment, Duration)>,
        /// True if the store is to be emptied first.
        is_emptying: bool,
        then: Plan,
    },
    Stopped,
}

/// The plan for the end of a delay.
enum Plan {
    /// Get a new whole state, by whichever way works.
    Acquire,
    /// Ask for the same page again.
    Page(Listing),
    /// Open a watch at the last version.
    Watch,
}

/// A failure in short.
#[derive(Clone, Copy)]
struct Failing {
    cause: FailureCause,
    retry_after: Option<Duration>,
}

// === impl Failing ===

impl From<FailureCause> for Failing {
    fn from(cause: FailureCause) -> Self {
        Self {
            cause,
            retry_after: None,
        }
    }
}

// === impl Machine ===

impl Machine {
    /// Creates a machine at its beginning, which draws all jitter from `seed`. Its store holds the state at `last`, if that is
    /// known; [`Mode::Follow`] needs it.
    pub(super) fn new(
        mode: Mode,
        options: ReflectorOptions,
        seed: u64,
        last: &ResourceVersion,
    ) -> Self {
        let mut resume = Resume::new(options.page_size, mode == Mode::Wait);
        // The state that the store holds counts as acquired: no answer may take it back unnoticed.
        resume.commit(last);
        let mut machine = Self {
            mode,
            state: State::Opening(WatchRequest::default()),
            resume,
            streaming: StreamingSupport::default(),
            health: WatchHealth::default(),
            denials: Denials::default(),
            backoff: Backoff::new(options.backoff.clone(), seed),
            jitter: Jitter::second(seed),
            options,
        };
        machine.state = match mode {
            Mode::Mirror | Mode::Wait => machine.acquire(Moment::ZERO),
            Mode::Follow => machine.open_watch(),
        };
        machine
    }

    /// Returns the present step. The same until the next input.
    pub(super) fn step(&self) -> Step {
        match &self.state {
            State::Listing(listing) => Step::List(listing.request().clone()),
            State::Opening(request) => Step::Open(request.clone()),
            State::Reading(watch) => Step::Read {
                until: watch.deadline(&self.options),
            },
            State::Checking => Step::List(self.resume.check_request()),
            State::BackingOff { until, .. } => Step::Wait {
                until: Some(*until),
            },
            State::Paused {
                is_emptying: true, ..
            } => Step::Empty {
                version: self.resume.last().clone(),
            },
            State::Paused { probe, .. } => Step::Wait {
                until: probe.map(|(at, _)| at),
            },
            State::Stopped => Step::Stop,
        }
    }

    /// Returns the phase, for people.
    pub(super) fn phase(&self) -> Phase {
        match &self.state {
            State::Listing(_) => Phase::Listing,
            State::Opening(_) | State::Checking => Phase::Connecting,
            State::Reading(watch) if watch.is_initial => Phase::Streaming,
            State::Reading(_) => Phase::Watching,
            State::BackingOff { delay, cause, .. } => Phase::BackingOff {
                cause: *cause,
                delay: *delay,
            },
            State::Paused { cause, probe, .. } => Phase::Paused {
                cause: *cause,
                probe_after: probe.map(|(_, after)| after),
            },
            State::Stopped => Phase::Stopped,
        }
    }

    /// Returns the version of the last state, change or bookmark.
    pub(super) fn last_version(&self) -> &ResourceVersion {
        self.resume.last()
    }

    /// Returns true while it gets a whole state.
    pub(super) fn is_acquiring(&self) -> bool {
        match &self.state {
            State::Listing(_) => true,
            State::Opening(request) => request.send_initial_events,
            State::Reading(watch) => watch.is_initial,
            State::Checking | State::BackingOff { .. } | State::Paused { .. } | State::Stopped => {
                false
            }
        }
    }

    /// Returns the number of delays since the server was healthy.
    pub(super) fn attempt(&self) -> u32 {
        self.backoff.attempt()
    }

    /// Handles the outcome of the step.
    pub(super) fn handle(&mut self, now: Moment, input: Input<'_>, effects: &mut Vec<Effect>) {
        // The state is taken out, so that the leaves can consume it; what they return takes its place.
        let placeholder = State::Opening(WatchRequest::default());
        let state = std::mem::replace(&mut self.state, placeholder);
        self.state = match (state, input) {
            // First: no input that arrives late revives a stopped machine.
            (State::Stopped, _) => State::Stopped,
            (
                state,
                Input::Decided {
                    decision,
                    cause,
                    retry_after,
                },
            ) => {
                let failing = Failing { cause, retry_after };
                self.on_decided(now, state, decision, failing, effects)
            }
            (state, Input::Ordered(order)) => self.on_order(now, state, order, effects),
            (State::Listing(listing), input) => self.on_list_input(now, listing, input, effects),
            (State::Opening(request), Input::Opened) => {
                self.denials.note_opened();
                State::Reading(OpenWatch::new(request, now))
            }
            (State::Opening(request), Input::Failed { cause, retry_after }) => {
                let failing = Failing { cause, retry_after };
                if request.send_initial_events {
                    self.on_streaming_failed(now, &request, false, failing, effects)
                } else {
                    self.on_watch_failed(now, None, failing, effects)
                }
            }
            // Before the other streams: the items of an initial state are staged, not delivered.
            (State::Reading(watch), input) if watch.is_initial => {
                self.on_initial_item(now, watch, input, effects)
            }
            (State::Reading(watch), input) => self.on_item(now, watch, input, effects),
            (State::Checking, input) => self.on_checked(now, input, effects),
            (State::BackingOff { then, .. } | State::Paused { then, .. }, Input::Waited) => {
                self.go_on(now, then)
            }
            (
                State::Paused {
                    cause, probe, then, ..
                },
                Input::Emptied,
            ) => {
                self.denials.note_emptied();
                State::Paused {
                    cause,
                    probe,
                    is_emptying: false,
                    then,
                }
            }
            (state, input) => {
                debug_assert!(false, "{input:?} is not what the step can give");
                state
            }
        };
    }

    fn go_on(&mut self, now: Moment, then: Plan) -> State {
        match then {
            Plan::Acquire => self.acquire(now),
            Plan::Page(listing) => State::Listing(listing),
            Plan::Watch => self.rewatch(now),
        }
    }

    /// Gets a whole state, by whichever way works.
    fn acquire(&mut self, now: Moment) -> State {
        if self.options.streaming_lists && self.streaming.is_expected_to_work(now) {
            self.open_streaming()
        } else {
            self.list()
        }
    }

    fn list(&self) -> State {
        State::Listing(Listing::first(self.resume.list_request()))
    }

    fn open_streaming(&mut self) -> State {
        State::Opening(WatchRequest {
            resource_version: self.resume.streaming_version(),
            send_initial_events: true,
            ..self.watch_request()
        })
    }

    fn open_watch(&mut self) -> State {
        State::Opening(WatchRequest {
            resource_version: self.resume.last().clone(),
            ..self.watch_request()
        })
    }

    /// Resumes from the last version.
    fn rewatch(&mut self, now: Moment) -> State {
        if self.resume.last().is_resumable() || self.mode == Mode::Follow {
            self.open_watch()
        } else {
            // The server would begin with the present state, and deletions would be missed.
            self.acquire(now)
        }
    }

    fn watch_request(&mut self) -> WatchRequest {
        let min_seconds = self.options.watch_timeout_min.as_secs();
        let min_seconds = min_seconds.clamp(1, WATCH_TIMEOUT_MAX_SECONDS);
        // Drawn for each watch, so that those of many clients do not end at the same time.
        let seconds = self.jitter.up_to_double(min_seconds);
        WatchRequest {
            allow_bookmarks: true,
            timeout: Some(Duration::from_secs(seconds)),
            ..WatchRequest::default()
        }
    }

    /// Waits before continuing with `then`.
    fn back_off(
        &mut self,
        now: Moment,
        then: Plan,
        failing: Failing,
        effects: &mut Vec<Effect>,
    ) -> State {
        // Drawn before a pause is decided on: a probe comes no sooner than the backoff and the server allow.
        let delay = self.backoff.next_delay(failing.retry_after);
        if self.is_to_pause(failing.cause) {
            let after = self.probe_after(delay);
            self.report(failing.cause, after, effects);
            return self.paused(now, failing.cause, after);
        }
        self.report(failing.cause, delay, effects);
        State::BackingOff {
            until: now.saturating_add(delay),
            delay,
            cause: failing.cause,
            then,
        }
    }

    fn report(&self, cause: FailureCause, delay: Duration, effects: &mut Vec<Effect>) {
        effects.push(Effect::ReportFailure {
            cause,
            attempt: self.backoff.attempt(),
            delay,
        });
    }

    fn report_went_back(&self, to: &ResourceVersion, is_accepted: bool, effects: &mut Vec<Effect>) {
        effects.push(Effect::ReportWentBack {
            from: self.resume.last().clone(),
            to: to.clone(),
            is_accepted,
        });
    }

    /// The staging is a whole state at `version`.
    fn commit(
        &mut self,
        now: Moment,
        requested: &ResourceVersion,
        version: &ResourceVersion,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Commit {
            version: version.clone(),
            is_authoritative: requested.is_unknown(),
        });
        self.resume.commit(version);
        self.streaming.note_state_acquired();
        self.denials.note_state_acquired();
        self.health.note_heard(now);
    }
}
