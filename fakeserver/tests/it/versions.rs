//! Custom resources whose versions differ, and definitions that change under their objects.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Api, version};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
const V1: &str = "/apis/example.com/v1/namespaces/default/widgets";
const V2: &str = "/apis/example.com/v2/namespaces/default/widgets";

/// One version, whose spec has these properties.
fn version_with(name: &str, storage: bool, properties: &Value) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "default": {}, "properties": properties},
        }}},
    })
}

async fn api_with(versions: &[Value]) -> Api {
    let api = Api::new();
    let crd = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions,
        },
    });
    api.post(DEFINITIONS, &crd).await.created();
    api
}

async fn set_properties(api: &Api, properties: &Value) {
    let path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let change = json!([{"op": "replace", "path": path, "value": properties}]);
    api.json_patch(CRD, &change).await.ok();
}

fn widget(spec: &Value) -> Value {
    json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": spec})
}

#[tokio::test(start_paused = true)]
async fn each_version_has_the_fields_of_its_schema() {
    let text = json!({"type": "string"});
    let api = api_with(&[
        version_with("v1", true, &json!({"old": text, "both": text})),
        version_with("v2", false, &json!({"both": text, "new": text})),
    ])
    .await;
    let created = api
        .post(V1, &widget(&json!({"old": "o", "both": "b"})))
        .await
        .created();
    assert_eq!(created["spec"], json!({"old": "o", "both": "b"}));
    let other = api.get(&format!("{V2}/a")).await.ok();
    assert_eq!(other["apiVersion"], "example.com/v2");
    assert_eq!(other["spec"], json!({"both": "b"}));
    let list = api.get(V2).await.ok();
    assert_eq!(list["items"][0]["spec"], json!({"both": "b"}));
    let watch = format!("{V2}?watch=true&resourceVersion=0&timeoutSeconds=1");
    let event: Value =
        serde_json::from_str(api.get(&watch).await.text.lines().next().unwrap()).unwrap();
    assert_eq!(event["object"]["spec"], json!({"both": "b"}));
    // What the stored version does not know does not outlive the request.
    let change = json!({"spec": {"new": "n", "both": "c"}});
    let changed = api.merge(&format!("{V2}/a"), &change).await.ok();
    assert_eq!(changed["spec"], json!({"both": "c"}));
    assert_eq!(api.get(&format!("{V1}/a")).await.ok()["spec"]["both"], "c");
}

#[tokio::test(start_paused = true)]
async fn an_object_has_the_defaults_of_today() {
    let api = api_with(&[version_with("v1", true, &json!({"a": {"type": "string"}}))]).await;
    let created = api.post(V1, &widget(&json!({}))).await.created();
    set_properties(
        &api,
        &json!({"a": {"type": "string"}, "size": {"type": "integer", "default": 3}}),
    )
    .await;
    let read = api.get(&format!("{V1}/a")).await.ok();
    assert_eq!(read["spec"], json!({"size": 3}));
    // The conversion was not written.
    assert_eq!(version(&read), version(&created));
    assert_eq!(read["metadata"]["generation"], 1);
    let list = api.get(V1).await.ok();
    assert_eq!(list["items"][0]["spec"], json!({"size": 3}));
    let labeled = json!({"metadata": {"labels": {"x": "y"}}});
    let labeled = api.merge(&format!("{V1}/a"), &labeled).await.ok();
    assert_eq!(labeled["spec"], json!({"size": 3}));
    assert_eq!(labeled["metadata"]["generation"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_field_that_the_definition_forgets_is_not_shown() {
    let text = json!({"type": "string"});
    let api = api_with(&[version_with("v1", true, &json!({"a": text, "b": text}))]).await;
    let created = api
        .post(V1, &widget(&json!({"a": "1", "b": "2"})))
        .await
        .created();
    let before = version(&created) - 1;
    let watch = format!("{V1}?watch=true&resourceVersion={before}&timeoutSeconds=1");
    let event: Value =
        serde_json::from_str(api.get(&watch).await.text.lines().next().unwrap()).unwrap();
    assert_eq!(event["object"]["spec"], json!({"a": "1", "b": "2"}));
    set_properties(&api, &json!({"a": text})).await;
    assert_eq!(
        api.get(&format!("{V1}/a")).await.ok()["spec"],
        json!({"a": "1"})
    );
    // The frame that another watch has had is not sent again.
    let event: Value =
        serde_json::from_str(api.get(&watch).await.text.lines().next().unwrap()).unwrap();
    assert_eq!(event["object"]["spec"], json!({"a": "1"}));
}

#[tokio::test(start_paused = true)]
async fn a_table_has_the_columns_of_its_version() {
    let properties = json!({"size": {"type": "integer"}});
    let mut version = version_with("v1", true, &properties);
    version["additionalPrinterColumns"] =
        json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
    let api = api_with(&[version]).await;
    api.post(V1, &widget(&json!({}))).await.created();
    set_properties(&api, &json!({"size": {"type": "integer", "default": 3}})).await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = api.send("GET", V1, &accept, Body::empty()).await.ok();
    assert_eq!(table["rows"][0]["cells"], json!(["a", 3]));
}
