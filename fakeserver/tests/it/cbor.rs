//! CBOR in requests and answers of a server that has turned it on.

use fakeserver::{
    FakeServer,
    value::cbor::{Document, encode},
};
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS, PODS, warnings};

const CBOR: &str = "application/cbor";
const APPLIES: &str = "application/apply-patch+cbor";
const TAKES: (&str, &str) = ("accept", CBOR);
const SENDS: (&str, &str) = ("content-type", CBOR);
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
/// The beginning of a frame: self-described, a map of two, `type`.
const FRAME: &[u8] = b"\xd9\xd9\xf7\xa2\x44type";

fn api() -> Api {
    Api {
        server: FakeServer::builder().with_cbor(true).build(),
    }
}

fn bytes(object: &Value) -> Vec<u8> {
    encode(object, None)
}

/// The object in an answer that must be CBOR.
#[track_caller]
fn read(answer: &Answer) -> Value {
    assert_eq!(answer.headers["content-type"], CBOR, "{answer:?}");
    assert!(answer.bytes.starts_with(b"\xd9\xd9\xf7"), "{answer:?}");
    Document::parse(&answer.bytes).unwrap().value().unwrap()
}

fn map(name: &str) -> Value {
    json!({
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name},
        "data": {"k": "v"}, "binaryData": {"b": "/wA="},
    })
}

async fn send(api: &Api, method: &str, path: &str, kind: &str, object: &Value) -> Answer {
    let headers = [("content-type", kind), TAKES];
    api.send(method, path, &headers, bytes(object)).await
}

fn define(api: &Api) {
    let schema = json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}, "f": {"type": "number"}}}},
    });
    let definition = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    api.server.apply(&definition).unwrap();
}

#[tokio::test]
async fn objects_are_written_and_read_as_cbor() {
    let api = api();
    let created = send(&api, "POST", CONFIG_MAPS, CBOR, &map("a")).await;
    assert_eq!(created.code, 201);
    let created = read(&created);
    assert_eq!(created["binaryData"], json!({"b": "/wA="}));
    let path = format!("{CONFIG_MAPS}/a");
    let got = api.send("GET", &path, &[TAKES], "").await;
    // Bytes are bytes, with the tag of base64.
    let raw = b"\x41b\xd6\x42\xff\x00";
    assert!(got.bytes.windows(raw.len()).any(|part| part == raw));
    let plain = api.get(&path).await.ok();
    assert_eq!(read(&got), plain);

    let mut changed = plain.clone();
    changed["data"]["k"] = json!("w");
    let updated = send(&api, "PUT", &path, CBOR, &changed).await;
    assert_eq!(read(&updated)["data"]["k"], "w");
    let options =
        json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}});
    let refused = send(&api, "DELETE", &path, CBOR, &options).await;
    assert_eq!(refused.code, 409);
    assert_eq!(read(&refused)["reason"], "Conflict");
    let deleted = send(&api, "DELETE", &path, CBOR, &json!({})).await;
    assert_eq!(read(&deleted)["status"], "Success");
}

#[tokio::test]
async fn a_list_is_the_same_in_both_forms() {
    let api = api();
    for number in 0..3 {
        api.config_map(&format!("m{number}")).await;
    }
    for path in [CONFIG_MAPS, &format!("{CONFIG_MAPS}?limit=2"), PODS] {
        let list = api.send("GET", path, &[TAKES], "").await;
        assert_eq!(read(&list), api.get(path).await.ok(), "{path}");
    }
    let accept = [(
        "accept",
        "application/cbor;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    )];
    let list = read(&api.send("GET", CONFIG_MAPS, &accept, "").await);
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
}

#[tokio::test]
async fn a_long_list_is_compressed() {
    use std::io::Read;

    let api = api();
    for number in 0..20 {
        let object =
            json!({"metadata": {"name": format!("m{number}")}, "data": {"k": "v".repeat(10_000)}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    let headers = [TAKES, ("accept-encoding", "gzip")];
    let list = api.send("GET", CONFIG_MAPS, &headers, "").await;
    assert_eq!(list.headers["content-encoding"], "gzip");
    let mut whole = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&*list.bytes);
    decoder.read_to_end(&mut whole).unwrap();
    let list = Document::parse(&whole).unwrap().value().unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_a_sequence_of_events() {
    let api = api();
    api.config_map("a").await;
    let path = format!(
        "{CONFIG_MAPS}?watch=true&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name%3Da"
    );
    let watched = api.send("GET", &path, &[TAKES], "").await;
    assert_eq!(watched.headers["content-type"], "application/cbor-seq");
    assert!(watched.bytes.starts_with(FRAME));
    let event = Document::parse(&watched.bytes).unwrap().value().unwrap();
    assert_eq!(event["type"], "ADDED");
    assert_eq!(
        event["object"],
        api.get(&format!("{CONFIG_MAPS}/a")).await.ok()
    );

    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=1&timeoutSeconds=1");
    api.server.compact();
    let expired = api.send("GET", &path, &[TAKES], "").await;
    let event = Document::parse(&expired.bytes).unwrap().value().unwrap();
    assert_eq!(event["type"], "ERROR");
    assert_eq!(event["object"]["reason"], "Expired");
}

#[tokio::test]
async fn a_configuration_is_applied() {
    let api = api();
    let path = format!("{CONFIG_MAPS}/a?fieldManager=m");
    let created = send(&api, "PATCH", &path, APPLIES, &map("a")).await;
    assert_eq!(created.code, 201);
    let managers = &read(&created)["metadata"]["managedFields"];
    assert_eq!(managers[0]["operation"], "Apply");
    let mut other = map("a");
    other["data"]["k"] = json!("w");
    let path = format!("{CONFIG_MAPS}/a?fieldManager=n");
    let conflict = send(&api, "PATCH", &path, APPLIES, &other).await;
    assert_eq!(conflict.code, 409);
    let headers = [("content-type", APPLIES)];
    for (body, why) in [
        (Vec::new(), "error decoding YAML: EOF"),
        (
            bytes(&json!([1])),
            "error decoding YAML: cbor: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let refused = api.send("PATCH", &path, &headers, body).await;
        assert_eq!(refused.refused(400), why);
    }
}

#[tokio::test]
async fn bodies_that_do_not_fit_are_refused_in_the_words_of_the_api() {
    let api = api();
    let unrecognized = "the object provided is unrecognized (must be of type ConfigMap): unable to determine \
                        group/version/kind: ";
    let cannot = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: ";
    for (body, why) in [
        (vec![0xa1], format!("{unrecognized}unexpected EOF (a1)")),
        (Vec::new(), format!("{unrecognized}EOF (<empty>)")),
        (
            bytes(&json!({"kind": 1})),
            format!(
                "{unrecognized}cbor: cannot unmarshal positive integer into Go struct field v1.TypeMeta.kind of type \
                 string (d9d9f7a1446b696e6401)"
            ),
        ),
        (
            bytes(&json!({"metadata": {"name": 1}})),
            format!(
                "{cannot}cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.metadata of type string"
            ),
        ),
    ] {
        let refused = api.send("POST", CONFIG_MAPS, &[SENDS], body).await;
        assert_eq!(refused.refused(400), why);
    }
    let unknown = json!({"metadata": {"name": "a"}, "nope": 1});
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let strict = api.send("POST", &path, &[SENDS], bytes(&unknown)).await;
    let index = "cbor: found unknown field at map element index 0";
    assert_eq!(
        strict.refused(400),
        format!("{cannot}strict decoding error: {index}")
    );
    let warned = api
        .send("POST", CONFIG_MAPS, &[SENDS], bytes(&unknown))
        .await;
    assert_eq!(warnings(&warned), [format!("299 - \"{index}\"")]);
}

#[tokio::test]
async fn custom_resources_have_it_as_well() {
    let api = api();
    define(&api);
    let widget = json!({
        "kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"},
        "spec": {"a": 1, "f": 1.5, "nope": 1},
    });
    let created = send(&api, "POST", WIDGETS, CBOR, &widget).await;
    assert_eq!(created.code, 201);
    assert!(
        warnings(&created).is_empty(),
        "unknown fields are dropped in silence"
    );
    assert_eq!(read(&created)["spec"], json!({"a": 1, "f": 1.5}));
    let list = api.send("GET", WIDGETS, &[TAKES], "").await;
    assert_eq!(read(&list), api.get(WIDGETS).await.ok());
    let unnamed = send(
        &api,
        "POST",
        WIDGETS,
        CBOR,
        &json!({"metadata": {"name": "w"}}),
    )
    .await;
    assert_eq!(
        read(&unnamed)["message"],
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in \
         '55799({'metadata': {'name': 'w'}})' (d9d9f7a1486d65746164617461a1446e616d654177)"
    );
}

#[tokio::test]
async fn the_accepted_form_is_the_first_that_there_is() {
    let api = api();
    api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let kinds =
        "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor";
    for (accept, kind) in [
        ("application/cbor, application/json", CBOR),
        ("application/json, application/cbor", "application/json"),
        ("application/json;q=0.5, application/cbor;q=0.9", CBOR),
        ("*/*", "application/json"),
    ] {
        let got = api.send("GET", &path, &[("accept", accept)], "").await;
        assert_eq!(got.headers["content-type"], kind, "{accept}");
    }
    let tables = [("accept", "application/cbor;as=Table;v=v1;g=meta.k8s.io")];
    let refused = api.send("GET", &path, &tables, "").await.refused(406);
    assert_eq!(
        refused,
        format!("only the following media types are accepted: {kinds}")
    );
    let watch = format!("{CONFIG_MAPS}?watch=true");
    let yaml = api
        .send("GET", &watch, &[("accept", "application/yaml")], "")
        .await;
    assert_eq!(yaml.code, 406);
    let status: Value = fakeserver::value::yaml::from_str(&yaml.text).unwrap();
    assert_eq!(
        status["message"],
        "only the following media types are accepted: application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"
    );
    let unknown = [("content-type", "text/plain")];
    assert_eq!(
        api.send("POST", CONFIG_MAPS, &unknown, "")
            .await
            .refused(415),
        format!(
            "the body of the request was in an unknown format - accepted media types include: {kinds}"
        )
    );
    let missing = api
        .send("GET", &format!("{CONFIG_MAPS}/b"), &[TAKES], "")
        .await;
    assert_eq!(read(&missing)["reason"], "NotFound");
}

#[tokio::test]
async fn of_discovery_only_the_resources_of_built_in_groups_have_it() {
    let api = api();
    define(&api);
    let resources = api.send("GET", "/apis/apps/v1", &[TAKES], "").await;
    assert_eq!(read(&resources), api.get("/apis/apps/v1").await.ok());
    for path in ["/apis", "/apis/apps", "/apis/example.com/v1"] {
        let refused = api.send("GET", path, &[TAKES], "").await.refused(406);
        assert_eq!(
            refused,
            "only the following media types are accepted: application/json, application/yaml, \
             application/vnd.kubernetes.protobuf",
            "{path}"
        );
    }
    let unknown = api.send("GET", "/apis/apps/v1/nope", &[TAKES], "").await;
    unknown.refused(404);
}

#[tokio::test]
async fn a_server_has_none_unless_it_is_turned_on() {
    let api = Api::new();
    let kinds = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    let sent = api
        .send("POST", CONFIG_MAPS, &[SENDS], bytes(&map("a")))
        .await;
    assert_eq!(
        sent.refused(415),
        format!(
            "the body of the request was in an unknown format - accepted media types include: {kinds}"
        )
    );
    assert_eq!(
        api.send("GET", CONFIG_MAPS, &[TAKES], "")
            .await
            .refused(406),
        format!(
            "406: Not Acceptable\n\nAvailable representations: {kinds}, application/json;stream=watch, \
             application/vnd.kubernetes.protobuf;stream=watch"
        )
    );
    let applied = [("content-type", APPLIES)];
    let path = format!("{CONFIG_MAPS}/a?fieldManager=m");
    let refused = api.send("PATCH", &path, &applied, bytes(&map("a"))).await;
    assert_eq!(refused.refused(415), "415: Unsupported Media Type");
}
