//! `tools/cache/reflector_test.go`.

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{
    SharedInformer,
    list_watch::{ListWatchError, Status, StatusCause, WatchEvent},
    reflector::{BackoffOptions, Failure, FailureCause, ReflectorObserver},
    testing::scripted,
};
use tokio::time::Instant;

use super::{World, plain_options, settle, thing, things};

fn refused() -> ListWatchError {
    ListWatchError::Refused("connection refused".into())
}

/// `TestCloseWatchChannelOnError`
#[tokio::test(start_paused = true)]
async fn an_error_event_closes_its_stream() {
    let mut world = World::new(plain_options());
    let watch = world.list("n/a@1", "7").await;
    watch.send(WatchEvent::Error(Status::new(500, "InternalError", "boom")));
    watch.added(thing("n/late@8"));
    settle().await;
    assert!(watch.is_closed());
    assert_eq!(world.held(), "n/a@1", "nothing is read after an error");
    let again = world.script.expect_watch().await;
    assert_eq!(again.request.resource_version, "7".into());
}

/// Keeps each failure with its chain of causes.
#[derive(Default)]
struct Failures(Mutex<Vec<(FailureCause, String)>>);

impl Failures {
    fn take(&self) -> Vec<(FailureCause, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ReflectorObserver for Failures {
    fn failed(&self, failure: &Failure<'_>) {
        let mut chain = Vec::new();
        let mut next = failure.error.map(|error| error as &dyn Error);
        while let Some(error) = next {
            chain.push(error.to_string());
            next = error.source();
        }
        let reports = (failure.cause, chain.join(": "));
        self.0.lock().unwrap().push(reports);
    }
}

/// `TestReflectorListAndWatchWithErrors`
#[tokio::test(start_paused = true)]
async fn the_observer_gets_errors_whole_and_the_version_is_kept_from_one_to_the_next() {
    let (list_watch, script) = scripted();
    let failures = Arc::new(Failures::default());
    let informer = SharedInformer::builder(list_watch)
        .with_options(plain_options())
        .with_observer(Arc::clone(&failures) as Arc<dyn ReflectorObserver>);
    let mut world = World::of(informer.build().unwrap(), script);
    let reset = ListWatchError::Transport(Box::new(io::Error::other("reset by peer")));
    world.script.expect_list().await.fail(reset);
    world.script.expect_list().await.page(things("n/a@1"), "7");
    let reports = failures.take();
    assert_eq!(
        reports,
        [(
            FailureCause::Transport,
            "the connection failed: reset by peer".into()
        )]
    );

    for _ in 0..2 {
        let watch = world.script.expect_watch().await;
        assert_eq!(watch.request.resource_version, "7".into());
        watch.fail(Status::new(403, "Forbidden", "things is forbidden"));
    }
    let list = world.script.expect_list().await;
    assert_eq!(list.request.resource_version, "7".into());
    let forbidden = "the server answered 403: things is forbidden".to_owned();
    let forbidden = (FailureCause::Forbidden, forbidden);
    assert_eq!(failures.take(), [forbidden.clone(), forbidden]);
    assert_eq!(world.held(), "n/a@1");
}

/// Returns the times of five failing lists, in milliseconds after the start.
async fn list_times(world: &mut World) -> Vec<u128> {
    let began = Instant::now();
    let mut times = Vec::new();
    for _ in 0..5 {
        let list = world.script.expect_list().await;
        times.push(began.elapsed().as_millis());
        list.fail(refused());
    }
    times
}

/// `TestNewReflectorWithCustomBackoff`
#[tokio::test(start_paused = true)]
async fn the_backoff_is_the_one_that_was_chosen_or_else_the_default() {
    let mut options = plain_options();
    options.backoff.initial = Duration::from_millis(10);
    options.backoff.factor = 3.0;
    options.backoff.max = Duration::from_millis(50);
    let mut world = World::new(options);
    assert_eq!(list_times(&mut world).await, [0, 10, 40, 90, 140]);

    let mut options = plain_options();
    options.backoff = BackoffOptions::default();
    let mut world = World::new(options);
    let times = list_times(&mut world).await;
    let delays: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (delay, base) in delays.iter().zip([800, 1600, 3200, 6400]) {
        assert!((base..=2 * base).contains(delay), "{delays:?}");
    }
}

/// `TestBackoffOnTooManyRequests`
#[tokio::test(start_paused = true)]
async fn a_throttled_answer_and_a_throttled_event_cost_one_delay_each() {
    let throttled = || Status::new(429, "TooManyRequests", "slow down");
    let mut world = World::new(plain_options());
    world.script.expect_list().await.page([], "7");
    let watch = world.script.expect_watch().await;
    let began = Instant::now();
    watch.fail(throttled());
    let watch = world.script.expect_watch().await;
    assert_eq!(began.elapsed(), Duration::from_millis(800));
    watch.open().error(throttled());
    let watch = world.script.expect_watch().await;
    assert_eq!(began.elapsed(), Duration::from_millis(800 + 1600));
    assert_eq!(watch.request.resource_version, "7".into());
}

/// `TestReflectorResourceVersionUpdate`
#[tokio::test(start_paused = true)]
async fn the_stores_version_follows_every_kind_of_event() {
    let mut world = World::new(plain_options());
    let watch = world.list("n/a@1", "5").await;
    let version = |world: &World| world.informer.last_sync_resource_version().to_string();
    assert_eq!(version(&world), "5");
    watch.added(thing("n/b@10"));
    settle().await;
    assert_eq!(version(&world), "10");
    watch.modified(thing("n/b@20"));
    settle().await;
    assert_eq!(version(&world), "20");
    watch.bookmark("30");
    settle().await;
    assert_eq!(version(&world), "30");
    watch.deleted(thing("n/b@40"));
    settle().await;
    assert_eq!(version(&world), "40");
    assert_eq!(
        world.recording.take_text(),
        "(+n/a@1) +n/b@10 ~n/b@10..20 -n/b@40"
    );
}

/// `TestReflectorReplacesStoreOnUnsafeDelete`
#[tokio::test(start_paused = true)]
async fn an_object_that_storage_cannot_read_is_gone_after_a_relist() {
    let mut world = World::new(plain_options());
    let watch = world.list("n/a@1 n/corrupt@2", "5").await;
    watch.error(Status::new(
        500,
        "StoreReadError",
        "data from the storage is not transformable",
    ));
    let list = world.script.expect_list().await;
    assert_eq!(list.request.resource_version, "5".into());
    assert_eq!(world.held(), "n/a@1 n/corrupt@2");
    list.page(things("n/a@1"), "9");
    settle().await;
    assert_eq!(world.held(), "n/a@1");
    assert_eq!(
        world.recording.take_text(),
        "(+n/a@1) (+n/corrupt@2) !n/corrupt@2"
    );
}

/// `TestReflectorFullListIfTooLarge`
#[test]
fn each_form_of_a_version_that_is_too_large_is_recognised() {
    let status = |message: &str, cause: StatusCause| {
        let mut status = Status::new(504, "Timeout", message);
        status.causes = vec![cause];
        status
    };
    let cause = |reason: &str, message: &str| {
        let mut cause = StatusCause::default();
        cause.reason = reason.into();
        cause.message = message.into();
        cause
    };
    for too_large in [
        status("", cause("ResourceVersionTooLarge", "")),
        status("", cause("", "Too large resource version")),
        status(
            "Timeout: Too large resource version: 9, current: 2",
            cause("", ""),
        ),
    ] {
        assert!(too_large.is_too_large_resource_version(), "{too_large:?}");
        assert!(!too_large.is_expired());
    }
    let slow = status("the request timed out", cause("Other", "slow"));
    assert!(!slow.is_too_large_resource_version());
}
