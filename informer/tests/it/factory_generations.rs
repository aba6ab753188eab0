//! Informers, handlers, indices and observers of a factory through a shutdown and a new start.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Filter, ServerError},
};
use informer::{
    HandlerFuncs, HandlerOptions, IndexFn, LabelSelector, Object,
    factory::{InformerConfig, ScopedInformer, SharedInformerFactory},
    reflector::{ReflectorObserver, ReflectorOptions, Request, WatchSummary},
    testing::{Recording, RecordingHandler},
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use tokio::time::sleep;

use crate::support::only_namespaces;

const LIMIT: Duration = Duration::from_mins(1);

fn api(server: &FakeServer, namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(server.client(), namespace)
}

async fn create(server: &FakeServer, namespace: &str, name: &str) {
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            labels: Some([("name".to_owned(), name.to_owned())].into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    let api = api(server, namespace);
    api.create(&PostParams::default(), &object).await.unwrap();
}

async fn change(server: &FakeServer, namespace: &str, name: &str) {
    let patch = serde_json::json!({"data": {"changed": "yes"}});
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    let api = api(server, namespace);
    api.patch(name, &params, &patch).await.unwrap();
}

async fn delete(server: &FakeServer, namespace: &str, name: &str) {
    let api = api(server, namespace);
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

/// With the config maps `default/a`, `default/b` and `kube-public/c`.
async fn server_with_config_maps() -> FakeServer {
    let server = only_namespaces();
    create(&server, "default", "a").await;
    create(&server, "default", "b").await;
    create(&server, "kube-public", "c").await;
    server
}

/// Returns the notifications without versions, sorted by key where no order is promised.
fn take_words(recording: &Recording<ConfigMap>) -> Vec<String> {
    let text = recording.take_text();
    let words = text.split_whitespace().map(|word| {
        let (word, _) = word.split_once('@').unwrap();
        word.replace('(', "initial ")
    });
    let mut words: Vec<_> = words.collect();
    words.sort();
    words
}

fn count(informer: &ScopedInformer<ConfigMap>) -> usize {
    let everything = LabelSelector::everything();
    informer.lister().list(&everything).unwrap().len()
}

const NOTHING: [&str; 0] = [];

#[tokio::test(start_paused = true)]
async fn a_handler_receives_after_a_new_start_what_changed_meanwhile_and_nothing_else() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer_for::<ConfigMap>();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    factory.start();
    registration.wait_for_sync(LIMIT).await.unwrap();
    let first = ["default/a", "default/b", "kube-public/c"].map(|key| format!("initial +{key}"));
    assert_eq!(take_words(&recording), first);
    factory.shutdown().await;

    change(&server, "default", "a").await;
    delete(&server, "default", "b").await;
    create(&server, "default", "d").await;
    let (late_handler, late) = RecordingHandler::new();
    let late_registration = informer.add_handler(late_handler);
    sleep(Duration::from_hours(1)).await;
    assert_eq!(take_words(&recording), NOTHING);
    assert!(!late_registration.has_synced());

    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    registration.wait_for_sync(LIMIT).await.unwrap();
    late_registration.wait_for_sync(LIMIT).await.unwrap();
    let since = ["!default/b", "initial +default/d", "~default/a"];
    assert_eq!(take_words(&recording), since);
    // One that joined between is notified of the final objects, whatever their history.
    let late_words = take_words(&late);
    for key in ["default/a", "default/d", "kube-public/c"] {
        assert!(
            late_words.contains(&format!("initial +{key}")),
            "{late_words:?}"
        );
    }
    assert_eq!(count(&informer), 3);

    // Each of them once, in every generation.
    create(&server, "default", "e").await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(take_words(&recording), ["+default/e"]);
    assert_eq!(take_words(&late), ["+default/e"]);
    assert_eq!(server.stats().watchers, 1);
    registration.remove().await;
    factory.shutdown().await;
    create(&server, "default", "f").await;
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    late_registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(take_words(&recording), NOTHING);
    assert_eq!(take_words(&late), ["initial +default/f"]);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_start_during_a_shutdown_takes_its_turn_after_it() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer_for::<ConfigMap>();
    let (handler, recording) = RecordingHandler::new();
    informer.add_handler(handler).detach();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    for round in 0..10 {
        let name = format!("n{round}");
        create(&server, "default", &name).await;
        let begin = async {
            // From before the shutdown begins to after its end.
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            factory.start();
        };
        tokio::join!(factory.shutdown(), begin);
        factory.start();
        factory.wait_for_cache_sync(LIMIT).await.unwrap();
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(count(&informer), 13);
    // No key was reported twice, and none was left out.
    let text = recording.take_text();
    let mut keys: Vec<_> = text
        .split_whitespace()
        .map(|word| {
            word.trim_start_matches(['(', '+'])
                .split('@')
                .next()
                .unwrap()
        })
        .collect();
    keys.sort_unstable();
    let expected = informer
        .lister()
        .list(&LabelSelector::everything())
        .unwrap();
    let expected: Vec<_> = expected
        .iter()
        .map(|object| object.key().to_string())
        .collect();
    assert_eq!(keys, expected);
    assert_eq!(server.stats().watchers, 1);
    factory.shutdown().await;
    assert!(
        informer
            .informers()
            .all(|informer| informer.task_count() == 0)
    );
}

#[tokio::test(start_paused = true)]
async fn removed_handlers_are_not_called_in_later_generations_but_detached_ones_are() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer_for::<ConfigMap>();
    let (handler, dropped) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    let (handler, detached) = RecordingHandler::new();
    informer.add_handler(handler).detach();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    factory.shutdown().await;
    assert_eq!(
        (take_words(&dropped).len(), take_words(&detached).len()),
        (3, 3)
    );
    drop(registration);
    create(&server, "default", "d").await;
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    factory.shutdown().await;
    assert_eq!(take_words(&dropped), NOTHING);
    assert_eq!(take_words(&detached), ["initial +default/d"]);

    // Releasing the informer releases its handlers with it.
    drop(informer);
    assert_eq!(factory.release_unused().await, 1);
    let again = factory.informer_for::<ConfigMap>();
    factory.start();
    again.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(take_words(&detached), NOTHING);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_sync_does_not_keep_an_informer_in_use() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer_for::<ConfigMap>();
    let code = http::StatusCode::SERVICE_UNAVAILABLE;
    let outage = ServerError::new(code).rule();
    let _outage = server.faults().install(outage);
    factory.start();
    let release = async {
        tokio::task::yield_now().await;
        drop(informer);
        factory.release_unused().await
    };
    let (waited, count) = tokio::join!(factory.wait_for_cache_sync(LIMIT), release);
    let error = waited.unwrap_err().to_string();
    assert!(error.contains("stopped"), "{error}");
    assert_eq!(count, 1);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_start_that_cannot_reach_the_server_shows_what_was_held_and_says_why() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer_for::<ConfigMap>();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    factory.start();
    registration.wait_for_sync(LIMIT).await.unwrap();
    factory.shutdown().await;
    take_words(&recording);
    let code = http::StatusCode::SERVICE_UNAVAILABLE;
    let outage = ServerError::new(code)
        .rule()
        .matching(Filter::any().resource("configmaps"));
    let outage = server.faults().install(outage);
    factory.start();
    let error = factory.wait_for_cache_sync(LIMIT).await.unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    assert!(!informer.has_synced() && !registration.has_synced());
    assert_eq!(count(&informer), 3);
    assert_eq!(take_words(&recording), NOTHING, "an outage is no deletion");
    // Through another generation, and then the server is there again.
    factory.shutdown().await;
    drop(outage);
    delete(&server, "kube-public", "c").await;
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(take_words(&recording), ["!kube-public/c"]);
    factory.shutdown().await;
}

/// Counts requests, and the watches that ended.
#[derive(Default)]
struct Requests(AtomicUsize, AtomicUsize);

impl Requests {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl ReflectorObserver for Requests {
    fn requested(&self, _: Request) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn watched(&self, _: WatchSummary) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn an_informer_has_the_indices_and_observers_of_all_requests_and_keeps_them() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let [first, second] = [(); 2].map(|()| Arc::new(Requests::default()));
    let by_name = || IndexFn::by_label("name");
    let config = InformerConfig::<ConfigMap>::new()
        .with_index("by name", by_name())
        .with_observer(Arc::clone(&first) as _);
    let informer = factory.informer_with(config).await.unwrap();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert!(first.count() > 0);
    let before = first.count();

    // Another name is added; one that is there is kept.
    let config = InformerConfig::<ConfigMap>::new()
        .with_index("by name", IndexFn::new(|_| ["another function"]))
        .with_index("all", IndexFn::new(|_| ["all"]))
        .with_observer(Arc::clone(&second) as _);
    let same = factory.informer_with(config).await.unwrap();
    assert_eq!(factory.informer_count(), 1);
    let check = |informer: &ScopedInformer<ConfigMap>| {
        let lister = informer.lister();
        assert_eq!(lister.by_index("all", "all").unwrap().len(), 3);
        let of_a = lister.by_index("by name", "a").unwrap();
        assert_eq!(of_a.len(), 1);
        assert_eq!(of_a[0].key().to_string(), "default/a");
        assert!(
            lister
                .by_index("by name", "another function")
                .unwrap()
                .is_empty()
        );
    };
    check(&informer);
    check(&same);
    assert_eq!(second.count(), 0);
    factory.shutdown().await;
    check(&informer);
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    check(&informer);
    assert_eq!(first.count() - before, second.count());
    server.disconnect();
    sleep(Duration::from_secs(1)).await;
    assert!(
        second.1.load(Ordering::Relaxed) > 0,
        "watches are reported too"
    );
    assert!(second.count() > 0);
    // By hand, a name that is taken is an error.
    let error = same.add_index("all", by_name()).await.unwrap_err();
    assert!(error.to_string().contains("\"all\""), "{error}");

    let mapper = informer::rest_mapper::RestMapper::new(server.client());
    let mapping = mapper.resource_for("cm").await.unwrap();
    let config =
        InformerConfig::<DynamicObject>::new().with_index("by name", IndexFn::by_label("name"));
    let dynamic = factory.for_mapping_with(&mapping, config).await.unwrap();
    dynamic.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(dynamic.lister().by_index("by name", "b").unwrap().len(), 1);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_have_one_sync_one_handler_and_one_index() {
    let server = server_with_config_maps().await;
    create(&server, "kube-system", "unseen").await;
    let factory =
        SharedInformerFactory::new(server.client()).with_namespaces(["kube-public", "default"]);
    let informer = factory.informer_for::<ConfigMap>();
    informer
        .add_index("by name", IndexFn::by_label("name"))
        .await
        .unwrap();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler_with(handler, HandlerOptions::default().with_name("h"));
    // One namespace that cannot be read keeps the whole from being synced, and is named.
    let code = http::StatusCode::SERVICE_UNAVAILABLE;
    let outage = ServerError::new(code)
        .rule()
        .matching(Filter::any().namespace("kube-public"));
    let outage = server.faults().install(outage);
    factory.start();
    let limit = Duration::from_secs(5);
    let error = informer.wait_for_cache_sync(limit).await.unwrap_err();
    assert_eq!((error.unsynced.len(), error.informer_count), (1, 2));
    let expected = "configmaps.v1. in namespace \"kube-public\"";
    assert_eq!(&*error.unsynced[0].informer, expected);
    assert!(!informer.has_synced() && !registration.has_synced());
    let error = registration.wait_for_sync(limit).await.unwrap_err();
    assert!(error.to_string().contains("\"h\""), "{error}");
    let names = |value: &str| {
        let found = informer.lister().by_index("by name", value).unwrap();
        let keys = found.iter().map(|object| object.key().to_string());
        keys.collect::<Vec<_>>()
    };
    assert_eq!(names("a"), ["default/a"]);

    drop(outage);
    registration.wait_for_sync(LIMIT).await.unwrap();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    create(&server, "kube-public", "a").await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(names("a"), ["default/a", "kube-public/a"]);
    assert_eq!(registration.registrations().len(), 2);
    let all = [
        "+kube-public/a",
        "initial +default/a",
        "initial +default/b",
        "initial +kube-public/c",
    ];
    assert_eq!(take_words(&recording), all);

    // And resumes as one.
    factory.shutdown().await;
    delete(&server, "default", "a").await;
    delete(&server, "kube-public", "c").await;
    factory.start();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(take_words(&recording), ["!default/a", "!kube-public/c"]);
    assert_eq!(names("a"), ["kube-public/a"]);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_remove_itself_and_ask_the_factory_from_its_own_call() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    factory.start();
    let informer = factory.informer_for::<ConfigMap>();
    let own = Arc::new(std::sync::Mutex::new(None));
    let calls = Arc::new(AtomicUsize::new(0));
    let (slot, counter, asks) = (Arc::clone(&own), Arc::clone(&calls), factory.clone());
    let handler = HandlerFuncs::new().with_add(move |_: &Object<ConfigMap>, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        drop(asks.informer_for::<Namespace>());
        drop(slot.lock().unwrap().take());
    });
    *own.lock().unwrap() = Some(informer.add_handler(handler));
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(factory.informer_count(), 2);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_restored_between_two_generations_is_believed() {
    let server = server_with_config_maps().await;
    let options = ReflectorOptions::default()
        .with_seed(7)
        .with_streaming_lists(false);
    let factory = SharedInformerFactory::new(server.client()).with_options(options);
    let informer = factory.informer_for::<ConfigMap>();
    let (handler, recording) = RecordingHandler::new();
    let _registration = informer.add_handler(handler);
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    factory.shutdown().await;
    assert_eq!(take_words(&recording).len(), 3);

    // Its revisions restart, below the cache's version.
    server.reset();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    sleep(LIMIT).await;
    assert_eq!(count(&informer), 0);
    assert_eq!(
        take_words(&recording),
        ["!default/a", "!default/b", "!kube-public/c"]
    );
    factory.shutdown().await;
}
