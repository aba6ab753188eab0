use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::join_all, poll};
use tokio::{sync::mpsc, time::sleep};

use super::model::Listener;
use crate::{
    LabelSelector,
    fixtures::{Value, delta, key, object_with},
    handler::{EventHandler, Notification},
    held_objects::HeldObjects,
    indexer::{IndexFn, Indexer, IndexerError},
    list_watch::WatchEvent,
    object::{DecodeError, Deleted, Object, Tombstone, TombstoneReason},
    processor::{HandlerOptions, HandlerRegistration, HandlerSyncError},
    shared_informer::{
        EditIndexError, SharedInformer, SyncError, SyncPhase,
        builder::{Plan, ReflectorParts},
        transform::Transform,
    },
    store::{Delta, ReflectorStore, Replacement},
    testing::{Recording, RecordingHandler},
};

pub(super) const LIMIT: Duration = Duration::from_mins(1);

/// Plays the reflector: what is sent is written to the informer's store, in order.
pub(super) struct Feed(pub(super) mpsc::UnboundedSender<Delta<Value>>);

impl Feed {
    /// The deltas of the notation of `fixtures::delta`, then time for every task to come to rest.
    pub(super) async fn send(&self, deltas: &str) {
        for word in deltas.split_whitespace() {
            self.0.send(delta(word)).unwrap();
        }
        settle().await;
    }
}

pub(super) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

pub(super) fn planned(plan: Plan<Value>) -> (SharedInformer<Value>, Feed, Indexer<Value>) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let mut indexer = None;
    let informer = plan.assemble(|seams: ReflectorParts<Value>| {
        let ReflectorParts {
            mut store,
            held,
            stop,
            ..
        } = seams;
        indexer = Some(held);
        Box::pin(async move {
            loop {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => break,
                    // A store that is closed is noticed by the stop.
                    Some(delta) = rx.recv() => drop(store.write(delta).await),
                }
            }
        })
    });
    (informer.unwrap(), Feed(tx), indexer.unwrap())
}

pub(super) fn unstarted() -> (SharedInformer<Value>, Feed) {
    let plan = Plan {
        resource: Some("things".into()),
        ..Plan::default()
    };
    let (informer, feed, _) = planned(plan);
    (informer, feed)
}

pub(super) fn started() -> (SharedInformer<Value>, Feed) {
    let (informer, feed) = unstarted();
    informer.start();
    (informer, feed)
}

pub(super) fn held(informer: &SharedInformer<Value>) -> String {
    let objects = informer.store().list();
    let words: Vec<_> = objects.iter().map(|object| format!("{object:?}")).collect();
    words.join(" ")
}

pub(super) fn recorder() -> (RecordingHandler<Value>, Recording<Value>) {
    RecordingHandler::new()
}

// === From the store to the handlers ===

#[tokio::test(start_paused = true)]
async fn written_objects_are_cached_and_notified() {
    let (informer, feed) = started();
    let (handler, recording) = recorder();
    let registration = informer.add_handler(handler);
    feed.send("=5[n/a@1,n/b@2] +n/a@6 -n/b@7 +n/c@8 ?n/a@9 ^12")
        .await;
    assert_eq!(held(&informer), "n/c@8");
    assert_eq!(informer.last_sync_resource_version().as_str(), "12");
    assert_eq!(informer.undecodable()[0].key, key("n/a"));
    assert_eq!(
        recording.take_text(),
        "(+n/a@1) (+n/b@2) ~n/a@1..6 -n/b@7 +n/c@8 !n/a@6"
    );
    assert!(registration.has_synced());
    let metrics = informer.metrics();
    assert_eq!(
        (metrics.objects, metrics.undecodable, metrics.replacements),
        (1, 1, 1)
    );
    assert_eq!(metrics.listeners[0].delivered, 6);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_added_and_deleted_in_one_go_is_reported_both() {
    let (informer, feed) = started();
    let (handler, recording) = recorder();
    informer.add_handler(handler).detach();
    feed.send("=5[] +a@6 -a@7").await;
    assert_eq!(recording.take_text(), "+a@6 -a@7");
    assert_eq!(held(&informer), "");
}

/// Looks at the cache in each call.
struct CacheReader {
    indexer: Indexer<Value>,
    looks: Arc<AtomicU64>,
}

impl CacheReader {
    fn look(&self, object: &Object<Value>) {
        let version = self.indexer.resource_version();
        assert!(
            !version.is_before(object.resource_version()),
            "the cache knows first"
        );
        self.looks.fetch_add(1, Ordering::Relaxed);
    }
}

impl EventHandler<Value> for CacheReader {
    fn on_add(&mut self, object: &Object<Value>, _in_initial_list: bool) {
        self.look(object);
    }

    fn on_update(&mut self, _old: &Object<Value>, new: &Object<Value>) {
        self.look(new);
    }

    fn on_delete(&mut self, deleted: &Deleted<Value>) {
        self.look(deleted.last_known().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_cache_knows_before_the_handler() {
    let (informer, feed) = started();
    let looks = Arc::new(AtomicU64::new(0));
    let looker = CacheReader {
        indexer: informer.indexer(),
        looks: Arc::clone(&looks),
    };
    let registration = informer.add_handler(looker);
    feed.send("=5[a@1] +b@6 +a@7 -b@8 =20[c@15]").await;
    assert_eq!(looks.load(Ordering::Relaxed), 6);
    assert_eq!(registration.metrics().panics, 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_join_at_any_moment_without_gap_or_repetition() {
    let (informer, feed) = unstarted();
    let mut registrations = Vec::new();
    let mut recording = Vec::new();
    let mut join = |informer: &SharedInformer<Value>| {
        let (handler, recorder) = recorder();
        registrations.push(informer.add_handler(handler));
        recording.push(recorder);
    };
    join(&informer);
    informer.start();
    join(&informer);
    // Not one of these is waited for before the next handler joins.
    for word in ["=5[a@1,b@2]", "+c@6", "+a@7", "-b@8"] {
        feed.0.send(delta(word)).unwrap();
        join(&informer);
        tokio::task::yield_now().await;
        join(&informer);
    }
    settle().await;
    join(&informer);
    settle().await;
    for recorder in &recording {
        let mut listener = Listener::default();
        for notification in recorder.take() {
            listener.hear(notification).unwrap();
        }
        assert_eq!(listener.text(), "a@7 c@6");
    }
    assert!(registrations.iter().all(HandlerRegistration::has_synced));
}

// === Sync ===

#[tokio::test(start_paused = true)]
async fn every_waiter_is_woken_and_late_ones_do_not_wait() {
    let (informer, feed) = started();
    let waiters = (0..4).map(|_| informer.wait_for_cache_sync(LIMIT));
    let mut all = Box::pin(join_all(waiters));
    assert!(poll!(&mut all).is_pending());
    assert!(!informer.has_synced());
    feed.send("=5[]").await;
    assert_eq!(all.await, vec![Ok(()); 4]);
    assert_eq!(
        informer.wait_for_cache_sync(LIMIT).now_or_never(),
        Some(Ok(()))
    );
}

#[tokio::test(start_paused = true)]
async fn events_alone_do_not_make_the_informer_synced() {
    let (informer, feed) = started();
    feed.send("+a@1 ^2").await;
    assert!(!informer.has_synced());
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_informer_that_was_never_started_has_an_error() {
    let (informer, _feed) = unstarted();
    let error = informer
        .wait_for_cache_sync(Duration::from_secs(5))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "things not synced within 5s: not started, failed attempts: 0"
    );
    assert_eq!(informer.status().phase, SyncPhase::NotStarted);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_informer_that_stops_ends_with_it() {
    let (informer, _feed) = started();
    let mut wait = Box::pin(informer.wait_for_cache_sync(LIMIT));
    assert!(poll!(&mut wait).is_pending());
    informer.shutdown().await;
    let error = wait.await.unwrap_err();
    assert!(matches!(error, SyncError::Stopped { .. }), "{error}");
}

// === Life ===

#[tokio::test(start_paused = true)]
async fn shutdown_applies_what_was_received_and_reports_what_waits() {
    let (informer, feed) = started();
    let (handler, recording) = recorder();
    let registration = informer.add_handler(handler);
    feed.send("=5[a@1]").await;
    assert_eq!(informer.task_count(), 3);
    let many: Vec<_> = (10..1_000).map(|n| format!("+k{n}@{n}")).collect();
    for word in &many {
        feed.0.send(delta(word)).unwrap();
    }
    // As soon as the first of them has been written.
    tokio::task::yield_now().await;
    informer.shutdown().await;
    assert_eq!(informer.task_count(), 0);
    let notifications = recording.take_text();
    assert_eq!(
        notifications.split(' ').count(),
        informer.store().list().len()
    );
    assert_eq!(registration.metrics().pending, 0);
    assert_eq!(informer.status().phase, SyncPhase::Stopped);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_stops_everything() {
    let (informer, feed) = started();
    let (handler, recording) = recorder();
    let registration = informer.add_handler(handler);
    let other = informer.clone();
    feed.send("=5[a@1]").await;
    drop(informer);
    feed.send("+b@6").await;
    assert_eq!(recording.take_text(), "(+a@1) +b@6");
    let lister = other.lister();
    drop(other);
    settle().await;
    assert!(feed.0.is_closed(), "the reflector has ended");
    let (ended, limit) = (registration.remove(), LIMIT);
    tokio::time::timeout(limit, ended).await.unwrap();
    assert_eq!(lister.list(&LabelSelector::everything()).unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_is_dropped_before_its_start_ends_its_handlers() {
    let (informer, _feed) = unstarted();
    let (handler, _heard) = recorder();
    let registration = informer.add_handler(handler);
    drop(informer);
    let outcome = registration.wait_for_sync(LIMIT).now_or_never().unwrap();
    assert!(matches!(outcome, Err(HandlerSyncError::Ended { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_second_start_does_nothing_and_neither_does_one_after_the_end() {
    let (informer, feed) = started();
    informer.start();
    settle().await;
    assert_eq!(informer.task_count(), 2);
    feed.send("=5[a@1]").await;
    informer.shutdown().await;
    informer.start();
    assert_eq!(informer.task_count(), 0);
    informer.shutdown().await;

    let (informer, _feed) = unstarted();
    informer.shutdown().await;
    informer.start();
    assert_eq!(informer.task_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_joins_after_the_end_is_notified_that_it_ended() {
    let (informer, _feed) = started();
    informer.shutdown().await;
    let (handler, _heard) = recorder();
    let registration = informer.add_handler(handler);
    let outcome = registration.wait_for_sync(LIMIT).now_or_never().unwrap();
    assert!(matches!(outcome, Err(HandlerSyncError::Ended { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_hundred_handlers_that_come_and_go_leave_nothing_behind() {
    let (informer, feed) = started();
    feed.send("=5[a@1]").await;
    for round in 0..100 {
        let (handler, _heard) = recorder();
        let registration = informer.add_handler(handler);
        feed.0.send(delta(&format!("+a@{}", round + 10))).unwrap();
        tokio::task::yield_now().await;
        drop(registration);
    }
    feed.send("+a@200").await;
    assert_eq!(informer.task_count(), 2);
    assert!(informer.metrics().listeners.is_empty());
}

// === Resync ===

#[tokio::test(start_paused = true)]
async fn a_resync_is_postponed_by_nothing() {
    let (informer, feed) = started();
    let (handler, recording) = recorder();
    let options = HandlerOptions::default().with_resync_period(Duration::from_secs(10));
    let _registration = informer.add_handler_with(handler, options);
    let (other, heard_by_other) = recorder();
    let _other = informer.add_handler(other);
    feed.send("=5[a@1,b@2]").await;
    recording.take();
    // A relist of what did not change every four seconds.
    for version in 6..16 {
        sleep(Duration::from_secs(4)).await;
        feed.send(&format!("={version}[a@1,b@2]")).await;
    }
    assert_eq!(
        recording.take_text(),
        "=a@1 =b@2 =a@1 =b@2 =a@1 =b@2 =a@1 =b@2"
    );
    assert_eq!(heard_by_other.take_text(), "(+a@1) (+b@2)");
}

// === Indices ===

#[tokio::test(start_paused = true)]
async fn indices_may_be_added_before_and_after_the_start_but_not_after_the_end() {
    let (informer, feed) = unstarted();
    informer
        .add_index("early", IndexFn::by_label("x"))
        .await
        .unwrap();
    let taken = Err(EditIndexError::Indexer(IndexerError::DuplicateIndex {
        name: "early".into(),
    }));
    assert_eq!(
        informer.add_index("early", IndexFn::by_label("x")).await,
        taken
    );
    informer.start();
    feed.0
        .send(Delta::ReplacedAll(Replacement::new(
            vec![object_with("n/a@1", "", [("x", "1")])],
            "5".into(),
        )))
        .unwrap();
    settle().await;
    informer
        .add_index("late", IndexFn::by_label("x"))
        .await
        .unwrap();
    assert_eq!(
        informer.add_index("early", IndexFn::by_label("x")).await,
        taken
    );
    for index in ["early", "late"] {
        assert_eq!(informer.indexer().by_index(index, "1").unwrap().len(), 1);
        assert_eq!(informer.lister().by_index(index, "2").unwrap().len(), 0);
    }
    assert_eq!(informer.indexer().recount(), Ok(()));
    informer.shutdown().await;
    assert_eq!(
        informer.remove_index("early").await,
        Err(EditIndexError::Stopped)
    );
    assert_eq!(
        informer.add_index("more", IndexFn::by_label("x")).await,
        Err(EditIndexError::Stopped)
    );
}

#[tokio::test(start_paused = true)]
async fn indices_may_be_removed_before_and_after_the_start() {
    let (informer, feed) = unstarted();
    for index in ["early", "late"] {
        let function = IndexFn::by_field(".text").unwrap();
        informer.add_index(index, function).await.unwrap();
    }
    informer.remove_index("early").await.unwrap();
    informer.start();
    let objects = vec![object_with("n/a@1", "x", [])];
    feed.0.send(list("5", objects)).unwrap();
    settle().await;
    let indexer = informer.indexer();
    let held = indexer.snapshot();
    assert_eq!(indexer.by_index("late", "x").unwrap().len(), 1);
    informer.remove_index("late").await.unwrap();
    for index in ["early", "late"] {
        let unknown = IndexerError::UnknownIndex { name: index.into() };
        assert_eq!(indexer.by_index(index, "x").unwrap_err(), unknown);
        let outcome = informer.remove_index(index).await;
        assert_eq!(outcome, Err(EditIndexError::Indexer(unknown)));
    }
    assert_eq!(held.by_index("late", "x").unwrap().len(), 1);
    let again = IndexFn::by_field(".text").unwrap();
    informer.add_index("late", again).await.unwrap();
    assert_eq!(indexer.by_index("late", "x").unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_indices_of_one_name_are_refused_at_the_start() {
    let indices = vec![
        ("x".into(), IndexFn::by_label("x")),
        ("x".into(), IndexFn::by_label("y")),
    ];
    let plan = Plan::<Value> {
        indices,
        ..Plan::default()
    };
    let outcome = plan.assemble(|_| Box::pin(std::future::ready(())));
    assert_eq!(
        outcome.unwrap_err(),
        IndexerError::DuplicateIndex { name: "x".into() }
    );
}

// === Transform ===

/// Counts its calls; refuses `fail`, panics on `panic`.
pub(super) fn counting_transform(calls: &Arc<AtomicU64>) -> Transform<Value> {
    let calls = Arc::clone(calls);
    Transform::new(move |value: &mut Value| {
        calls.fetch_add(1, Ordering::Relaxed);
        match value.text.as_str() {
            "fail" => return Err("the text is bad"),
            "panic" => std::panic::resume_unwind(Box::new(())),
            _ => value.text.push('!'),
        }
        Ok(())
    })
}

pub(super) fn list(version: &str, objects: Vec<Object<Value>>) -> Delta<Value> {
    Delta::ReplacedAll(Replacement::new(objects, version.into()))
}

pub(super) fn texts(informer: &SharedInformer<Value>) -> String {
    let objects = informer.store().list();
    let words: Vec<_> = objects
        .iter()
        .map(|object| object.get().text.clone())
        .collect();
    words.join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_transform_is_applied_once_to_what_was_decoded_and_never_to_what_the_cache_gave_back() {
    let calls = Arc::new(AtomicU64::new(0));
    let plan = Plan {
        transform: counting_transform(&calls),
        ..Plan::default()
    };
    let (informer, feed, versions) = planned(plan);
    informer.start();
    let original = object_with("n/a@1", "a", [("x", "1")]);
    feed.0.send(list("5", vec![original.clone()])).unwrap();
    settle().await;
    assert_eq!(texts(&informer), "a!");
    assert_eq!(original.get().text, "a", "what others hold is left alone");

    // A relist gives the handle that the cache holds, as a decoder that asks it does.
    let from_cache = versions.lookup(original.metadata()).unwrap();
    feed.0
        .send(list("6", vec![from_cache, object_with("n/b@6", "b", [])]))
        .unwrap();
    feed.0
        .send(Delta::Upserted(object_with("n/b@7", "c", [])))
        .unwrap();
    settle().await;
    assert_eq!(texts(&informer), "a! c!");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let object = informer.store().get(&key("n/a")).unwrap();
    assert_eq!(object.metadata(), original.metadata());
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_transform_fails_is_treated_as_undecodable() {
    let calls = Arc::new(AtomicU64::new(0));
    let plan = Plan {
        transform: counting_transform(&calls),
        ..Plan::default()
    };
    let (informer, feed, _) = planned(plan);
    informer.start();
    let (handler, recording) = recorder();
    let _registration = informer.add_handler(handler);
    feed.0
        .send(list(
            "5",
            vec![
                object_with("a@1", "x", []),
                object_with("b@1", "fail", []),
                object_with("c@1", "y", []),
            ],
        ))
        .unwrap();
    feed.0
        .send(Delta::Upserted(object_with("a@6", "panic", [])))
        .unwrap();
    feed.0
        .send(Delta::Deleted(object_with("c@7", "fail", [])))
        .unwrap();
    settle().await;
    assert_eq!(recording.take_text(), "(+a@1) (+c@1) !a@1 !c@1");
    let refused = informer.undecodable();
    let refused: Vec<_> = refused
        .iter()
        .map(|error| format!("{}: {}", error.key, error.source))
        .collect();
    assert_eq!(refused, ["a: the transform panicked", "b: the text is bad"]);
    assert_eq!(informer.metrics().transform_failures, 3);

    feed.0
        .send(Delta::Upserted(object_with("b@8", "z", [])))
        .unwrap();
    settle().await;
    assert_eq!(recording.take_text(), "+b@8");
    assert_eq!(texts(&informer), "z!");
}

// === What is printed ===

#[tokio::test(start_paused = true)]
async fn nothing_prints_what_objects_hold() {
    let (informer, feed) = unstarted();
    let by_text = IndexFn::by_field(".text").unwrap();
    informer.add_index("text", by_text).await.unwrap();
    informer.start();
    let secret = object_with("n/a@1", "hunter2", []);
    let quoting = serde_json::from_str::<u8>("\"hunter2\"").unwrap_err();
    assert!(quoting.to_string().contains("hunter2"));
    let refused = DecodeError {
        key: key("n/b"),
        resource_version: "2".into(),
        source: Arc::new(quoting),
    };
    let mut replacement = Replacement::new(vec![secret.clone()], "5".into());
    replacement.undecodable.push(refused.clone());
    let delta = Delta::ReplacedAll(replacement);
    let tombstone = Tombstone {
        key: key("n/a"),
        last_known: Some(secret.clone()),
        reason: TombstoneReason::MissedDelete,
    };
    let update = Notification::Update {
        old: secret.clone(),
        new: secret.clone(),
        cause: crate::NotificationCause::Live,
    };
    let event = WatchEvent::Added(Ok(secret.clone()));
    let printed =
        format!("{secret:?} {delta:?} {tombstone:?} {update:?} {event:?} {refused:?} {refused}");
    feed.0.send(delta).unwrap();
    settle().await;
    let indexer = informer.indexer();
    assert_eq!(indexer.by_index("text", "hunter2").unwrap().len(), 1);
    let printed_indexer = format!(
        "{informer:?} {indexer:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        indexer.snapshot(),
        indexer.list(),
        informer.lister(),
        informer.metrics(),
        informer.status(),
        informer.undecodable(),
    );
    assert!(printed.contains("n/a@1") && printed_indexer.contains("n/b@2"));
    for text in [printed, printed_indexer] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

// === Listing ===

#[tokio::test(start_paused = true)]
async fn a_lister_answers_by_name_namespace_and_selector() {
    let (informer, feed) = unstarted();
    let lister = informer.lister();
    let all = LabelSelector::everything();
    let unstarted = lister.list(&all).unwrap_err();
    assert_eq!(
        unstarted.to_string(),
        "the informer of things was never started"
    );
    assert_eq!(lister.namespaced("n").get("a").unwrap_err(), unstarted);
    informer.start();
    let objects = vec![
        object_with("n/a@1", "", [("app", "web")]),
        object_with("n/b@1", "", [("app", "db")]),
        object_with("m/a@1", "", [("app", "web")]),
        object_with("x@1", "", []),
    ];
    feed.0.send(list("5", objects)).unwrap();
    settle().await;

    let names = |objects: Vec<Object<Value>>| {
        let names: Vec<_> = objects
            .iter()
            .map(|object| object.key().to_string())
            .collect();
        names.join(" ")
    };
    assert_eq!(names(lister.list(&all).unwrap()), "x m/a n/a n/b");
    assert_eq!(
        names(lister.list(&"app=web".parse().unwrap()).unwrap()),
        "m/a n/a"
    );
    assert_eq!(names(lister.namespaced("n").list(&all).unwrap()), "n/a n/b");
    assert_eq!(
        names(
            lister
                .namespaced("n")
                .list(&"app!=web".parse().unwrap())
                .unwrap()
        ),
        "n/b"
    );
    assert_eq!(names(lister.namespaced("").list(&all).unwrap()), "x");
    assert_eq!(lister.get("x").unwrap().key(), &key("x"));
    assert_eq!(lister.namespaced("m").get("a").unwrap().key(), &key("m/a"));
    let miss = lister.namespaced("m").get("b").unwrap_err();
    assert!(miss.is_not_found());
    assert_eq!(
        miss.to_string(),
        "things \"b\" not found in namespace \"m\""
    );
    assert_eq!(
        lister.get("a").unwrap_err().to_string(),
        "things \"a\" not found"
    );
    assert!(!lister.by_index("none", "x").unwrap_err().is_not_found());
}
