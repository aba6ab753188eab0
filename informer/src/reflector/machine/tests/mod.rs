//! Tests of the machine: transcripts of its inputs and decisions, and a property over any sequence of inputs.

mod transcripts;

use std::{fmt::Write, time::Duration};

use proptest::prelude::*;

use super::{
    Effect, EventKind, Input, Machine, Mode, Moment, Step,
    chances::{CAUSES, Chance, Chances},
};
use crate::{
    list_watch::ListRequest,
    object::ResourceVersion,
    reflector::{Decision, FailureCause, PauseOptions, Phase, ReflectorOptions, control::Order},
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
        Self::with_mode(Mode::Mirror, options, "")
    }

    fn with_mode(mode: Mode, options: ReflectorOptions, last: &str) -> Self {
        Self {
            machine: Machine::new(mode, options, 0, &last.into()),
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
                cause: FailureCause::Transport,
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
        let mut text: Vec<String> = effects.iter().map(effect_in_short).collect();
        text.push(step_in_short(&self.machine, self.now));
        text.join("; ")
    }
}

fn cause(name: &str) -> FailureCause {
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
            let mut text = match continue_token {
                Some(token) => format!("LIST continue {token}"),
                None => format!("LIST {resource_version:?}"),
            };
            if let Some(version_match) = version_match {
                write!(text, " {version_match:?}").unwrap();
            }
            if let Some(limit) = limit {
                write!(text, " limit {limit}").unwrap();
            }
            text
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
fn deadlines_follow_what_was_received() {
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
fn the_limits_of_streaming_lists_are_those_of_the_options() {
    let options = options()
        .with_initial_events_silence(Duration::from_secs(3))
        .with_initial_events_timeout(Duration::from_secs(5))
        .with_streaming_fallback_memory(Duration::from_mins(1));
    let mut player = Player::new(options);
    player.play("opened");
    let until = |player: &Player| match player.machine.step() {
        Step::Read { until } => until.as_secs(),
        step => panic!("{step:?}"),
    };
    assert_eq!(until(&player), 3);
    player.play("2s added 5");
    player.play("2s added 6");
    assert_eq!(until(&player), 5);
    // A server that cannot stream lists is listed until the memory of that ends.
    let is_listed = |player: &mut Player, expired: &str| player.play(expired).contains("LIST");
    assert!(is_listed(&mut player, "1s fail invalid"));
    player.play("page 7");
    player.play("opened");
    player.play("58s fail expired");
    assert!(is_listed(&mut player, "waited"));
    player.play("page 8");
    player.play("opened");
    player.play("2s fail expired");
    assert!(!is_listed(&mut player, "waited"));
}

#[test]
fn a_whole_state_is_being_acquired_from_the_first_request_to_the_commit() {
    let check = |streaming_lists: bool, inputs: &[(&str, bool)]| {
        let mut player = Player::new(options().with_streaming_lists(streaming_lists));
        assert!(player.machine.is_acquiring(), "at the beginning");
        for (input, is_acquiring) in inputs {
            player.play(input);
            assert_eq!(player.machine.is_acquiring(), *is_acquiring, "{input}");
        }
    };
    check(
        false,
        &[
            ("page 7 next", true),
            ("fail transport", false),
            ("waited", true),
            ("page 7", false),
            ("opened", false),
            ("ended", false),
        ],
    );
    check(
        true,
        &[
            ("opened", true),
            ("added 5", true),
            ("end-bookmark 9", false),
            ("ended", false),
        ],
    );
}

#[test]
fn watches_ask_for_an_end_between_five_and_ten_minutes_or_what_was_chosen() {
    let check = |min: Duration, expected: std::ops::Range<u64>| {
        for seed in 0..200 {
            let options = ReflectorOptions::default().with_watch_timeout_min(min);
            let Step::Open(request) =
                Machine::new(Mode::Mirror, options, seed, &ResourceVersion::unknown()).step()
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

#[test]
fn probes_come_after_a_second_at_least_and_two_years_at_most() {
    let check = |period: Duration, expected: std::ops::Range<u64>| {
        for seed in 0..200 {
            let pause = PauseOptions::default()
                .with_after_failures(1)
                .with_probe_period(period);
            let options = options().with_streaming_lists(false).with_pause(pause);
            let mut machine =
                Machine::new(Mode::Mirror, options, seed, &ResourceVersion::unknown());
            let failed = Input::Failed {
                cause: FailureCause::NotFound,
                retry_after: None,
            };
            machine.handle(Moment::ZERO, failed, &mut Vec::new());
            let Phase::Paused {
                probe_after: Some(after),
                ..
            } = machine.phase()
            else {
                panic!("the first failure pauses");
            };
            assert!(expected.contains(&after.as_secs()), "{after:?}");
        }
    };
    check(Duration::ZERO, 1..2);
    check(Duration::from_mins(2), 120..240);
    check(Duration::MAX, 31_536_000..63_072_000);
}

/// Generates one possible outcome of a step.
fn chance() -> impl Strategy<Value = Chance> {
    let after = prop_oneof![
        4 => Just(Duration::ZERO),
        1 => (0_u64..2000).prop_map(Duration::from_millis),
        1 => (0_u64..400).prop_map(Duration::from_secs),
    ];
    (0..100_u8, 0..CAUSES.len(), 0..30_u64, after).prop_map(|(choice, cause, version, after)| {
        Chance {
            choice,
            cause,
            version,
            after,
        }
    })
}

proptest! {
    #[test]
    fn no_sequence_of_inputs_makes_a_hot_loop_or_commits_a_part(
        sequence in prop::collection::vec(chance(), 1..200),
        mode in prop_oneof![Just(Mode::Mirror), Just(Mode::Wait)],
        streaming_lists: bool,
        seed: u64,
    ) {
        let mut chances = Chances::new(mode, streaming_lists, seed);
        for chance in &sequence {
            chances.take(chance);
        }
    }
}
