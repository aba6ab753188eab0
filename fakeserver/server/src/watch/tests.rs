//! Watches on the paused clock: their frames, their end, and the release of their resources.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use fakeserver_kinds::ResourceType;
use fakeserver_value::{
    object::selectors::FieldSelector, resource::GroupResource, revision::Revision,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, timeout};

use super::*;
use crate::{
    Compaction, FakeServer,
    edge::response::{Encoding, Representation, WatchEncoding},
    faults::{Connection, Fault, FaultGate, Filter, FrameFacts, FrameVerdict, RequestFacts, Rule},
    store::{ObjectKey, Range},
};

fn pods() -> GroupResource {
    GroupResource::new("", "pods")
}

fn served(server: &FakeServer) -> Arc<ResourceType> {
    let registry = server.backend().registry();
    Arc::clone(registry.stored_type(&pods()).unwrap())
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced(pods(), "default", name)
}

/// Writes `name` with the label `app` and returns its version.
fn put(server: &FakeServer, name: &str, app: &str) -> u64 {
    let pod = json!({
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"app": app},
    });
    let stored: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&key(name), pod)));
    let Ok(stored) = stored;
    stored.revision()
}

fn delete(server: &FakeServer, name: &str) {
    let deleted: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.delete(&key(name))));
    let Ok(deleted) = deleted;
    deleted.expect("it was there");
}

/// The options of a watch in tests.
struct WatchOptions {
    /// The version to start after, or the present state first.
    after: Option<u64>,
    marks_end: bool,
    bookmarks: bool,
    seconds: u64,
    representation: Representation,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            after: None,
            marks_end: false,
            bookmarks: false,
            seconds: 1_800,
            representation: Representation::Object,
        }
    }
}

fn watch(server: &FakeServer, plan: &WatchOptions) -> Body {
    let backend = server.backend();
    let tasks = &server.server().api.tasks;
    let selection = Arc::new(Selection::everything(Range::All));
    let (watcher, watch) = backend.storage.view(|view| {
        let (watcher, receiver) =
            backend
                .watchers
                .register(&served(server), Arc::clone(&selection), "x");
        let start = plan.after.map_or(view.revision(), Revision::new);
        let replay = match plan.after {
            Some(_) => view.changes_since(&pods(), &Range::All, start).unwrap(),
            None => Vec::new(),
        };
        let watch = Watch {
            initial: plan.after.is_none().then(|| Initial {
                snapshot: view.snapshot(&pods()),
                revision: view.revision(),
                marks_end: plan.marks_end,
                shuffle: None,
            }),
            replay: QueuedChange::all(replay, &selection),
            selection,
            receiver,
            start,
            bookmarks: plan.bookmarks,
            deadline: Instant::now() + Duration::from_secs(plan.seconds),
            durability: None,
        };
        (watcher, watch)
    });
    let encoding = WatchEncoding::new(Encoding::new("Pod", "v1", plan.representation));
    let gate = FaultGate::new(
        server.faults(),
        RequestFacts::default(),
        Connection::default(),
        encoding,
    );
    open(Arc::clone(&backend.storage), tasks, watcher, watch, gate)
}

/// Formats a frame: `ADDED a@2`, `BOOKMARK @7`; an incomplete line verbatim.
fn short(frame: &Bytes) -> String {
    if !frame.ends_with(b"}\n") {
        return String::from_utf8_lossy(frame).into_owned();
    }
    let frame: Value = serde_json::from_slice(frame).unwrap();
    let metadata = &frame["object"]["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let version = metadata["resourceVersion"].as_str().unwrap();
    format!("{} {name}@{version}", frame["type"].as_str().unwrap())
}

/// The frames that come until the stream ends or `seconds` have passed, and how it stands then.
async fn read(body: &mut Body, seconds: u64) -> (Vec<String>, &'static str) {
    let mut frames = Vec::new();
    let end = timeout(Duration::from_secs(seconds), async {
        loop {
            match body.frame().await {
                Some(Ok(frame)) => frames.push(short(&frame.into_data().unwrap())),
                Some(Err(_)) => return "broken",
                None => return "ended",
            }
        }
    });
    let end = end.await.unwrap_or("open");
    (frames, end)
}

fn names(prefix: &str, numbers: std::ops::RangeInclusive<u64>) -> Vec<String> {
    numbers.map(|number| format!("{prefix}@{number}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_version_replays_and_continues_without_gap_or_duplicate() {
    let server = FakeServer::builder().build();
    let first = put(&server, "a", "x");
    put(&server, "a", "y");
    delete(&server, "a");
    let mut body = watch(
        &server,
        &WatchOptions {
            after: Some(first),
            ..WatchOptions::default()
        },
    );
    put(&server, "b", "x");
    let expected = [
        format!("MODIFIED a@{}", first + 1),
        format!("DELETED a@{}", first + 2),
        format!("ADDED b@{}", first + 3),
    ];
    assert_eq!(read(&mut body, 10).await, (expected.to_vec(), "open"));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_event_has_the_last_state_at_the_version_of_the_deletion() {
    for representation in [Representation::Object, Representation::Metadata] {
        let server = FakeServer::builder().build();
        let first = put(&server, "a", "x");
        let mut body = watch(
            &server,
            &WatchOptions {
                after: Some(first),
                representation,
                ..WatchOptions::default()
            },
        );
        delete(&server, "a");
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = serde_json::from_slice(&frame).unwrap();
        let object = &event["object"];
        assert_eq!(event["type"], "DELETED");
        assert_eq!(object["metadata"]["labels"]["app"], "x");
        assert_eq!(
            object["metadata"]["resourceVersion"],
            (first + 1).to_string()
        );
        match representation {
            Representation::Object => {
                assert_eq!(
                    (&object["kind"], &object["spec"]["app"]),
                    (&json!("Pod"), &json!("x"))
                );
            }
            Representation::Metadata => {
                assert_eq!(object["kind"], "PartialObjectMetadata");
                assert_eq!(object.get("spec"), None);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn watchers_share_the_bytes_of_a_frame() {
    let server = FakeServer::builder().build();
    let mut bodies: Vec<Body> = (0..3)
        .map(|_| watch(&server, &WatchOptions::default()))
        .collect();
    put(&server, "a", "x");
    let mut frames = Vec::new();
    for body in &mut bodies {
        frames.push(body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert!(
        frames
            .iter()
            .all(|frame| frame.as_ptr() == frames[0].as_ptr())
    );
}

#[tokio::test(start_paused = true)]
async fn initial_events_come_in_the_order_of_names_and_are_ended_by_a_bookmark() {
    let server = FakeServer::builder().build();
    let b = put(&server, "b", "x");
    put(&server, "a", "x");
    let mut body = watch(
        &server,
        &WatchOptions {
            marks_end: true,
            ..WatchOptions::default()
        },
    );
    put(&server, "c", "x");
    let expected = [
        format!("ADDED a@{}", b + 1),
        format!("ADDED b@{b}"),
        format!("BOOKMARK @{}", b + 1),
        format!("ADDED c@{}", b + 2),
    ];
    assert_eq!(read(&mut body, 10).await, (expected.to_vec(), "open"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_future_version_sends_only_later_changes() {
    let server = FakeServer::builder().build();
    let next = server.revision() + 1;
    let mut body = watch(
        &server,
        &WatchOptions {
            after: Some(next),
            ..WatchOptions::default()
        },
    );
    put(&server, "a", "x");
    put(&server, "a", "y");
    assert_eq!(
        read(&mut body, 10).await,
        (vec![format!("MODIFIED a@{}", next + 1)], "open")
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_gets_its_queue_and_then_a_clean_end() {
    let server = FakeServer::builder().with_watcher_buffer_frames(8).build();
    let mut slow = watch(&server, &WatchOptions::default());
    let mut quick = watch(&server, &WatchOptions::default());
    let mut seen = Vec::new();
    let first = server.revision() + 1;
    for _ in 0..100 {
        put(&server, "a", "x");
        seen.extend(read(&mut quick, 1).await.0);
    }
    assert_eq!(seen.len(), 100, "a watcher that reads is not cut off");
    assert_eq!(
        server.stats().watchers,
        2,
        "the slow one still has something to read"
    );

    let (frames, end) = read(&mut slow, 10).await;
    assert_eq!(end, "ended");
    // 8 in its own buffer, 16 on their way to the client, one in the hand of the task.
    assert_eq!(
        frames,
        seen[..frames.len()],
        "a prefix, in order, without a gap"
    );
    assert_eq!(frames.len(), 25);
    assert_eq!(frames[0], format!("ADDED a@{first}"));
    assert_eq!(server.stats().watchers, 1);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_tell_of_progress_and_only_of_progress() {
    let server = FakeServer::builder().build();
    let start = server.revision();
    let mut body = watch(
        &server,
        &WatchOptions {
            bookmarks: true,
            seconds: 200,
            ..WatchOptions::default()
        },
    );
    assert_eq!(
        read(&mut body, 100).await,
        (vec![], "open"),
        "nothing new, no bookmark"
    );

    // A write to another resource moves the version.
    let key = ObjectKey::cluster(GroupResource::new("", "nodes"), "n");
    let _: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&key, json!({"metadata": {"name": "n"}}))));
    assert_eq!(
        read(&mut body, 15).await,
        (vec![], "open"),
        "not before its minute"
    );
    let opened = Instant::now();
    assert_eq!(
        read(&mut body, 10).await,
        (vec![format!("BOOKMARK @{}", start + 1)], "open")
    );
    assert!(opened.elapsed() <= Duration::from_secs(10));

    put(&server, "a", "x");
    assert_eq!(
        read(&mut body, 10).await.0,
        [format!("ADDED a@{}", start + 2)]
    );
    let _: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&key, json!({"metadata": {"name": "n"}}))));
    // 198 s after the start, two seconds before the end. The bookmark at 180 s had the same revision.
    assert_eq!(
        read(&mut body, 100).await,
        (vec![format!("BOOKMARK @{}", start + 3)], "ended")
    );
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_comes_two_seconds_before_the_end() {
    let server = FakeServer::builder().build();
    let plan = WatchOptions {
        bookmarks: true,
        marks_end: true,
        seconds: 6,
        ..WatchOptions::default()
    };
    let mut body = watch(&server, &plan);
    let start = server.revision();
    assert_eq!(read(&mut body, 3).await.0, [format!("BOOKMARK @{start}")]);
    let key = ObjectKey::cluster(GroupResource::new("", "nodes"), "n");
    let _: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&key, json!({"metadata": {"name": "n"}}))));
    let waited = Instant::now();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(short(&frame), format!("BOOKMARK @{}", start + 1));
    assert_eq!(waited.elapsed().as_secs(), 1, "4 s after the start");
    assert_eq!(read(&mut body, 10).await, (vec![], "ended"));
    assert_eq!(waited.elapsed().as_secs(), 3, "6 s after the start");
}

#[tokio::test(start_paused = true)]
async fn no_watch_is_left_behind() {
    let server = FakeServer::builder().build();
    let mut bodies: Vec<Body> = (0..50)
        .map(|_| watch(&server, &WatchOptions::default()))
        .collect();
    assert_eq!(server.stats().watchers, 50);
    bodies.truncate(40);
    assert_eq!(
        server.stats().watchers,
        40,
        "at once when its client leaves"
    );

    server.disconnect();
    for body in &mut bodies {
        assert_eq!(read(body, 1).await.1, "ended");
    }
    assert_eq!(server.stats().watchers, 0);

    let mut timed = watch(
        &server,
        &WatchOptions {
            seconds: 5,
            ..WatchOptions::default()
        },
    );
    assert_eq!(read(&mut timed, 4).await.1, "open");
    assert_eq!(read(&mut timed, 2).await.1, "ended");
    assert_eq!(server.stats().watchers, 0);

    let mut last = watch(&server, &WatchOptions::default());
    server.shutdown().await;
    assert_eq!(server.stats().watchers, 0);
    assert_eq!(read(&mut last, 1).await.1, "ended");
    assert!(server.server().api.tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_watch_keeps_no_sent_object_alive() {
    let forgetful = Compaction {
        age: None,
        bytes: Some(0),
    };
    let server = FakeServer::builder().with_compaction(forgetful).build();
    put(&server, "a", "x");
    let object = Arc::downgrade(&server.objects("", "v1", "pods")[0]);
    let mut body = watch(&server, &WatchOptions::default());
    assert_eq!(read(&mut body, 1).await.0.len(), 1);
    assert!(object.upgrade().is_some());
    delete(&server, "a");
    assert_eq!(read(&mut body, 1).await.0.len(), 1);
    assert!(
        object.upgrade().is_none(),
        "it is gone while the watch goes on"
    );
}

#[tokio::test(start_paused = true)]
async fn tasks_end_when_nobody_holds_the_server() {
    let server = FakeServer::builder().build();
    let mut body = watch(&server, &WatchOptions::default());
    drop(server);
    assert_eq!(read(&mut body, 1).await.1, "ended");
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_before_a_reset_sees_nothing_of_after() {
    let server = FakeServer::builder().build();
    let mut old = watch(&server, &WatchOptions::default());
    let built = server.revision();
    put(&server, "a", "x");
    server.reset();
    assert_eq!(server.revision(), built);
    put(&server, "b", "x");
    assert_eq!(
        read(&mut old, 5).await,
        (vec![], "ended"),
        "also what was queued is gone"
    );
    let mut new = watch(&server, &WatchOptions::default());
    assert_eq!(
        read(&mut new, 5).await.0,
        [format!("ADDED b@{}", built + 1)]
    );
}

#[tokio::test(start_paused = true)]
async fn concurrent_watchers_all_see_the_one_order() {
    let server = FakeServer::builder().build();
    let mut bodies = Vec::new();
    let mut first = Vec::new();
    for number in 0..20 {
        first.push(server.revision() + 1);
        bodies.push(watch(
            &server,
            &WatchOptions {
                after: Some(server.revision()),
                ..WatchOptions::default()
            },
        ));
        put(&server, "a", &number.to_string());
    }
    for (body, first) in bodies.iter_mut().zip(first) {
        let (frames, _) = read(body, 1).await;
        let mut expected = names("MODIFIED a", first..=server.revision());
        if frames[0].starts_with("ADDED") {
            expected[0] = format!("ADDED a@{first}");
        }
        assert_eq!(frames, expected);
    }
}

/// Gives one verdict to the second frame.
struct SecondFrameRule(FrameVerdict);

impl Rule for SecondFrameRule {
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if frame.index == 1 {
            self.0.clone()
        } else {
            FrameVerdict::Pass
        }
    }
}

/// Applies `verdict` to the second of three frames, and returns the output of 99 s with the state of the stream.
async fn check_verdict(verdict: FrameVerdict, expected: &[&str], end: &str) {
    let server = FakeServer::builder().with_bootstrap(false).build();
    let guard = server.faults().install(SecondFrameRule(verdict.clone()));
    let mut body = watch(
        &server,
        &WatchOptions {
            seconds: 100,
            ..WatchOptions::default()
        },
    );
    let start = server.revision();
    for name in ["a", "b", "c"] {
        put(&server, name, "x");
    }
    let (frames, ended) = read(&mut body, 99).await;
    assert_eq!(frames, expected, "{verdict:?}");
    assert_eq!(ended, end, "{verdict:?}");
    assert_eq!(server.faults().fired()["custom"], 1);

    drop(guard);
    let mut body = watch(
        &server,
        &WatchOptions {
            after: Some(start),
            ..WatchOptions::default()
        },
    );
    assert_eq!(
        read(&mut body, 1).await.0.len(),
        3,
        "the rule is gone with its guard"
    );
}

#[tokio::test(start_paused = true)]
async fn every_frame_verdict_is_applied() {
    use FrameVerdict::{
        Delay, Drop, Duplicate, End, EndAfter, EndWith, Replace, Reset, Silence, SwapWithNext,
    };
    // An empty store stands at 1.
    let [a, b, c, z] = ["ADDED a@2", "ADDED b@3", "ADDED c@4", "BOOKMARK @5"];
    let other =
        Encoding::new("Pod", "v1", Representation::Object).bookmark(Revision::new(5), false);
    check_verdict(Delay(Duration::from_secs(5)), &[a, b, c], "open").await;
    check_verdict(End, &[a], "ended").await;
    check_verdict(EndAfter, &[a, b], "ended").await;
    check_verdict(Reset { after_bytes: 8 }, &[a, "{\"type\":"], "broken").await;
    check_verdict(Reset { after_bytes: 0 }, &[a], "broken").await;
    check_verdict(Silence, &[a], "open").await;
    check_verdict(Drop, &[a, c], "open").await;
    check_verdict(Duplicate, &[a, b, b, c], "open").await;
    check_verdict(SwapWithNext, &[a, c, b], "open").await;
    check_verdict(Replace(other.clone()), &[a, z, c], "open").await;
    check_verdict(EndWith(other), &[a, z], "ended").await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_outlives_its_deadline_and_ends_with_its_client() {
    let server = FakeServer::builder().build();
    let rule = Fault::Silence.rule().matching(Filter::any());
    let _guard = server.faults().install(rule);
    let mut body = watch(
        &server,
        &WatchOptions {
            seconds: 10,
            ..WatchOptions::default()
        },
    );
    put(&server, "a", "x");
    assert_eq!(read(&mut body, 3_600).await, (vec![], "open"));
    drop(body);
    assert_eq!(server.stats().watchers, 0);
    advance(Duration::from_secs(1)).await;
    assert!(server.server().api.tasks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn indexed_watches_get_the_events_of_unindexed_ones() {
    let server = FakeServer::builder().build();
    let backend = server.backend();
    let fields = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .fold(FieldSelector::default(), |all, (field, value)| {
                all.and(field, value)
            })
    };
    let selections = [
        fields(&[]),
        fields(&[("spec.nodeName", "a")]),
        fields(&[("spec.nodeName", "a"), ("metadata.name", "p")]),
        fields(&[("spec.nodeName", "b")]),
        fields(&[("spec.nodeName", "")]),
        fields(&[("metadata.name", "p")]),
        fields(&[("metadata.name", "q"), ("status.phase", "")]),
        fields(&[("status.phase", "Running")]),
    ];
    let watches: Vec<_> = selections
        .map(|fields| {
            let selection = Arc::new(Selection {
                fields,
                ..Selection::everything(Range::All)
            });
            let wanted = Arc::clone(&selection);
            let registered = backend.watchers.register(&served(&server), wanted, "x");
            (selection, registered)
        })
        .into();
    assert_eq!(backend.watchers.len(), watches.len());
    let before = server.revision();
    for (name, node, phase) in [
        ("p", "", ""),
        ("p", "a", ""),
        ("q", "b", "Running"),
        ("p", "a", "Running"),
        ("p", "b", "Running"),
        ("q", "b", ""),
    ] {
        let pod = json!({
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": node},
            "status": {"phase": phase},
        });
        let written: Result<_, Infallible> =
            backend.storage.transact(|tx| Ok(tx.put(&key(name), pod)));
        let Ok(_) = written;
    }
    delete(&server, "p");
    delete(&server, "q");
    let changes = server.history("", "v1", "pods", before);
    for (selection, (watcher, mut receiver)) in watches {
        let expected: Vec<_> = QueuedChange::all(changes.clone(), &selection)
            .into_iter()
            .map(|queued| (queued.kind, queued.change.revision()))
            .collect();
        let mut queued = Vec::new();
        while let Ok(QueuedChange { kind, change }) = receiver.try_recv() {
            queued.push((kind, change.revision()));
        }
        assert_eq!(queued, expected, "{}", selection.fields);
        assert!(!queued.is_empty(), "{}", selection.fields);
        watcher.cut_off();
        assert!(receiver.recv().await.is_none());
        drop(watcher);
    }
    assert_eq!(backend.watchers.len(), 0);
}
