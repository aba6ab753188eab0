//! Definitions: columns, scales, selectable fields and warnings.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Answer, Api};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Widgets in one version, with what `more` says of it.
fn definition(more: &Value) -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut version = json!({
        "name": "v1",
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": any,
            "status": any,
        }}},
    });
    for (name, value) in more.as_object().unwrap() {
        version[name] = value.clone();
    }
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    })
}

async fn api_with(more: &Value) -> Api {
    let api = Api::new();
    api.post(DEFINITIONS, &definition(more)).await.created();
    api
}

async fn widget(api: &Api, name: &str, spec: &Value, status: &Value) -> Value {
    let object = json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": spec, "status": status});
    api.post(WIDGETS, &object).await.created()
}

async fn table(api: &Api, path: &str) -> Value {
    let answer = api
        .send("GET", path, &[("accept", TABLE)], Body::empty())
        .await;
    answer.ok()
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let warnings = answer.headers.get_all("warning").iter();
    warnings.map(|warning| warning.to_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_table_has_the_columns_of_the_definition() {
    let columns = json!([
        {"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "What it looks like."},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "format": "int32"},
        {"name": "Weight", "type": "number", "jsonPath": ".spec.weight", "priority": 1},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
        {"name": "Since", "type": "date", "jsonPath": ".status.since"},
        {"name": "Tags", "type": "string", "jsonPath": ".spec.tags"},
    ]);
    let api = api_with(&json!({"additionalPrinterColumns": columns})).await;
    widget(
        &api,
        "a",
        &json!({"color": "red", "size": 3, "weight": 1.5, "on": true, "tags": ["x", "y"]}),
        &json!({"since": "2025-12-31T23:58:00Z", "conditions": [{"type": "Ready", "status": "True"}]}),
    )
    .await;
    widget(
        &api,
        "b",
        &json!({"color": 5, "size": "large", "on": "yes"}),
        &json!({"since": "lately"}),
    )
    .await;

    let table_of_widgets = table(&api, WIDGETS).await;
    let definitions = table_of_widgets["columnDefinitions"].as_array().unwrap();
    let names: Vec<&Value> = definitions.iter().map(|column| &column["name"]).collect();
    assert_eq!(
        names,
        [
            "Name", "Color", "Size", "Weight", "Ready", "On", "Since", "Tags"
        ]
    );
    assert_eq!(definitions[1]["description"], "What it looks like.");
    assert_eq!(definitions[2]["format"], "int32");
    assert_eq!(definitions[3]["priority"], 1);
    assert_eq!(
        definitions[3]["description"],
        "Custom resource definition column (in JSONPath format): .spec.weight"
    );
    let rows = table_of_widgets["rows"].as_array().unwrap();
    let full = json!(["a", "red", 3, 1.5, "True", true, "2m", "[\"x\",\"y\"]"]);
    assert_eq!(rows[0]["cells"], full);
    // What is not of the type of its column is not shown there.
    let poor = json!(["b", "5", null, null, null, null, "<invalid>", null]);
    assert_eq!(rows[1]["cells"], poor);
    assert!(rows[0].get("conditions").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_table_without_columns_of_its_own_shows_the_age() {
    let api = api_with(&json!({})).await;
    widget(&api, "a", &json!({}), &json!({})).await;
    let one = table(&api, &format!("{WIDGETS}/a")).await;
    assert_eq!(one["rows"][0]["cells"], json!(["a", "0s"]));
    assert_eq!(one["columnDefinitions"][1]["type"], "date");
}

#[tokio::test(start_paused = true)]
async fn a_column_that_cannot_be_shown_is_refused() {
    let api = Api::new();
    let columns = json!([{"name": "A", "type": "text", "jsonPath": ".a"}]);
    let crd = definition(&json!({"additionalPrinterColumns": columns}));
    let why = api.post(DEFINITIONS, &crd).await.refused(422);
    assert!(
        why.contains("must be one of boolean,date,integer,number,string"),
        "{why}"
    );
    api.get(WIDGETS).await.refused_plainly(404);
}

#[tokio::test(start_paused = true)]
async fn every_answer_in_a_deprecated_version_warns() {
    let api = api_with(&json!({"deprecated": true, "deprecationWarning": "use \"gadgets\""})).await;
    let expected = "299 - \"use \\\"gadgets\\\"\"";
    let object =
        json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "a"}});
    assert_eq!(warnings(&api.post(WIDGETS, &object).await), [expected]);
    for path in [WIDGETS.to_owned(), format!("{WIDGETS}/a")] {
        assert_eq!(warnings(&api.get(&path).await), [expected]);
    }
    assert_eq!(
        warnings(&api.delete(&format!("{WIDGETS}/a")).await),
        [expected]
    );
    // Other types are not.
    assert!(warnings(&api.get("/api/v1/pods").await).is_empty());
    let crds = api.get(DEFINITIONS).await;
    assert!(warnings(&crds).is_empty());
}

#[tokio::test(start_paused = true)]
async fn built_in_types_that_are_deprecated_warn() {
    let api = Api::new();
    let answer = api.get("/api/v1/endpoints").await;
    let expected =
        "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"";
    assert_eq!(warnings(&answer), [expected]);
    let slices = api.get("/apis/discovery.k8s.io/v1/endpointslices").await;
    assert!(warnings(&slices).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_scale_is_where_the_definition_says() {
    let api = api_with(&json!({"subresources": {"status": {}, "scale": {
        "specReplicasPath": ".spec.count.wanted",
        "statusReplicasPath": ".status.there",
        "labelSelectorPath": ".status.selector",
    }}}))
    .await;
    widget(&api, "a", &json!({"count": {"wanted": 2}}), &json!({})).await;
    let a = format!("{WIDGETS}/a");
    let status = json!({"status": {"there": 1, "selector": "a=b"}});
    api.merge(&format!("{a}/status"), &status).await.ok();
    let scale = api.get(&format!("{a}/scale")).await.ok();
    assert_eq!(scale["kind"], "Scale");
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "a=b"}));

    let more = json!({"spec": {"replicas": 5}});
    let scaled = api.merge(&format!("{a}/scale"), &more).await.ok();
    assert_eq!(scaled["spec"]["replicas"], 5);
    let widget = api.get(&a).await.ok();
    assert_eq!(widget["spec"], json!({"count": {"wanted": 5}}));
    assert_eq!(widget["metadata"]["generation"], 2);
    let less = json!({"spec": {"replicas": -1}});
    let why = api.merge(&format!("{a}/scale"), &less).await.refused(422);
    assert!(why.contains("should be a non-negative integer"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn objects_are_selected_by_the_fields_that_the_definition_names() {
    let fields = json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]);
    let properties = json!({"color": {"type": "string"}, "size": {"type": "integer"}});
    let spec = json!({"type": "object", "properties": properties});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    let api = api_with(&json!({"selectableFields": fields, "schema": schema})).await;
    widget(&api, "a", &json!({"color": "red", "size": 1}), &json!({})).await;
    widget(&api, "b", &json!({"color": "blue", "size": 1}), &json!({})).await;
    widget(&api, "c", &json!({"color": "red"}), &json!({})).await;
    for (selector, expected) in [
        ("spec.color%3Dred", vec!["a", "c"]),
        ("spec.color%3Dred,spec.size%3D1", vec!["a"]),
        ("spec.size%21%3D1", vec!["c"]),
        ("spec.color%3Dgreen", vec![]),
    ] {
        let list = api
            .get(&format!("{WIDGETS}?fieldSelector={selector}"))
            .await
            .ok();
        let items = list["items"].as_array().unwrap();
        let names: Vec<&str> = items
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{selector}");
    }
    let why = api
        .get(&format!("{WIDGETS}?fieldSelector=spec.on%3D1"))
        .await;
    assert_eq!(why.refused(400), "field label not supported: spec.on");
}
