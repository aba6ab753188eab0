//! Tests of the machine: transcripts of what it hears and decides, and a property over any sequence of inputs.

mod transcripts;

use std::{fmt::Write, time::Duration};

use proptest::prelude::*;

use super::{Effect, EventKind, Input, Machine, Moment, Step};
use crate::{
    list_watch::ListRequest,
    object::ResourceVersion,
    reflector::{
        Cause, Decision, PauseOptions, Phase, ReflectorOptions, WhenRemoved, control::Order,
    },
};

/// Without jitter, so that delays can be read.
fn options() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.backoff.jitter = 0.0;
    options
}

struct Player {
    machine: Machine,
    now: Moment,
}

impl Player {
    fn new(options: ReflectorOptions) -> Self {
        Self {
            machine: Machine::new(options, 0, &ResourceVersion::unknown()),
            now: Moment::ZERO,
        }
    }

    /// Plays one input, as in `12s fail expired`; the time is that since the input before, and may be left out.
    fn play(&mut self, line: &str) -> String {
        let mut words: Vec<&str> = line.split(' ').collect();
        if let Some(seconds) = words[0].strip_suffix('s')
            && let Ok(seconds) = seconds.parse()
        {
            self.now += Duration::from_secs_f64(seconds);
            words.remove(0);
        }
        if words[0] == "waited" {
            let Step::Wait { until: Some(until) } = self.machine.step() else {
                panic!("nothing is waited for");
            };
            self.now = until;
        }
        let version = ResourceVersion::new(*words.get(1).unwrap_or(&""));
        let event = |kind| Input::Event {
            kind,
            version: &version,
        };
        let bookmark = |is_end_of_initial_events| Input::Bookmark {
            version: &version,
            is_end_of_initial_events,
        };
        let input = match words[0] {
            "page" => Input::Page {
                version: &version,
                continue_token: words.get(2).copied(),
            },
            "opened" => Input::Opened,
            "added" => event(EventKind::Added),
            "modified" => event(EventKind::Modified),
            "deleted" => event(EventKind::Deleted),
            "bookmark" => bookmark(false),
            "end-bookmark" => bookmark(true),
            "ended" => Input::Ended,
            "waited" => Input::Waited,
            "emptied" => Input::Emptied,
            "pause" => Input::Ordered(Order::Pause),
            "resume" => Input::Ordered(Order::Resume),
            "decide" => Input::Decided {
                decision: decision(words[1]),
                cause: Cause::Transport,
                retry_after: None,
            },
            "fail" => Input::Failed {
                cause: cause(words[1]),
                retry_after: words
                    .get(2)
                    .map(|seconds| Duration::from_secs(seconds.parse().unwrap())),
            },
            other => panic!("{other} is no input"),
        };
        let mut effects = Vec::new();
        self.machine.handle(self.now, input, &mut effects);
        let mut told: Vec<String> = effects.iter().map(effect_in_short).collect();
        told.push(step_in_short(&self.machine, self.now));
        told.join("; ")
    }
}

const CAUSES: [(&str, Cause); 17] = [
    ("expired", Cause::Expired),
    ("too-large", Cause::TooLargeVersion),
    ("throttled", Cause::Throttled),
    ("refused", Cause::Refused),
    ("transport", Cause::Transport),
    ("timed-out", Cause::TimedOut),
    ("unavailable", Cause::Unavailable),
    ("unreadable", Cause::Unreadable),
    ("server", Cause::ServerError),
    ("unauthorized", Cause::Unauthorized),
    ("forbidden", Cause::Forbidden),
    ("not-found", Cause::NotFound),
    ("denied", Cause::Denied),
    ("invalid", Cause::Invalid),
    ("protocol", Cause::Protocol),
    ("request", Cause::Request),
    ("early", Cause::EndedEarly),
];

fn cause(name: &str) -> Cause {
    let found = CAUSES.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{name} is no cause")).1
}

fn decision(name: &str) -> Decision {
    match name {
        "default" => Decision::Default,
        "retry" => Decision::Retry,
        "relist" => Decision::Relist,
        "pause" => Decision::Pause,
        "stop" => Decision::Stop,
        seconds => Decision::BackOff(Duration::from_secs_f64(seconds.parse().unwrap())),
    }
}

fn effect_in_short(effect: &Effect) -> String {
    match effect {
        Effect::Stage => "stage".to_owned(),
        Effect::Deliver => "deliver".to_owned(),
        Effect::Discard => "discard".to_owned(),
        Effect::Commit {
            version,
            is_authoritative,
        } => format!(
            "commit {version}{}",
            if *is_authoritative {
                " with authority"
            } else {
                ""
            }
        ),
        Effect::Bookmark { version } => format!("bookmark {version}"),
        Effect::ReportFailure { attempt, .. } => format!("report #{attempt}"),
        Effect::ReportWentBack {
            from,
            to,
            is_accepted,
        } => format!(
            "went back {from} to {to}{}",
            if *is_accepted { "" } else { ", refused" }
        ),
    }
}

fn step_in_short(machine: &Machine, now: Moment) -> String {
    match machine.step() {
        Step::List(ListRequest {
            resource_version,
            version_match,
            limit,
            continue_token,
        }) => {
            let mut told = match continue_token {
                Some(token) => format!("LIST continue {token}"),
                None => format!("LIST {resource_version:?}"),
            };
            if let Some(version_match) = version_match {
                write!(told, " {version_match:?}").unwrap();
            }
            if let Some(limit) = limit {
                write!(told, " limit {limit}").unwrap();
            }
            told
        }
        Step::Open(request) => {
            assert!(request.allow_bookmarks && request.timeout.is_some());
            let kind = if request.send_initial_events {
                "STREAM"
            } else {
                "WATCH"
            };
            format!("{kind} {:?}", request.resource_version)
        }
        Step::Read { .. } => "read".to_owned(),
        Step::Wait { until: Some(until) } => {
            let after = until.saturating_sub(now);
            if let Phase::Paused { probe_after, .. } = machine.phase() {
                // The jitter is not the backoff's, and cannot be switched off.
                let expected = Duration::from_mins(2)..=Duration::from_mins(4);
                assert!(expected.contains(&after), "{after:?}");
                assert_eq!(probe_after, Some(after));
                return "probe".to_owned();
            }
            format!("wait {after:?}")
        }
        Step::Wait { until: None } => "paused".to_owned(),
        Step::Empty { version } => format!("EMPTY {version}"),
        Step::Stop => "STOP".to_owned(),
    }
}

#[test]
fn deadlines_follow_what_was_heard() {
    let mut player = Player::new(options().with_streaming_lists(false));
    player.play("page 7");
    player.play("opened");
    let until = |player: &Player| match player.machine.step() {
        Step::Read { until } => until.as_secs(),
        step => panic!("{step:?}"),
    };
    assert_eq!(until(&player), 180);
    player.play("100s bookmark 8");
    assert_eq!(until(&player), 280);
    player.play("179s bookmark 9");
    player.play("179s bookmark 10");
    // Not longer than what the server was asked for, and a little.
    let latest = until(&player);
    assert!((330..=630).contains(&latest), "{latest}");
    let mut streaming = Player::new(options());
    streaming.play("opened");
    assert_eq!(until(&streaming), 30);
    for _ in 0..5 {
        streaming.play("20s added 5");
    }
    assert_eq!(until(&streaming), 120);
    // The whole state came: from here on it is a watch like any other.
    streaming.play("end-bookmark 9");
    assert_eq!(until(&streaming), 280);
}

#[test]
fn watches_ask_for_an_end_between_five_and_ten_minutes_or_what_was_chosen() {
    let check = |min: Duration, expected: std::ops::Range<u64>| {
        for seed in 0..200 {
            let options = ReflectorOptions::default().with_watch_timeout_min(min);
            let Step::Open(request) =
                Machine::new(options, seed, &ResourceVersion::unknown()).step()
            else {
                panic!("a watch is opened first");
            };
            let seconds = request.timeout.unwrap().as_secs();
            assert!(expected.contains(&seconds), "{seconds}");
        }
    };
    check(ReflectorOptions::default().watch_timeout_min, 300..600);
    check(Duration::from_mins(30), 1800..3600);
    check(Duration::ZERO, 1..2);
    check(Duration::MAX, 31_536_000..63_072_000);
}

/// One thing that can come of a step, whatever the step is.
#[derive(Clone, Debug)]
struct Chance {
    /// Which of the inputs that fit the step.
    choice: usize,
    cause: usize,
    version: u64,
    after: Duration,
}

fn chance() -> impl Strategy<Value = Chance> {
    let after = prop_oneof![
        4 => Just(Duration::ZERO),
        1 => (0_u64..2000).prop_map(Duration::from_millis),
        1 => (0_u64..400).prop_map(Duration::from_secs),
    ];
    (0..100_usize, 0..CAUSES.len(), 0..30_u64, after).prop_map(|(choice, cause, version, after)| {
        Chance {
            choice,
            cause,
            version,
            after,
        }
    })
}

/// What the driver would see.
#[derive(Default)]
struct Watched {
    /// Pages that were staged since the last commit or discard, and whether the last of them was the last of its list.
    staged: usize,
    is_whole: bool,
    /// Requests that failed or ended with nothing new since the last delay.
    failures_without_delay: usize,
    commits: usize,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_sequence_of_inputs_makes_a_hot_loop_or_commits_a_part(
        chances in prop::collection::vec(chance(), 1..200),
        streaming_lists: bool,
        seed: u64,
    ) {
        let options = ReflectorOptions::default()
            .with_streaming_lists(streaming_lists)
            .with_pause(PauseOptions::default().with_when_removed(WhenRemoved::EmptyStore));
        let mut machine = Machine::new(options, seed, &ResourceVersion::unknown());
        let mut now = Moment::ZERO;
        let mut watched = Watched::default();
        let mut token_count = 0;
        for chance in chances {
            now += chance.after;
            let version = ResourceVersion::new(chance.version.to_string());
            token_count += 1;
            let token = format!("t{token_count}");
            let failed = Input::Failed { cause: CAUSES[chance.cause].1, retry_after: None };
            let before = machine.step();
            let input = match (&before, chance.choice) {
                (_, 95..) => {
                    let decisions = [
                        Decision::Default,
                        Decision::Retry,
                        Decision::Relist,
                        Decision::BackOff(Duration::ZERO),
                        Decision::Pause,
                    ];
                    let decision = decisions[chance.cause % decisions.len()];
                    Input::Decided { decision, cause: CAUSES[chance.cause].1, retry_after: None }
                }
                (_, 94) => Input::Ordered(Order::Resume),
                (_, 93) => Input::Ordered(Order::Pause),
                (Step::Empty { .. }, _) => Input::Emptied,
                (Step::Wait { until }, _) => {
                    now = now.max(until.unwrap_or(now));
                    if until.is_none() {
                        // Nothing but an order ends it.
                        machine.handle(now, Input::Ordered(Order::Resume), &mut Vec::new());
                        continue;
                    }
                    watched.failures_without_delay = 0;
                    Input::Waited
                }
                (Step::List(_), 0..40) => Input::Page { version: &version, continue_token: None },
                (Step::List(_), 40..70) => {
                    Input::Page { version: &version, continue_token: Some(&token) }
                }
                (Step::Open(_), 0..70) => Input::Opened,
                (Step::Read { .. }, 0..10) => Input::Event { kind: EventKind::Added, version: &version },
                (Step::Read { .. }, 10..20) => Input::Event { kind: EventKind::Modified, version: &version },
                (Step::Read { .. }, 20..30) => Input::Event { kind: EventKind::Deleted, version: &version },
                (Step::Read { .. }, 30..40) => {
                    Input::Bookmark { version: &version, is_end_of_initial_events: false }
                }
                (Step::Read { .. }, 40..60) => {
                    Input::Bookmark { version: &version, is_end_of_initial_events: true }
                }
                (Step::Read { .. }, 60..80) => Input::Ended,
                _ => failed,
            };
            let mut effects = Vec::new();
            machine.handle(now, input, &mut effects);
            watched.see(&before, input, &effects, &machine.step(), chance.after)?;
        }
    }
}

impl Watched {
    fn see(
        &mut self,
        before: &Step,
        input: Input<'_>,
        effects: &[Effect],
        after: &Step,
        elapsed: Duration,
    ) -> Result<(), TestCaseError> {
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
            match effect {
                Effect::Stage => self.staged += 1,
                Effect::Discard => self.staged = 0,
                Effect::Commit { .. } => {
                    prop_assert!(self.is_whole, "{effect:?} of a part");
                    self.staged = 0;
                    self.commits += 1;
                    has_news = true;
                }
                Effect::Deliver => {
                    prop_assert!(self.commits > 0, "a change before the first state");
                }
                Effect::Bookmark { .. } => has_news = true,
                Effect::ReportFailure { .. } | Effect::ReportWentBack { .. } => {}
            }
        }
        // A list that begins, begins with nothing staged.
        if let Step::List(request) = after
            && request.continue_token.is_none()
        {
            prop_assert_eq!(self.staged, 0);
        }
        if let Step::Open(_) = after {
            prop_assert_eq!(self.staged, 0);
        }
        // Failures, and streams that ended, are followed by a delay sooner or later, unless time passes or news come.
        let is_setback = matches!(input, Input::Failed { .. } | Input::Ended);
        if elapsed >= Duration::from_secs(1) || has_news {
            self.failures_without_delay = 0;
        } else if is_setback {
            self.failures_without_delay += 1;
        }
        prop_assert!(
            self.failures_without_delay <= 8,
            "{} setbacks without a delay, the last from {before:?}",
            self.failures_without_delay
        );
        Ok(())
    }
}
