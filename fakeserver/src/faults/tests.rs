//! What each rule orders, and when. That the orders are carried out is tested where they are.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use super::*;

fn request(verb: &'static str) -> RequestFacts {
    RequestFacts {
        client: "informer".into(),
        verb,
        version: "v1".into(),
        resource: "pods".into(),
        namespace: Some("default".into()),
        ..RequestFacts::default()
    }
}

fn frame(watch: &RequestFacts, event: EventType) -> FrameFacts<'_> {
    FrameFacts {
        watch,
        index: 0,
        event,
        revision: 7,
        is_initial: false,
        is_initial_events_end: false,
        length: 100,
        api_version: "v1",
        kind: "Pod",
    }
}

/// The verdicts of `rule` on each of `frames`, one after the other.
fn on_frames(rule: impl Rule, frames: &[FrameFacts<'_>]) -> Vec<FrameVerdict> {
    let faults = Faults::default();
    let _guard = faults.install(rule);
    frames.iter().map(|frame| faults.on_frame(frame)).collect()
}

fn on_request(rule: impl Rule, request: &RequestFacts) -> RequestVerdict {
    let faults = Faults::default();
    let _guard = faults.install(rule);
    faults.on_request(request)
}

fn answer(verdict: RequestVerdict) -> Answer {
    match verdict {
        RequestVerdict::Answer(answer) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

fn json(bytes: &Bytes) -> Value {
    assert!(bytes.ends_with(b"\n"));
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn each_rule_on_frames_orders_what_its_name_says() {
    use FrameVerdict::{Drop, Duplicate, End, Pass, Reset, Silence, SwapWithNext};
    let watch = request("watch");
    let added = frame(&watch, EventType::Added);
    let bookmark = frame(&watch, EventType::Bookmark);
    let end = FrameFacts {
        is_initial: true,
        is_initial_events_end: true,
        ..bookmark
    };
    let check = |verdicts: Vec<FrameVerdict>, expected: [FrameVerdict; 3]| {
        assert_eq!(verdicts, expected);
    };
    let frames = [added, bookmark, end];
    check(on_frames(clean_end(), &frames), [End, End, End]);
    let half = || Reset { after_bytes: 50 };
    check(
        on_frames(reset_mid_line(), &frames),
        [half(), half(), half()],
    );
    check(on_frames(silence(), &frames), [Silence, Silence, Silence]);
    check(
        on_frames(end_before_initial_events_end(), &frames),
        [Pass, Pass, End],
    );
    check(on_frames(drop_event(), &frames), [Drop, Pass, Pass]);
    check(
        on_frames(duplicate_event(), &frames),
        [Duplicate, Pass, Pass],
    );
    check(
        on_frames(reorder_events(), &frames),
        [SwapWithNext, Pass, Pass],
    );
    let late = Duration::from_secs(2);
    let delay = || FrameVerdict::Delay(late);
    check(
        on_frames(latency(late).and_frames(late), &frames),
        [delay(), delay(), delay()],
    );
    check(on_frames(latency(late), &frames), [Pass, Pass, Pass]);

    let FrameVerdict::EndWith(error) = &on_frames(expired_event(), &[added])[0] else {
        panic!("no event");
    };
    let error = json(error);
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&"ERROR".into(), &410.into())
    );
    let FrameVerdict::EndWith(ahead) = &on_frames(bookmark_ahead(), &[added])[0] else {
        panic!("no bookmark");
    };
    let ahead = json(ahead);
    assert_eq!(ahead["type"], "BOOKMARK");
    assert_eq!(ahead["object"]["metadata"]["resourceVersion"], "7");
    assert_eq!(ahead["object"]["kind"], "Pod");
    check(
        on_frames(bookmark_ahead(), &[bookmark, end, end]),
        [Pass, Pass, Pass],
    );
}

#[test]
fn each_rule_on_requests_orders_what_its_name_says() {
    let list = request("list");
    assert_eq!(
        on_request(latency(Duration::from_secs(2)), &list),
        RequestVerdict::Delay(Duration::from_secs(2))
    );
    assert_eq!(on_request(hang(), &list), RequestVerdict::Hang);

    let throttled = answer(on_request(throttle(Duration::from_secs(3)), &list));
    assert_eq!(throttled.code, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(throttled.headers["retry-after"], "3");
    assert_eq!(
        throttled.headers["content-type"],
        "text/plain; charset=utf-8"
    );
    assert_eq!(
        throttled.body,
        "Too many requests, please try again later.\n"
    );

    let internal = answer(on_request(
        server_error(StatusCode::INTERNAL_SERVER_ERROR),
        &list,
    ));
    assert_eq!(json(&internal.body)["reason"], "InternalError");
    let unavailable = answer(on_request(
        server_error(StatusCode::SERVICE_UNAVAILABLE),
        &list,
    ));
    assert_eq!(
        (unavailable.code, &*unavailable.body),
        (
            StatusCode::SERVICE_UNAVAILABLE,
            &b"Service Unavailable\n"[..]
        )
    );
}

#[test]
fn the_410_of_a_request_meets_only_reads_of_a_version() {
    let check = |request: &RequestFacts, expired: bool| {
        let verdict = on_request(expired_status(), request);
        assert_eq!(verdict != RequestVerdict::Pass, expired, "{request:?}");
        if expired {
            let answer = answer(verdict);
            assert_eq!(answer.code, StatusCode::GONE);
            assert_eq!(json(&answer.body)["reason"], "Expired");
        }
    };
    let with = |verb, version: &str, has_continue| RequestFacts {
        resource_version: version.into(),
        has_continue,
        ..request(verb)
    };
    check(&with("watch", "7", false), true);
    check(&with("list", "7", false), true);
    check(&with("list", "", true), true);
    check(&with("list", "", false), false);
    check(&with("watch", "", false), false);
    let streaming = RequestFacts {
        is_watch_list: true,
        ..with("watch", "7", false)
    };
    check(&streaming, false);
    check(&with("list", "0", false), false);
    check(&with("create", "", false), false);
}

#[test]
fn rules_about_streaming_lists_leave_other_watches_alone() {
    let plain = request("watch");
    let streaming = RequestFacts {
        is_watch_list: true,
        ..request("watch")
    };
    assert_eq!(
        on_request(watch_list_ignored(), &plain),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(watch_list_ignored(), &streaming),
        RequestVerdict::IgnoreWatchList
    );
    assert_eq!(
        on_request(watch_list_rejected(), &plain),
        RequestVerdict::Pass
    );
    let rejected = answer(on_request(watch_list_rejected(), &streaming));
    assert_eq!(rejected.code, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(json(&rejected.body)["reason"], "Invalid");
}

#[test]
fn a_trigger_counts_only_what_its_rule_is_about() {
    let faults = Faults::default();
    let rule = drop_event()
        .matching(Filter::any().client("informer"))
        .nth(2)
        .times(2);
    let _guard = faults.install(rule);
    let mine = request("watch");
    let other = RequestFacts {
        client: "kubectl".into(),
        ..request("watch")
    };
    let fired: Vec<bool> = [
        (&mine, EventType::Added),
        (&other, EventType::Added),
        (&mine, EventType::Bookmark),
        (&mine, EventType::Deleted),
        (&mine, EventType::Modified),
        (&mine, EventType::Added),
    ]
    .into_iter()
    .map(|(watch, event)| faults.on_frame(&frame(watch, event)) == FrameVerdict::Drop)
    .collect();
    assert_eq!(fired, [false, false, false, true, true, false]);
    assert_eq!(faults.fired()["drop_event"], 2);
}

#[test]
fn filters_match_what_they_name() {
    let facts = request("list");
    let check =
        |filter: Filter, expected: bool| assert_eq!(filter.matches(&facts), expected, "{filter:?}");
    check(Filter::any(), true);
    check(
        Filter::any()
            .client("informer")
            .verb("list")
            .resource("pods")
            .group(""),
        true,
    );
    check(Filter::any().namespace("default"), true);
    check(Filter::any().client("kubectl"), false);
    check(Filter::any().verb("watch"), false);
    check(Filter::any().group("apps"), false);
    check(Filter::any().resource("nodes"), false);
    check(Filter::any().namespace("kube-system"), false);
}

#[test]
fn the_first_rule_that_does_not_pass_decides_until_its_guard_is_dropped() {
    let faults = Faults::default();
    let first = faults.install(hang());
    let second = faults.install(latency(Duration::from_secs(1)));
    let list = request("list");
    assert_eq!(faults.on_request(&list), RequestVerdict::Hang);
    drop(first);
    assert_eq!(
        faults.on_request(&list),
        RequestVerdict::Delay(Duration::from_secs(1))
    );
    second.detach();
    assert_eq!(
        faults.on_request(&list),
        RequestVerdict::Delay(Duration::from_secs(1))
    );
    let fired: Vec<_> = faults.fired().into_iter().collect();
    assert_eq!(fired, [("hang", 1), ("latency", 2)]);
}
