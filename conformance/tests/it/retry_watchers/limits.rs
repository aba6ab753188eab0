//! Limits of waits, and waits for one object by its name.

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use fakeserver::FakeServer;
use fastrand::Rng;
use futures::{FutureExt, StreamExt};
use informer::{
    ObjectKey, Scope,
    watch::{self, LastState, UntilError, Waiter},
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use tokio::time::{Instant, sleep, timeout};

use super::{LIMIT, MOMENT, Maps, SECOND, SEEDS, held, steady, text_of_state};
use crate::by_hand::{Calls, ChunkSender, server};

/// Refuses requests; one of them, or all.
async fn refuse(calls: &mut Calls, code: u16, is_for_ever: bool) {
    loop {
        calls.next().await.unwrap().refuse_as(code, "", SECOND);
        if !is_for_ever {
            return;
        }
    }
}

/// Fails, or gives a state, of which the watch breaks, and fails or not.
async fn serve(
    calls: &mut Calls,
    [lists, is_there, is_broken, is_repaired]: [bool; 4],
    kept: &RefCell<Option<ChunkSender>>,
) {
    refuse(calls, 503, !lists).await;
    let mut objects = BTreeMap::from([("b", held(4))]);
    objects.extend(is_there.then(|| ("a", held(3))));
    calls.next().await.unwrap().give_objects(10, &objects);
    let mut watch = calls.next().await.unwrap().open();
    watch.bookmark(12);
    if is_broken {
        sleep(SECOND).await;
        drop(watch);
        refuse(calls, 500, !is_repaired).await;
        watch = calls.next().await.unwrap().open();
        watch.bookmark(12);
    }
    *kept.borrow_mut() = Some(watch);
    std::future::pending::<()>().await;
}

/// Checks the text of a limit, and the next wait after it.
async fn check_limit(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let (mut calls, client) = server();
    let mut waiter = Waiter::with_options(Maps::new(client, Scope::All), steady(seed));
    let (key, limit) = (
        ObjectKey::new("n", "a"),
        Duration::from_secs(random.u64(20..60)),
    );
    let course = [(); 4].map(|()| random.bool());
    let [lists, is_there, is_broken, is_repaired] = course;
    let (is_object, kept, began) = (random.bool(), RefCell::new(None), Instant::now());
    let waits = async {
        if is_object {
            let state = waiter.until_object(limit, &key, |_| Ok::<_, ()>(false));
            state.await.map(drop)
        } else {
            waiter.until(limit, |_| Ok(false)).await
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = waits => outcome,
        () = serve(&mut calls, course, &kept) => return,
    };
    assert_eq!(began.elapsed(), limit, "seed {seed}");
    let Err(UntilError::Timeout(limit_error)) = outcome else {
        panic!("seed {seed}: {outcome:?}");
    };
    let (expected, text) = match (lists, is_object) {
        (false, _) => (LastState::Nothing, "nothing was seen"),
        (_, true) if is_there => (LastState::Present("3".into()), "last seen at version 3"),
        (_, true) => (LastState::Absent("12".into()), "absent at version 12"),
        _ => {
            let counted = LastState::Selection {
                object_count: 1 + usize::from(is_there),
                resource_version: "12".into(),
            };
            (
                counted,
                ["1 objects at version 12", "2 objects at version 12"][usize::from(is_there)],
            )
        }
    };
    let last = (&limit_error.last_state, limit_error.limit);
    assert_eq!(last, (&expected, limit), "seed {seed}");
    let subject = if is_object {
        "configmaps n/a"
    } else {
        "configmaps"
    };
    let text = format!("{subject} not as wanted within {limit:?}: {text}");
    assert_eq!(limit_error.to_string(), text, "seed {seed}");
    let code = limit_error.source.map(|error| error.status().unwrap().code);
    let expected = (is_broken && !is_repaired).then_some(500);
    let expected = if lists { expected } else { Some(503) };
    assert_eq!(code, expected, "seed {seed}");
    if let Some(watch) = kept.take() {
        // The next wait reads on where this one stopped.
        watch.event("MODIFIED", &held(20).item("a"));
        let mut states = Vec::new();
        let state = waiter.until_object(limit, &key, |state| {
            states.push(text_of_state(state));
            Ok::<_, ()>(states.len() == 2)
        });
        assert_eq!(text_of_state(&state.await.unwrap()), "a@20");
        let first = if is_there { "a@3" } else { "absent" };
        assert_eq!(states, [first, "a@20"], "seed {seed}");
        assert!(calls.next().now_or_never().is_none(), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_reports_what_was_seen_last_and_what_has_failed_since() {
    for seed in 0..SEEDS {
        check_limit(seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_name_asks_for_that_object_alone_in_its_scope() {
    for is_deletion in [false, true] {
        let (mut calls, client) = server();
        let scope = Scope::Namespace("n".into());
        let objects = BTreeMap::from_iter(is_deletion.then(|| ("a", held(3))));
        let server = async {
            let call = calls.next().await.unwrap();
            assert_eq!(call.path, "/api/v1/namespaces/n/configmaps");
            assert_eq!(call.summary, "list of metadata.name=a");
            call.give_objects(10, &objects);
            let call = calls.next().await.unwrap();
            assert_eq!(call.path, "/api/v1/namespaces/n/configmaps");
            assert_eq!(call.summary, "watch of metadata.name=a at 10");
            let watch = call.open();
            watch.bookmark(11);
            let kind = if is_deletion { "DELETED" } else { "ADDED" };
            watch.event(kind, &held(12).item("a"));
            watch
        };
        let condition = if is_deletion {
            watch::deleted
        } else {
            watch::exists
        };
        let wait = watch::until::<ConfigMap, _, _>(client, scope, "a", LIMIT, condition);
        let (state, _watch) = tokio::join!(wait, server);
        let expected = if is_deletion { "-a@12" } else { "a@12" };
        assert_eq!(text_of_state(&state.unwrap()), expected);
        // Nothing is left that could ask for more.
        assert!(timeout(MOMENT, calls.next()).await.unwrap().is_none());
    }
    let server = FakeServer::builder().with_seed(1).build();
    let client = server.client();
    let wait = watch::until::<Namespace, _, _>(client, Scope::All, "default", LIMIT, watch::exists);
    assert_eq!(
        wait.await.unwrap().object().unwrap().key().name(),
        "default"
    );
}
