//! Conversion webhooks: one definition in two versions that say the same otherwise.

use std::sync::{Arc, Mutex};

use axum::{Json, Router, routing::post};
use fakeserver::FakeServer;
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const V1: &str = "/apis/example.com/v1/namespaces/default/doors";
const V2: &str = "/apis/example.com/v2/namespaces/default/doors";
const HOST: &str = "convert.default.svc";

/// `v1` says `spec.isOpen`, `v2` says `spec.state`, and is stored.
fn definition() -> Value {
    let version = |name: &str, properties: Value, is_stored: bool| {
        json!({
            "name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": properties},
            }}},
        })
    };
    let states = json!({"state": {"type": "string", "enum": ["open", "closed"]}});
    json!({
        "metadata": {"name": "doors.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "doors", "kind": "Door"},
            "versions": [
                version("v1", json!({"isOpen": {"type": "boolean"}}), false),
                version("v2", states, true),
            ],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "convert", "namespace": "default", "path": "/doors"}},
            }},
        },
    })
}

fn convert(object: &Value, to: &str) -> Value {
    let mut object = object.clone();
    assert_ne!(object["apiVersion"], to, "nobody asks for what he has");
    object["apiVersion"] = json!(to);
    let spec = object["spec"].take();
    object["spec"] = match (&spec["state"], &spec["isOpen"]) {
        (Value::String(state), _) => json!({"isOpen": state == "open"}),
        (_, Value::Bool(true)) => json!({"state": "open"}),
        (_, Value::Bool(false)) => json!({"state": "closed"}),
        _ => json!({}),
    };
    match object["metadata"]["name"].as_str() {
        Some("numbered") => object["metadata"]["labels"] = json!({"a": 1}),
        Some("listed") => object["metadata"]["annotations"] = json!([]),
        Some("renamed") => object["metadata"]["name"] = json!("other"),
        _ => {}
    }
    object
}

/// A server with the definition, and how many objects each question was about.
async fn doors() -> (Api, Arc<Mutex<Vec<usize>>>) {
    let api = Api::new();
    let counts_seen = Arc::new(Mutex::new(Vec::new()));
    let counts = Arc::clone(&counts_seen);
    let router = Router::new().route(
        "/doors",
        post(move |Json(review): Json<Value>| async move {
            let request = &review["request"];
            let to = request["desiredAPIVersion"].as_str().unwrap();
            let objects = request["objects"].as_array().unwrap();
            counts.lock().unwrap().push(objects.len());
            let is_bad = objects.iter().any(|object| object["metadata"]["name"] == "bad");
            let result = if is_bad {
                json!({"status": "Failure", "message": "no such door"})
            } else {
                json!({"status": "Success"})
            };
            let converted: Vec<Value> = objects.iter().map(|object| convert(object, to)).collect();
            Json(json!({
                "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
                "response": {"uid": request["uid"], "result": result, "convertedObjects": converted},
            }))
        }),
    );
    api.server.serve_webhooks(HOST, router);
    api.post(DEFINITIONS, &definition()).await.created();
    (api, counts_seen)
}

fn door(name: &str, spec: &Value) -> Value {
    json!({"kind": "Door", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": spec})
}

async fn first_event(server: &FakeServer, path: &str) -> Value {
    let request = Request::get(path).body(axum::body::Body::empty()).unwrap();
    let response = server.router().oneshot(request).await.unwrap();
    let mut body = response.into_body();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    serde_json::from_slice(&frame).unwrap()
}

#[tokio::test(start_paused = true)]
async fn objects_of_one_version_are_read_in_the_other() {
    let (api, _) = doors().await;
    let made = api
        .post(V1, &door("a", &json!({"isOpen": true})))
        .await
        .created();
    assert_eq!(made["spec"], json!({"isOpen": true}));
    let stored = api.server.objects("example.com", "v2", "doors");
    assert_eq!(stored[0].to_value()["spec"], json!({"state": "open"}));
    let newer = api.get(&format!("{V2}/a")).await.ok();
    assert_eq!(newer["spec"], json!({"state": "open"}));
    assert_eq!(newer["apiVersion"], "example.com/v2");
    let older = api.get(&format!("{V1}/a")).await.ok();
    assert_eq!(older, made);
}

#[tokio::test(start_paused = true)]
async fn updates_and_patches_are_of_the_version_of_their_request() {
    let (api, _) = doors().await;
    api.post(V1, &door("a", &json!({"isOpen": true})))
        .await
        .created();
    let path = |version: &str| format!("{version}/a");
    let patched = api
        .merge(&path(V1), &json!({"spec": {"isOpen": false}}))
        .await
        .ok();
    assert_eq!(patched["spec"], json!({"isOpen": false}));
    assert_eq!(
        api.get(&path(V2)).await.ok()["spec"],
        json!({"state": "closed"})
    );
    let mut put = api.get(&path(V1)).await.ok();
    put["spec"] = json!({"isOpen": true});
    let put = api.put(&path(V1), &put).await.ok();
    let again = api.put(&path(V1), &put).await.ok();
    assert_eq!(again, put, "what changes nothing is not written");
    let applied =
        "{kind: Door, apiVersion: example.com/v1, metadata: {name: a}, spec: {isOpen: true}}";
    api.apply(&format!("{V1}/a?fieldManager=me"), applied)
        .await
        .ok();
    assert_eq!(
        api.get(&path(V2)).await.ok()["spec"],
        json!({"state": "open"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_is_one_question_to_the_webhook() {
    let (api, counts_seen) = doors().await;
    for (name, is_open) in [("a", true), ("b", false)] {
        api.post(V1, &door(name, &json!({"isOpen": is_open})))
            .await
            .created();
    }
    counts_seen.lock().unwrap().clear();
    let list = api.get(V1).await.ok();
    let specs: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["spec"])
        .collect();
    assert_eq!(specs, [&json!({"isOpen": true}), &json!({"isOpen": false})]);
    assert_eq!(*counts_seen.lock().unwrap(), [2], "a list is one question");
    api.get(V2).await.ok();
    assert_eq!(
        counts_seen.lock().unwrap().len(),
        1,
        "and none, where it is stored so"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deletion_answers_in_the_version_of_its_request() {
    let (api, _) = doors().await;
    let made = api.post(V1, &door("a", &json!({"isOpen": true}))).await;
    let mut held = made.created();
    let path = format!("{V1}/a");
    held["metadata"]["finalizers"] = json!(["example.com/held"]);
    api.put(&path, &held).await.ok();
    let going = api.delete(&path).await.ok();
    assert_eq!(going["spec"], json!({"isOpen": true}));
    assert!(!going["metadata"]["deletionTimestamp"].is_null());
    api.merge(&path, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    api.get(&format!("{V2}/a")).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_of_its_version() {
    let (api, _) = doors().await;
    let made = api
        .post(V1, &door("a", &json!({"isOpen": true})))
        .await
        .created();
    let event = first_event(&api.server, &format!("{V1}?watch=1")).await;
    assert_eq!(event["type"], "ADDED");
    assert_eq!(event["object"]["spec"], json!({"isOpen": true}));
    assert_eq!(event["object"]["apiVersion"], "example.com/v1");
    let version = made["metadata"]["resourceVersion"].as_str().unwrap();
    api.merge(&format!("{V2}/a"), &json!({"spec": {"state": "closed"}}))
        .await
        .ok();
    let since = |of: &str| format!("{of}?watch=1&resourceVersion={version}");
    let event = first_event(&api.server, &since(V1)).await;
    assert_eq!(event["type"], "MODIFIED");
    assert_eq!(event["object"]["spec"], json!({"isOpen": false}));
    let event = first_event(&api.server, &since(V2)).await;
    assert_eq!(event["object"]["spec"], json!({"state": "closed"}));
}

#[tokio::test(start_paused = true)]
async fn a_definition_names_its_conversion_webhook() {
    let api = Api::new();
    for (conversion, why) in [
        (
            json!({"strategy": "Webhook"}),
            "[spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook, \
             spec.conversion.conversionReviewVersions: Required value]",
        ),
        (
            json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v3"], "clientConfig": {}}}),
            "[spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required, \
             spec.conversion.conversionReviewVersions: Invalid value: [\"v3\"]: must include at least one of v1, v1beta1]",
        ),
        (
            json!({"strategy": "Magic"}),
            "spec.conversion.strategy: Unsupported value: \"Magic\": supported values: \"None\", \"Webhook\"",
        ),
    ] {
        let mut wrong = definition();
        wrong["spec"]["conversion"] = conversion;
        let message = api.post(DEFINITIONS, &wrong).await.refused(422);
        let named =
            "CustomResourceDefinition.apiextensions.k8s.io \"doors.example.com\" is invalid: ";
        assert_eq!(message, format!("{named}{why}"));
    }
    let made = api.post(DEFINITIONS, &definition()).await.created();
    let service = &made["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(service["port"], 443);
}

#[tokio::test(start_paused = true)]
async fn a_failed_conversion_is_reported() {
    let (api, _) = doors().await;
    let message = api.post(V1, &door("bad", &json!({}))).await.refused(500);
    assert_eq!(
        message,
        "conversion webhook for example.com/v1, Kind=Door failed: no such door"
    );
    let mut bad = door("bad", &json!({"state": "open"}));
    bad["apiVersion"] = json!("example.com/v2");
    api.post(V2, &bad).await.created();
    let failed = "conversion webhook for example.com/v2, Kind=Door failed: no such door";
    assert_eq!(api.get(&format!("{V1}/bad")).await.refused(500), failed);
    assert_eq!(api.get(V1).await.refused(500), failed);
    let event = first_event(&api.server, &format!("{V1}?watch=1")).await;
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["message"], failed);
    for (name, why) in [
        (
            "numbered",
            "metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (
            "listed",
            "metadata: invalid metadata.annotations of type []interface {} in converted object",
        ),
        (
            "renamed",
            "object: must have the same name: renamed != other",
        ),
    ] {
        let message = api.post(V1, &door(name, &json!({}))).await.refused(500);
        assert_eq!(
            message,
            format!("conversion webhook for example.com/v1, Kind=Door returned invalid {why}")
        );
    }
    // Where nothing has to be converted, nothing fails.
    api.get(&format!("{V2}/bad")).await.ok();
}

#[tokio::test(start_paused = true)]
async fn objects_are_converted_from_the_version_in_which_they_were_stored() {
    let (api, counts) = doors().await;
    let mut old = door("old", &json!({"state": "open"}));
    old["apiVersion"] = json!("example.com/v2");
    api.post(V2, &old).await.created();
    let path = format!("{DEFINITIONS}/doors.example.com");
    let crd = api.get(&path).await.ok();
    let mut versions = crd["spec"]["versions"].clone();
    versions[0]["storage"] = json!(true);
    versions[1]["storage"] = json!(false);
    let change = json!({"spec": {"versions": versions}});
    api.merge(&path, &change).await.ok();
    counts.lock().unwrap().clear();

    // Not written since: it is read in v2 as it is, and converted to the new storage version.
    assert_eq!(
        api.get(&format!("{V2}/old")).await.ok()["spec"],
        json!({"state": "open"})
    );
    assert!(counts.lock().unwrap().is_empty());
    let read = api.get(&format!("{V1}/old")).await.ok();
    assert_eq!(read["spec"], json!({"isOpen": true}));
    api.post(V1, &door("new", &json!({"isOpen": true})))
        .await
        .created();
    let list = api.get(V1).await.ok();
    assert_eq!(list["items"][1]["spec"], json!({"isOpen": true}));
    let list = api.get(V2).await.ok();
    assert_eq!(list["items"][0]["spec"], json!({"state": "open"}));
    let watch = format!("{V1}?watch=1&fieldSelector=metadata.name=old");
    let event = first_event(&api.server, &watch).await;
    assert_eq!(event["object"]["spec"], json!({"isOpen": true}));

    // Written again, it is stored in the new version.
    let written = api.put(&format!("{V1}/old"), &read).await.ok();
    assert_ne!(
        written["metadata"]["resourceVersion"],
        read["metadata"]["resourceVersion"]
    );
    counts.lock().unwrap().clear();
    assert_eq!(api.get(&format!("{V1}/old")).await.ok(), written);
    assert!(counts.lock().unwrap().is_empty());
    let stored = api.server.objects("example.com", "v1", "doors");
    assert!(
        stored
            .iter()
            .all(|door| door.to_value()["spec"] == json!({"isOpen": true}))
    );
}

/// Returns the owners of the specification: manager, operation, version and fields.
fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let entries = entries.into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut owners: Vec<String> = entries
        .map(|entry| {
            format!(
                "{} {} {} {}",
                text(&entry["manager"]),
                text(&entry["operation"]),
                text(&entry["apiVersion"]),
                entry["fieldsV1"]["f:spec"]
            )
        })
        .collect();
    owners.sort();
    owners
}

fn config(version: &str, spec: &Value) -> String {
    let mut config = door("a", spec);
    config["apiVersion"] = json!(format!("example.com/{version}"));
    config.to_string()
}

#[tokio::test(start_paused = true)]
async fn managers_own_fields_of_the_version_through_which_they_wrote() {
    let (api, _) = doors().await;
    let path = |version: &str, manager: &str| format!("{version}/a?fieldManager={manager}");
    let open = config("v1", &json!({"isOpen": true}));
    let made = api.apply(&path(V1, "alice"), open.clone()).await.created();
    let alice = r#"alice Apply example.com/v1 {"f:isOpen":{}}"#;
    assert_eq!(owners(&made), [alice]);

    let closed = config("v2", &json!({"state": "closed"}));
    let bob = path(V2, "bob");
    assert_eq!(
        api.apply(&bob, closed.clone()).await.refused(409),
        "Apply failed with 1 conflict: conflict with \"alice\": .spec.isOpen"
    );
    let same = config("v2", &json!({"state": "open"}));
    assert_eq!(
        owners(&api.apply(&bob, same).await.ok()),
        [alice, r#"bob Apply example.com/v2 {"f:state":{}}"#],
        "no conflict about an equal value"
    );
    let forced = api.apply(&format!("{bob}&force=true"), closed).await.ok();
    assert_eq!(
        owners(&forced),
        [r#"bob Apply example.com/v2 {"f:state":{}}"#]
    );

    let update = json!({"spec": {"isOpen": true}});
    let updated = api.merge(&path(V1, "carol"), &update).await.ok();
    assert_eq!(
        owners(&updated),
        [r#"carol Update example.com/v1 {"f:isOpen":{}}"#]
    );
    let update = json!({"spec": {"state": "closed"}});
    let updated = api.merge(&path(V2, "dave"), &update).await.ok();
    assert_eq!(
        owners(&updated),
        [r#"dave Update example.com/v2 {"f:state":{}}"#]
    );
}

#[tokio::test(start_paused = true)]
async fn a_manager_gives_up_what_it_applied_through_another_version() {
    let (api, _) = doors().await;
    let path = |version: &str| format!("{version}/a?fieldManager=alice");
    let open = config("v1", &json!({"isOpen": true}));
    api.apply(&path(V1), open).await.created();
    let nothing = config("v2", &json!({}));
    let left = api.apply(&path(V2), nothing).await.ok();
    assert_eq!(left["spec"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_gives_no_answer_fails_an_apply_and_resets_the_managers_of_an_update() {
    let (api, _) = doors().await;
    let path = |version: &str, manager: &str| format!("{version}/a?fieldManager={manager}");
    let open = config("v1", &json!({"isOpen": true}));
    api.apply(&path(V1, "alice"), open).await.created();
    api.server.serve_webhooks(HOST, Router::new());

    let same = config("v2", &json!({"state": "open"}));
    let message = api.apply(&path(V2, "bob"), same).await.refused(500);
    assert!(
        message.starts_with("conversion webhook for example.com/v2, Kind=Door failed: "),
        "{message}"
    );
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    let updated = api.merge(&path(V2, "carol"), &change).await.ok();
    assert_eq!(updated["metadata"]["labels"], json!({"a": "b"}));
    assert!(updated["metadata"].get("managedFields").is_none());
    // Managers of the version of a request need no conversion.
    let labelled = json!({
        "kind": "Door", "apiVersion": "example.com/v2",
        "metadata": {"name": "a", "labels": {"c": "d"}},
    });
    api.apply(&path(V2, "bob"), labelled.to_string()).await.ok();
}
