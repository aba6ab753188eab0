//! Tests of the machine: transcripts of what it hears and decides, and a property over any sequence of inputs.
//!
//! In a transcript each line is a time, an input, the effects, and the step that follows:
//!
//! ```text
//! 0s page 7 -> stage commit(7); watch "7"
//! ```

mod pausing;

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

fn lists_only() -> ReflectorOptions {
    ReflectorOptions {
        streaming_lists: false,
        ..without_jitter()
    }
}

fn without_jitter() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.backoff.jitter = 0.0;
    options
}

/// Plays the inputs of `expected` and compares what comes of them with what stands there.
fn check(options: ReflectorOptions, expected: &str) {
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let mut player = Player::new(options);
    let mut transcript = vec![format!(
        "start -> {}",
        step_in_short(&player.machine, player.now)
    )];
    for line in &expected[1..] {
        let (input, _) = line.split_once(" -> ").expect("a line has an arrow");
        transcript.push(format!("{input} -> {}", player.play(input)));
    }
    let transcript = transcript.join("\n");
    let expected = expected.join("\n");
    assert!(
        transcript == expected,
        "played:\n{transcript}\n\nexpected:\n{expected}"
    );
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
fn a_list_is_followed_by_a_watch_at_its_version() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        added 8 -> deliver; read
        modified 9 -> deliver; read
        bookmark 12 -> bookmark 12; read
        deleted 13 -> deliver; read
        400s ended -> WATCH "13"
        "#,
    );
}

#[test]
fn pages_are_staged_and_committed_once_at_the_version_of_the_first() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        page 7 b -> stage; LIST continue b limit 500
        page 7 -> stage; commit 7; WATCH "7"
        "#,
    );
}

#[test]
fn a_page_that_fails_in_passing_is_asked_for_again_and_then_the_list_begins_anew() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        fail throttled 5 -> report #1; wait 5s
        waited -> LIST continue a limit 500
        fail unavailable -> report #2; wait 1.6s
        waited -> LIST continue a limit 500
        fail transport -> report #3; wait 3.2s
        waited -> LIST continue a limit 500
        fail timed-out -> discard; report #4; wait 6.4s
        waited -> LIST "0" limit 500
        page 8 a -> stage; LIST continue a limit 500
        fail denied -> discard; report #5; wait 12.8s
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn an_expired_token_is_followed_by_one_full_list() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        fail expired -> discard; report #0; LIST "0"
        page 9 -> stage; commit 9; WATCH "9"
        "#,
    );
    // A server that pages nevertheless, and whose tokens expire for ever, is not asked without delay for ever.
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        fail expired -> discard; report #0; LIST "0"
        page 9 a -> stage; LIST continue a
        fail expired -> discard; report #1; wait 800ms
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn a_token_that_comes_again_does_not_make_an_endless_list() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        page 7 a -> discard; report #1; wait 800ms
        "#,
    );
}

#[test]
fn a_version_that_is_gone_is_given_up_at_once_and_the_next_list_uses_the_new_one() {
    for cause in ["expired", "too-large"] {
        check(
            lists_only(),
            &format!(
                r#"
                start -> LIST "0" limit 500
                page 7 -> stage; commit 7; WATCH "7"
                fail expired -> report #1; wait 800ms
                waited -> LIST "7"
                fail {cause} -> report #1; LIST "" limit 500
                page 9 -> stage; commit 9 with authority; WATCH "9"
                fail expired -> report #2; wait 1.6s
                waited -> LIST "9"
                fail {cause} -> report #2; LIST "" limit 500
                fail {cause} -> discard; report #3; wait 3.2s
                waited -> LIST "" limit 500
                "#
            ),
        );
    }
}

#[test]
fn a_list_older_than_what_was_seen_is_refused_and_asked_for_consistently() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 20 -> stage; commit 20; WATCH "20"
        fail expired -> report #1; wait 800ms
        waited -> LIST "20"
        page 9 -> went back 20 to 9, refused; LIST "" limit 500
        page 8 -> went back 20 to 8; stage; commit 8 with authority; WATCH "8"
        opened -> read
        modified 9 -> deliver; read
        "#,
    );
}

#[test]
fn a_server_that_pages_at_version_0_is_asked_for_pages_ever_after() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #1; wait 800ms
        waited -> LIST "7" NotOlderThan limit 500
        "#,
    );
}

#[test]
fn a_streaming_list_becomes_the_watch() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        opened -> read
        added 5 -> stage; read
        added 3 -> stage; read
        modified 8 -> stage; read
        deleted 9 -> stage; read
        bookmark 9 -> read
        end-bookmark 9 -> commit 9 with authority; read
        modified 10 -> deliver; read
        end-bookmark 11 -> bookmark 11; read
        400s ended -> WATCH "11"
        fail expired -> report #1; wait 800ms
        waited -> STREAM "11"
        opened -> read
        end-bookmark 12 -> commit 12; read
        "#,
    );
}

#[test]
fn a_server_that_rejects_streaming_lists_is_listed_and_that_is_remembered_for_a_while() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        fail invalid -> discard; report #0; LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #1; wait 800ms
        waited -> LIST "7"
        page 8 -> stage; commit 8; WATCH "8"
        600s fail expired -> report #2; wait 1.6s
        waited -> STREAM "8"
        "#,
    );
}

#[test]
fn a_server_that_ignores_streaming_lists_is_listed_after_the_time_limit() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        opened -> read
        added 5 -> stage; read
        30s fail timed-out -> discard; report #0; LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #1; wait 800ms
        waited -> LIST "7"
        "#,
    );
}

#[test]
fn streams_that_end_before_the_end_bookmark_are_followed_by_a_list() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        opened -> read
        added 5 -> stage; read
        ended -> discard; report #0; STREAM ""
        opened -> read
        added 5 -> stage; read
        ended -> discard; report #0; LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #1; wait 800ms
        waited -> LIST "7"
        "#,
    );
    // One that brought nothing at all is not opened again without delay.
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        opened -> read
        ended -> discard; report #1; wait 800ms
        waited -> STREAM ""
        opened -> read
        ended -> discard; report #1; LIST "0" limit 500
        "#,
    );
}

#[test]
fn a_streaming_list_that_fails_in_passing_is_tried_again_and_then_listed() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        fail unavailable -> discard; report #1; wait 800ms
        waited -> STREAM ""
        opened -> read
        fail transport -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #3; wait 3.2s
        waited -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #4; wait 6.4s
        waited -> STREAM "7"
        "#,
    );
}

#[test]
fn a_streaming_list_waits_for_a_server_that_is_busy_or_not_there() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        fail refused -> discard; report #1; wait 800ms
        waited -> STREAM ""
        fail throttled 7 -> discard; report #2; wait 7s
        waited -> STREAM ""
        fail refused -> discard; report #3; wait 3.2s
        waited -> STREAM ""
        "#,
    );
}

#[test]
fn a_streaming_list_that_is_denied_is_followed_by_a_list_in_the_same_round() {
    check(
        without_jitter(),
        r#"
        start -> STREAM ""
        fail denied -> discard; report #0; LIST "0" limit 500
        fail denied -> discard; report #1; wait 800ms
        waited -> STREAM ""
        fail denied -> discard; report #1; LIST "0" limit 500
        fail denied -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn a_streaming_list_gives_up_a_version_that_is_gone_or_answered_by_an_older_state() {
    let watching = r#"
        start -> STREAM ""
        opened -> read
        end-bookmark 20 -> commit 20 with authority; read
        fail expired -> report #1; wait 800ms
        waited -> STREAM "20"
        "#;
    let endings = [
        r#"
        fail expired -> discard; report #1; STREAM ""
        fail too-large -> discard; report #2; wait 1.6s
        waited -> STREAM ""
        "#,
        r#"
        opened -> read
        fail too-large -> discard; report #1; STREAM ""
        "#,
        r#"
        opened -> read
        added 3 -> stage; read
        end-bookmark 9 -> went back 20 to 9, refused; discard; STREAM ""
        opened -> read
        end-bookmark 9 -> went back 20 to 9; commit 9 with authority; read
        "#,
    ];
    for ending in endings {
        check(without_jitter(), &format!("{watching}{ending}"));
    }
}

/// A machine that watches from version 7 on.
const WATCHING: &str = r#"
    start -> LIST "0" limit 500
    page 7 -> stage; commit 7; WATCH "7"
    opened -> read
    "#;

fn check_watching(rest: &str) {
    check(lists_only(), &format!("{WATCHING}{rest}"));
}

#[test]
fn a_refused_or_throttled_watch_is_opened_again_in_place_for_ever() {
    for cause in ["refused", "throttled"] {
        check(
            lists_only(),
            &format!(
                r#"
                start -> LIST "0" limit 500
                page 7 -> stage; commit 7; WATCH "7"
                fail {cause} -> report #1; wait 800ms
                waited -> WATCH "7"
                fail {cause} -> report #2; wait 1.6s
                waited -> WATCH "7"
                fail {cause} -> report #3; wait 3.2s
                waited -> WATCH "7"
                fail {cause} -> report #4; wait 6.4s
                waited -> WATCH "7"
                fail {cause} -> report #5; wait 12.8s
                waited -> WATCH "7"
                fail {cause} -> report #6; wait 25.6s
                waited -> WATCH "7"
                fail {cause} -> report #7; wait 30s
                waited -> WATCH "7"
                "#
            ),
        );
    }
}

#[test]
fn a_server_that_is_away_is_asked_for_a_list_only_now_and_then() {
    for cause in ["unavailable", "transport", "timed-out"] {
        check(
            lists_only(),
            &format!(
                r#"
                start -> LIST "0" limit 500
                page 7 -> stage; commit 7; WATCH "7"
                fail {cause} -> report #1; wait 800ms
                waited -> WATCH "7"
                fail {cause} -> report #2; wait 1.6s
                waited -> WATCH "7"
                fail {cause} -> report #3; wait 3.2s
                waited -> WATCH "7"
                fail {cause} -> report #4; wait 6.4s
                waited -> WATCH "7"
                fail {cause} -> report #5; wait 12.8s
                waited -> LIST "7"
                "#
            ),
        );
    }
}

#[test]
fn garbage_is_met_by_a_new_watch_first_and_by_a_list_when_it_comes_again() {
    for cause in ["protocol", "server", "denied"] {
        check_watching(&format!(
            r#"
            fail {cause} -> report #1; wait 800ms
            waited -> WATCH "7"
            fail {cause} -> report #2; wait 1.6s
            waited -> LIST "7"
            page 8 -> stage; commit 8; WATCH "8"
            "#
        ));
    }
}

#[test]
fn both_forms_of_410_lead_to_a_relist_at_the_last_version() {
    check_watching(
        r#"
        modified 9 -> deliver; read
        fail expired -> report #1; wait 800ms
        waited -> LIST "9"
        page 12 -> stage; commit 12; WATCH "12"
        fail expired -> report #2; wait 1.6s
        waited -> LIST "12"
        "#,
    );
}

#[test]
fn storage_that_cannot_be_read_leads_to_a_relist_since_a_deletion_was_left_out() {
    check_watching(
        r#"
        modified 9 -> deliver; read
        fail unreadable -> report #1; wait 800ms
        waited -> LIST "9"
        "#,
    );
}

#[test]
fn a_throttled_stream_is_opened_again_in_place() {
    check_watching(
        r#"
        fail throttled 9 -> report #1; wait 9s
        waited -> WATCH "7"
        "#,
    );
}

#[test]
fn a_watch_that_ends_at_once_with_nothing_backs_off_and_then_relists() {
    check_watching(
        r#"
        ended -> report #1; wait 800ms
        waited -> WATCH "7"
        opened -> read
        0.9s ended -> report #2; wait 1.6s
        waited -> LIST "7"
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        ended -> report #3; wait 3.2s
        waited -> WATCH "7"
        opened -> read
        bookmark 7 -> read
        ended -> report #4; wait 6.4s
        waited -> LIST "7"
        "#,
    );
}

#[test]
fn a_watch_that_lived_a_second_or_brought_changes_is_opened_again_at_once() {
    check_watching(
        r#"
        1s ended -> WATCH "7"
        opened -> read
        modified 8 -> deliver; read
        ended -> WATCH "8"
        opened -> read
        modified 9 -> deliver; read
        fail transport -> report #0; WATCH "9"
        opened -> read
        bookmark 10 -> bookmark 10; read
        ended -> WATCH "10"
        opened -> read
        modified 11 -> deliver; read
        ended -> report #1; wait 800ms
        waited -> WATCH "11"
        opened -> read
        modified 12 -> deliver; read
        ended -> report #1; wait 800ms
        waited -> WATCH "12"
        opened -> read
        modified 13 -> deliver; read
        1s ended -> WATCH "13"
        opened -> read
        modified 14 -> deliver; read
        ended -> WATCH "14"
        "#,
    );
}

#[test]
fn a_silent_stream_is_opened_again_at_once() {
    check_watching(
        r#"
        100s bookmark 7 -> read
        180s fail timed-out -> report #0; WATCH "7"
        "#,
    );
}

#[test]
fn delays_begin_anew_only_after_health() {
    check_watching(
        r#"
        fail server -> report #1; wait 800ms
        waited -> WATCH "7"
        opened -> read
        29s fail server -> report #2; wait 1.6s
        waited -> LIST "7"
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        30s fail server -> report #1; wait 800ms
        waited -> WATCH "7"
        opened -> read
        modified 8 -> deliver; read
        fail server -> report #1; wait 800ms
        waited -> WATCH "8"
        "#,
    );
}

#[test]
fn delays_grow_through_a_long_outage_of_lists() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        fail unavailable -> discard; report #1; wait 800ms
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #3; wait 3.2s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #4; wait 6.4s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #5; wait 12.8s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #6; wait 25.6s
        waited -> LIST "0" limit 500
        fail unavailable -> discard; report #7; wait 30s
        waited -> LIST "0" limit 500
        120s fail unavailable -> discard; report #8; wait 30s
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn versions_never_go_back_on_a_stream() {
    check_watching(
        r#"
        modified 20 -> deliver; read
        modified 19 -> deliver; went back 20 to 19, refused; read
        bookmark 18 -> went back 20 to 18, refused; LIST "20" NotOlderThan limit 1
        page 20 -> WATCH "20"
        opened -> read
        bookmark 18 -> went back 20 to 18, refused; read
        bookmark 20 -> read
        1s ended -> WATCH "20"
        "#,
    );
}

#[test]
fn initial_events_of_a_watch_without_a_version_do_not_advance_it() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 0 -> stage; commit 0; WATCH "0"
        opened -> read
        added 50 -> deliver; read
        added 30 -> deliver; read
        modified 51 -> deliver; read
        added 52 -> deliver; read
        1s ended -> WATCH "52"
        "#,
    );
}

#[test]
fn a_watch_without_a_version_is_followed_by_a_list_since_deletions_would_be_missed() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 0 -> stage; commit 0; WATCH "0"
        opened -> read
        added 50 -> deliver; read
        1s ended -> LIST "0" limit 500
        page 0 -> stage; commit 0; WATCH "0"
        fail refused -> report #1; wait 800ms
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn deadlines_follow_what_was_heard() {
    let mut player = Player::new(lists_only());
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
    let mut streaming = Player::new(without_jitter());
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
