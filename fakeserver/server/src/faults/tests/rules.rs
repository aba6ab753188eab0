//! Verdicts of rules on requests and frames, and the occasions at which they fire.

use std::time::Duration;

use http::StatusCode;

use super::{answer, frame, json, on_frames, on_request, request, requests_late};
use crate::faults::{
    EventType, Fault, FaultRule, FaultSpec, Faults, Filter, Forbidden, FrameFacts, FrameVerdict,
    Latency, RequestFacts, RequestVerdict, ServerError, Throttle, Trigger,
};

#[test]
fn each_fault_has_its_verdict_on_frames() {
    use FrameVerdict::{Drop, Duplicate, End, Pass, Reset, Silence, SwapWithNext};
    let watch = request("watch");
    let bookmark = frame(&watch, EventType::Bookmark);
    let end = FrameFacts {
        is_initial: true,
        is_initial_events_end: true,
        ..bookmark
    };
    let frames = [frame(&watch, EventType::Added), bookmark, end];
    let check = |rule: FaultRule, expected: [FrameVerdict; 3]| {
        assert_eq!(on_frames(rule, &frames), expected);
    };
    check(Fault::CleanEnd.rule(), [End, End, End]);
    let half = || Reset { after_bytes: 50 };
    check(Fault::ResetMidLine.rule(), [half(), half(), half()]);
    check(Fault::Silence.rule(), [Silence, Silence, Silence]);
    check(Fault::EndBeforeInitialEventsEnd.rule(), [Pass, Pass, End]);
    check(Fault::DropEvent.rule(), [Drop, Pass, Pass]);
    check(Fault::DuplicateEvent.rule(), [Duplicate, Pass, Pass]);
    check(Fault::ReorderEvents.rule(), [SwapWithNext, Pass, Pass]);
    let frames_late = Latency {
        frame_ms: 2_000,
        ..Latency::default()
    };
    let delay = || FrameVerdict::Delay(Duration::from_secs(2));
    check(frames_late.rule(), [delay(), delay(), delay()]);
    check(requests_late(2_000), [Pass, Pass, Pass]);
}

#[test]
fn events_of_rules_end_the_stream() {
    let watch = request("watch");
    let added = frame(&watch, EventType::Added);
    let last = |fault: Fault| match on_frames(fault.rule(), &[added]).remove(0) {
        FrameVerdict::EndWith(event) => json(&event),
        other => panic!("no event: {other:?}"),
    };
    let error = last(Fault::ExpiredEvent);
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&"ERROR".into(), &410.into())
    );
    let ahead = last(Fault::BookmarkAhead);
    assert_eq!(ahead["type"], "BOOKMARK");
    assert_eq!(ahead["object"]["metadata"]["resourceVersion"], "7");
    assert_eq!(ahead["object"]["kind"], "Pod");
    let bookmark = frame(&watch, EventType::Bookmark);
    assert_eq!(
        on_frames(Fault::BookmarkAhead.rule(), &[bookmark]),
        [FrameVerdict::Pass]
    );
}

#[test]
fn each_fault_has_its_verdict_on_requests() {
    let list = request("list");
    assert_eq!(
        on_request(requests_late(2_000), &list),
        RequestVerdict::Delay(Duration::from_secs(2))
    );
    assert_eq!(on_request(Fault::Hang.rule(), &list), RequestVerdict::Hang);

    let throttled = answer(on_request(
        Throttle {
            retry_after_seconds: 3,
            ..Throttle::default()
        }
        .rule(),
        &list,
    ));
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

    let internal = answer(on_request(ServerError::default().rule(), &list));
    assert_eq!(json(&internal.body)["reason"], "InternalError");
    let unavailable = answer(on_request(
        ServerError::new(StatusCode::SERVICE_UNAVAILABLE).rule(),
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
fn rules_about_streaming_lists_leave_other_watches_alone() {
    let plain = request("watch");
    let streaming = RequestFacts {
        is_watch_list: true,
        ..request("watch")
    };
    assert_eq!(
        on_request(Fault::WatchListIgnored.rule(), &plain),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(Fault::WatchListIgnored.rule(), &streaming),
        RequestVerdict::IgnoreWatchList
    );
    assert_eq!(
        on_request(Fault::WatchListRejected.rule(), &plain),
        RequestVerdict::Pass
    );
    let rejected = answer(on_request(Fault::WatchListRejected.rule(), &streaming));
    assert_eq!(rejected.code, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(json(&rejected.body)["reason"], "Invalid");
}

#[test]
fn a_trigger_counts_only_what_its_rule_is_about() {
    let faults = Faults::default();
    let rule = Fault::DropEvent
        .rule()
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
fn filters_match_only_the_named_requests() {
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
fn filters_match_names_subresources_and_versions() {
    let scale = RequestFacts {
        name: Some("web".into()),
        subresource: Some("scale".into()),
        revision: 9,
        ..request("get")
    };
    let check = |filter: Filter, expected: bool| {
        assert_eq!(filter.matches(&scale), expected, "{filter:?}");
    };
    check(Filter::any().name("web").subresource("scale"), true);
    check(Filter::any().name("db"), false);
    check(Filter::any().subresource(""), false);
    check(Filter::any().min_resource_version(9), true);
    check(Filter::any().min_resource_version(10), false);
    let resumed = RequestFacts {
        resource_version: "7".into(),
        ..scale.clone()
    };
    assert!(!Filter::any().min_resource_version(9).matches(&resumed));
    assert!(Filter::any().min_resource_version(7).matches(&resumed));
    let collection = request("list");
    assert!(!Filter::any().name("web").matches(&collection));
    assert!(Filter::any().subresource("").matches(&collection));
    let late = frame(&scale, EventType::Added);
    assert!(Filter::any().min_resource_version(7).matches_frame(&late));
    assert!(!Filter::any().min_resource_version(8).matches_frame(&late));
}

/// Returns whether a rule fires at each of `count` occasions.
fn firing(when: Trigger, count: usize) -> Vec<bool> {
    let faults = Faults::default();
    let _guard = faults.install(Fault::Hang.rule().when(when));
    let list = request("list");
    (0..count)
        .map(|_| faults.on_request(&list) == RequestVerdict::Hang)
        .collect()
}

#[test]
fn random_firings_follow_from_the_seed() {
    let often =
        |probability, seed| firing(Trigger::always().with_probability(probability, seed), 200);
    assert_eq!(often(0.0, 1), [false; 200]);
    assert_eq!(often(1.0, 1), [true; 200]);
    assert_eq!(often(0.3, 1), often(0.3, 1));
    assert_ne!(often(0.3, 1), often(0.3, 2));
    let fired = often(0.3, 1).into_iter().filter(|fired| *fired).count();
    assert!((40..80).contains(&fired), "{fired}");
}

#[test]
fn an_occasion_without_a_firing_is_not_counted() {
    let when = Trigger::always().with_probability(0.5, 3).times(2).nth(3);
    let fired = firing(when, 100);
    assert_eq!(fired.iter().filter(|fired| **fired).count(), 2);
    assert_eq!(fired[..2], [false; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_has_its_time() {
    let faults = Faults::default();
    let second = Duration::from_secs(1);
    let when = Trigger::always()
        .after(second)
        .lasting(second)
        .times(2)
        .nth(2);
    let _guard = faults.install(Fault::Hang.rule().when(when));
    let list = request("list");
    let mut fired = Vec::new();
    for _ in 0..6 {
        fired.push(faults.on_request(&list) == RequestVerdict::Hang);
        tokio::time::advance(Duration::from_millis(400)).await;
    }
    // At 0 and 400 ms it is not time yet, and no occasion; at 800 neither; then at 1,200 and 1,600 ms it is.
    assert_eq!(fired, [false, false, false, false, true, false]);
}

#[test]
fn the_first_rule_that_does_not_pass_decides_until_its_guard_is_dropped() {
    let faults = Faults::default();
    let first = faults.install(Fault::Hang.rule());
    let second = faults.install(requests_late(1_000));
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

#[test]
fn installed_faults_can_be_listed_and_removed() {
    let faults = Faults::default();
    let spec = FaultSpec::new(Fault::Hang).matching(Filter::any().verb("list"));
    let own = faults.install(requests_late(1_000));
    let guard = faults.install_spec(&spec);
    let id = guard.id();
    guard.detach();
    let mut installed = faults.installed();
    assert_eq!(installed.len(), 1);
    assert_eq!((installed[0].id, installed[0].fired), (id, 0));
    assert_eq!(installed[0].spec, spec);
    drop(own);

    let list = RequestFacts {
        revision: 12,
        ..request("list")
    };
    assert_eq!(faults.on_request(&list), RequestVerdict::Hang);
    assert_eq!(faults.on_request(&request("get")), RequestVerdict::Pass);
    installed = faults.installed();
    assert_eq!(
        (installed[0].fired, installed[0].last_revision),
        (1, Some(12))
    );
    let firings = faults.firings();
    assert_eq!(firings.len(), 1);
    let firing = &firings[0];
    assert_eq!((firing.id, firing.rule, firing.revision), (id, "hang", 12));
    assert_eq!((firing.verb, &*firing.resource), ("list", "pods"));

    assert!(!faults.remove(id + 1));
    assert!(faults.remove(id));
    assert!(!faults.remove(id));
    assert_eq!(faults.on_request(&list), RequestVerdict::Pass);
    // A rule with an owner can be removed by its owner only.
    let own = faults.install(Fault::Hang.rule());
    assert!(!faults.remove(own.id()));
}

#[test]
fn firings_are_remembered_up_to_a_bound() {
    let faults = Faults::default();
    let _guard = faults.install(Fault::Hang.rule());
    for revision in 0..1_500 {
        faults.on_request(&RequestFacts {
            revision,
            ..request("list")
        });
    }
    let firings = faults.firings();
    assert_eq!(firings.len(), 1_000);
    assert_eq!(firings[0].revision, 500);
    assert_eq!(faults.fired()["hang"], 1_500);
}

#[test]
fn discovery_requests_meet_faults_only_by_their_verb() {
    let discover = request("discover");
    assert_eq!(
        on_request(Fault::Hang.rule(), &discover),
        RequestVerdict::Pass
    );
    let on_discover = Fault::Hang.rule().matching(Filter::any().verb("discover"));
    assert_eq!(on_request(on_discover, &discover), RequestVerdict::Hang);
}

#[tokio::test(start_paused = true)]
async fn a_flipping_permission_alternates() {
    let faults = Faults::default();
    let _guard = faults.install(
        Forbidden {
            flip_ms: Some(1_000),
        }
        .rule(),
    );
    let list = request("list");
    let mut has_fired = Vec::new();
    for _ in 0..4 {
        has_fired.push(faults.on_request(&list) != RequestVerdict::Pass);
        tokio::time::advance(Duration::from_millis(700)).await;
    }
    assert_eq!(has_fired, [true, true, false, true]);
}

#[test]
fn jitter_is_within_its_bound_and_follows_from_the_seed() {
    let delays = |seed| {
        let rule = Latency {
            request_ms: 1_000,
            frame_ms: 0,
            jitter_ms: 500,
        }
        .rule();
        let faults = Faults::default();
        let _guard = faults.install(rule.when(Trigger::always().with_seed(seed)));
        let list = request("list");
        let delay = |_| match faults.on_request(&list) {
            RequestVerdict::Delay(delay) => delay.as_millis(),
            other => panic!("no delay: {other:?}"),
        };
        (0..50).map(delay).collect::<Vec<_>>()
    };
    assert!(delays(1).iter().all(|ms| (1_000..=1_500).contains(ms)));
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}
