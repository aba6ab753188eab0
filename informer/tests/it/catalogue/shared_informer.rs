//! `tools/cache/shared_informer_test.go`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use informer::{
    EventHandler, HandlerFuncs, HandlerOptions, Object, SharedInformer, SyncPhase,
    stages::TaskSet,
    testing::{RecordingHandler, scripted},
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{LIMIT, TestValue, World, plain_options, settle, thing, things};

// === Resync ===

/// `TestResyncCheckPeriod`: there is no common period that one handler could lower or raise for others.
#[tokio::test(start_paused = true)]
async fn each_handler_keeps_its_period_whatever_others_ask_and_whenever_it_joins() {
    let (list_watch, script) = scripted();
    let informer = SharedInformer::builder(list_watch).with_options(plain_options());
    let informer = informer.build().unwrap();
    let every =
        |seconds| HandlerOptions::default().with_resync_period(Duration::from_secs(seconds));
    let (rare, heard_rarely) = RecordingHandler::new();
    let (often, heard_often) = RecordingHandler::new();
    let _rare = informer.add_handler_with(rare, every(12 * 3600));
    let _often = informer.add_handler_with(often, every(60));
    let mut world = World::of(informer, script);
    let watch = world.list("n/a@1", "5").await;
    let (late, heard_late) = RecordingHandler::new();
    let _late = world.informer.add_handler_with(late, every(5));
    settle().await;
    let all = [&heard_rarely, &heard_often, &heard_late, &world.recording];
    assert_eq!(all.map(|recording| recording.take().len()), [1; 4]);
    for _ in 0..12 {
        sleep(Duration::from_secs(10)).await;
        watch.bookmark("5");
    }
    settle().await;
    assert_eq!(all.map(|recording| recording.take().len()), [0, 2, 24, 0]);
}

/// `TestRealFIFO_UpdateResyncRace`: a resync is what the cache holds, and so never older than a reported update.
#[tokio::test(start_paused = true)]
async fn a_resync_reports_nothing_older_than_what_was_reported_before() {
    let mut world = World::new(plain_options());
    let watch = world.list("n/a@1 n/b@2", "5").await;
    let (handler, recording) = RecordingHandler::new();
    let options = HandlerOptions::default().with_resync_period(Duration::from_secs(1));
    let _registration = world.informer.add_handler_with(handler, options);
    settle().await;
    recording.take();
    let mut version = 5;
    for _ in 0..200 {
        version += 1;
        watch.modified(thing(&format!("n/a@{version}")));
        sleep(Duration::from_millis(7)).await;
    }
    let mut last = 1;
    let mut resync_count = 0;
    for word in recording.take_text().split(' ') {
        let (kind, rest) = word.split_at(1);
        let Some(rest) = rest.strip_prefix("n/a@") else {
            assert_eq!(word, "=n/b@2");
            continue;
        };
        match (kind, rest.split_once("..")) {
            ("~", Some((old, new))) => {
                assert_eq!(old, last.to_string());
                last = new.parse().unwrap();
            }
            ("=", None) => {
                assert_eq!(rest, last.to_string());
                resync_count += 1;
            }
            _ => panic!("{word}"),
        }
    }
    assert_eq!((last, resync_count), (version, 1));
}

// === Registrations ===

/// `TestSharedInformerMultipleRegistration`, `TestSharedInformerRemoveForeignHandler`
#[tokio::test(start_paused = true)]
async fn a_registration_removes_its_own_handler_and_no_other() {
    let count = || Arc::new(AtomicU64::new(0));
    let counter = |count: &Arc<AtomicU64>| {
        let count = Arc::clone(count);
        HandlerFuncs::<TestValue>::new().with_add(move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
        })
    };
    let mut world = World::new(plain_options());
    let mut other = World::new(plain_options());
    let (calls, other_calls) = (count(), count());
    let first = world.informer.add_handler(counter(&calls));
    let second = world.informer.add_handler(counter(&calls));
    let foreign = other.informer.add_handler(counter(&other_calls));
    let watch = world.list("n/a@1", "5").await;
    let other_watch = other.list("n/a@1", "5").await;
    assert_eq!(world.informer.metrics().listeners.len(), 3);
    assert_eq!(calls.load(Ordering::Relaxed), 2);

    foreign.remove().await;
    first.remove().await;
    watch.added(thing("n/b@6"));
    other_watch.added(thing("n/b@6"));
    settle().await;
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!(other_calls.load(Ordering::Relaxed), 1);
    assert_eq!(other.recording.take_text(), "(+n/a@1) +n/b@6");
    second.remove().await;
    watch.added(thing("n/c@7"));
    settle().await;
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!(world.informer.metrics().listeners.len(), 1);
}

/// `TestSharedInformerHandlerAbuse`, `TestHammerController`: no deadlock, and nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_may_come_and_go_at_any_moment_also_while_the_informer_stops() {
    let mut world = World::new(plain_options());
    world.script.expect_list().await.page([], "1");
    let watch = world.script.expect_watch().await.open();
    let tasks = TaskSet::new();
    for worker in 0..20 {
        let informer = world.informer.clone();
        tasks.spawn(async move {
            for round in 0..20 {
                let (handler, _heard) = RecordingHandler::new();
                let registration = informer.add_handler(handler);
                tokio::task::yield_now().await;
                if (worker + round) % 2 == 0 {
                    registration.remove().await;
                }
            }
        });
    }
    for version in 2..2_000 {
        watch.added(thing(&format!("n/{}@{version}", version % 50)));
        if version == 1_000 {
            let informer = world.informer.clone();
            tasks.spawn(async move { informer.shutdown().await });
        }
        tokio::task::consume_budget().await;
    }
    timeout(LIMIT, tasks.wait()).await.unwrap();
    timeout(LIMIT, world.informer.shutdown()).await.unwrap();
    assert_eq!(world.informer.task_count(), 0);
    // The handlers that stayed received each key's changes in order.
    let mut last = std::collections::BTreeMap::new();
    for word in world.recording.take_text().split_whitespace() {
        let (key, version) = word[1..].split_once('@').unwrap();
        let mut versions = version.split("..").map(|text| text.parse::<u64>().unwrap());
        let old = versions.next().unwrap();
        match versions.next() {
            Some(new) => assert_eq!(last.insert(key.to_owned(), new), Some(old)),
            None => assert_eq!(last.insert(key.to_owned(), old), None),
        }
    }
}

/// A handler that blocks its thread in each call until it is released.
struct Blocking {
    called: Arc<Notify>,
    wait: mpsc::Receiver<()>,
}

impl EventHandler<TestValue> for Blocking {
    fn on_add(&mut self, _object: &Object<TestValue>, _in_initial_list: bool) {
        self.called.notify_one();
        // A closed channel releases every call.
        let _ = self.wait.recv();
    }
}

/// `TestRemoveEventHandler_AsynchronousPanic`: what the callback uses has to outlive the removal, as Rust sees to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_registration_does_not_wait_for_the_call_that_runs() {
    let mut world = World::new(plain_options());
    let (go_on, wait) = mpsc::channel();
    let called = Arc::new(Notify::new());
    let registration = world.informer.add_handler(Blocking {
        called: Arc::clone(&called),
        wait,
    });
    world
        .script
        .expect_list()
        .await
        .page(things("n/a@1 n/b@2"), "5");
    called.notified().await;
    drop(registration);
    go_on.send(()).expect("the call still runs");
    timeout(LIMIT, world.informer.shutdown()).await.unwrap();
    assert!(go_on.send(()).is_err(), "no second call was made");
}

// === Life ===

/// `TestStateSharedInformer`
#[tokio::test(start_paused = true)]
async fn the_status_reports_whether_it_was_started_and_whether_it_has_stopped() {
    let (list_watch, mut script) = scripted::<TestValue>();
    let informer = SharedInformer::builder(list_watch).with_options(plain_options());
    let informer = informer.build().unwrap();
    assert_eq!(informer.status().phase, SyncPhase::NotStarted);
    informer.start();
    assert_eq!(informer.status().phase, SyncPhase::Starting);
    script.expect_list().await.page([], "5");
    let _watch = script.expect_watch().await.open();
    settle().await;
    let watching = SyncPhase::Reflecting(informer::reflector::Phase::Watching);
    assert_eq!(informer.status().phase, watching);
    informer.shutdown().await;
    assert_eq!(informer.status().phase, SyncPhase::Stopped);
}

/// `TestRemoveOnStoppedSharedInformer`
#[tokio::test(start_paused = true)]
async fn handlers_can_be_removed_after_the_end() {
    let mut world = World::new(plain_options());
    let (handler, recording) = RecordingHandler::new();
    let registration = world.informer.add_handler(handler);
    let removed = world.informer.add_handler(HandlerFuncs::new());
    let _watch = world.list("n/a@1", "5").await;
    removed.remove().await;
    world.informer.shutdown().await;
    timeout(LIMIT, registration.remove()).await.unwrap();
    assert_eq!(recording.take_text(), "(+n/a@1)");
    assert_eq!(world.informer.task_count(), 0);
}
