//! Tests of the reflector on the paused clock, against a scripted server and a store that records its writes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::Semaphore, time::Instant};
use tokio_util::sync::CancellationToken;

use super::seed_for;
use crate::{
    fixtures::{self, Value, delta_line, object},
    list_watch::{ListPage, ListWatchError, Status, WatchEvent, WatchRequest},
    object::{DecodeError, ResourceVersion},
    reflector::{
        Failure, FailureCause, ListSummary, Phase, Reflector, ReflectorObserver, ReflectorOptions,
        Request,
    },
    store::{Delta, ReflectorStore, StoreClosed},
    task::TaskSet,
    testing::{Script, scripted},
};

/// The calls of the store and the observer, in order.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

// === impl Journal ===

impl Journal {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Returns the calls of the store.
    fn store(&self) -> Vec<String> {
        let mut lines = self.take();
        lines.retain(|line| !line.starts_with("! "));
        lines
    }

    /// Returns the calls of the observer.
    fn observed(&self) -> Vec<String> {
        let lines = self.take();
        let failures = lines.iter().filter_map(|line| line.strip_prefix("! "));
        failures.map(str::to_owned).collect()
    }
}

/// Notes each call; each takes a permit first.
struct Store {
    journal: Journal,
    permits: Arc<Semaphore>,
}

// === impl Store ===

impl ReflectorStore<Value> for Store {
    async fn write(&mut self, delta: Delta<Value>) -> Result<(), StoreClosed> {
        let permit = self.permits.acquire().await.map_err(|_| StoreClosed)?;
        permit.forget();
        self.journal.note(delta_line(&delta));
        Ok(())
    }
}

impl ReflectorObserver for Journal {
    fn phase_changed(&self, phase: Phase) {
        self.note(match phase {
            Phase::BackingOff { cause, .. } => format!("! backing off: {cause}"),
            phase => format!("! {phase:?}"),
        });
    }

    fn requested(&self, request: Request) {
        self.note(format!("! request {request:?}"));
    }

    fn listed(&self, list: ListSummary<'_>) {
        self.note(format!(
            "! listed {} at {}",
            list.items, list.resource_version
        ));
    }

    fn failed(&self, failure: &Failure<'_>) {
        let error = failure
            .error
            .map_or(String::new(), |error| format!(", {error}"));
        self.note(format!(
            "! failed #{} {:?}{error}",
            failure.attempt, failure.cause
        ));
    }

    fn undecodable(&self, error: &DecodeError) {
        self.note(format!("! {error}"));
    }

    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        self.note(format!("! went back {from} to {to} {is_accepted}"));
    }
}

/// A running reflector, and both its ends.
struct World {
    script: Script<Value>,
    journal: Journal,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
    tasks: TaskSet,
    began: Instant,
}

// === impl World ===

impl World {
    fn new(options: ReflectorOptions) -> Self {
        let (list_watch, script) = scripted();
        let journal = Journal::default();
        let permits = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS / 2));
        let store = Store {
            journal: journal.clone(),
            permits: Arc::clone(&permits),
        };
        let stop = CancellationToken::new();
        let tasks = TaskSet::new();
        let reflector =
            Reflector::new(list_watch, store, options).with_observer(Arc::new(journal.clone()));
        tasks.spawn(reflector.run(stop.clone()));
        Self {
            script,
            journal,
            permits,
            stop,
            tasks,
            began: Instant::now(),
        }
    }

    /// Lets the reflector take in what was sent.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn stored(&self) -> Vec<String> {
        self.settle().await;
        self.journal.store()
    }
}

fn lists_only() -> ReflectorOptions {
    let mut options = streaming();
    options.streaming_lists = false;
    options
}

fn streaming() -> ReflectorOptions {
    let mut options = ReflectorOptions::default().with_seed(0);
    options.backoff.jitter = 0.0;
    options
}

fn expired() -> Status {
    Status::new(410, "Expired", "too old resource version")
}

fn broken() -> ListWatchError {
    ListWatchError::Transport("reset".into())
}

#[tokio::test(start_paused = true)]
async fn lists_then_watches_and_reports_the_store_in_order() {
    let mut world = World::new(lists_only());
    let list = world.script.expect_list().await;
    assert_eq!(list.request.resource_version, "0".into());
    list.page([object("n/a@3"), object("n/b@5")], "7");
    let watch = world.script.expect_watch().await;
    assert_eq!(watch.request.resource_version, "7".into());
    assert!(watch.request.allow_bookmarks && !watch.request.send_initial_events);
    let events = watch.open();
    events.added(object("n/c@8"));
    events.modified(object("n/a@9"));
    events.bookmark("12");
    events.deleted(object("n/b@13"));
    assert_eq!(
        world.stored().await,
        [
            "replace [n/a@3 n/b@5] at 7",
            "upsert n/c@8",
            "upsert n/a@9",
            "bookmark 12",
            "delete n/b@13"
        ]
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    events.end();
    let watch = world.script.expect_watch().await;
    assert_eq!(watch.request.resource_version, "13".into());
}

#[tokio::test(start_paused = true)]
async fn pages_are_merged_and_nothing_is_reported_before_the_last() {
    let mut world = World::new(lists_only());
    let list = world.script.expect_list().await;
    assert_eq!(list.request.limit, Some(500));
    list.page_and_more([object("n/a@3")], "7", "next");
    let list = world.script.expect_list().await;
    assert_eq!(list.request.continue_token.as_deref(), Some("next"));
    assert!(list.request.resource_version.is_unknown());
    assert!(world.stored().await.is_empty());
    list.page([object("n/b@5")], "7");
    assert_eq!(world.stored().await, ["replace [n/a@3 n/b@5] at 7"]);
}

#[tokio::test(start_paused = true)]
async fn the_items_of_a_restarted_list_are_dropped() {
    let mut world = World::new(lists_only());
    let list = world.script.expect_list().await;
    list.page_and_more([object("n/gone@3")], "7", "next");
    world.script.expect_list().await.fail(expired());
    let list = world.script.expect_list().await;
    assert_eq!(
        (list.request.limit, list.request.continue_token.as_ref()),
        (None, None)
    );
    list.page([object("n/a@8")], "9");
    assert_eq!(world.stored().await, ["replace [n/a@8] at 9"]);
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_is_reported_at_its_end_and_its_stream_goes_on() {
    let mut world = World::new(streaming());
    let watch = world.script.expect_watch().await;
    assert!(watch.request.send_initial_events && watch.request.allow_bookmarks);
    assert!(watch.request.resource_version.is_unknown());
    let events = watch.open();
    events.added(object("n/b@5"));
    events.added(object("n/a@3"));
    events.added(object("n/c@4"));
    events.modified(object("n/a@6"));
    events.deleted(object("n/c@7"));
    events.bookmark("7");
    assert!(world.stored().await.is_empty());
    events.end_of_initial_events("8");
    events.modified(object("n/b@9"));
    assert_eq!(
        world.stored().await,
        [
            "replace [n/a@6 n/b@5] at 8, the most recent state",
            "upsert n/b@9"
        ]
    );
    world
        .script
        .expect_no_call_for(Duration::from_mins(2))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_that_is_cut_off_begins_from_scratch() {
    let mut world = World::new(streaming());
    let events = world.script.expect_watch().await.open();
    events.added(object("n/gone@3"));
    events.end();
    let watch = world.script.expect_watch().await;
    assert!(watch.request.send_initial_events);
    let events = watch.open();
    events.added(object("n/a@5"));
    events.end_of_initial_events("8");
    assert_eq!(
        world.stored().await,
        ["replace [n/a@5] at 8, the most recent state"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_sends_the_end_bookmark_is_listed_after_half_a_minute_of_silence() {
    let mut world = World::new(streaming());
    let events = world.script.expect_watch().await.open();
    events.added(object("n/a@5"));
    let list = world.script.expect_list().await;
    assert_eq!(world.began.elapsed().as_secs(), 30);
    assert!(events.is_closed());
    list.page([object("n/a@5")], "8");
    assert_eq!(world.stored().await, ["replace [n/a@5] at 8"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_rejects_streaming_lists_is_listed_at_once() {
    let mut world = World::new(streaming());
    let watch = world.script.expect_watch().await;
    watch.fail(Status::new(
        422,
        "Invalid",
        "sendInitialEvents is forbidden",
    ));
    world.script.expect_list().await.page([], "8");
    assert_eq!(world.began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_error_event_ends_the_stream_and_a_410_leads_to_a_relist_at_the_last_version() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "7");
    let events = world.script.expect_watch().await.open();
    events.added(object("n/a@9"));
    events.error(expired());
    let list = world.script.expect_list().await;
    assert_eq!(list.request.resource_version, "9".into());
    assert_eq!(list.request.limit, None);
    assert_eq!(world.began.elapsed(), Duration::from_millis(800));
    list.fail(expired());
    let list = world.script.expect_list().await;
    assert!(list.request.resource_version.is_unknown());
    assert_eq!(world.began.elapsed(), Duration::from_millis(800));
    list.page([object("n/a@9")], "12");
    assert_eq!(
        world.stored().await,
        [
            "replace [] at 7",
            "upsert n/a@9",
            "replace [n/a@9] at 12, the most recent state"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn throttled_watches_make_no_relist() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "7");
    for _ in 0..4 {
        let mut status = Status::new(429, "TooManyRequests", "slow down");
        status.retry_after = Some(Duration::from_secs(10));
        world.script.expect_watch().await.fail(status);
        world
            .script
            .expect_no_call_for(Duration::from_millis(9999))
            .await;
    }
    let watch = world.script.expect_watch().await;
    assert_eq!(watch.request.resource_version, "7".into());
}

#[tokio::test(start_paused = true)]
async fn a_list_or_a_response_that_never_comes_is_given_up() {
    let mut world = World::new(streaming());
    let watch = world.script.expect_watch().await;
    let mut options = streaming();
    tokio::time::sleep(options.header_timeout).await;
    world.settle().await;
    assert!(watch.is_given_up());
    let watch = world.script.expect_watch().await;
    drop(watch);
    let list = world.script.expect_list().await;
    tokio::time::sleep(options.list_timeout).await;
    world.settle().await;
    assert!(list.is_given_up());
    assert_eq!(
        world.journal.observed(),
        [
            "Connecting",
            "request StreamingList",
            "failed #1 TimedOut, no response within 30s",
            "backing off: nothing came within the time limit",
            "Connecting",
            "request StreamingList",
            "failed #2 Transport, the connection failed",
            "backing off: the connection failed",
            "Listing",
            "request List",
            "failed #3 TimedOut, no whole page within 120s",
            "backing off: nothing came within the time limit",
        ]
    );
    // Limits are the owner's to choose.
    options.header_timeout = Duration::from_secs(1);
    let mut world = World::new(options);
    let watch = world.script.expect_watch().await;
    tokio::time::sleep(Duration::from_millis(1001)).await;
    assert!(watch.is_given_up());
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_reopened_at_the_last_version() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "7");
    let events = world.script.expect_watch().await.open();
    events.bookmark("9");
    let watch = world.script.expect_watch().await;
    assert_eq!(world.began.elapsed(), Duration::from_mins(3));
    assert!(events.is_closed());
    assert_eq!(watch.request.resource_version, "9".into());
    // Bookmarks are signs of life, but no watch lives for ever.
    let events = watch.open();
    let opened = Instant::now();
    for version in 10..100 {
        tokio::time::sleep(Duration::from_mins(1)).await;
        events.bookmark(&version.to_string());
        world.settle().await;
        if events.is_closed() {
            break;
        }
    }
    let lived = opened.elapsed();
    assert!(
        lived > Duration::from_mins(5) && lived < Duration::from_mins(12),
        "{lived:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_is_reopened_at_once_and_nothing_is_lost() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "7");
    let events = world.script.expect_watch().await.open();
    events.added(object("n/a@9"));
    events.fail(broken());
    let watch = world.script.expect_watch().await;
    assert_eq!(world.began.elapsed(), Duration::ZERO);
    assert_eq!(watch.request.resource_version, "9".into());
    assert_eq!(world.stored().await, ["replace [] at 7", "upsert n/a@9"]);
}

#[tokio::test(start_paused = true)]
async fn objects_that_cannot_be_decoded_are_reported_by_key_and_the_version_goes_on() {
    let mut world = World::new(lists_only());
    let refused = || Err(fixtures::undecodable("n/bad@8"));
    world.script.expect_list().await.answer(Ok(ListPage {
        items: vec![refused(), Ok(object("n/a@3"))],
        resource_version: "8".into(),
        continue_token: None,
    }));
    let events = world.script.expect_watch().await.open();
    events.send(WatchEvent::Added(refused()));
    events.send(WatchEvent::Modified(Err(fixtures::undecodable("n/a@9"))));
    events.send(WatchEvent::Deleted(Err(fixtures::undecodable("n/bad@10"))));
    events.modified(object("n/a@11"));
    assert_eq!(
        world.stored().await,
        [
            "replace [n/a@3 !n/bad] at 8",
            "undecodable n/bad",
            "undecodable n/a",
            "delete undecodable n/bad",
            "upsert n/a@11"
        ]
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    events.end();
    let watch = world.script.expect_watch().await;
    assert_eq!(watch.request.resource_version, "11".into());
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_of_a_streaming_list_is_replaced_or_deleted_like_any_other() {
    let mut world = World::new(streaming());
    let events = world.script.expect_watch().await.open();
    for object in ["n/a@1", "n/b@2", "n/c@3"] {
        events.send(WatchEvent::Added(Err(fixtures::undecodable(object))));
    }
    events.modified(object("n/b@4"));
    events.send(WatchEvent::Deleted(Err(fixtures::undecodable("n/c@5"))));
    events.end_of_initial_events("6");
    assert_eq!(
        world.stored().await,
        ["replace [n/b@4 !n/a] at 6, the most recent state"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_observer_receives_of_phases_requests_failures_and_versions_that_went_back() {
    let mut world = World::new(lists_only());
    world
        .script
        .expect_list()
        .await
        .fail(Status::new(500, "InternalError", "boom"));
    world.script.expect_list().await.page([], "20");
    world
        .script
        .expect_watch()
        .await
        .fail(ListWatchError::Refused("connection refused".into()));
    let events = world.script.expect_watch().await.open();
    events.modified(object("n/a@15"));
    events.error(expired());
    world.script.expect_list().await.page([], "9");
    world.script.expect_list().await.page([], "10");
    world.settle().await;
    assert_eq!(
        world.journal.observed(),
        [
            "Listing",
            "request List",
            "failed #1 ServerError, the server answered 500: boom",
            "backing off: the server failed",
            "Listing",
            "request List",
            "listed 0 at 20",
            "Connecting",
            "request Watch",
            "failed #2 Refused, the server refuses connections",
            "backing off: the server refuses connections",
            "Connecting",
            "request Watch",
            "Watching",
            "went back 20 to 15 false",
            "failed #3 Expired, the server answered 410: too old resource version",
            "backing off: the version has expired",
            "Listing",
            "request List",
            "went back 20 to 9 false",
            "request List",
            "went back 20 to 10 true",
            "listed 0 at 10",
            "Connecting",
            "request Watch",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_state_that_comes_by_a_stream_is_not_reported_as_the_list_that_was_given_up() {
    let mut world = World::new(streaming());
    let forbidden = Status::new(403, "Forbidden", "lists only");
    world.script.expect_watch().await.fail(forbidden);
    let boom = Status::new(500, "InternalError", "boom");
    world.script.expect_list().await.fail(boom);
    let events = world.script.expect_watch().await.open();
    events.end_of_initial_events("8");
    world.settle().await;
    let observed = world.journal.observed();
    assert_eq!(observed.last().map(String::as_str), Some("Watching"));
    assert!(!observed.iter().any(|line| line.starts_with("listed")));
}

#[tokio::test(start_paused = true)]
async fn a_full_store_makes_the_reflector_wait_and_loses_nothing() {
    let mut world = World::new(lists_only());
    world.permits.forget_permits(usize::MAX);
    world.script.expect_list().await.page([], "7");
    world
        .script
        .expect_no_call_for(Duration::from_mins(1))
        .await;
    world.permits.add_permits(1);
    let events = world.script.expect_watch().await.open();
    events.added(object("n/a@8"));
    events.added(object("n/b@9"));
    assert_eq!(world.stored().await, ["replace [] at 7"]);
    world.permits.add_permits(2);
    assert_eq!(world.stored().await, ["upsert n/a@8", "upsert n/b@9"]);
}

#[tokio::test(start_paused = true)]
async fn a_closed_store_ends_the_reflector() {
    let mut world = World::new(lists_only());
    let list = world.script.expect_list().await;
    world.permits.close();
    list.page([], "7");
    world.tasks.shutdown().await;
    assert!(world.script.is_over());
}

#[tokio::test(start_paused = true)]
async fn stopped_before_it_ran_it_asks_for_nothing() {
    let (list_watch, mut script) = scripted::<Value>();
    let store = Store {
        journal: Journal::default(),
        permits: Arc::new(Semaphore::new(100)),
    };
    let stop = CancellationToken::new();
    stop.cancel();
    Reflector::new(list_watch, store, lists_only())
        .run(stop)
        .await;
    script.expect_no_call_for(Duration::from_secs(1)).await;
    assert!(script.is_over());
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_it_at_once_whatever_it_waits_for() {
    // A page.
    let mut world = World::new(lists_only());
    let list = world.script.expect_list().await;
    stop_and_expect_the_end(&world).await;
    assert!(list.is_given_up());
    // Headers.
    let mut world = World::new(streaming());
    let watch = world.script.expect_watch().await;
    stop_and_expect_the_end(&world).await;
    assert!(watch.is_given_up());
    // An event.
    let mut world = World::new(streaming());
    let events = world.script.expect_watch().await.open();
    world.settle().await;
    stop_and_expect_the_end(&world).await;
    assert!(events.is_closed());
    // A delay.
    let mut world = World::new(streaming());
    world
        .script
        .expect_watch()
        .await
        .fail(ListWatchError::Refused("connection refused".into()));
    world.settle().await;
    stop_and_expect_the_end(&world).await;
    // A full store.
    let mut world = World::new(lists_only());
    world.permits.forget_permits(usize::MAX);
    world.script.expect_list().await.page([], "7");
    world.settle().await;
    stop_and_expect_the_end(&world).await;
    assert!(world.journal.store().is_empty());
}

async fn stop_and_expect_the_end(world: &World) {
    let before = Instant::now();
    world.stop.cancel();
    world.tasks.shutdown().await;
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn refused_watches_back_off_exponentially_without_a_relist() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "7");
    let mut delays = Vec::new();
    let mut before = Instant::now();
    for _ in 0..9 {
        let watch = world.script.expect_watch().await;
        delays.push(before.elapsed().as_millis());
        before = Instant::now();
        watch.fail(ListWatchError::Refused("connection refused".into()));
    }
    assert_eq!(
        delays,
        [0, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]
    );
}

#[tokio::test(start_paused = true)]
async fn equal_seeds_ask_at_equal_times_and_other_seeds_at_others() {
    async fn times(seed: u64) -> Vec<(Duration, WatchRequest)> {
        let options = ReflectorOptions::default().with_seed(seed);
        let mut world = World::new(options);
        let mut times = Vec::new();
        for _ in 0..10 {
            let watch = world.script.expect_watch().await;
            times.push((world.began.elapsed(), watch.request.clone()));
            watch.fail(ListWatchError::Refused("connection refused".into()));
        }
        times
    }
    assert_eq!(times(1).await, times(1).await);
    assert_ne!(times(1).await, times(2).await);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_always_ready_leaves_the_thread_to_others() {
    let mut world = World::new(lists_only());
    world.script.expect_list().await.page([], "0");
    let events = world.script.expect_watch().await.open();
    for version in 1..=10_000 {
        events.modified(object(&format!("n/a@{version}")));
    }
    let mut turns = 0;
    while world.journal.0.lock().unwrap().len() < 10_000 {
        tokio::task::yield_now().await;
        turns += 1;
    }
    assert!(turns > 10, "{turns}");
}

#[test]
fn reflectors_of_different_resources_draw_different_jitter_from_one_seed() {
    assert_eq!(seed_for(7, "pods"), seed_for(7, "pods"));
    assert_ne!(seed_for(7, "pods"), seed_for(7, "nodes"));
    assert_ne!(seed_for(7, "pods"), seed_for(8, "pods"));
}

#[test]
fn causes_name_what_happened() {
    let status = |code, reason| ListWatchError::from(Status::new(code, reason, ""));
    let mut too_large = Status::new(
        504,
        "Timeout",
        "Timeout: Too large resource version: 9, current: 2",
    );
    too_large.retry_after = Some(Duration::from_secs(1));
    for (error, cause) in [
        (status(410, "Expired"), FailureCause::Expired),
        (status(410, ""), FailureCause::Expired),
        (status(500, "Gone"), FailureCause::Expired),
        (too_large.into(), FailureCause::TooLargeVersion),
        (status(504, "Timeout"), FailureCause::Unavailable),
        (status(503, ""), FailureCause::Unavailable),
        (status(500, ""), FailureCause::ServerError),
        (status(500, "StoreReadError"), FailureCause::Unreadable),
        (status(429, ""), FailureCause::Throttled),
        (status(401, ""), FailureCause::Unauthorized),
        (status(403, ""), FailureCause::Forbidden),
        (status(404, ""), FailureCause::NotFound),
        (status(405, ""), FailureCause::Denied),
        (status(422, ""), FailureCause::Invalid),
        (status(415, ""), FailureCause::Invalid),
        (status(302, ""), FailureCause::Protocol),
        (broken(), FailureCause::Transport),
        (
            ListWatchError::FrameTooLarge { limit_bytes: 1 },
            FailureCause::Protocol,
        ),
    ] {
        assert_eq!(FailureCause::of(&error), cause, "{error}");
    }
}
