//! Reading by name, namespace and selector, and what has no answer, against the fake server.

use std::time::Duration;

use fakeserver::FakeServer;
use informer::{
    IndexFn, LabelSelector, Lister, ListerError, Object, Scope, SharedInformer, http::HttpListWatch,
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, PostParams},
    core::PartialObjectMeta,
};

use crate::support::only_namespaces;

const LIMIT: Duration = Duration::from_mins(1);

/// With the config maps `default/a` to `default/c` and `kube-public/a`, labelled by name and tier.
async fn server() -> FakeServer {
    let server = only_namespaces();
    for (namespace, name, tier) in [
        ("default", "a", "front"),
        ("default", "b", "back"),
        ("default", "c", "back"),
        ("kube-public", "a", "front"),
    ] {
        let api: Api<ConfigMap> = Api::namespaced(server.client(), namespace);
        let labels = [("name", name), ("tier", tier)];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let object = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.into()),
                labels: Some(labels.into()),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    server
}

fn keys<K>(objects: &[Object<K>]) -> Vec<String> {
    let keys = objects.iter().map(|object| object.key().to_string());
    keys.collect()
}

async fn started<K: Send + Sync + 'static>(informer: &SharedInformer<K>) {
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
}

fn check_all<K>(lister: &Lister<K>) {
    let check = |namespace: Option<&str>, selector: &str, expected: &[&str]| {
        let selector: LabelSelector = selector.parse().unwrap();
        let found = match namespace {
            None => lister.list(&selector),
            Some(namespace) => lister.namespaced(namespace).list(&selector),
        };
        assert_eq!(keys(&found.unwrap()), expected, "{namespace:?} {selector}");
    };
    check(
        None,
        "tier",
        &["default/a", "default/b", "default/c", "kube-public/a"],
    );
    check(None, "tier=back", &["default/b", "default/c"]);
    check(
        None,
        "name in (a,b),tier!=back",
        &["default/a", "kube-public/a"],
    );
    check(None, "tier=none", &[]);
    check(
        Some("default"),
        "",
        &["default/a", "default/b", "default/c"],
    );
    check(Some("default"), "!name", &[]);
    check(Some("kube-public"), "tier=front", &["kube-public/a"]);
    check(Some("default"), "tier=front", &["default/a"]);
    check(Some("unheard-of"), "", &[]);
    // A prefix of a namespace's name is another namespace.
    check(Some("kube"), "", &[]);

    let default = lister.namespaced("default");
    assert_eq!(default.get("b").unwrap().key().to_string(), "default/b");
    let check_miss = |found: Result<Object<K>, ListerError>, expected: &str| {
        let error = found.unwrap_err();
        assert!(error.is_not_found());
        assert_eq!(error.to_string(), expected);
    };
    check_miss(
        default.get("z"),
        "configmaps \"z\" not found in namespace \"default\"",
    );
    check_miss(
        lister.namespaced("kube-public").get("b"),
        "configmaps \"b\" not found in namespace \"kube-public\"",
    );
    // An object in a namespace is not found by its name alone.
    check_miss(lister.get("a"), "configmaps \"a\" not found");
}

#[tokio::test(start_paused = true)]
async fn a_lister_answers_alike_for_typed_dynamic_and_metadata_objects() {
    let server = server().await;
    let typed = SharedInformer::<ConfigMap>::new(server.client(), Scope::All);
    started(&typed).await;
    check_all(&typed.lister());

    let config_maps = ApiResource::erase::<ConfigMap>(&());
    let dynamic =
        HttpListWatch::<DynamicObject>::new_with(server.client(), Scope::All, &config_maps);
    let dynamic = SharedInformer::builder(dynamic).build().unwrap();
    started(&dynamic).await;
    check_all(&dynamic.lister());

    let metadata = HttpListWatch::<PartialObjectMeta<ConfigMap>>::new(server.client(), Scope::All);
    let metadata = SharedInformer::builder(metadata).build().unwrap();
    started(&metadata).await;
    check_all(&metadata.lister());
}

#[tokio::test(start_paused = true)]
async fn cluster_scoped_objects_are_found_by_name_alone() {
    let server = server().await;
    let namespaces = SharedInformer::<Namespace>::new(server.client(), Scope::All);
    started(&namespaces).await;
    let lister = namespaces.lister();
    assert_eq!(lister.get("default").unwrap().key().to_string(), "default");
    assert!(lister.namespaced("").get("default").is_ok());
    assert!(lister.namespaced("default").get("default").is_err());
    let error = lister.get("nowhere").unwrap_err();
    assert_eq!(error.to_string(), "namespaces \"nowhere\" not found");
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_was_never_started_has_an_error_and_one_that_stopped_still_answers() {
    let server = server().await;
    let informer = SharedInformer::<ConfigMap>::new(server.client(), Scope::All);
    let lister = informer.lister();
    let everything = LabelSelector::everything();
    let refused = [
        lister.list(&everything).unwrap_err(),
        lister.get("a").unwrap_err(),
        lister.by_index("namespace", "default").unwrap_err(),
        lister.namespaced("default").list(&everything).unwrap_err(),
        lister.namespaced("default").get("a").unwrap_err(),
    ];
    for error in refused {
        assert!(!error.is_not_found(), "{error}");
        assert_eq!(
            error.to_string(),
            "the informer of configmaps was never started"
        );
    }
    // Before the first state is there, nothing is: no part of it is ever shown.
    informer.start();
    assert!(lister.list(&everything).unwrap().is_empty());
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(lister.list(&everything).unwrap().len(), 4);
    informer.shutdown().await;
    assert_eq!(lister.list(&everything).unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn indices_are_read_by_value_and_an_unknown_one_is_named() {
    let server = server().await;
    let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
    let informer = SharedInformer::builder(list_watch)
        .with_index("tier", IndexFn::by_label("tier"))
        .build()
        .unwrap();
    started(&informer).await;
    let lister = informer.lister();
    let back = lister.by_index("tier", "back").unwrap();
    assert_eq!(keys(&back), ["default/b", "default/c"]);
    let default = lister.by_index("namespace", "kube-public").unwrap();
    assert_eq!(keys(&default), ["kube-public/a"]);
    assert!(lister.by_index("tier", "none").unwrap().is_empty());
    let error = lister.by_index("node", "n").unwrap_err();
    assert!(matches!(error, ListerError::Index(_)) && !error.is_not_found());
    assert!(error.to_string().contains("\"node\""), "{error}");
}
