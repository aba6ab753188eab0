//! One informer against servers of several versions of Kubernetes: by lists and by streams, in every encoding.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{FakeServer, FakeServerBuilder, Feature, KubernetesVersion, RequestRecord};
use informer::{
    Scope, SharedInformer,
    compact::CompactOptions,
    http::{Encoding, HttpListWatch},
    reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(30);
/// Longer than the time between two bookmarks.
const BOOKMARK_WAIT: Duration = Duration::from_secs(150);
/// The oldest version, one in the middle, and the newest.
const VERSIONS: [&str; 3] = ["1.31", "1.34", "latest"];
const ENCODINGS: [Encoding; 3] = [Encoding::Json, Encoding::Protobuf, Encoding::Cbor];

fn builder(version: &str) -> FakeServerBuilder {
    let version: KubernetesVersion = version.parse().unwrap();
    FakeServer::builder()
        .with_seed(1)
        .with_kubernetes_version(version)
}

/// Creates or changes a config map.
fn put(server: &FakeServer, name: &str, value: &str) {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"value": value},
    });
    server.apply(&object).unwrap();
}

fn delete(server: &FakeServer, name: &str) {
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
    });
    server.delete(&config_map).unwrap();
}

/// Names and versions in the namespace `default`, as the server has them.
fn on_server(server: &FakeServer) -> BTreeMap<String, String> {
    let objects = server.objects("", "v1", "configmaps");
    let own = objects
        .iter()
        .filter(|object| object.namespace() == Some("default"));
    own.map(|object| (object.name().to_owned(), object.revision().to_string()))
        .collect()
}

fn in_cache<K: Send + Sync + 'static>(informer: &SharedInformer<K>) -> BTreeMap<String, String> {
    let objects = informer.store().list();
    let entries = objects.iter().map(|object| {
        let (name, version) = (object.key().name(), object.resource_version());
        (name.to_owned(), version.to_string())
    });
    entries.collect()
}

fn config_maps(server: &FakeServer) -> HttpListWatch<ConfigMap> {
    HttpListWatch::new(server.client(), Scope::Namespace("default".into()))
}

/// The requests for config maps: `list`, `watch` or `stream`, and whether the server has refused them.
fn asked(server: &FakeServer) -> Vec<(&'static str, bool)> {
    let requests = server.requests();
    let own = requests
        .iter()
        .filter(|request| request.facts.resource == "configmaps");
    let kind = |request: &RequestRecord| match request.facts.verb {
        "watch" if request.facts.is_watch_list => "stream",
        "watch" => "watch",
        _ => "list",
    };
    own.map(|request| {
        (
            kind(request),
            request.code.is_some_and(|code| code.as_u16() >= 400),
        )
    })
    .collect()
}

/// Follows changes, idles until bookmarks have come, loses its watch, and follows on without another list.
async fn mirrors<K: Send + Sync + 'static>(
    server: &FakeServer,
    list_watch: HttpListWatch<K>,
    streams: bool,
    case: &str,
) {
    let options = ReflectorOptions::default()
        .with_seed(0)
        .with_streaming_lists(streams);
    let informer = SharedInformer::builder(list_watch)
        .with_options(options)
        .build()
        .unwrap();
    put(server, "a", "1");
    put(server, "b", "1");
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(in_cache(&informer), on_server(server), "{case}: at first");
    put(server, "a", "2");
    put(server, "c", "1");
    delete(server, "b");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(
        in_cache(&informer),
        on_server(server),
        "{case}: by its watch"
    );
    // Changes elsewhere, of which only bookmarks tell; without them the version would be too old to go on from.
    for number in 0..3 {
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("n-{number}")},
        });
        server.apply(&namespace).unwrap();
    }
    tokio::time::sleep(BOOKMARK_WAIT).await;
    let lists = |server: &FakeServer| {
        let requests = asked(server).into_iter();
        requests.filter(|(kind, _)| *kind != "watch").count()
    };
    let before = lists(server);
    server.expire();
    server.disconnect();
    put(server, "d", "1");
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(
        in_cache(&informer),
        on_server(server),
        "{case}: by the next watch"
    );
    assert_eq!(lists(server), before, "{case}: bookmarks spare a list");
    informer.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn servers_of_all_versions_are_mirrored_in_every_encoding() {
    for version in VERSIONS {
        for streams in [false, true] {
            for encoding in ENCODINGS {
                let case = format!("{version}, {encoding:?}, streams: {streams}");
                // CBOR is off: the answers are JSON.
                let server = builder(version).build();
                let list_watch = config_maps(&server).with_encoding(encoding);
                mirrors(&server, list_watch, streams, &case).await;
                let server = builder(version).with_cbor(true).build();
                let compact = config_maps(&server)
                    .with_encoding(encoding)
                    .compact(CompactOptions::default());
                mirrors(&server, compact, streams, &format!("{case}, compact")).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_without_streaming_lists_is_listed_after_one_refusal() {
    for (version, expected) in [
        (
            "1.31",
            &[("stream", true), ("list", false), ("watch", false)][..],
        ),
        ("1.34", &[("stream", false)]),
        ("latest", &[("stream", false)]),
    ] {
        let server = builder(version).build();
        put(&server, "a", "1");
        let options = ReflectorOptions::default().with_seed(0);
        let informer = SharedInformer::builder(config_maps(&server))
            .with_options(options)
            .build()
            .unwrap();
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(asked(&server), expected, "{version}");
        informer.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn compressed_streams_and_dropped_managed_fields_are_asked_for_and_mirrored() {
    for (compresses, drops) in [(true, true), (true, false), (false, true)] {
        for encoding in ENCODINGS {
            let server = builder("latest")
                .with_cbor(true)
                .with_feature(Feature::WatchListCompression, compresses)
                .with_feature(Feature::ManagedFieldsOptOut, drops)
                .build();
            let list_watch = config_maps(&server)
                .with_encoding(encoding)
                .with_compression()
                .without_fields([".metadata.managedFields"])
                .unwrap();
            let case = format!("{encoding:?}, compresses: {compresses}, drops: {drops}");
            mirrors(&server, list_watch, true, &case).await;
        }
    }
}
