//! The cases of client-go's `TestNewRetryWatcher`, `TestRetryWatcher` and `TestRetryWatcherToFinishWithUnreadEvents`.

use std::{pin::pin, time::Duration};

use futures::{StreamExt, poll};
use tokio::time::{Instant, sleep};

use super::{
    super::{RetryWatcher, RetryWatcherError},
    MS, S, broken, event_text, status, steady,
};
use crate::{
    fixtures::{Value, object, undecodable},
    list_watch::{ListWatchError, WatchEvent},
    task::TaskSet,
    testing::{Script, ScriptedListWatch, scripted},
};

type Watcher = RetryWatcher<Value, ScriptedListWatch<Value>>;

fn watcher_from(version: &str) -> (Watcher, Script<Value>) {
    let (list_watch, script) = scripted();
    let watcher = RetryWatcher::with_options(list_watch, version.into(), steady());
    (watcher.unwrap(), script)
}

/// Runs a watcher beside the script: what it tells, in short, and when.
fn run(watcher: Watcher) -> ReceivedEvents {
    let (tx, rx) = tokio::sync::mpsc::unbounded_channel();
    let tasks = TaskSet::new();
    tasks.spawn(async move {
        let mut changes = Box::pin(watcher.into_stream());
        while let Some(change) = changes.next().await {
            let text = match change {
                Ok(event) => event_text(&event),
                Err(error) => error.to_string(),
            };
            tx.send(text).ok();
        }
        tx.send("over".to_owned()).ok();
    });
    ReceivedEvents { rx, tasks }
}

struct ReceivedEvents {
    rx: tokio::sync::mpsc::UnboundedReceiver<String>,
    tasks: TaskSet,
}

// === impl ReceivedEvents ===

impl ReceivedEvents {
    async fn next(&mut self) -> String {
        self.rx.recv().await.unwrap()
    }

    fn is_quiet(&mut self) -> bool {
        self.rx.try_recv().is_err()
    }
}

#[tokio::test]
async fn a_version_that_cannot_be_resumed_is_refused() {
    for version in ["", "0"] {
        let (list_watch, mut script) = scripted::<Value>();
        let error = RetryWatcher::new(list_watch, version.into()).unwrap_err();
        assert!(matches!(error, RetryWatcherError::StartVersion(_)));
        assert!(error.needs_relist());
        script.expect_no_call_for(Duration::ZERO).await;
    }
    assert!(RetryWatcher::new(scripted::<Value>().0, "1".into()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn changes_are_passed_on_in_order_and_bookmarks_are_not() {
    let (watcher, mut script) = watcher_from("1");
    let mut received = run(watcher);
    let call = script.expect_watch().await;
    assert_eq!(call.request.resource_version, "1".into());
    let events = call.open();
    events.added(object("a@2"));
    events.bookmark("5");
    events.modified(object("a@6"));
    events.send(WatchEvent::Modified(Err(undecodable("b@7"))));
    events.deleted(object("a@8"));
    for expected in ["+a@2", "~a@6", "~?", "-a@8"] {
        assert_eq!(received.next().await, expected);
    }
    events.bookmark("20");
    events.end();
    let call = script.expect_watch().await;
    assert_eq!(call.request.resource_version, "20".into());
    assert!(received.is_quiet());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_or_breaks_is_resumed_without_a_gap_and_without_repetition() {
    let (watcher, mut script) = watcher_from("1");
    let mut received = run(watcher);
    let events = script.expect_watch().await.open();
    events.added(object("a@2"));
    events.end();
    let call = script.expect_watch().await;
    assert_eq!(call.request.resource_version, "2".into());
    let events = call.open();
    // A server that begins a little earlier than it was asked to.
    events.added(object("a@2"));
    events.modified(object("a@3"));
    events.fail(broken());
    let call = script.expect_watch().await;
    assert_eq!(call.request.resource_version, "3".into());
    call.open().modified(object("a@4"));
    for expected in ["+a@2", "~a@3", "~a@4"] {
        assert_eq!(received.next().await, expected);
    }
    assert!(received.is_quiet());
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried_from_the_same_version() {
    let failures: [fn() -> ListWatchError; 8] = [
        || status(500, "InternalError").into(),
        || status(503, "ServiceUnavailable").into(),
        || status(504, "Timeout").into(),
        || status(429, "TooManyRequests").into(),
        broken,
        || ListWatchError::Refused("connection refused".into()),
        || ListWatchError::Protocol {
            what: "garbage".into(),
            source: None,
        },
        || ListWatchError::FrameTooLarge { limit_bytes: 1 },
    ];
    for failure in failures {
        let (watcher, mut script) = watcher_from("7");
        let mut received = run(watcher);
        // At the opening, and in the stream.
        script.expect_watch().await.fail(failure());
        let call = script.expect_watch().await;
        assert_eq!(call.request.resource_version, "7".into());
        call.open().fail(failure());
        let call = script.expect_watch().await;
        assert_eq!(call.request.resource_version, "7".into());
        call.open().added(object("a@8"));
        assert_eq!(received.next().await, "+a@8");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_ends_it_in_either_form() {
    for is_event in [true, false] {
        let (watcher, mut script) = watcher_from("7");
        let mut received = run(watcher);
        let call = script.expect_watch().await;
        if is_event {
            call.open().error(status(410, "Expired"));
        } else {
            call.fail(status(410, "Gone"));
        }
        let expected = "the changes after version 7 have expired";
        assert_eq!(received.next().await, expected);
        assert_eq!(received.next().await, "over");
        script.expect_no_call_for(S(3_600)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_ends_it() {
    for (code, reason) in [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (422, "Invalid"),
    ] {
        let (mut watcher, mut script) = watcher_from("7");
        let (outcome, ()) = tokio::join!(watcher.next(), async {
            script.expect_watch().await.fail(status(code, reason));
        });
        let error = outcome.unwrap().unwrap_err();
        assert!(!error.needs_relist() && !error.is_expired());
        let answer = error.into_answer().unwrap();
        assert_eq!(answer.status().unwrap().code, code);
        assert!(watcher.next().await.is_none());
        script.expect_no_call_for(S(3_600)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_cannot_be_reported_ends_it() {
    let (watcher, mut script) = watcher_from("7");
    let mut received = run(watcher);
    script.expect_watch().await.open().added(object("a"));
    let expected = "the server cannot report a change after version 7";
    assert_eq!(received.next().await, expected);
    assert_eq!(received.next().await, "over");

    let (watcher, mut script) = watcher_from("7");
    let mut received = run(watcher);
    let unreadable = status(500, "StoreReadError");
    script.expect_watch().await.open().error(unreadable);
    assert_eq!(received.next().await, expected);
    assert_eq!(received.next().await, "over");
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_is_honoured() {
    let (watcher, mut script) = watcher_from("7");
    let _received = run(watcher);
    let mut throttled = status(429, "TooManyRequests");
    throttled.retry_after = Some(S(17));
    script.expect_watch().await.fail(throttled.clone());
    script.expect_no_call_for(MS(16_999)).await;
    // In an event too.
    script.expect_watch().await.open().error(throttled);
    script.expect_no_call_for(MS(16_999)).await;
    let _call = script.expect_watch().await;
}

#[tokio::test(start_paused = true)]
async fn watches_begin_at_least_a_second_apart_from_start_to_start() {
    let (watcher, mut script) = watcher_from("7");
    let mut received = run(watcher);
    let events = script.expect_watch().await.open();
    script.expect_no_call_for(MS(300)).await;
    events.added(object("a@8"));
    assert_eq!(received.next().await, "+a@8");
    events.end();
    script.expect_no_call_for(MS(699)).await;
    let events = script.expect_watch().await.open();
    // One that lived for longer is followed at once.
    script.expect_no_call_for(S(5)).await;
    let ended = Instant::now();
    events.end();
    let _call = script.expect_watch().await;
    assert!(ended.elapsed() < MS(10));
}

#[tokio::test(start_paused = true)]
async fn an_outage_makes_no_hot_loop() {
    let (watcher, mut script) = watcher_from("7");
    let _received = run(watcher);
    let began = Instant::now();
    let mut requests = 0;
    while began.elapsed() < S(600) {
        let call = script.expect_watch().await;
        requests += 1;
        if requests % 2 == 0 {
            call.open().end();
        } else {
            call.fail(broken());
        }
    }
    assert!(requests < 30, "{requests} requests in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_never_comes_and_a_silent_stream_are_given_up() {
    let (watcher, mut script) = watcher_from("7");
    let mut received = run(watcher);
    let hanging = script.expect_watch().await;
    script.expect_no_call_for(S(30)).await;
    let silent = script.expect_watch().await.open();
    assert!(hanging.is_given_up());
    silent.added(object("a@8"));
    assert_eq!(received.next().await, "+a@8");
    script.expect_no_call_for(S(180)).await;
    let call = script.expect_watch().await;
    assert!(silent.is_closed());
    assert_eq!(call.request.resource_version, "8".into());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_next_loses_nothing() {
    let (mut watcher, mut script) = watcher_from("7");
    assert!(poll!(pin!(watcher.next())).is_pending());
    assert!(script.expect_watch().await.is_given_up());
    // Asking again and again makes no more requests than the spacing allows.
    for _ in 0..100 {
        assert!(poll!(pin!(watcher.next())).is_pending());
    }
    script.expect_no_call_for(Duration::ZERO).await;
    let (change, events) = tokio::join!(watcher.next(), async {
        let events = script.expect_watch().await.open();
        events.added(object("a@8"));
        events
    });
    assert_eq!(event_text(&change.unwrap().unwrap()), "+a@8");
    assert!(poll!(pin!(watcher.next())).is_pending());
    // The stream stays open between calls.
    events.modified(object("a@9"));
    let change = watcher.next().await.unwrap().unwrap();
    assert_eq!(event_text(&change), "~a@9");
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_is_dropped_with_unread_changes_lets_its_stream_go() {
    let (watcher, mut script) = watcher_from("7");
    let received = run(watcher);
    let events = script.expect_watch().await.open();
    for version in 8..1_000 {
        events.modified(object(&format!("a@{version}")));
    }
    drop(received.rx);
    let tasks = received.tasks;
    sleep(MS(1)).await;
    assert_eq!(tasks.len(), 1);
    drop(events);
    script.expect_watch().await.fail(status(410, "Expired"));
    tasks.wait().await;
    assert!(script.is_over());
}

#[tokio::test]
async fn its_debug_output_names_the_version() {
    let (watcher, _script) = watcher_from("7");
    let text = format!("{watcher:?}");
    let expected = "RetryWatcher { resource: None, resource_version: \"7\", .. }";
    assert_eq!(text, expected);
    assert_eq!(*watcher.resource_version(), "7".into());
}
