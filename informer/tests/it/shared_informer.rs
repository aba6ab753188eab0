//! Promises of a shared informer, from the server to the handlers, through the public interface.
//!
//! Rows 1 and 2 are faults that kube-runtime 5.0 does not get over; `kube_runtime_rows` has the others.

use std::time::Duration;

use fakeserver::FakeServer;
use futures::future::join_all;
use informer::{
    IndexFn, LabelSelector, Object, Scope, SharedInformer,
    http::HttpListWatch,
    list_watch::Status,
    reflector::ReflectorOptions,
    testing::{EventSender, RecordingHandler, Script, scripted},
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};
use tokio::time::sleep;

const LIMIT: Duration = Duration::from_mins(1);

/// `a@3` is the config map `n/a` at version 3.
fn config_map(text: &str) -> Object<ConfigMap> {
    let (name, version) = text.split_once('@').unwrap();
    Object::new(ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("n".into()),
            name: Some(name.into()),
            uid: Some(format!("uid of {name}")),
            resource_version: Some(version.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    })
}

fn config_maps(text: &str) -> Vec<Object<ConfigMap>> {
    text.split_whitespace().map(config_map).collect()
}

/// An informer that lists, and the script that answers it.
fn scripted_informer() -> (SharedInformer<ConfigMap>, Script<ConfigMap>) {
    let (list_watch, script) = scripted();
    let options = ReflectorOptions::default()
        .with_streaming_lists(false)
        .with_seed(0);
    let informer = SharedInformer::builder(list_watch).with_options(options);
    (informer.build().unwrap(), script)
}

/// Answers the first list and opens the watch.
async fn synced(
    informer: &SharedInformer<ConfigMap>,
    script: &mut Script<ConfigMap>,
    objects: &str,
    version: &str,
) -> EventSender<ConfigMap> {
    informer.start();
    script
        .expect_list()
        .await
        .page(config_maps(objects), version);
    let watch = script.expect_watch().await.open();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    watch
}

fn held(informer: &SharedInformer<ConfigMap>) -> String {
    let objects = informer.store().list();
    let words: Vec<_> = objects.iter().map(|object| format!("{object:?}")).collect();
    words.join(" ")
}

/// Lets every task run until it waits.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

// === Rows ===

/// kube-runtime: of several tasks that wait for a store to be ready, one is woken; the others wait for ever.
#[tokio::test(start_paused = true)]
async fn row_1_every_waiter_for_sync_is_woken() {
    let (informer, mut script) = scripted_informer();
    let (handler, _heard) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    let waiters = join_all((0..4).map(|_| informer.wait_for_cache_sync(LIMIT)));
    let handler_waiters = join_all((0..4).map(|_| registration.wait_for_sync(LIMIT)));
    let server = async {
        sleep(Duration::from_secs(5)).await;
        informer.start();
        script.expect_list().await.page(config_maps("a@1"), "7");
        script.expect_watch().await.open()
    };
    let (synced, recording, _watch) = tokio::join!(waiters, handler_waiters, server);
    assert!(synced.iter().all(Result::is_ok), "{synced:?}");
    assert!(recording.iter().all(Result::is_ok), "{recording:?}");
}

/// kube-runtime: a subscriber hangs when an object was deleted before it came to read of it; when its buffer is full,
/// the store stops for all handlers.
#[tokio::test(start_paused = true)]
async fn row_2_an_object_added_and_deleted_before_a_handler_reads_hangs_nothing() {
    let (informer, mut script) = scripted_informer();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    let watch = synced(&informer, &mut script, "", "7").await;
    // All in one go: no handler has run when the last of them is applied.
    watch.added(config_map("brief@8"));
    watch.deleted(config_map("brief@9"));
    let (late, heard_by_late) = RecordingHandler::new();
    let late_registration = informer.add_handler(late);
    settle().await;
    assert_eq!(recording.take_text(), "+n/brief@8 -n/brief@9");
    assert!(registration.has_synced() && late_registration.has_synced());
    heard_by_late.take();

    // More than any buffer holds: nothing has stopped.
    for version in 10..10_010 {
        watch.added(config_map(&format!("brief@{version}")));
        watch.deleted(config_map(&format!("brief@{version}")));
    }
    watch.added(config_map("last@20000"));
    settle().await;
    assert_eq!(held(&informer), "n/last@20000");
    assert_eq!(recording.take().len(), 20_001);
    assert_eq!(heard_by_late.take().len(), 20_001);
}

// === Sync ===

#[tokio::test(start_paused = true)]
async fn a_wait_that_fails_names_what_failed() {
    let (informer, mut script) = scripted_informer();
    informer.start();
    let mut forbidden = Status::default();
    forbidden.code = 403;
    forbidden.message = "configmaps is forbidden".into();
    let wait = informer.wait_for_cache_sync(Duration::from_millis(500));
    let (outcome, ()) = tokio::join!(wait, async {
        script.expect_list().await.fail(forbidden);
    });
    let error = outcome.unwrap_err().to_string();
    let expected = "ConfigMap not synced within 500ms: backing off for ";
    assert!(error.starts_with(expected), "{error}");
    let expected =
        ", failed attempts: 1, last error: the server answered 403: configmaps is forbidden";
    assert!(error.ends_with(expected), "{error}");

    // It comes about all the same.
    script.expect_list().await.page([], "7");
    let _watch = script.expect_watch().await.open();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    settle().await;
    assert_eq!(informer.status().failed_attempts, 0);
    assert_eq!(informer.status().last_error, None);
}

// === Relists ===

#[tokio::test(start_paused = true)]
async fn a_relist_is_reported_as_what_changed_and_the_rest_stays_where_it_is() {
    let (informer, mut script) = scripted_informer();
    let (handler, recording) = RecordingHandler::new();
    let _registration = informer.add_handler(handler);
    let watch = synced(&informer, &mut script, "a@1 b@2 c@3", "7").await;
    let before = informer.store().list();
    settle().await;
    assert_eq!(recording.take_text(), "(+n/a@1) (+n/b@2) (+n/c@3)");

    let mut expired = Status::default();
    expired.code = 410;
    watch.error(expired);
    script
        .expect_list()
        .await
        .page(config_maps("a@1 b@9 d@8"), "10");
    let _watch = script.expect_watch().await.open();
    settle().await;
    assert_eq!(recording.take_text(), "!n/c@3 ~n/b@2..9 +n/d@8");
    let after = informer.store().list();
    assert!(after[0].is_same(&before[0]));
    assert_eq!(informer.last_sync_resource_version().as_str(), "10");
    assert_eq!(informer.metrics().replacements, 2);
}

// === The end ===

#[tokio::test(start_paused = true)]
async fn shutdown_ends_the_watch_and_every_task() {
    let (informer, mut script) = scripted_informer();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    let watch = synced(&informer, &mut script, "a@1", "7").await;
    assert_eq!(informer.task_count(), 3);
    informer.shutdown().await;
    assert_eq!(informer.task_count(), 0);
    assert!(watch.is_closed());
    // A check of its consistency could still ask the server.
    drop(informer);
    assert!(script.is_over());
    assert_eq!(recording.take_text(), "(+n/a@1)");
    assert_eq!(registration.metrics().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_the_watch() {
    let (informer, mut script) = scripted_informer();
    let watch = synced(&informer, &mut script, "a@1", "7").await;
    let lister = informer.lister();
    drop(informer);
    settle().await;
    assert!(watch.is_closed() && script.is_over());
    assert!(lister.namespaced("n").get("a").is_ok());
}

#[tokio::test(start_paused = true)]
async fn dropping_an_informer_in_the_middle_of_its_first_list_gives_the_list_up() {
    let (informer, mut script) = scripted_informer();
    informer.start();
    let list = script.expect_list().await;
    drop(informer);
    settle().await;
    assert!(list.is_given_up() && script.is_over());
}

// === Against a server ===

#[tokio::test(start_paused = true)]
async fn one_resource_is_mirrored_typed_dynamic_and_by_metadata_only() {
    let server = FakeServer::builder().build();
    let typed = SharedInformer::<Namespace>::new(server.client(), Scope::All);
    let dynamic = HttpListWatch::<DynamicObject>::new_with(
        server.client(),
        Scope::All,
        &ApiResource::erase::<Namespace>(&()),
    );
    let dynamic = SharedInformer::builder(dynamic).build().unwrap();
    let label = "kubernetes.io/metadata.name";
    let metadata = HttpListWatch::<PartialObjectMeta<Namespace>>::new(server.client(), Scope::All);
    let metadata = SharedInformer::builder(metadata)
        .with_index("name", IndexFn::by_label(label))
        .build()
        .unwrap();
    typed.start();
    dynamic.start();
    metadata.start();
    typed.wait_for_cache_sync(LIMIT).await.unwrap();
    dynamic.wait_for_cache_sync(LIMIT).await.unwrap();
    metadata.wait_for_cache_sync(LIMIT).await.unwrap();

    let default = typed.lister().get("default").unwrap();
    let phase = default.get().status.clone().unwrap().phase;
    assert_eq!(phase.as_deref(), Some("Active"));
    let same = dynamic.lister().get("default").unwrap();
    assert_eq!(same.metadata(), default.metadata());
    let selector: LabelSelector = format!("{label}=default").parse().unwrap();
    assert_eq!(metadata.lister().list(&selector).unwrap().len(), 1);
    let found = metadata.indexer().by_index("name", "default").unwrap();
    assert_eq!(found[0].metadata(), default.metadata());
    assert_eq!(typed.resource(), "namespaces");

    typed.shutdown().await;
    dynamic.shutdown().await;
    metadata.shutdown().await;
    assert_eq!(server.stats().watchers, 0);
    server.shutdown().await;
}
