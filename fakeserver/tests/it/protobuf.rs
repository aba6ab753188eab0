//! Typed clients of Go speak protobuf.

use axum::body::Body;
use fakeserver::value::{
    protobuf::{decode_object, decode_watch_frame, encode_object},
    schema::{TypeMeta, decode_base64},
};
use http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Answer, Api, CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const SENDS: (&str, &str) = ("content-type", PROTOBUF);
const TAKES: (&str, &str) = (
    "accept",
    "application/vnd.kubernetes.protobuf,application/json",
);

/// The object in an answer that must be protobuf.
fn read(answer: &Answer) -> Value {
    assert_eq!(answer.headers["content-type"], PROTOBUF, "{answer:?}");
    decode_object(&answer.bytes, None).unwrap()
}

#[tokio::test]
async fn bodies_of_kubectl_are_created() {
    let api = Api::new();
    let recorded: Value =
        serde_json::from_str(include_str!("../../value/tests/data/protobuf.json")).unwrap();
    let mut count = 0;
    for request in recorded.as_array().unwrap() {
        let path = request["path"].as_str().unwrap();
        // Reviews are questions, and are not answered here.
        if path.contains("authorization") || path.contains("authentication") {
            continue;
        }
        let body = decode_base64(request["protobuf"].as_str().unwrap()).unwrap();
        let created = api.send("POST", path, &[SENDS], body).await.created();
        let sent = &request["json"];
        // A request for a token says neither: its path does.
        let says = |field: &str| sent["metadata"][field].is_string() || sent[field].is_string();
        if says("name") {
            assert_eq!(created["metadata"]["name"], sent["metadata"]["name"]);
        }
        if says("kind") {
            assert_eq!(
                created["kind"], sent["kind"],
                "as JSON, if nothing else is asked for"
            );
        }
        count += 1;
    }
    assert!(count > 3, "{count} requests");
}

#[tokio::test]
async fn both_forms_show_the_same_object() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let mut object = deployment("d");
    object["kind"] = "Deployment".into();
    object["apiVersion"] = "apps/v1".into();
    let body = encode_object(&object).unwrap();
    let created = api.send("POST", DEPLOYMENTS, &[SENDS, TAKES], body).await;
    assert_eq!(created.code, 201);
    let created = read(&created);
    assert_eq!(created, api.get(&path).await.ok());
    assert_eq!(created["spec"]["strategy"]["type"], "RollingUpdate");

    let mut changed = created;
    changed["spec"]["replicas"] = json!(5);
    let body = encode_object(&changed).unwrap();
    let updated = api.send("PUT", &path, &[SENDS, TAKES], body).await;
    assert_eq!(read(&updated)["metadata"]["generation"], 2);
    let got = api.send("GET", &path, &[TAKES], Body::empty()).await;
    assert_eq!(read(&got), api.get(&path).await.ok());

    let options = json!({"kind": "DeleteOptions", "apiVersion": "apps/v1", "preconditions": {"uid": "other"}});
    let options = encode_object(&options).unwrap();
    let refused = api.send("DELETE", &path, &[SENDS, TAKES], options).await;
    assert_eq!(refused.code, 409);
    assert_eq!(read(&refused)["reason"], "Conflict");
    let gone = api.send("DELETE", &path, &[TAKES], Body::empty()).await;
    assert_eq!(read(&gone)["status"], "Success");
}

#[tokio::test]
async fn lists_and_metadata_are_protobuf_too() {
    let api = Api::new();
    for name in ["a", "b", "c"] {
        api.config_map(name).await;
    }
    let path = format!("{CONFIG_MAPS}?limit=2");
    let list = api.send("GET", &path, &[TAKES], Body::empty()).await;
    let mut expected = api.get(&path).await.ok();
    let mut list = read(&list);
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert_eq!(list["metadata"]["remainingItemCount"], 1);
    // Tokens name the time at which they were made out.
    for list in [&mut list, &mut expected] {
        assert!(list["metadata"]["continue"].take().is_string());
    }
    assert_eq!(list, expected);

    let none = "/api/v1/namespaces/kube-public/configmaps";
    let none = api.send("GET", none, &[TAKES], Body::empty()).await;
    assert!(read(&none)["items"].as_array().is_none_or(Vec::is_empty));

    let metadata = format!("{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    let metadata = [("accept", metadata.as_str())];
    let one = api
        .send("GET", &format!("{CONFIG_MAPS}/a"), &metadata, Body::empty())
        .await;
    let one = read(&one);
    assert_eq!(
        (&one["kind"], &one["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("a"))
    );
    assert!(one.get("data").is_none());
}

#[tokio::test]
async fn a_long_list_comes_in_pieces_that_are_one_message() {
    let api = Api::new();
    for index in 0..40 {
        let data = "x".repeat(100_000);
        let object = json!({"metadata": {"name": format!("c{index:02}")}, "data": {"k": data}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    let list = api.send("GET", CONFIG_MAPS, &[TAKES], Body::empty()).await;
    assert!(list.bytes.len() > 4_000_000);
    assert_eq!(read(&list), api.get(CONFIG_MAPS).await.ok());
}

/// The frames of a watch until there are `count`.
async fn frames(api: &Api, path: &str, accept: &str, count: usize) -> Vec<(String, Value)> {
    let request = Request::builder()
        .method(Method::GET)
        .uri(path)
        .header("accept", accept)
        .body(Body::empty())
        .unwrap();
    let response = api.server.router().oneshot(request).await.unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "application/vnd.kubernetes.protobuf;stream=watch"
    );
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    let mut frames = Vec::new();
    while frames.len() < count {
        if let Some((frame, length)) = decode_watch_frame(&bytes).unwrap() {
            bytes.drain(..length);
            frames.push((frame.kind, frame.object));
            continue;
        }
        let data = body.frame().await.expect("more frames").unwrap();
        bytes.extend_from_slice(&data.into_data().unwrap());
    }
    frames
}

#[tokio::test(start_paused = true)]
async fn events_are_frames_with_a_length() {
    let api = Api::new();
    let first = api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    api.merge(&path, &json!({"data": {"k": "w"}})).await.ok();
    api.delete(&path).await.ok();
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let watch = format!("{CONFIG_MAPS}?watch=1&resourceVersion={version}");
    let found = frames(&api, &watch, TAKES.1, 2).await;
    assert_eq!(found[0].0, "MODIFIED");
    assert_eq!(found[0].1["data"], json!({"k": "w"}));
    assert_eq!(found[1].0, "DELETED");
    assert_eq!(found[1].1["kind"], "ConfigMap");

    api.config_map("b").await;
    let streaming = format!(
        "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let found = frames(&api, &streaming, TAKES.1, 2).await;
    assert_eq!(found[0].0, "ADDED");
    assert_eq!(found[1].0, "BOOKMARK");
    let end = &found[1].1["metadata"]["annotations"]["k8s.io/initial-events-end"];
    assert_eq!(end, "true");
}

#[tokio::test(start_paused = true)]
async fn errors_of_a_watch_are_frames() {
    let api = Api::new();
    api.config_map("a").await;
    api.config_map("b").await;
    api.server.expire();
    let found = frames(
        &api,
        &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1"),
        TAKES.1,
        1,
    )
    .await;
    assert_eq!(
        (found[0].0.as_str(), &found[0].1["code"]),
        ("ERROR", &json!(410))
    );

    // Faults are made up as JSON, and go out as what the client reads.
    let _guard = api
        .server
        .faults()
        .install(fakeserver::faults::Fault::ExpiredEvent.rule());
    let found = frames(
        &api,
        &format!("{CONFIG_MAPS}?watch=1&resourceVersion=0"),
        TAKES.1,
        1,
    )
    .await;
    assert_eq!(
        (found[0].0.as_str(), &found[0].1["reason"]),
        ("ERROR", &json!("Expired"))
    );
}

#[tokio::test]
async fn bodies_that_are_no_such_object_are_refused() {
    let api = Api::new();
    let before = api.server.revision();
    let mut secret =
        encode_object(&json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}}))
            .unwrap();
    let kind = TypeMeta {
        kind: "ConfigMap".into(),
        api_version: "v1".into(),
    };
    for (body, message) in [
        (
            b"{}".to_vec(),
            "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a \
             protobuf message, expected prefix [107 56 115 0] (",
        ),
        (
            secret.clone(),
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting ",
        ),
        (
            {
                secret.truncate(20);
                secret
            },
            "the object provided is unrecognized (must be of type ConfigMap): ",
        ),
    ] {
        let answer = api.send("POST", CONFIG_MAPS, &[SENDS], body).await;
        let refused = answer.refused(400);
        assert!(refused.starts_with(message), "{refused}");
    }
    let unnamed = {
        let whole = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}});
        let id = fakeserver::value::schema::type_of_kind("", "v1", "ConfigMap").unwrap();
        let nameless = TypeMeta {
            kind: String::new(),
            api_version: String::new(),
        };
        fakeserver::value::protobuf::encode_object_as(id, &nameless, &whole).unwrap()
    };
    let created = api
        .send("POST", CONFIG_MAPS, &[SENDS], unnamed)
        .await
        .created();
    assert_eq!(created["kind"], kind.kind.as_str());
    assert_eq!(
        api.server.revision(),
        before + 1,
        "only the last was stored"
    );
    let patch = api
        .send("PATCH", &format!("{CONFIG_MAPS}/a"), &[SENDS], "x")
        .await;
    assert_eq!(patch.refused(415), "415: Unsupported Media Type");
}

#[tokio::test]
async fn a_pod_survives_the_way_through_both_forms() {
    let api = Api::new();
    let created = api.post(PODS, &pod("p", "n")).await.created();
    let body = encode_object(&created).unwrap();
    let same = api
        .send("PUT", &format!("{PODS}/p"), &[SENDS], body)
        .await
        .ok();
    assert_eq!(same, created, "nothing changed, and nothing was written");
}

#[tokio::test]
async fn a_body_is_more_than_its_prefix() {
    let api = Api::new();
    let answer = api
        .send("POST", CONFIG_MAPS, &[SENDS], b"k8s\0".to_vec())
        .await;
    assert_eq!(
        answer.refused(400),
        "the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)"
    );
}
