//! The possible outcomes of the machine's steps, and the invariants that hold for all of them: for property tests, and
//! for a fuzzer.

use std::time::Duration;

use super::{Effect, EventKind, Input, Machine, Mode, Moment, Step};
use crate::{
    object::ResourceVersion,
    reflector::{
        Decision, FailureCause, PauseOptions, ReflectorOptions, WhenRemoved, control::Order,
    },
};

/// The number of failures in a row that may each be followed by another action without a delay.
const SETBACKS_MAX: usize = 8;

const DECISIONS: [Decision; 5] = [
    Decision::Default,
    Decision::Retry,
    Decision::Relist,
    Decision::BackOff(Duration::ZERO),
    Decision::Pause,
];

/// Every cause of a failed request or stream, by name.
pub(super) const CAUSES: [(&str, FailureCause); 17] = [
    ("expired", FailureCause::Expired),
    ("too-large", FailureCause::TooLargeVersion),
    ("throttled", FailureCause::Throttled),
    ("refused", FailureCause::Refused),
    ("transport", FailureCause::Transport),
    ("timed-out", FailureCause::TimedOut),
    ("unavailable", FailureCause::Unavailable),
    ("unreadable", FailureCause::Unreadable),
    ("server", FailureCause::ServerError),
    ("unauthorized", FailureCause::Unauthorized),
    ("forbidden", FailureCause::Forbidden),
    ("not-found", FailureCause::NotFound),
    ("denied", FailureCause::Denied),
    ("invalid", FailureCause::Invalid),
    ("protocol", FailureCause::Protocol),
    ("request", FailureCause::Request),
    ("early", FailureCause::EndedEarly),
];

/// One possible outcome of a step, of any kind.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    /// Which of the inputs that fit the step; below 100.
    pub(crate) choice: u8,
    pub(crate) cause: usize,
    pub(crate) version: u64,
    pub(crate) after: Duration,
}

/// A machine that receives one input after another, with checks of its effects.
pub(crate) struct Chances {
    machine: Machine,
    now: Moment,
    watched: DriverView,
    token_count: u64,
}

/// The view of the driver.
#[derive(Default)]
struct DriverView {
    /// Pages that were staged since the last commit or discard, and whether the last of them was the last of its list.
    staged: usize,
    is_whole: bool,
    /// Requests that failed or ended with nothing new since the last delay.
    setbacks: usize,
    commits: usize,
}

// === impl Chances ===

impl Chances {
    /// Begins with a machine that lists.
    pub(crate) fn new(mode: Mode, streaming_lists: bool, seed: u64) -> Self {
        let pause = PauseOptions::default().with_when_removed(WhenRemoved::EmptyStore);
        let options = ReflectorOptions::default()
            .with_streaming_lists(streaming_lists)
            .with_pause(pause);
        Self {
            machine: Machine::new(mode, options, seed, &ResourceVersion::unknown()),
            now: Moment::ZERO,
            watched: DriverView::default(),
            token_count: 0,
        }
    }

    /// Passes one input to the machine.
    ///
    /// # Panics
    ///
    /// If it commits a part, delivers before the first state, or takes too many steps without a delay.
    pub(crate) fn take(&mut self, chance: &Chance) {
        self.now += chance.after;
        self.token_count += 1;
        let version = ResourceVersion::new(chance.version.to_string());
        let token = format!("t{}", self.token_count);
        let before = self.machine.step();
        let input = match (&before, chance.choice) {
            (Step::Wait { until: None }, ..93) => {
                // Nothing but an order ends it.
                Input::Ordered(Order::Resume)
            }
            (Step::Wait { until: Some(until) }, ..93) => {
                self.now = self.now.max(*until);
                self.watched.setbacks = 0;
                Input::Waited
            }
            _ => input(&before, chance, &version, &token),
        };
        let mut effects = Vec::new();
        self.machine.handle(self.now, input, &mut effects);
        let after = self.machine.step();
        self.watched
            .see(&before, input, &effects, &after, chance.after);
    }
}

/// Returns a possible outcome of the step, by choice.
fn input<'a>(
    step: &Step,
    chance: &Chance,
    version: &'a ResourceVersion,
    token: &'a str,
) -> Input<'a> {
    let cause = CAUSES[chance.cause % CAUSES.len()].1;
    let page = |continue_token| Input::Page {
        version,
        continue_token,
    };
    let event = |kind| Input::Event { kind, version };
    let bookmark = |is_end_of_initial_events| Input::Bookmark {
        version,
        is_end_of_initial_events,
    };
    match (step, chance.choice) {
        (_, 95..) => Input::Decided {
            decision: DECISIONS[chance.cause % DECISIONS.len()],
            cause,
            retry_after: None,
        },
        (_, 94) => Input::Ordered(Order::Resume),
        (_, 93) => Input::Ordered(Order::Pause),
        (Step::Empty { .. }, _) => Input::Emptied,
        (Step::List(_), 0..40) => page(None),
        (Step::List(_), 40..70) => page(Some(token)),
        (Step::Open(_), 0..70) => Input::Opened,
        (Step::Read { .. }, 0..10) => event(EventKind::Added),
        (Step::Read { .. }, 10..20) => event(EventKind::Modified),
        (Step::Read { .. }, 20..30) => event(EventKind::Deleted),
        (Step::Read { .. }, 30..40) => bookmark(false),
        (Step::Read { .. }, 40..60) => bookmark(true),
        (Step::Read { .. }, 60..80) => Input::Ended,
        _ => Input::Failed {
            cause,
            retry_after: None,
        },
    }
}

// === impl DriverView ===

impl DriverView {
    fn see(
        &mut self,
        before: &Step,
        input: Input<'_>,
        effects: &[Effect],
        after: &Step,
        elapsed: Duration,
    ) {
        self.is_whole = match input {
            Input::Page { continue_token, .. } => continue_token.is_none(),
            Input::Bookmark {
                is_end_of_initial_events,
                ..
            } => is_end_of_initial_events,
            _ => false,
        };
        let mut has_news = false;
        for effect in effects {
            has_news |= self.see_effect(effect);
        }
        // A list or a stream that begins, begins with nothing staged.
        let is_beginning = match after {
            Step::List(request) => request.continue_token.is_none(),
            step => matches!(step, Step::Open(_)),
        };
        assert!(!is_beginning || self.staged == 0, "staged before {after:?}");
        // Failures, and streams that ended, are followed by a delay sooner or later, unless time passes or news come.
        let is_setback = matches!(input, Input::Failed { .. } | Input::Ended);
        if elapsed >= Duration::from_secs(1) || has_news {
            self.setbacks = 0;
        } else if is_setback {
            self.setbacks += 1;
        }
        assert!(
            self.setbacks <= SETBACKS_MAX,
            "{} setbacks without a delay, the last from {before:?}",
            self.setbacks
        );
    }

    /// Returns true if the effect is news.
    fn see_effect(&mut self, effect: &Effect) -> bool {
        match effect {
            Effect::Stage => self.staged += 1,
            Effect::Discard => self.staged = 0,
            Effect::Commit { .. } => {
                assert!(self.is_whole, "{effect:?} of a part");
                self.staged = 0;
                self.commits += 1;
                return true;
            }
            Effect::Deliver => assert!(self.commits > 0, "a change before the first state"),
            Effect::Bookmark { .. } => return true,
            Effect::ReportFailure { .. } | Effect::ReportWentBack { .. } => {}
        }
        false
    }
}
