//! Lists and watches of shards, as with the feature gate `ShardedListAndWatch`.

use axum::body::Body;
use bytes::Bytes;
use fakeserver::{FakeServer, value::cbor::Document};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS};

const HALVES: [&str; 2] = [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
];
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

async fn api(has_shards: bool) -> Api {
    let builder = FakeServer::builder().with_cbor(true);
    let api = Api {
        server: builder.with_shards(has_shards).build(),
    };
    for number in 0..40 {
        api.config_map(&format!("m{number:02}")).await;
    }
    api
}

fn path(selector: &str, rest: &str) -> String {
    let selector: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
    format!("{CONFIG_MAPS}?shardSelector={selector}{rest}")
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}

/// Returns the names in a half of all objects, by an implementation of the hash of its own.
async fn expected(api: &Api, half: usize) -> Vec<String> {
    let all = api.get(CONFIG_MAPS).await.ok();
    let items = all["items"].as_array().unwrap().iter();
    let is_in = |item: &&Value| {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in item["metadata"]["uid"].as_str().unwrap().bytes() {
            hash ^= u64::from(byte);
            hash = hash.wrapping_mul(0x0100_0000_01b3);
        }
        usize::from(hash >> 63 == 1) == half
    };
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.filter(is_in).map(name).collect()
}

async fn accepting(api: &Api, path: &str, accept: &str) -> Answer {
    api.send("GET", path, &[("accept", accept)], Body::empty())
        .await
}

#[tokio::test]
async fn a_list_has_the_objects_and_the_info_of_its_shard() {
    let api = api(true).await;
    let mut count = 0;
    for (half, selector) in HALVES.into_iter().enumerate() {
        let list = api.get(&path(selector, "")).await.ok();
        let expected = expected(&api, half).await;
        assert!(expected.len() > 5, "{expected:?}");
        assert_eq!(names(&list), expected);
        assert_eq!(list["metadata"]["shardInfo"], json!({"selector": selector}));
        count += expected.len();
        // In another order of its parts it is echoed as it was understood.
        let spaced = selector.replace(", ", " ,").replace('\'', "\"");
        let again = api.get(&path(&spaced, "")).await.ok();
        assert_eq!(again["metadata"], list["metadata"]);
    }
    let all = api.get(CONFIG_MAPS).await.ok();
    assert_eq!(names(&all).len(), count);
    assert_eq!(all["metadata"].get("shardInfo"), None);
    let both = HALVES.join(" || ");
    let list = api.get(&path(&both, "")).await.ok();
    assert_eq!(names(&list), names(&all));
    assert_eq!(list["metadata"]["shardInfo"]["selector"], both);
}

#[tokio::test]
async fn pages_are_of_the_shard_and_count_nothing() {
    let api = api(true).await;
    let mut found = Vec::new();
    let mut token = String::new();
    loop {
        let rest = format!("&limit=3&continue={token}");
        let page = api.get(&path(HALVES[0], &rest)).await.ok();
        let metadata = &page["metadata"];
        assert_eq!(metadata.get("remainingItemCount"), None);
        assert_eq!(metadata["shardInfo"]["selector"], HALVES[0]);
        assert!(names(&page).len() <= 3);
        found.extend(names(&page));
        match metadata["continue"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    assert_eq!(found, expected(&api, 0).await);
    // A token has no selector: the rest is of the shard that is asked for with it.
    let first = api.get(&path(HALVES[0], "&limit=3")).await.ok();
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest = api
        .get(&path(HALVES[1], &format!("&continue={token}")))
        .await
        .ok();
    let last = names(&first).pop().unwrap();
    let mut upper = expected(&api, 1).await;
    upper.retain(|name| *name > last);
    assert_eq!(names(&rest), upper);
}

#[tokio::test]
async fn every_form_is_sharded_and_only_whole_objects_have_the_info() {
    let api = api(true).await;
    let path = path(HALVES[1], "");
    let plain = api.get(&path).await.ok();
    let cbor = accepting(&api, &path, "application/cbor").await;
    let cbor = Document::parse(&cbor.bytes).unwrap().value().unwrap();
    assert_eq!(cbor, plain);
    let protobuf = accepting(&api, &path, "application/vnd.kubernetes.protobuf").await;
    let text = String::from_utf8_lossy(&protobuf.bytes);
    assert!(text.contains(HALVES[1]));
    // A real server builds these lists anew, without it.
    let metadata = accepting(&api, &path, METADATA).await.ok();
    assert_eq!(names(&metadata), names(&plain));
    assert_eq!(metadata["metadata"].get("shardInfo"), None);
    let table = accepting(&api, &path, TABLE).await.ok();
    assert_eq!(table["rows"].as_array().unwrap().len(), names(&plain).len());
    assert_eq!(table["metadata"].get("shardInfo"), None);
}

/// Returns the type and the name of each event that comes at once.
async fn events(api: &Api, path: &str, until: &str) -> Vec<(String, String)> {
    let router = api.server.router();
    let request = http::Request::get(path).body(Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let mut read = Vec::new();
    loop {
        let frame = body.frame().await.unwrap().unwrap();
        read.extend_from_slice(&frame.into_data().unwrap_or_else(|_| Bytes::new()));
        if String::from_utf8_lossy(&read).contains(until) {
            break;
        }
    }
    let lines = String::from_utf8(read).unwrap();
    let events = lines.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or("");
        (event["type"].as_str().unwrap().to_owned(), name.to_owned())
    });
    events.collect()
}

#[tokio::test]
async fn watches_are_of_the_shard() {
    let api = api(true).await;
    let start = api.get(CONFIG_MAPS).await.ok();
    let start = start["metadata"]["resourceVersion"].as_str().unwrap();
    let (lower, upper) = (expected(&api, 0).await, expected(&api, 1).await);
    for name in [&lower[3], &upper[3], &lower[4]] {
        let change = json!({"data": {"k": "w"}});
        api.merge(&format!("{CONFIG_MAPS}/{name}"), &change)
            .await
            .ok();
    }
    for name in [&upper[4], &lower[5]] {
        api.delete(&format!("{CONFIG_MAPS}/{name}")).await.ok();
    }
    let watch = path(HALVES[0], &format!("&watch=true&resourceVersion={start}"));
    let event = |kind: &str, name: &String| (kind.to_owned(), name.clone());
    assert_eq!(
        events(&api, &watch, "DELETED").await,
        [
            event("MODIFIED", &lower[3]),
            event("MODIFIED", &lower[4]),
            event("DELETED", &lower[5]),
        ]
    );
    let streaming = "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut frames = events(&api, &path(HALVES[1], streaming), "initial-events-end").await;
    assert_eq!(frames.pop().unwrap().0, "BOOKMARK");
    let left: Vec<_> = upper.iter().filter(|name| *name != &upper[4]).collect();
    let expected: Vec<_> = left.iter().map(|name| event("ADDED", name)).collect();
    frames.sort();
    assert_eq!(frames, expected);
}

#[tokio::test]
async fn a_deletion_of_a_collection_is_of_the_shard() {
    let api = api(true).await;
    let upper = expected(&api, 1).await;
    let deleted = api.delete(&path(HALVES[0], "")).await.ok();
    assert_eq!(deleted["metadata"]["shardInfo"]["selector"], HALVES[0]);
    assert_eq!(names(&api.get(CONFIG_MAPS).await.ok()), upper);
}

#[tokio::test]
async fn namespaces_are_kept_together() {
    let api = api(true).await;
    // Their hashes begin with eb and 77.
    let pod = json!({"metadata": {"name": "pod"}});
    api.post("/api/v1/namespaces", &pod).await.created();
    let maps = "/api/v1/namespaces/pod/configmaps";
    for name in ["a", "b", "c"] {
        let map = json!({"metadata": {"name": name}});
        api.post(maps, &map).await.created();
    }
    for namespace in ["default", "pod"] {
        let all = api
            .get(&format!("/api/v1/namespaces/{namespace}/configmaps"))
            .await
            .ok();
        let mut found = 0;
        for half in HALVES {
            let selector = half.replace("uid", "namespace");
            let selector: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
            let list = api
                .get(&format!("/api/v1/configmaps?shardSelector={selector}"))
                .await
                .ok();
            let items = list["items"].as_array().unwrap().iter();
            let own = items
                .filter(|item| item["metadata"]["namespace"] == namespace)
                .count();
            assert!(own == 0 || own == names(&all).len(), "{namespace}");
            found += own;
        }
        assert_eq!(found, names(&all).len());
    }
}

#[tokio::test]
async fn custom_resources_are_selected_without_a_word() {
    let api = api(true).await;
    let definition = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    api.server.apply(&definition).unwrap();
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    for number in 0..10 {
        let widget = json!({
            "kind": "Widget", "apiVersion": "example.com/v1",
            "metadata": {"name": format!("w{number}")},
        });
        api.post(widgets, &widget).await.created();
    }
    let mut found = 0;
    for half in HALVES {
        let selector: String = form_urlencoded::byte_serialize(half.as_bytes()).collect();
        let list = api
            .get(&format!("{widgets}?shardSelector={selector}"))
            .await
            .ok();
        assert_eq!(list["metadata"].get("shardInfo"), None);
        found += names(&list).len();
        assert!(names(&list).len() < 10);
    }
    assert_eq!(found, 10);
}

#[tokio::test]
async fn bad_selectors_are_errors_of_the_server() {
    let api = api(true).await;
    for rest in ["", "&watch=true"] {
        let error = api
            .get(&path("shardRange(object)", rest))
            .await
            .refused(500);
        assert_eq!(
            error,
            "invalid shard selector: shardRange() requires exactly 3 arguments, got 1"
        );
    }
    let error = api.delete(&path("no", "")).await.refused(500);
    assert_eq!(
        error,
        "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator"
    );
    assert_eq!(names(&api.get(CONFIG_MAPS).await.ok()).len(), 40);
}

#[tokio::test]
async fn without_the_gate_the_parameter_means_nothing() {
    let api = api(false).await;
    let all = api.get(CONFIG_MAPS).await.ok();
    for selector in [HALVES[0], "no selector"] {
        assert_eq!(api.get(&path(selector, "")).await.ok(), all);
    }
}
