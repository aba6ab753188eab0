//! The cases of client-go's `TestUntil…`, `TestListWatchUntil` and `TestUntilWithSync`.

use std::{convert::Infallible, pin::pin, time::Duration};

use futures::poll;
use tokio::time::{Instant, sleep, timeout};

use super::{
    super::{LastState, ObjectState, UntilError, Waiter, WatchOptions, deleted, exists},
    MS, S, broken, deleted_text, status, steady,
};
use crate::{
    fixtures::{Value, key, object, undecodable},
    list_watch::{ListPage, WatchEvent},
    testing::{Script, ScriptedListWatch, scripted},
};

type Wait = Waiter<Value, ScriptedListWatch<Value>>;
type Outcome<E = Infallible> = Result<ObjectState<Value>, UntilError<E>>;

fn waiter() -> (Wait, Script<Value>) {
    waiter_with(steady())
}

fn waiter_with(options: WatchOptions) -> (Wait, Script<Value>) {
    let (list_watch, script) = scripted();
    (Waiter::with_options(list_watch, options), script)
}

fn text(state: &ObjectState<Value>) -> String {
    match state {
        ObjectState::Absent => "absent".to_owned(),
        ObjectState::Present(object) => format!("{object:?}"),
        ObjectState::Deleted(deleted) => deleted_text(deleted),
    }
}

/// A condition that notes what it is asked about, and holds at `last`.
fn noting<'a>(
    last_state: &'a mut Vec<String>,
    last: &'a str,
) -> impl FnMut(&ObjectState<Value>) -> Result<bool, Infallible> + 'a {
    move |state| {
        last_state.push(text(state));
        Ok(text(state) == last)
    }
}

/// A condition that never holds.
#[expect(clippy::unnecessary_wraps, reason = "that is what a condition gives")]
fn never(_: &ObjectState<Value>) -> Result<bool, Infallible> {
    Ok(false)
}

#[tokio::test(start_paused = true)]
async fn the_present_state_is_asked_about_first() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let mut last_state = Vec::new();
    let (state, ()) = tokio::join!(
        waiter.until_object(S(10), &a, noting(&mut last_state, "n/a@3")),
        async {
            let call = script.expect_list().await;
            assert!(call.request.resource_version.is_unknown(), "most recent");
            call.page([object("n/a@3"), object("n/b@5")], "7");
        }
    );
    assert_eq!(text(&state.unwrap()), "n/a@3");
    assert_eq!(last_state, ["n/a@3"]);
    // No watch is needed for that.
    script.expect_no_call_for(S(60)).await;
}

#[tokio::test(start_paused = true)]
async fn every_change_of_the_object_is_asked_about_in_order_and_no_other() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let mut last_state = Vec::new();
    let (state, ()) = tokio::join!(
        waiter.until_object(S(10), &a, noting(&mut last_state, "n/a@12")),
        async {
            script.expect_list().await.page([], "7");
            let call = script.expect_watch().await;
            assert_eq!(call.request.resource_version, "7".into());
            let events = call.open();
            events.added(object("n/b@8"));
            events.added(object("n/a@9"));
            events.bookmark("10");
            events.deleted(object("n/a@11"));
            events.added(object("n/a@12"));
        }
    );
    assert_eq!(text(&state.unwrap()), "n/a@12");
    assert_eq!(last_state, ["absent", "n/a@9", "-n/a@11", "n/a@12"]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_watch_is_resumed_without_a_gap_and_without_a_list() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let mut last_state = Vec::new();
    let (state, ()) = tokio::join!(
        waiter.until_object(S(60), &a, noting(&mut last_state, "n/a@10")),
        async {
            script.expect_list().await.page([object("n/a@3")], "7");
            let events = script.expect_watch().await.open();
            events.modified(object("n/a@8"));
            events.fail(broken());
            script.expect_watch().await.fail(status(500, ""));
            let call = script.expect_watch().await;
            assert_eq!(call.request.resource_version, "8".into());
            call.open().modified(object("n/a@10"));
        }
    );
    assert_eq!(text(&state.unwrap()), "n/a@10");
    assert_eq!(last_state, ["n/a@3", "n/a@8", "n/a@10"]);
}

#[tokio::test(start_paused = true)]
async fn after_410_the_state_is_asked_for_again_and_what_was_missed_is_reported() {
    async fn check(first: &str, then: &[&str], expected: &[&str]) {
        for is_event in [true, false] {
            let (mut waiter, mut script) = waiter();
            let a = key("n/a");
            let mut last_state = Vec::new();
            let last = expected.last().unwrap();
            let (state, ()) = tokio::join!(
                waiter.until_object(S(60), &a, noting(&mut last_state, last)),
                async {
                    script.expect_list().await.page([object(first)], "7");
                    let call = script.expect_watch().await;
                    if is_event {
                        call.open().error(status(410, "Expired"));
                    } else {
                        call.fail(status(410, "Expired"));
                    }
                    let call = script.expect_list().await;
                    assert!(call.request.resource_version.is_unknown());
                    call.page(then.iter().map(|text| object(text)), "50");
                }
            );
            state.unwrap();
            assert_eq!(last_state, expected);
        }
    }
    check("n/a@3", &["n/a@40"], &["n/a@3", "n/a@40"]).await;
    check("n/a@3", &["n/b@40"], &["n/a@3", "!n/a@3 MissedDelete"]).await;
    let anew = ["n/a@3", "!n/a@3 UidChanged", "n/a@40"];
    check("n/a@3", &["n/a@40#v"], &anew).await;
}

#[tokio::test(start_paused = true)]
async fn lists_that_expire_again_and_again_make_no_hot_loop() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let mut lists = 0;
    let server = async {
        loop {
            lists += 1;
            script.expect_list().await.page([object("n/a@3")], "7");
            script.expect_watch().await.fail(status(410, "Expired"));
        }
    };
    tokio::select! {
        biased;
        outcome = waiter.until_object(S(600), &a, never) => assert!(outcome.unwrap_err().is_timeout()),
        () = server => unreachable!(),
    }
    assert!(lists < 30, "{lists} lists in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_limit_names_what_was_waited_for_and_what_was_seen_last() {
    async fn check(page: &[&str], bookmark: &str, expected: &str) {
        let (mut waiter, mut script) = waiter();
        let (a, began) = (key("n/a"), Instant::now());
        let server = async {
            let page = page.iter().map(|text| object(text));
            script.expect_list().await.page(page, "7");
            let events = script.expect_watch().await.open();
            events.bookmark(bookmark);
            std::future::pending::<()>().await;
        };
        let outcome = tokio::select! {
            biased;
            outcome = waiter.until_object(S(10), &a, never) => outcome,
            () = server => unreachable!(),
        };
        assert_eq!(began.elapsed(), S(10));
        let message = outcome.unwrap_err().to_string();
        assert_eq!(message, format!("n/a not as wanted within 10s: {expected}"));
    }
    check(&["n/a@3"], "7", "last seen at version 3").await;
    check(&[], "20", "absent at version 20").await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_reports_what_failed_last_unless_something_has_succeeded_since() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let server = async {
        loop {
            script.expect_list().await.fail(status(503, ""));
        }
    };
    let outcome: Outcome = tokio::select! {
        biased;
        outcome = waiter.until_object(S(10), &a, never) => outcome,
        () = server => unreachable!(),
    };
    let error = outcome.unwrap_err();
    let text = error.to_string();
    assert_eq!(text, "n/a not as wanted within 10s: nothing was seen");
    let UntilError::Timeout(timeout) = error else {
        panic!("{error:?}");
    };
    assert_eq!(timeout.last_state, LastState::Nothing);
    assert_eq!(timeout.source.unwrap().status().unwrap().code, 503);

    // The list succeeds, and then the watch fails for long.
    let server = async {
        script.expect_list().await.page([object("n/a@3")], "7");
        loop {
            script.expect_watch().await.fail(status(500, ""));
        }
    };
    let outcome: Outcome = tokio::select! {
        biased;
        outcome = waiter.until_object(S(60), &a, never) => outcome,
        () = server => unreachable!(),
    };
    let Err(UntilError::Timeout(timeout)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(timeout.last_state, LastState::Present("3".into()));
    assert_eq!(timeout.source.unwrap().status().unwrap().code, 500);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_condition_ends_the_wait_and_the_waiter_can_be_used_again() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let (outcome, ()) = tokio::join!(waiter.until_object(S(10), &a, |_| Err("gave up")), async {
        script.expect_list().await.page([object("n/a@3")], "7");
    });
    assert_eq!(outcome.unwrap_err().into_condition(), Some("gave up"));
    let state = waiter.until_object(S(10), &a, exists).await.unwrap();
    assert_eq!(text(&state), "n/a@3");
}

#[tokio::test(start_paused = true)]
async fn conditions_in_turn_miss_nothing_between_them() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let (first, events) = tokio::join!(waiter.until_object(S(10), &a, exists), async {
        script.expect_list().await.page([], "7");
        let events = script.expect_watch().await.open();
        events.added(object("n/a@8"));
        events.modified(object("n/a@9"));
        events.deleted(object("n/a@10"));
        events
    });
    assert_eq!(text(&first.unwrap()), "n/a@8");
    let mut last_state = Vec::new();
    let noted = noting(&mut last_state, "-n/a@10");
    waiter.until_object(S(10), &a, noted).await.unwrap();
    // The state that the first wait ended with comes first.
    assert_eq!(last_state, ["n/a@8", "n/a@9", "-n/a@10"]);
    let gone = waiter.until_object(S(10), &a, deleted).await.unwrap();
    assert_eq!(text(&gone), "absent");
    assert!(!events.is_closed());
    script.expect_no_call_for(S(60)).await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    assert!(poll!(pin!(waiter.until_object(S(10), &a, exists))).is_pending());
    assert!(script.expect_list().await.is_given_up());
    let short = timeout(S(5), waiter.until_object(S(10), &a, exists));
    let (outcome, events) = tokio::join!(short, async {
        script.expect_list().await.page([], "7");
        script.expect_watch().await.open()
    });
    assert!(outcome.is_err());
    events.added(object("n/a@8"));
    let state = waiter.until_object(S(10), &a, exists).await.unwrap();
    assert_eq!(text(&state), "n/a@8");
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_asked_about_whole_and_after_each_change() {
    let (mut waiter, mut script) = waiter();
    let mut counts = Vec::new();
    let (outcome, ()) = tokio::join!(
        waiter.until(S(60), |selection| {
            counts.push(selection.len());
            Ok::<_, Infallible>(selection.len() == 3)
        }),
        async {
            let objects = [object("n/a@1"), object("n/b@2")];
            script.expect_list().await.page(objects, "7");
            let events = script.expect_watch().await.open();
            events.deleted(object("n/a@8"));
            events.error(status(410, "Expired"));
            // A state that was asked for again is one change.
            let objects = ["n/a@20", "n/b@2", "n/c@21"].map(object);
            script.expect_list().await.page(objects, "22");
        }
    );
    outcome.unwrap();
    assert_eq!(counts, [2, 1, 3]);
    assert_eq!(*waiter.selection().resource_version(), "22".into());
}

#[tokio::test(start_paused = true)]
async fn a_limit_on_a_selection_says_how_many_objects_it_had() {
    let (mut waiter, mut script) = waiter();
    let server = async {
        script.expect_list().await.page([object("n/a@1")], "7");
        let _events = script.expect_watch().await.open();
        std::future::pending::<()>().await;
    };
    let outcome = tokio::select! {
        biased;
        outcome = waiter.until(S(10), |_| Ok::<_, Infallible>(false)) => outcome,
        () = server => unreachable!(),
    };
    let message = outcome.unwrap_err().to_string();
    let expected = "the selection not as wanted within 10s: 1 objects at version 7";
    assert_eq!(message, expected);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_ends_the_wait_and_waiting_on_makes_no_hot_loop() {
    for code in [400, 401, 403, 404] {
        let (mut waiter, mut script) = waiter();
        let a = key("n/a");
        for is_list in [true, false] {
            let began = Instant::now();
            let (outcome, ()) = tokio::join!(waiter.until_object(S(60), &a, never), async {
                let call = script.expect_list().await;
                if is_list {
                    return call.fail(status(code, ""));
                }
                call.page([], "7");
                script.expect_watch().await.fail(status(code, ""));
            });
            let error = outcome.unwrap_err();
            assert!(matches!(error, UntilError::Refused(_)), "{error:?}");
            assert!(is_list || began.elapsed() >= MS(800));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn lists_that_fail_are_tried_again_after_growing_delays_or_a_retry_after() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let (state, ()) = tokio::join!(waiter.until_object(S(600), &a, exists), async {
        script.expect_list().await.fail(broken());
        script.expect_no_call_for(MS(799)).await;
        let mut throttled = status(429, "");
        throttled.retry_after = Some(S(17));
        script.expect_list().await.fail(throttled);
        script.expect_no_call_for(MS(16_999)).await;
        let hanging = script.expect_list().await;
        script.expect_no_call_for(S(120)).await;
        let call = script.expect_list().await;
        assert!(hanging.is_given_up());
        call.page([object("n/a@3")], "7");
    });
    assert_eq!(text(&state.unwrap()), "n/a@3");
}

#[tokio::test(start_paused = true)]
async fn pages_are_joined_and_an_expired_token_is_followed_by_one_full_list() {
    let (mut waiter, mut script) = waiter();
    let (outcome, ()) = tokio::join!(
        waiter.until(S(60), |selection| Ok::<_, Infallible>(selection.len() == 2)),
        async {
            let call = script.expect_list().await;
            assert_eq!(call.request.limit, Some(500));
            call.page_and_more([object("n/a@1")], "7", "token");
            let call = script.expect_list().await;
            assert_eq!(call.request.continue_token.as_deref(), Some("token"));
            call.fail(status(410, "Expired"));
            let call = script.expect_list().await;
            assert_eq!(
                (call.request.limit, call.request.continue_token.as_ref()),
                (None, None)
            );
            call.page([object("n/a@1"), object("n/b@8")], "9");
        }
    );
    outcome.unwrap();
    assert_eq!(*waiter.selection().resource_version(), "9".into());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_decoded_is_reported_to_the_task_that_waits_for_it() {
    let (mut waiter, mut script) = waiter();
    let (a, b) = (key("n/a"), key("n/b"));
    let (outcome, ()) = tokio::join!(waiter.until_object(S(10), &a, exists), async {
        script.expect_list().await.answer(Ok(ListPage {
            items: vec![Err(undecodable("n/a@3")), Ok(object("n/b@4"))],
            resource_version: "7".into(),
            continue_token: None,
        }));
    });
    let message = outcome.unwrap_err().to_string();
    assert_eq!(message, "cannot decode n/a at version 3");
    // The others continue.
    let state = waiter.until_object(S(10), &b, exists).await.unwrap();
    assert_eq!(text(&state), "n/b@4");
    let (outcome, ()) = tokio::join!(waiter.until_object(S(10), &b, deleted), async {
        let events = script.expect_watch().await.open();
        events.send(WatchEvent::Modified(Err(undecodable("n/b@8"))));
    });
    let message = outcome.unwrap_err().to_string();
    assert_eq!(message, "cannot decode n/b at version 8");
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_is_no_beginning() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let (state, ()) = tokio::join!(waiter.until_object(S(60), &a, exists), async {
        script.expect_list().await.page([object("n/a@3")], "0");
        script.expect_no_call_for(MS(799)).await;
        script.expect_list().await.page([object("n/a@4")], "5");
    });
    assert_eq!(text(&state.unwrap()), "n/a@4");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_changes_does_not_outrun_the_limit() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let server = async {
        script.expect_list().await.page([], "7");
        let events = script.expect_watch().await.open();
        for version in 8.. {
            events.modified(object(&format!("n/b@{version}")));
            if version % 100 == 0 {
                sleep(MS(1)).await;
            }
        }
    };
    let began = Instant::now();
    tokio::select! {
        biased;
        outcome = waiter.until_object(MS(100), &a, never) => assert!(outcome.unwrap_err().is_timeout()),
        () = server => unreachable!(),
    }
    assert!(began.elapsed() < MS(110));
    assert!(waiter.selection().len() == 1, "{:?}", waiter.selection());
}

#[tokio::test(start_paused = true)]
async fn no_time_at_all_is_a_limit_too() {
    let (mut waiter, mut script) = waiter();
    let a = key("n/a");
    let outcome = waiter.until_object(Duration::ZERO, &a, exists).await;
    assert!(outcome.unwrap_err().is_timeout());
    assert!(script.expect_list().await.is_given_up());
}
