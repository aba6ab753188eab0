use std::time::Duration;

use futures::{FutureExt, future::join_all, poll};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use tokio::time::{Instant, sleep};

use super::informer::{LIMIT, started, unstarted};
use crate::{
    fixtures::key,
    object::ResourceVersion,
    shared_informer::{SyncPhase, WaitError},
};

/// Returns a server's answer to a write of `n/a@7`, or of `n/a@7#uid`.
fn answer(text: &str) -> ConfigMap {
    let object = crate::fixtures::object(text);
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some(object.key().namespace().into()),
            name: Some(object.key().name().into()),
            uid: Some(object.uid().into()),
            resource_version: Some(object.resource_version().as_str().into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_cache_shows_the_version_or_a_later_one() {
    let (informer, feed) = started();
    feed.send("=5[n/a@1]").await;
    for reached in ["1", "4", "5"].map(ResourceVersion::from) {
        let outcome = informer.wait_until(&reached, Duration::ZERO);
        assert_eq!(outcome.now_or_never(), Some(Ok(())));
    }
    // By an event, by a bookmark, and by a relist that jumps over it.
    for (version, before, then) in [
        ("7", "+n/b@6", "+n/c@7"),
        ("9", "^8", "^9"),
        ("10", "^9", "=20[n/a@1]"),
    ] {
        let version = version.into();
        let mut wait = Box::pin(informer.wait_until(&version, LIMIT));
        assert!(poll!(&mut wait).is_pending());
        feed.send(before).await;
        assert!(poll!(&mut wait).is_pending(), "{version} after {before}");
        feed.send(then).await;
        assert_eq!(wait.await, Ok(()), "{version} after {then}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_waiter_is_woken_at_its_own_version() {
    let (informer, feed) = started();
    let begin = Instant::now();
    let waits = (1..=40).map(|version| {
        let informer = informer.clone();
        async move {
            // Versions and waiters in different orders.
            let version = (version * 7) % 41;
            let text = version.to_string();
            let outcome = informer.wait_until(&text.as_str().into(), LIMIT).await;
            (outcome, version, begin.elapsed().as_secs())
        }
    });
    let server = async {
        for version in 1..=40 {
            sleep(Duration::from_secs(1) - Duration::from_millis(1)).await;
            feed.send(&format!("+n/a@{version}")).await;
        }
    };
    let (woken, ()) = tokio::join!(join_all(waits), server);
    for (outcome, version, seconds) in woken {
        assert_eq!(outcome, Ok(()));
        assert!(
            seconds == version || seconds + 1 == version,
            "{version} after {seconds} s"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_takes_nothing_from_others() {
    let (informer, feed) = started();
    let version = "7".into();
    let mut dropped = Box::pin(informer.wait_until(&version, LIMIT));
    let mut wait = Box::pin(informer.wait_until(&version, LIMIT));
    assert!(poll!(&mut dropped).is_pending());
    assert!(poll!(&mut wait).is_pending());
    feed.send("=7[]").await;
    drop(dropped);
    assert_eq!(wait.await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_in_vain_says_what_it_waited_for() {
    let (informer, feed) = unstarted();
    let error = informer.wait_until(&"7".into(), LIMIT).await.unwrap_err();
    assert!(error.is_deadline());
    assert_eq!(
        error.to_string(),
        "things at \"\", not at \"7\" within 60s: not started, failed attempts: 0"
    );
    informer.start();
    feed.send("=5[]").await;
    let begin = Instant::now();
    let error = informer.wait_until(&"7".into(), LIMIT).await.unwrap_err();
    assert_eq!(begin.elapsed().as_secs(), LIMIT.as_secs());
    let WaitError::Deadline { held, status, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((held.as_str(), status.phase), ("5", SyncPhase::Starting));

    let (version, other) = ("7".into(), informer.clone());
    let mut wait = Box::pin(other.wait_until(&version, LIMIT));
    assert!(poll!(&mut wait).is_pending());
    informer.shutdown().await;
    let error = wait.await.unwrap_err();
    assert!(error.is_stopped());
    assert_eq!(
        error.to_string(),
        "the informer of things stopped at \"5\", before \"7\""
    );
    // What it did show, it still shows.
    assert_eq!(informer.wait_until(&"5".into(), LIMIT).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn versions_that_cannot_be_compared_are_not_waited_for() {
    let (informer, feed) = started();
    for version in ["", "0", "07", "x", "1x"].map(ResourceVersion::from) {
        let wait = informer.wait_until(&version, LIMIT);
        let outcome = wait.now_or_never().expect("an answer at once");
        assert!(matches!(outcome, Err(WaitError::NotComparable { .. })));
    }
    feed.send("=opaque[n/a@1]").await;
    assert_eq!(informer.wait_until(&"opaque".into(), LIMIT).await, Ok(()));
    let error = informer.wait_until(&"7".into(), LIMIT).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "versions \"7\" and \"opaque\" of things cannot be compared"
    );
}

#[tokio::test(start_paused = true)]
async fn a_written_object_is_returned_from_the_cache() {
    let (informer, feed) = started();
    feed.send("=5[n/a@1]").await;
    let written = answer("n/a@7");
    let mut wait = Box::pin(informer.written(&written, LIMIT));
    assert!(poll!(&mut wait).is_pending());
    feed.send("+n/b@6").await;
    assert!(poll!(&mut wait).is_pending());
    feed.send("+n/a@7").await;
    let cached = wait.await.unwrap().unwrap();
    assert_eq!(cached.resource_version().as_str(), "7");

    feed.send("+n/a@9").await;
    let cached = informer.written(&written, LIMIT).await.unwrap().unwrap();
    assert_eq!(cached.resource_version().as_str(), "9");
}

#[tokio::test(start_paused = true)]
async fn deleted_and_unselected_objects_are_not_awaited() {
    let (informer, feed) = started();
    feed.send("=5[n/a@1] +n/a@7 -n/a@8").await;
    let cached = informer.written(&answer("n/a@7"), LIMIT).await;
    assert!(cached.unwrap().is_none());
    // The answer to the deletion itself.
    let cached = informer.written(&answer("n/a@8"), LIMIT).await;
    assert!(cached.unwrap().is_none());
    // Of a selection to which it does not belong only a bookmark tells.
    let written = answer("n/other@9");
    let mut wait = Box::pin(informer.written(&written, LIMIT));
    assert!(poll!(&mut wait).is_pending());
    feed.send("^9").await;
    assert!(wait.await.unwrap().is_none());
    // Nor can it be shown if it does not decode.
    feed.send("?n/a@12").await;
    let cached = informer.written(&answer("n/a@12"), LIMIT).await;
    assert!(cached.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn an_object_created_again_is_not_the_one_that_was_written() {
    let (informer, feed) = started();
    feed.send("=5[n/a@1#old]").await;
    // The name still belongs to the old one: its deletion and the new one are on their way.
    let written = answer("n/a@7#new");
    let mut wait = Box::pin(informer.written(&written, LIMIT));
    assert!(poll!(&mut wait).is_pending());
    feed.send("-n/a@6#old").await;
    assert!(poll!(&mut wait).is_pending());
    feed.send("+n/a@7#new").await;
    assert_eq!(wait.await.unwrap().unwrap().uid(), "new");

    feed.send("-n/a@8#new +n/a@9#newer").await;
    let error = informer.written(&written, LIMIT).await.unwrap_err();
    assert_eq!(error.to_string(), "things n/a is another object by now");
    let WaitError::OtherObject { key: own, uid, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((own, &*uid), (key("n/a"), "newer"));
}
