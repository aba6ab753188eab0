//! The OpenAPI documents: where they are, how clients keep them, and what definitions add.

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Answer, Api};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const INDEX: &str = "/openapi/v3";

fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "listKind": "WidgetBox"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
                }}},
            }],
        },
    })
}

/// Returns the URL of a version's document, as the index has it.
async fn url(api: &Api, path: &str) -> String {
    let index = api.get(INDEX).await.ok();
    let url = index["paths"][path]["serverRelativeURL"].as_str();
    url.unwrap_or_else(|| panic!("{path} is in {index}"))
        .to_owned()
}

async fn get_with(api: &Api, path: &str, header: (&str, &str)) -> Answer {
    api.send("GET", path, &[header], Body::empty()).await
}

#[tokio::test(start_paused = true)]
async fn the_index_leads_to_documents_that_never_change() {
    let api = Api::new();
    let index = api.get(INDEX).await;
    assert_eq!(index.headers["content-type"], "text/plain; charset=utf-8");
    assert!(index.headers.contains_key("etag"));

    let url = url(&api, "apis/apps/v1").await;
    assert!(url.starts_with("/openapi/v3/apis/apps/v1?hash="), "{url}");
    let document = api.get(&url).await;
    assert_eq!(document.headers["content-type"], "application/json");
    assert_eq!(document.headers["cache-control"], "public, immutable");
    assert_eq!(document.headers["expires"], "Fri, 01 Jan 2027 00:00:00 UTC");
    assert_eq!(document.headers["vary"], "Accept");
    let hash = url.split_once('=').unwrap().1;
    assert_eq!(document.headers["etag"], format!("\"{hash}\""));
    assert_eq!(document.ok()["openapi"], "3.0.0");

    // Without the hash, it may be another one tomorrow.
    let document = api.get("/openapi/v3/apis/apps/v1").await;
    assert_eq!(document.headers["cache-control"], "no-cache, private");
    assert!(!document.headers.contains_key("expires"));
}

#[tokio::test(start_paused = true)]
async fn an_old_address_leads_to_the_new_one() {
    let api = Api::new();
    let old = api.get("/openapi/v3/api/v1?hash=AB").await;
    assert_eq!(old.code, 301);
    assert_eq!(
        old.headers["location"].to_str().unwrap(),
        url(&api, "api/v1").await
    );
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_document_is_not_sent_again() {
    let api = Api::new();
    for path in [INDEX, "/openapi/v2", "/openapi/v3/apis/batch/v1"] {
        let first = api.get(path).await;
        let etag = first.headers["etag"].to_str().unwrap().to_owned();
        let again = get_with(&api, path, ("if-none-match", &etag)).await;
        assert_eq!((again.code.as_u16(), again.text.as_str()), (304, ""));
        let other = get_with(&api, path, ("if-none-match", "\"AB\"")).await;
        assert_eq!(other.code, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn missing_documents_and_unknown_versions_are_rejected() {
    let api = Api::new();
    for path in ["/openapi", "/openapi/v1", "/openapi/v2/x"] {
        assert_eq!(
            api.get(path).await.refused_plainly(404),
            "404 page not found\n"
        );
    }
    let unknown = get_with(&api, "/openapi/v2", ("accept", "text/html")).await;
    assert_eq!(unknown.refused_plainly(406), "");
    let below = api.get("/openapi/v3/apis/none/v1").await;
    assert_eq!(below.refused_plainly(404), "");
    // The documents are served by any method.
    api.post("/openapi/v2", &json!({})).await.ok();
}

#[tokio::test(start_paused = true)]
async fn a_large_document_is_compressed_for_clients_that_accept_gzip() {
    let api = Api::new();
    let plain = api.get("/openapi/v2").await;
    let small = get_with(&api, "/openapi/v2", ("accept-encoding", "gzip")).await;
    assert_eq!(small.headers["content-encoding"], "gzip");
    assert!(small.bytes.len() * 5 < plain.bytes.len());
    assert_eq!(plain.ok()["swagger"], "2.0");
}

#[tokio::test(start_paused = true)]
async fn a_definition_adds_its_kinds_and_takes_them_away() {
    let api = Api::new();
    let apps = url(&api, "apis/apps/v1").await;
    api.post(DEFINITIONS, &definition()).await.created();
    let first = url(&api, "apis/example.com/v1").await;
    assert_eq!(url(&api, "apis/apps/v1").await, apps);
    let document = api.get(&first).await.ok();
    let widget = &document["components"]["schemas"]["com.example.v1.Widget"];
    let size = &widget["properties"]["spec"]["properties"]["size"];
    assert_eq!(size, &json!({"type": "integer"}));
    let v2 = api.get("/openapi/v2").await.ok();
    assert!(v2["definitions"]["com.example.v1.WidgetBox"].is_object());

    // Another schema is another document.
    let changed = json!([{"op": "replace", "value": {"type": "string"},
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size"}]);
    let crd = format!("{DEFINITIONS}/widgets.example.com");
    api.json_patch(&crd, &changed).await.ok();
    let second = url(&api, "apis/example.com/v1").await;
    assert_ne!(first, second);
    assert_eq!(
        api.get(&first).await.headers["location"].to_str().unwrap(),
        second
    );

    api.server.reset();
    assert_eq!(api.get(&second).await.code, 404);
    let index = api.get(INDEX).await.ok();
    assert!(index["paths"].get("apis/example.com/v1").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_list_has_the_list_kind_of_its_definition() {
    let api = Api::new();
    api.post(DEFINITIONS, &definition()).await.created();
    let widgets = "/apis/example.com/v1/widgets";
    assert_eq!(api.get(widgets).await.ok()["kind"], "WidgetBox");
    let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let list = get_with(&api, widgets, ("accept", metadata)).await.ok();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
}

#[tokio::test(start_paused = true)]
async fn a_document_is_protobuf_on_request() {
    let api = Api::new();
    for (path, version) in [("/openapi/v2", "v2"), ("/openapi/v3/api/v1", "v3")] {
        let name = format!("application/com.github.proto-openapi.spec.{version}.v1.0+protobuf");
        let old_name = name.replace(".v1.0", "@v1.0");
        let first = get_with(&api, path, ("accept", &old_name)).await;
        assert_eq!(first.headers["content-type"], name.as_str());
        assert_eq!(first.headers["vary"], "Accept");
        // The first field is the version, as text.
        assert_eq!(first.bytes[0], 0x0a);
        let again = get_with(&api, path, ("accept", &name)).await;
        assert_eq!(first.bytes, again.bytes);
        let json = get_with(&api, path, ("accept", &format!("application/json, {name}"))).await;
        assert_eq!(json.headers["content-type"], "application/json");
        let other = name.replace(version, "v4");
        assert_eq!(get_with(&api, path, ("accept", &other)).await.code, 406);
    }
}

/// The answers of real servers of some versions: their documents without descriptions, and the paths that they list.
const RECORDED: [(&str, &[u8]); 3] = [
    ("1.34", include_bytes!("../data/openapi-v3-1.34.json.zst")),
    ("1.35", include_bytes!("../data/openapi-v3-1.35.json.zst")),
    ("1.36", include_bytes!("../data/openapi-v3.json.zst")),
];

/// Returns servers of these versions with what the real one answers.
fn recorded() -> impl Iterator<Item = (Api, Value)> {
    RECORDED.into_iter().map(|(version, compressed)| {
        let recorded = zstd::decode_all(compressed).unwrap();
        let recorded = serde_json::from_slice(&recorded).unwrap();
        (Api::of_version(version), recorded)
    })
}

fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| name != "description" || !value.is_string());
            members.values_mut().for_each(remove_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}

/// Returns the places in which two values differ.
fn differences(real: &Value, ours: &Value, place: &str) -> Vec<String> {
    match (real, ours) {
        (Value::Object(real), Value::Object(ours)) => {
            let names = real
                .keys()
                .chain(ours.keys().filter(|name| !real.contains_key(*name)));
            let sides = names.map(|name| {
                let side = |side: &serde_json::Map<String, Value>| side.get(name).cloned();
                (
                    name,
                    side(real).unwrap_or_default(),
                    side(ours).unwrap_or_default(),
                )
            });
            let below = |(name, real, ours): (&String, Value, Value)| {
                differences(&real, &ours, &format!("{place} {name}"))
            };
            sides.flat_map(below).collect()
        }
        (real, ours) if real == ours => Vec::new(),
        (real, ours) => vec![format!("{place}: {real} is {ours}")],
    }
}

#[tokio::test]
async fn every_document_is_that_of_a_real_server() {
    for (api, recorded) in recorded() {
        let server = &recorded["server"];
        let recorded = recorded["documents"].as_object().unwrap();
        let index = api.get(INDEX).await.ok();
        let paths: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
        assert_eq!(paths, recorded.keys().collect::<Vec<_>>(), "{server}");
        for (path, real) in recorded {
            let mut ours = api.get(&url(&api, path).await).await.ok();
            remove_descriptions(&mut ours);
            assert_eq!(differences(real, &ours, path), [""; 0], "{server}");
        }
    }
}

#[tokio::test]
async fn the_root_lists_the_paths_of_a_real_server() {
    for (api, recorded) in recorded() {
        let root = api.get("/").await.ok();
        assert_eq!(
            root["paths"], recorded["root_paths"],
            "{}",
            recorded["server"]
        );
    }
}
