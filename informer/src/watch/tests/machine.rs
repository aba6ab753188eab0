//! The pure core by tables: what is passed on, when the next watch begins, what ends it.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    super::{
        WatchOptions,
        machine::{After, Machine, Step, Verdict},
    },
    MS, S, steady,
};
use crate::{list_watch::WatchRequest, reflector::Cause};

/// A machine, and the time since it began.
struct Play {
    machine: Machine,
    origin: Instant,
}

// === impl Play ===

impl Play {
    fn new(from: &str, options: WatchOptions) -> Self {
        Self {
            machine: Machine::new(from.into(), options),
            origin: Instant::now(),
        }
    }

    fn at(&self, time: Duration) -> Instant {
        self.origin + time
    }

    /// The request that is to be made now. Panics if none is.
    fn open(&mut self, time: Duration) -> WatchRequest {
        let now = self.at(time);
        match self.machine.step(now) {
            Step::Open(request) => request,
            step => panic!("a request was expected, not {step:?}"),
        }
    }

    /// Opens a watch now.
    fn opened(&mut self, time: Duration) {
        let request = self.open(time);
        let now = self.at(time);
        self.machine.on_opened(now, &request);
    }

    /// For how long nothing is to be done from now on. Panics if something is.
    fn waits(&mut self, time: Duration) -> Duration {
        let now = self.at(time);
        match self.machine.step(now) {
            Step::Wait { until } => until - now,
            step => panic!("a wait was expected, not {step:?}"),
        }
    }

    fn event(&mut self, time: Duration, version: &str) -> Verdict {
        let now = self.at(time);
        self.machine.on_event(now, &version.into())
    }

    fn failed(&mut self, time: Duration, cause: Cause, retry_after: Option<Duration>) -> After {
        let now = self.at(time);
        self.machine.on_failed(now, cause, retry_after)
    }
}

#[test]
fn a_watch_begins_after_the_last_version_with_bookmarks_and_a_time_to_end() {
    let mut play = Play::new("7", steady());
    let request = play.open(S(0));
    assert_eq!(request.resource_version, "7".into());
    assert!(request.allow_bookmarks && !request.send_initial_events);
    let timeout = request.timeout.unwrap();
    assert!((S(300)..S(600)).contains(&timeout), "{timeout:?}");
}

#[test]
fn each_change_is_passed_on_once_and_the_version_never_goes_back() {
    let mut play = Play::new("7", steady());
    play.opened(S(0));
    let table = [
        ("8", Verdict::Deliver, "8"),
        ("8", Verdict::Skip, "8"),
        ("5", Verdict::Skip, "8"),
        ("10", Verdict::Deliver, "10"),
        // Nothing is known of the order of such versions.
        ("x1", Verdict::Deliver, "x1"),
        ("x1", Verdict::Skip, "x1"),
        ("x0", Verdict::Deliver, "x0"),
    ];
    for (version, verdict, last) in table {
        assert_eq!(play.event(S(1), version), verdict, "{version}");
        assert_eq!(*play.machine.last(), last.into(), "{version}");
    }
}

#[test]
fn a_bookmark_advances_the_version_and_never_takes_it_back() {
    let mut play = Play::new("7", steady());
    play.opened(S(0));
    for (version, last) in [("20", "20"), ("9", "20"), ("", "20")] {
        let now = play.at(S(1));
        play.machine.on_bookmark(now, &version.into());
        assert_eq!(*play.machine.last(), last.into(), "{version}");
    }
    let now = play.at(S(5));
    play.machine.on_ended(now);
    assert_eq!(play.open(S(5)).resource_version, "20".into());
}

#[test]
fn watches_begin_at_least_a_second_apart_from_start_to_start() {
    let mut play = Play::new("7", steady());
    play.opened(S(0));
    play.event(MS(300), "8");
    let now = play.at(MS(400));
    play.machine.on_ended(now);
    assert_eq!(play.waits(MS(400)), MS(600));
    play.opened(S(1));
    // One that lived for longer is followed at once.
    let now = play.at(S(9));
    play.machine.on_ended(now);
    play.opened(S(9));
}

#[test]
fn a_request_that_was_given_up_is_spaced_too() {
    let mut play = Play::new("7", steady());
    play.open(S(0));
    assert_eq!(play.waits(MS(1)), MS(999));
}

#[test]
fn watches_that_end_at_once_and_bring_nothing_come_ever_later() {
    let mut play = Play::new("7", steady());
    let mut time = S(0);
    let mut gaps = Vec::new();
    for _ in 0..8 {
        play.opened(time);
        let now = play.at(time);
        play.machine.on_ended(now);
        let gap = play.waits(time);
        gaps.push(gap.as_millis());
        time += gap;
    }
    // The first delay of 800 ms is shorter than the least distance.
    assert_eq!(
        gaps,
        [1000, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]
    );
}

#[test]
fn delays_begin_anew_once_the_server_proved_healthy_and_not_before() {
    let fail = |play: &mut Play, time| play.failed(time, Cause::Transport, None);
    let mut play = Play::new("7", steady());
    play.open(S(0));
    assert_eq!(fail(&mut play, S(0)), After::Retry(MS(800)));
    play.opened(S(10));
    assert_eq!(
        fail(&mut play, S(11)),
        After::Retry(MS(1600)),
        "opened only"
    );
    play.opened(S(20));
    play.event(S(20), "8");
    assert_eq!(
        fail(&mut play, S(21)),
        After::Retry(MS(800)),
        "brought news"
    );
    play.opened(S(30));
    assert_eq!(fail(&mut play, S(31)), After::Retry(MS(1600)));
    play.opened(S(40));
    assert_eq!(
        fail(&mut play, S(70)),
        After::Retry(MS(800)),
        "lived for long"
    );
}

#[test]
fn a_retry_after_is_the_least_delay() {
    let mut play = Play::new("7", steady());
    play.open(S(0));
    let after = play.failed(S(0), Cause::Throttled, Some(S(17)));
    assert_eq!(after, After::Retry(S(17)));
    assert_eq!(play.waits(S(0)), S(17));
}

#[test]
fn what_no_retry_heals_ends_it_and_all_else_is_tried_again() {
    let retry = After::Retry(MS(800));
    let table = [
        (Cause::Expired, After::Expired),
        (Cause::Unreadable, After::Untold),
        (Cause::Unauthorized, After::Refused),
        (Cause::Forbidden, After::Refused),
        (Cause::NotFound, After::Refused),
        (Cause::Denied, After::Refused),
        (Cause::Invalid, After::Refused),
        (Cause::Request, After::Refused),
        (Cause::TooLargeVersion, retry),
        (Cause::Throttled, retry),
        (Cause::Refused, retry),
        (Cause::Transport, retry),
        (Cause::TimedOut, retry),
        (Cause::Unavailable, retry),
        (Cause::ServerError, retry),
        (Cause::Protocol, retry),
    ];
    for (cause, after) in table {
        // At the opening, and in the stream.
        let mut play = Play::new("7", steady());
        play.open(S(0));
        assert_eq!(play.failed(S(0), cause, None), after, "{cause:?}");
        let mut play = Play::new("7", steady());
        play.opened(S(0));
        assert_eq!(play.failed(S(0), cause, None), after, "{cause:?}");
        let now = play.at(S(60));
        let is_over = play.machine.step(now) == Step::Over;
        assert_eq!(is_over, after != retry, "{cause:?}");
    }
}

#[test]
fn an_event_without_a_version_ends_it() {
    let mut play = Play::new("7", steady());
    play.opened(S(0));
    assert_eq!(play.event(S(0), ""), Verdict::Untold);
    let now = play.at(S(60));
    assert_eq!(play.machine.step(now), Step::Over);
}

#[test]
fn a_watch_is_given_up_when_it_is_silent_or_outlives_its_time() {
    let mut options = steady();
    options.watch_timeout_min = S(100);
    options.watch_timeout_slack = S(10);
    options.watch_silence = S(60);
    let mut play = Play::new("7", options);
    let request = play.open(S(0));
    let now = play.at(S(2));
    play.machine.on_opened(now, &request);
    let read_until = |play: &mut Play, time| match play.machine.step(play.origin + time) {
        Step::Read { until } => until - play.origin,
        step => panic!("reading was expected, not {step:?}"),
    };
    assert_eq!(read_until(&mut play, S(2)), S(62));
    play.event(S(50), "8");
    assert_eq!(read_until(&mut play, S(50)), S(110));
    let late = S(2) + request.timeout.unwrap();
    let now = play.at(late);
    play.machine.on_bookmark(now, &"9".into());
    assert_eq!(read_until(&mut play, late), late + S(10));
}

#[test]
fn options_without_limits_are_safe() {
    let mut options = steady();
    options.watch_timeout_min = Duration::from_secs(u64::MAX / 4);
    options.watch_timeout_slack = Duration::MAX;
    options.watch_silence = Duration::MAX;
    options.healthy_after = Duration::MAX;
    let mut play = Play::new("7", options);
    play.opened(S(0));
    let now = play.at(S(1));
    assert!(matches!(play.machine.step(now), Step::Read { .. }));
}
