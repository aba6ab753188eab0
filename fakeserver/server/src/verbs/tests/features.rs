//! Reads by the feature gates of versions, and by those that are set.

use std::io::Read;

use fakeserver_versions::KubernetesVersion;
use flate2::read::{GzDecoder, MultiGzDecoder};

use super::*;
use crate::{
    Feature,
    faults::{Fault, LateCache},
};

const STREAMING_LIST: &str =
    "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const WITHOUT_MANAGERS: &str = "application/json;drop=metadata.managedFields";

fn of_version(version: &str) -> FakeServer {
    let version: KubernetesVersion = version.parse().unwrap();
    FakeServer::builder()
        .with_kubernetes_version(version)
        .build()
}

/// Writes a config map with a manager of its fields.
fn put_managed(server: &FakeServer, name: &str) {
    let object = json!({
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"text": r#",\"managedFields\":["#},
            "managedFields": [{"manager": "m", "fieldsV1": {"f:data": {"f:a": {}}}}],
        },
        "data": {"a": "b"},
    });
    let stored: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&config_map("default", name), object)));
    let Ok(_) = stored;
}

/// Returns whether the managers of an object's fields are shown.
fn has_managers(object: &Value) -> bool {
    assert_eq!(object["metadata"]["name"], "a", "{object}");
    !object["metadata"]["managedFields"].is_null()
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_left_out_of_what_a_client_asks_for_without_them() {
    let server = FakeServer::builder()
        .with_feature(Feature::ManagedFieldsOptOut, true)
        .build();
    put_managed(&server, "a");
    for (accept, expected) in [
        ("application/json", true),
        (WITHOUT_MANAGERS, false),
        ("application/json;drop=spec.x+metadata.managedFields", false),
        ("application/json;drop=spec.x", true),
        ("application/json;drop=", true),
    ] {
        let headers = [("accept", accept)];
        let object = get_with(&server, &format!("{CONFIG_MAPS}/a"), &headers).await;
        assert_eq!(has_managers(&object.json()), expected, "{accept}");
        assert_eq!(object.json()["data"], json!({"a": "b"}));
        let text = &object.json()["metadata"]["annotations"]["text"];
        assert_eq!(text, r#",\"managedFields\":["#);
        let list = get_with(&server, CONFIG_MAPS, &headers).await;
        assert_eq!(has_managers(&list.json()["items"][0]), expected, "{accept}");
        let watch = format!("{CONFIG_MAPS}?{STREAMING_LIST}");
        let mut body = open(&server, &watch, &headers).await.into_body();
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = serde_json::from_slice(&frame).unwrap();
        assert_eq!(has_managers(&event["object"]), expected, "{accept}");
    }
}

#[tokio::test(start_paused = true)]
async fn rows_of_tables_come_without_managed_fields_too() {
    let server = FakeServer::builder()
        .with_feature(Feature::ManagedFieldsOptOut, true)
        .build();
    put_managed(&server, "a");
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let dropping = format!("{table};drop=metadata.managedFields");
    for (accept, expected) in [(table, true), (&*dropping, false)] {
        for include in ["Metadata", "Object"] {
            let path = format!("{CONFIG_MAPS}?includeObject={include}");
            let rows = get_with(&server, &path, &[("accept", accept)]).await;
            let object = &rows.json()["rows"][0]["object"];
            assert_eq!(has_managers(object), expected, "{include} {accept}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_without_the_gate_ignores_what_is_to_be_dropped() {
    let server = of_version("latest");
    put_managed(&server, "a");
    let path = format!("{CONFIG_MAPS}/a");
    let object = get_with(&server, &path, &[("accept", WITHOUT_MANAGERS)]).await;
    assert!(has_managers(&object.json()));
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_are_refused_where_their_gate_is_off() {
    let path = format!("{CONFIG_MAPS}?{STREAMING_LIST}");
    for version in ["1.31", "1.33"] {
        let server = of_version(version);
        let refused = get(&server, &path).await;
        assert_eq!(refused.code, StatusCode::UNPROCESSABLE_ENTITY, "{version}");
        let message = refused.json()["message"].clone();
        assert!(
            message.as_str().unwrap().contains(
                "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            ),
            "{message}"
        );
    }
    for version in ["1.32", "1.34", "latest"] {
        let response = open(&of_version(version), &path, &[]).await;
        assert_eq!(response.status(), StatusCode::OK, "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_streaming_lists_no_bookmark_ends_the_initial_events() {
    for (version, ends) in [("1.31", 0), ("1.34", 1)] {
        let server = of_version(version);
        put(&server, "default", "a", "x");
        let mut body = watch(&server, "resourceVersion=0&allowWatchBookmarks=true").await;
        let (events, end) = events(&mut body, 1).await;
        assert_eq!(events.len(), 1 + ends, "{version} {events:?}");
        assert_eq!((events[0].as_str(), end), ("ADDED a", "open"));
    }
}

/// The bytes of an empty last block, the checksum and the length at the end of a member.
const END_OF_MEMBER: usize = 2 + 4 + 4;

/// Reads the frames of a compressed stream that have come, each a member of it.
async fn members(body: &mut Body) -> Vec<String> {
    let mut members = Vec::new();
    let reading = async {
        while let Some(frame) = body.frame().await {
            let bytes = frame.unwrap().into_data().unwrap();
            let mut text = String::new();
            MultiGzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .expect("each piece is a whole member");
            let mut early = String::new();
            GzDecoder::new(&bytes[..bytes.len() - END_OF_MEMBER])
                .read_to_string(&mut early)
                .expect_err("the end is not there");
            assert_eq!(early, text, "all is there before the end");
            members.push(text);
        }
    };
    assert!(timeout(Duration::from_secs(1), reading).await.is_err());
    members
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_are_compressed_for_clients_that_accept_it() {
    let gzip: &[(&str, &str)] = &[("accept-encoding", "deflate, gzip")];
    let path = format!("{CONFIG_MAPS}?{STREAMING_LIST}");
    let server = of_version("latest");
    put(&server, "default", "a", "x");
    let response = open(&server, &path, gzip).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert_eq!(response.headers()["vary"], "Accept-Encoding");
    let mut body = response.into_body();
    let initial = members(&mut body).await.concat();
    assert!(initial.contains("k8s.io/initial-events-end"), "{initial}");
    // Later changes come in members of their own, and at once.
    put(&server, "default", "b", "x");
    let later = members(&mut body).await;
    assert_eq!(later.len(), 1);
    assert!(later[0].starts_with(r#"{"type":"ADDED""#), "{later:?}");
}

#[tokio::test(start_paused = true)]
async fn other_watches_other_clients_and_older_versions_have_no_compressed_streams() {
    let gzip: &[(&str, &str)] = &[("accept-encoding", "gzip")];
    let streaming = format!("{CONFIG_MAPS}?{STREAMING_LIST}");
    let plain = format!("{CONFIG_MAPS}?watch=true&resourceVersion=1");
    let without_bookmarks = format!("{CONFIG_MAPS}?watch=true");
    let latest = of_version("latest");
    let older = of_version("1.36");
    for (server, path, headers) in [
        (&latest, &streaming, &[][..]),
        (&latest, &plain, gzip),
        (&latest, &without_bookmarks, gzip),
        (&older, &streaming, gzip),
    ] {
        let response = open(server, path, headers).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert!(
            !response.headers().contains_key("content-encoding"),
            "{path}"
        );
    }
    // A watch from no version asks for the state first, as a streaming list does.
    let promoted = format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true");
    let response = open(&latest, &promoted, gzip).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_the_cache_serves_too_late_is_refused_or_read_from_the_store() {
    for (refuses, code) in [
        (true, StatusCode::TOO_MANY_REQUESTS),
        (false, StatusCode::OK),
    ] {
        let server = FakeServer::builder()
            .with_feature(Feature::ConsistentListFromCacheSkipTimeoutFallback, refuses)
            .build();
        put(&server, "default", "a", "x");
        let _late = server.faults().install(LateCache::default().rule());
        let (list, waited) = seconds(get(&server, CONFIG_MAPS)).await;
        assert_eq!((list.code, waited), (code, 3));
        if refuses {
            assert_eq!(list.headers["retry-after"], "1");
            let status = list.json();
            assert_eq!(status["reason"], "TooManyRequests");
            assert_eq!(status["details"]["retryAfterSeconds"], 1);
            let message = status["message"].as_str().unwrap();
            assert!(message.starts_with("Timeout: Too large resource version: "));
        } else {
            assert_eq!(names(&list.json()), ["a"]);
        }
        // Any state will do: the cache has one.
        let any = get(&server, &format!("{CONFIG_MAPS}?resourceVersion=0")).await;
        assert_eq!(any.code, StatusCode::OK);
        assert_eq!(
            server.faults().fired()[Fault::named("late_cache").unwrap().name()],
            1
        );
    }
}
