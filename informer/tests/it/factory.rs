//! Informers that are shared, released and shut down together, against the fake server.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::FakeServer;
use informer::{
    HandlerFuncs, LabelSelector, Object,
    discovery::{GroupResource, GroupVersionResource},
    factory::{Selectors, SharedInformerFactory},
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Node},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Api, api::PostParams};

use crate::support::only_namespaces;

const LIMIT: Duration = Duration::from_mins(1);

async fn create(server: &FakeServer, namespace: &str, name: &str) {
    let api: Api<ConfigMap> = Api::namespaced(server.client(), namespace);
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            labels: Some([("name".to_owned(), name.to_owned())].into()),
            ..ObjectMeta::default()
        },
        data: Some([("key".to_owned(), "value".to_owned())].into()),
        ..ConfigMap::default()
    };
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// With the config maps `default/a`, `default/b` and `kube-public/c`.
async fn server_with_config_maps() -> FakeServer {
    let server = only_namespaces();
    create(&server, "default", "a").await;
    create(&server, "default", "b").await;
    create(&server, "kube-public", "c").await;
    server
}

fn watches(server: &FakeServer, resource: &str) -> u64 {
    let requests = server.stats().requests;
    let verbs = requests.get(resource);
    verbs
        .and_then(|verbs| verbs.get("watch"))
        .copied()
        .unwrap_or(0)
}

fn keys<K>(objects: &[Object<K>]) -> Vec<String> {
    objects
        .iter()
        .map(|object| object.key().to_string())
        .collect()
}

fn everything() -> LabelSelector {
    LabelSelector::everything()
}

fn config_maps() -> GroupVersionResource {
    GroupVersionResource::new("", "v1", "configmaps")
}

#[tokio::test(start_paused = true)]
async fn equal_requests_share_one_watch_and_different_ones_do_not() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let first = factory.informer_for::<ConfigMap>();
    let second = factory.clone().informer_for::<ConfigMap>();
    factory.start();
    factory.start();
    let late = factory.informer_for::<ConfigMap>();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(watches(&server, "configmaps"), 1);
    assert_eq!(server.stats().watchers, 1);
    let expected = ["default/a", "default/b", "kube-public/c"];
    for informer in [&first, &second, &late] {
        assert_eq!(
            keys(&informer.lister().list(&everything()).unwrap()),
            expected
        );
    }

    // Dynamic by three names is one more; metadata by two another.
    let _dynamic = factory.for_resource(&config_maps()).await.unwrap();
    let _by_name = factory.for_resource_name("cm").await.unwrap();
    let _by_kind = factory.for_resource_name("ConfigMap").await.unwrap();
    let metadata = factory.metadata_for::<ConfigMap>();
    let _metadata = factory.metadata_for_resource(&config_maps()).await.unwrap();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(server.stats().watchers, 3);
    assert_eq!(factory.informer_count(), 3);

    // The same labels in another order are the same selection.
    for labels in ["a=1,b=2", "b=2,a==1"] {
        let selection = Selectors::everything().with_labels(&labels.parse().unwrap());
        let view = factory.clone().with_selectors(selection);
        let selected = view.informer_for::<ConfigMap>();
        selected.wait_for_cache_sync(LIMIT).await.unwrap();
        assert_eq!(server.stats().watchers, 4);
    }
    assert_eq!(
        keys(&metadata.lister().list(&everything()).unwrap()),
        expected
    );
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_are_shown_and_reported_as_one() {
    let server = server_with_config_maps().await;
    create(&server, "kube-system", "unseen").await;
    let factory =
        SharedInformerFactory::new(server.client()).with_namespaces(["kube-public", "default"]);
    let informer = factory.informer_for::<ConfigMap>();
    let nodes = factory.informer_for::<Node>();
    let deliveries = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&deliveries);
    let handler = HandlerFuncs::new().with_add(move |object: &Object<ConfigMap>, _| {
        sink.lock().unwrap().push(object.key().to_string());
    });
    let registration = informer.add_handler(handler);
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(
        (informer.informers().len(), nodes.informers().len()),
        (2, 1)
    );
    let expected = ["default/a", "default/b", "kube-public/c"];
    let lister = informer.lister();
    assert_eq!(keys(&lister.list(&everything()).unwrap()), expected);
    assert!(lister.namespaced("default").unwrap().get("a").is_ok());
    let error = lister.namespaced("kube-system").unwrap_err().to_string();
    assert_eq!(
        error,
        "namespace \"kube-system\" of configmaps is not watched"
    );
    deliveries.lock().unwrap().sort();
    assert_eq!(*deliveries.lock().unwrap(), expected);
    registration.remove().await;
    create(&server, "default", "z").await;
    factory.shutdown().await;
    assert_eq!(deliveries.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn selections_and_transforms_make_informers_of_their_own() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let named_a = Selectors::everything().with_labels(&"name=a".parse().unwrap());
    let selected = factory
        .clone()
        .with_selectors_for(GroupResource::new("", "configmaps"), named_a);
    let slim = factory
        .clone()
        .with_transform::<ConfigMap>(|object| object.data = None);
    let all = factory.informer_for::<ConfigMap>();
    let only_a = selected.informer_for::<ConfigMap>();
    let without_data = slim.informer_for::<ConfigMap>();
    let _namespaces = selected.informer_for::<Namespace>();
    let _same_namespaces = slim.informer_for::<Namespace>();
    assert_eq!(factory.informer_count(), 4);
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    let data_of_a = |lister: informer::factory::ScopedLister<ConfigMap>| {
        let object = lister.namespaced("default").unwrap().get("a").unwrap();
        object.get().data.clone()
    };
    assert!(data_of_a(all.lister()).is_some());
    assert_eq!(data_of_a(without_data.lister()), None);
    assert_eq!(
        keys(&only_a.lister().list(&everything()).unwrap()),
        ["default/a"]
    );
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_names_each_unsynced_informer_and_its_last_error() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let _good = factory.informer_for::<ConfigMap>();
    let bad = factory
        .clone()
        .with_selectors(Selectors::everything().with_fields("nonsense"));
    let bad = bad.informer_for::<Namespace>();
    factory.start();
    let error = factory
        .wait_for_cache_sync(Duration::from_secs(5))
        .await
        .unwrap_err();
    assert_eq!((error.unsynced.len(), error.informer_count), (1, 2));
    let text = error.to_string();
    let begin = "1 of 2 informers not synced within 5s: namespaces.v1. with fields \"nonsense\" (";
    assert!(text.starts_with(begin), "{text}");
    assert!(
        text.contains("last error: the server answered 400"),
        "{text}"
    );
    assert!(
        bad.wait_for_cache_sync(Duration::from_secs(1))
            .await
            .is_err()
    );
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn unused_informers_are_released_and_used_ones_go_on() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let used = factory.informer_for::<ConfigMap>();
    let unused = factory.informer_for::<Namespace>();
    let lister = unused.lister();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(factory.release_unused().await, 0);
    drop(unused);
    assert_eq!(factory.release_unused().await, 1);
    assert_eq!(factory.informer_count(), 1);
    assert!(lister.get("default").is_ok());
    create(&server, "default", "later").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.stats().watchers, 1);
    assert!(
        used.lister()
            .namespaced("default")
            .unwrap()
            .get("later")
            .is_ok()
    );
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_factory_starts_again_after_its_shutdown() {
    let server = server_with_config_maps().await;
    let factory = SharedInformerFactory::new(server.client());
    let old = factory.informer_for::<ConfigMap>();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    tokio::join!(factory.shutdown(), factory.shutdown());
    assert!(old.informers().all(|informer| informer.task_count() == 0));
    assert_eq!(server.stats().watchers, 0);
    create(&server, "default", "later").await;
    // What was held last is shown until then.
    assert_eq!(old.lister().list(&everything()).unwrap().len(), 3);

    let _same = factory.informer_for::<ConfigMap>();
    assert_eq!(factory.informer_count(), 1);
    let lister = old.lister();
    factory.start();
    assert!(!old.has_synced(), "not by the state of long ago");
    assert_eq!(lister.list(&everything()).unwrap().len(), 3);
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(lister.list(&everything()).unwrap().len(), 4);
    assert_eq!(server.stats().watchers, 1);

    // An informer that was shut down directly resumes when it is requested.
    for informer in old.informers() {
        informer.shutdown().await;
    }
    create(&server, "default", "latest").await;
    let newest = factory.informer_for::<ConfigMap>();
    newest.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(lister.list(&everything()).unwrap().len(), 5);
    assert_eq!(factory.informer_count(), 1);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_not_served_is_refused() {
    let server = only_namespaces();
    let factory = SharedInformerFactory::new(server.client());
    let unknown = GroupVersionResource::new("example.com", "v1", "widgets");
    let error = factory.for_resource(&unknown).await.unwrap_err();
    assert!(error.is_no_match(), "{error}");
    assert!(
        factory
            .for_resource_name("widgets")
            .await
            .unwrap_err()
            .is_no_match()
    );
    assert_eq!(factory.informer_count(), 0);
}
