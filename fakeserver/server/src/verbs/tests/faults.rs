//! Each named rule as a client sees it, and the health of the server afterwards.

use super::*;
use crate::faults::{
    ExpiredStatus, Fault, Filter, Latency, RequestFacts, RequestVerdict, Rule, RuleGuard,
    ServerError, SlowHeaders, Throttle,
};

const STREAMING: &str =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

fn install(server: &FakeServer, rule: impl Rule) -> RuleGuard {
    server.faults().install(rule)
}

fn fired(server: &FakeServer, rule: &str) -> u64 {
    server
        .faults()
        .fired()
        .get(rule)
        .copied()
        .unwrap_or_default()
}

/// Checks the events of a watch of `a` and `b` in ten minutes while `rule` is in force, and its state at the end.
async fn check_watch(rule: impl Rule, parameters: &str, expected: &[&str], end: &str) {
    let name = rule.name();
    let server = with_config_maps(&["a", "b"]);
    let guard = install(&server, rule);
    let mut body = watch(&server, parameters).await;
    let (seen, ended) = events(&mut body, 600).await;
    assert_eq!(
        (seen.as_slice(), ended),
        (
            expected
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .as_slice(),
            end
        ),
        "{name}"
    );
    assert_eq!(fired(&server, name), 1, "{name}");
    drop((guard, body));
    let mut body = watch(&server, STREAMING).await;
    assert_eq!(
        events(&mut body, 1).await.0,
        ["ADDED a", "ADDED b", "BOOKMARK "]
    );
    drop(body);
    assert_eq!(server.stats().watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn each_rule_shows_in_a_stream() {
    let (a, b, end) = ("ADDED a", "ADDED b", "BOOKMARK ");
    check_watch(Fault::CleanEnd.rule().nth(2), STREAMING, &[a], "ended").await;
    check_watch(
        Fault::ResetMidLine.rule().nth(2),
        STREAMING,
        &[a, "half a line"],
        "broken",
    )
    .await;
    check_watch(Fault::Silence.rule().nth(2), STREAMING, &[a], "open").await;
    check_watch(
        Fault::ExpiredEvent.rule().nth(2),
        STREAMING,
        &[a, "ERROR 410"],
        "ended",
    )
    .await;
    check_watch(
        Fault::EndBeforeInitialEventsEnd.rule(),
        STREAMING,
        &[a, b],
        "ended",
    )
    .await;
    check_watch(Fault::WatchListIgnored.rule(), STREAMING, &[a, b], "open").await;
    check_watch(
        Fault::DropEvent.rule().times(1),
        STREAMING,
        &[b, end],
        "open",
    )
    .await;
    check_watch(
        Fault::DuplicateEvent.rule().times(1),
        STREAMING,
        &[a, a, b, end],
        "open",
    )
    .await;
    check_watch(
        Fault::ReorderEvents.rule().times(1),
        STREAMING,
        &[b, a, end],
        "open",
    )
    .await;
    check_watch(
        Fault::BookmarkAhead.rule().nth(2),
        STREAMING,
        &[a, end],
        "ended",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn each_rule_shows_in_an_answer() {
    async fn check(rule: impl Rule, parameters: &str, code: u16, text: &str) {
        let name = rule.name();
        let server = with_config_maps(&["a"]);
        let guard = install(&server, rule);
        let path = format!("{CONFIG_MAPS}?{parameters}");
        let answer = get(&server, &path).await;
        assert_eq!(answer.code, code, "{name}");
        assert!(answer.text.contains(text), "{name}: {}", answer.text);
        assert!(answer.headers.contains_key("audit-id"));
        assert_eq!(answer.headers.contains_key("retry-after"), code == 429);
        assert_eq!(fired(&server, name), 1);
        drop(guard);
        assert_eq!(open(&server, &path, &[]).await.status(), StatusCode::OK);
    }
    let streaming = format!("watch=1&{STREAMING}");
    check(
        Throttle {
            retry_after_seconds: 2,
            ..Throttle::default()
        }
        .rule(),
        "",
        429,
        "Too many requests",
    )
    .await;
    check(
        ServerError::new(StatusCode::INTERNAL_SERVER_ERROR).rule(),
        "",
        500,
        "InternalError",
    )
    .await;
    check(
        ServerError::new(StatusCode::SERVICE_UNAVAILABLE).rule(),
        "",
        503,
        "Service Unavailable",
    )
    .await;
    check(
        Fault::WatchListRejected.rule(),
        &streaming,
        422,
        "sendInitialEvents",
    )
    .await;
    check(
        ExpiredStatus::default().rule(),
        "watch=1&resourceVersion=5",
        410,
        "Expired",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_late_and_a_hanging_one_never_arrives() {
    let server = with_config_maps(&["a"]);
    let guard = install(
        &server,
        Latency {
            request_ms: 5_000,
            ..Latency::default()
        }
        .rule(),
    );
    let (answer, waited) = seconds(get(&server, CONFIG_MAPS)).await;
    assert_eq!((answer.code, waited), (StatusCode::OK, 5));
    drop(guard);

    let guard = install(
        &server,
        Latency {
            frame_ms: 4_000,
            ..Latency::default()
        }
        .rule(),
    );
    let mut body = watch(&server, "").await;
    assert_eq!(events(&mut body, 3).await.0.len(), 0);
    assert_eq!(events(&mut body, 2).await.0, ["ADDED a"]);
    drop((guard, body));

    let guard = install(
        &server,
        Fault::Hang
            .rule()
            .matching(Filter::any().verb("list"))
            .times(1),
    );
    assert!(
        timeout(Duration::from_hours(1), get(&server, CONFIG_MAPS))
            .await
            .is_err()
    );
    assert_eq!(get(&server, CONFIG_MAPS).await.code, StatusCode::OK);
    assert_eq!(fired(&server, "hang"), 1);
    drop(guard);
}

#[tokio::test(start_paused = true)]
async fn late_headers_come_after_the_write_and_with_the_body() {
    let server = with_config_maps(&["a", "b"]);
    let _guard = install(&server, SlowHeaders { delay_ms: 5_000 }.rule());
    let deletion = Request::delete(format!("{CONFIG_MAPS}/a")).body(Body::empty());
    let deleting = server.router().oneshot(deletion.unwrap());
    timeout(Duration::from_secs(4), deleting).await.unwrap_err();
    // The client has given up, and the object is gone all the same.
    let (list, waited) = seconds(get(&server, CONFIG_MAPS)).await;
    assert_eq!((names(&list.json()), waited), (vec!["b".to_owned()], 5));

    let (missing, waited) = seconds(get(&server, &format!("{CONFIG_MAPS}/a"))).await;
    assert_eq!((missing.code, waited), (StatusCode::NOT_FOUND, 5));

    let (mut body, waited) = seconds(watch(&server, STREAMING)).await;
    assert_eq!(waited, 5);
    let (events, waited) = seconds(events(&mut body, 1)).await;
    assert_eq!(events.0, ["ADDED b", "BOOKMARK "]);
    assert_eq!(waited, 1);
    assert_eq!(fired(&server, "slow_headers"), 4);
}

#[tokio::test(start_paused = true)]
async fn late_headers_of_discovery_are_late_too() {
    let server = with_config_maps(&[]);
    let rule = SlowHeaders { delay_ms: 5_000 }.rule();
    let _guard = install(&server, rule.matching(Filter::any().verb("discover")));
    let (groups, waited) = seconds(get(&server, "/apis/apps/v1")).await;
    assert_eq!((groups.code, waited), (StatusCode::OK, 5));
}

#[tokio::test(start_paused = true)]
async fn rules_match_clients_and_requests() {
    struct Record(std::sync::mpsc::Sender<RequestFacts>);
    impl Rule for Record {
        fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
            self.0.send(request.clone()).unwrap();
            RequestVerdict::Pass
        }
    }
    let server = with_config_maps(&["a", "b"]);
    let (sender, seen) = std::sync::mpsc::channel();
    let _guard = install(&server, Record(sender));
    let token =
        get(&server, &format!("{CONFIG_MAPS}?limit=1")).await.json()["metadata"]["continue"]
            .clone();
    let first = seen.recv().unwrap();
    assert_eq!(
        (first.client.as_str(), first.verb, first.has_continue),
        ("", "list", false)
    );

    let path = format!("{CONFIG_MAPS}?limit=1&continue={}", token.as_str().unwrap());
    get_with(&server, &path, &[("User-Agent", "informer/0.1 (linux)")]).await;
    let next = seen.recv().unwrap();
    assert_eq!(
        (next.client.as_str(), next.has_continue),
        ("informer", true)
    );
    assert_eq!(
        (next.resource.as_str(), next.namespace.as_deref()),
        ("configmaps", Some("default"))
    );

    drop(watch(&server, &format!("{STREAMING}&resourceVersion=5")).await);
    let watch = seen.recv().unwrap();
    assert_eq!((watch.verb, watch.is_watch_list), ("watch", true));
    assert_eq!(watch.resource_version, "5");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_one_answer_and_not_the_end_of_the_server() {
    struct Panics;
    impl Rule for Panics {
        fn on_request(&mut self, _: &RequestFacts) -> RequestVerdict {
            panic!("a defect in a rule")
        }
    }
    let server = with_config_maps(&["a"]);
    let guard = install(&server, Panics);
    let answer = get(&server, CONFIG_MAPS).await;
    assert_eq!(answer.code, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(
        answer.json()["message"],
        "Internal error occurred: a defect in a rule"
    );
    assert!(answer.headers.contains_key("audit-id"));
    drop(guard);
    assert_eq!(get(&server, CONFIG_MAPS).await.code, StatusCode::OK);
}
