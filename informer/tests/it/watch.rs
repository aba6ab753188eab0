//! Waiting for conditions, and one watch across many connections, against the fake server.

use std::{convert::Infallible, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{ExpiredStatus, Fault, Filter, Rule, RuleGuard, ServerError, Throttle},
};
use http::StatusCode;
use informer::{
    Deleted, Scope, TombstoneReason,
    http::HttpListWatch,
    list_watch::WatchEvent,
    stages::TaskSet,
    watch::{self, ObjectState, RetryWatcher, UntilError, Waiter},
};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::{Instant, sleep};

use crate::support::{ConfigMaps, number_of};

const LIMIT: Duration = Duration::from_mins(10);

fn scope() -> Scope {
    Scope::Namespace("default".to_owned())
}

fn list_watch(server: &FakeServer) -> HttpListWatch<ConfigMap> {
    HttpListWatch::new(server.client_named("subject"), scope())
}

fn counts_to(number: u64) -> impl FnMut(&ObjectState<ConfigMap>) -> Result<bool, Infallible> {
    move |state| {
        let object = state.object();
        Ok(object.is_some_and(|object| number_of(object) == number))
    }
}

/// A fault that meets the subject's watches now and then.
type Install = fn(&FakeServer) -> RuleGuard;

const FAULTS: [(&str, Install); 8] = [
    ("clean_end", |server| {
        install(
            server,
            Fault::CleanEnd.rule().matching(watches()).nth(4).times(5),
        )
    }),
    ("reset_mid_line", |server| {
        install(
            server,
            Fault::ResetMidLine
                .rule()
                .matching(watches())
                .nth(4)
                .times(5),
        )
    }),
    ("silence", |server| {
        install(
            server,
            Fault::Silence.rule().matching(watches()).nth(4).times(1),
        )
    }),
    ("expired_event", |server| {
        install(
            server,
            Fault::ExpiredEvent
                .rule()
                .matching(watches())
                .nth(4)
                .times(3),
        )
    }),
    ("expired_status", |server| {
        install(
            server,
            ExpiredStatus::default().rule().matching(watches()).times(3),
        )
    }),
    ("server_error", |server| {
        let code = StatusCode::SERVICE_UNAVAILABLE;
        let filter = Filter::any().client("subject");
        install(
            server,
            ServerError::new(code).rule().matching(filter).times(5),
        )
    }),
    ("throttle", |server| {
        let filter = Filter::any().client("subject");
        let rule = Throttle {
            retry_after_seconds: 3,
            ..Throttle::default()
        }
        .rule();
        install(server, rule.matching(filter).times(3))
    }),
    ("hang", |server| {
        install(server, Fault::Hang.rule().matching(watches()).times(1))
    }),
];

fn watches() -> Filter {
    Filter::any().client("subject").verb("watch")
}

fn install(server: &FakeServer, rule: impl Rule) -> RuleGuard {
    server.faults().install(rule)
}

#[tokio::test(start_paused = true)]
async fn an_object_is_waited_for_through_every_fault() {
    for (name, fault) in FAULTS {
        let server = FakeServer::builder().build();
        let _guard = fault(&server);
        let tasks = TaskSet::new();
        let config_maps = ConfigMaps::of(&server, "default");
        tasks.spawn(async move {
            for number in 0..=20 {
                sleep(Duration::from_millis(700)).await;
                config_maps.put("a", number).await;
                config_maps.put("b", number).await;
            }
        });
        let mut numbers = Vec::new();
        let mut is_last = counts_to(20);
        let state = watch::until(
            server.client_named("subject"),
            scope(),
            "a",
            LIMIT,
            |state: &ObjectState<ConfigMap>| {
                numbers.extend(state.object().map(number_of));
                is_last(state)
            },
        );
        let state = state.await.unwrap();
        assert_eq!(state.object().unwrap().key().to_string(), "default/a");
        // In order, each once, and none of the other object.
        assert!(numbers.is_sorted_by(|a, b| a < b), "{name}: {numbers:?}");
        assert!(server.faults().fired().contains_key(name), "{name}");
        if !name.starts_with("expired") && !matches!(name, "server_error" | "throttle") {
            assert_eq!(numbers.len(), 21, "{name}: no change was missed");
        }
        tasks.wait().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_holds_already_needs_no_watch() {
    let server = FakeServer::builder().build();
    ConfigMaps::of(&server, "default").put("a", 7).await;
    let client = server.client_named("subject");
    let before = server.stats().requests["configmaps"].clone();
    watch::until::<ConfigMap, _, _>(client.clone(), scope(), "a", LIMIT, watch::exists)
        .await
        .unwrap();
    let state = watch::until::<ConfigMap, _, _>(client, scope(), "b", LIMIT, watch::deleted).await;
    assert!(matches!(state.unwrap(), ObjectState::Absent));
    let mut after = server.stats().requests["configmaps"].clone();
    assert_eq!(after.remove("list"), Some(2));
    assert_eq!(after, before);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_reported_as_it_was_seen_or_as_a_tombstone() {
    for is_missed in [false, true] {
        let server = FakeServer::builder().build();
        let config_maps = ConfigMaps::of(&server, "default");
        config_maps.put("a", 7).await;
        let mut waiter = Waiter::new(list_watch(&server));
        let key = informer::ObjectKey::new("default", "a");
        waiter
            .until_object(LIMIT, &key, watch::exists)
            .await
            .unwrap();
        let wait = waiter.until_object(LIMIT, &key, watch::deleted);
        let (state, ()) = tokio::join!(wait, async {
            sleep(Duration::from_secs(5)).await;
            // No watch is open while the object is deleted and recreated, and the history goes too.
            let hang = Fault::Hang.rule().matching(watches());
            let guard = is_missed.then(|| server.faults().install(hang));
            if is_missed {
                server.disconnect();
                sleep(Duration::from_secs(5)).await;
            }
            config_maps.delete("a").await;
            config_maps.put("a", 8).await;
            if is_missed {
                server.expire();
            }
            drop(guard);
        });
        let ObjectState::Deleted(deleted) = state.unwrap() else {
            panic!("it was deleted");
        };
        assert_eq!(number_of(deleted.last_known().unwrap()), 7);
        match deleted {
            Deleted::Object(_) => assert!(!is_missed),
            Deleted::Tombstone(tombstone) => {
                assert!(is_missed);
                assert_eq!(tombstone.reason, TombstoneReason::UidChanged);
            }
        }
        let state = waiter.until_object(LIMIT, &key, watch::exists).await;
        assert_eq!(number_of(state.unwrap().object().unwrap()), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_names_the_object_and_the_version_that_was_seen_last() {
    let server = FakeServer::builder().build();
    ConfigMaps::of(&server, "default").put("a", 7).await;
    let version = server.revision();
    let began = Instant::now();
    let limit = Duration::from_secs(30);
    let client = server.client_named("subject");
    let outcome = watch::until(client, scope(), "a", limit, counts_to(8)).await;
    assert_eq!(began.elapsed(), limit);
    let expected =
        format!("configmaps default/a not as wanted within 30s: last seen at version {version}");
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_waited_for_across_an_expired_history() {
    let server = FakeServer::builder().build();
    let config_maps = ConfigMaps::of(&server, "default");
    let mut waiter = Waiter::new(list_watch(&server));
    let wait = waiter.until(LIMIT, |present| Ok::<_, Infallible>(present.len() == 3));
    let (outcome, ()) = tokio::join!(wait, async {
        for name in ["a", "b", "c"] {
            sleep(Duration::from_secs(5)).await;
            config_maps.put(name, 1).await;
            server.expire();
            server.disconnect();
        }
    });
    outcome.unwrap();
    let outcome = waiter.until(Duration::from_secs(1), |_| Err("no")).await;
    assert!(matches!(outcome, Err(UntilError::Condition("no"))));
}

#[tokio::test(start_paused = true)]
async fn a_retry_watcher_reports_every_change_once_across_disconnects_and_ends_with_410() {
    let server = FakeServer::builder().build();
    let config_maps = ConfigMaps::of(&server, "default");
    config_maps.put("a", 0).await;
    let from = server.revision().to_string();
    let mut watcher = RetryWatcher::new(list_watch(&server), from.as_str().into()).unwrap();
    let mut versions = Vec::new();
    for number in 1..=10 {
        config_maps.put("a", number).await;
        config_maps.put("b", number).await;
        if number % 3 == 0 {
            server.disconnect();
        }
        for expected in ["default/a", "default/b"] {
            let (WatchEvent::Added(object) | WatchEvent::Modified(object)) =
                watcher.next().await.unwrap().unwrap()
            else {
                panic!("nothing was deleted");
            };
            let object = object.unwrap();
            assert_eq!(object.key().to_string(), expected);
            assert_eq!(number_of(&object), number);
            versions.push(object.resource_version().as_str().parse::<u64>().unwrap());
        }
    }
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    // Its history goes while no watch is open.
    server.disconnect();
    config_maps.put("a", 11).await;
    server.expire();
    let missed = watcher.next().await.unwrap();
    let error = missed.unwrap_err();
    assert!(error.is_expired() && error.needs_relist(), "{error}");
    assert!(watcher.next().await.is_none());
}
