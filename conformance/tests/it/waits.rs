//! Waits for what was written: their ends, by versions that have an order and by such that have none, and nothing left of them.

use std::{
    sync::Arc,
    task::{Context, Wake, Waker},
    time::Duration,
};

use futures::StreamExt;
use informer::{
    Object, SharedInformer, WaitError,
    reflector::ReflectorOptions,
    testing::{EventSender, scripted},
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

const LIMIT: Duration = Duration::from_mins(1);

/// A waker without effect, whose reference count the test reads.
struct NoopWaker;

impl Wake for NoopWaker {
    fn wake(self: Arc<Self>) {}
}

fn config_map(version: &str, uid: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some("a".to_owned()),
            namespace: Some("default".to_owned()),
            uid: Some(uid.to_owned()),
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

/// Starts an informer whose cache is at `version` and holds one object.
async fn informer(
    version: &str,
    held: ConfigMap,
) -> (SharedInformer<ConfigMap>, EventSender<ConfigMap>) {
    let (list_watch, mut script) = scripted::<ConfigMap>();
    let options = ReflectorOptions::default().with_streaming_lists(false);
    let builder = SharedInformer::builder(list_watch).with_options(options);
    let informer = builder.build().unwrap();
    informer.start();
    let list = script.expect_list().await;
    list.page([Object::new(held)], version);
    let watch = script.expect_watch().await.open();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    (informer, watch)
}

/// Describes the end of a wait for an object that was written.
async fn end_of_wait(informer: &SharedInformer<ConfigMap>, written: &ConfigMap) -> String {
    match informer.written(written, LIMIT).await {
        Ok(Some(snapshot)) => format!("shown at {}", snapshot.resource_version()),
        Ok(None) => "not there".to_owned(),
        Err(error) => {
            let kind = match &error {
                WaitError::Deadline { .. } => "too late",
                WaitError::Stopped { .. } => "stopped",
                WaitError::NotComparable { .. } => "no order",
                WaitError::OtherObject { .. } => "another object",
                error => panic!("{error}"),
            };
            let flags = (error.is_deadline(), error.is_stopped());
            assert_eq!(flags, (kind == "too late", kind == "stopped"), "{error}");
            kind.to_owned()
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_write_is_shown_or_never_can_be() {
    // The version of the cache, that of the object in it, and the version and uid that were written.
    let cases = [
        ("9", "5", ("5", "own"), "shown at 5"),
        ("9", "5", ("7", "own"), "shown at 5"),
        ("9", "5", ("12", "own"), "too late"),
        ("9", "5", ("7", "other"), "another object"),
        ("9", "5", ("12", "other"), "too late"),
        ("9", "5", ("", "own"), "no order"),
        // Versions without an order: the same one is known, and so is that of the cache.
        ("x", "v", ("v", "own"), "shown at v"),
        ("x", "v", ("x", "own"), "shown at v"),
        ("x", "v", ("x", "other"), "another object"),
        ("x", "v", ("w", "own"), "no order"),
        ("x", "v", ("v", "other"), "no order"),
    ];
    for (version, held, (written, uid), expected) in cases {
        let (informer, _watch) = informer(version, config_map(held, "own")).await;
        let written = config_map(written, uid);
        let end = end_of_wait(&informer, &written).await;
        assert_eq!(end, expected, "{version} {held} {written:?}");
        informer.shutdown().await;
        // What is shown counts, also after the end.
        let expected = expected.replace("too late", "stopped");
        let end = end_of_wait(&informer, &written).await;
        assert_eq!(end, expected, "{version} {held} {written:?}, stopped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_of_statuses_leaves_no_waker() {
    let (informer, _watch) = informer("9", config_map("5", "own")).await;
    let waker_data = Arc::new(NoopWaker);
    let mut streams = [(); 3].map(|()| informer.status_stream());
    let waker = Waker::from(Arc::clone(&waker_data));
    for stream in &mut streams {
        let mut context = Context::from_waker(&waker);
        while stream.poll_next_unpin(&mut context).is_ready() {}
    }
    drop(waker);
    for (number, stream) in streams.into_iter().enumerate() {
        assert_eq!(Arc::strong_count(&waker_data), 4 - number);
        drop(stream);
    }
    assert_eq!(Arc::strong_count(&waker_data), 1);
}
