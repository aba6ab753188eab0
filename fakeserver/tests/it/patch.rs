//! PATCH.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, deployment, version};

#[tokio::test]
async fn a_merge_patch_sets_and_removes() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let patched = api
        .merge(&path, &json!({"data": {"k": null, "m": "n"}}))
        .await
        .ok();
    assert_eq!(patched["data"], json!({"m": "n"}));
    let same = api.merge(&path, &json!({"data": {"m": "n"}})).await.ok();
    assert_eq!(same, patched);
}

#[tokio::test]
async fn a_json_patch_is_applied_as_a_whole_or_not_at_all() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let first = api.config_map("a").await;
    let changes = json!([
        {"op": "add", "path": "/data/x", "value": "1"},
        {"op": "test", "path": "/data/k", "value": "other"},
    ]);
    api.json_patch(&path, &changes).await.refused(422);
    assert_eq!(api.get(&path).await.ok(), first);
    let changes = json!([
        {"op": "test", "path": "/data/k", "value": "v"},
        {"op": "move", "from": "/data/k", "path": "/data/l"},
        {"op": "copy", "from": "/data/l", "path": "/data/m"},
        // What is not there can be replaced.
        {"op": "replace", "path": "/data/n", "value": "w"},
    ]);
    let patched = api.json_patch(&path, &changes).await.ok();
    assert_eq!(patched["data"], json!({"l": "v", "m": "v", "n": "w"}));
}

#[tokio::test]
async fn a_patch_that_names_a_version_is_based_on_it() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let first = api.config_map("a").await;
    let at = |version: u64, value: &str| json!({"metadata": {"resourceVersion": version.to_string()}, "data": {"k": value}});
    api.merge(&path, &at(version(&first), "2")).await.ok();
    api.merge(&path, &at(version(&first), "3"))
        .await
        .refused(409);
    api.merge(&path, &json!({"data": {"k": "4"}})).await.ok();
}

#[tokio::test]
async fn patches_that_cannot_be_applied_are_refused_in_the_words_of_the_api() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let before = api.server.revision();
    let (merge, json_patch) = (
        "application/merge-patch+json",
        "application/json-patch+json",
    );
    let rejected = "the server rejected our request due to an error in our request";
    for (media_type, body, code, message) in [
        (
            merge,
            "{bad",
            400,
            "error decoding patch: invalid character 'b' looking for beginning of object key string",
        ),
        (
            merge,
            "[]",
            400,
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (merge, "null", 400, "Invalid JSON Patch"),
        (
            json_patch,
            r#"[{"op": 5}]"#,
            400,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            json_patch,
            "{}",
            400,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            json_patch,
            r#"[{"op": "remove", "path": "/data/none"}]"#,
            422,
            rejected,
        ),
        (
            json_patch,
            r#"[{"op": "bogus", "path": "/data"}]"#,
            422,
            rejected,
        ),
        (
            json_patch,
            r#"[{"op": "replace", "path": "/data/k/deeper", "value": 1}]"#,
            422,
            rejected,
        ),
        (
            merge,
            r#"{"metadata": {"name": "b"}}"#,
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        ("application/json", "{}", 415, "415: Unsupported Media Type"),
    ] {
        let headers = [("content-type", media_type)];
        let answer = api.send("PATCH", &path, &headers, body).await;
        assert_eq!(answer.refused(code), message, "{body}");
    }
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn only_an_apply_is_forced_and_only_it_creates() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let before = api.server.revision();
    let forced = api.merge(&format!("{path}?force=true"), &json!({})).await;
    assert_eq!(
        forced.refused(422),
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    api.merge(&format!("{CONFIG_MAPS}/absent"), &json!({}))
        .await
        .refused(404);
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn a_patch_with_an_invalid_result_shows_the_result() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let before = api.server.revision();
    let wrong_type = api
        .merge(&path, &json!({"data": {"k": 5}}))
        .await
        .refused(422);
    assert!(
        wrong_type.starts_with(" \"\" is invalid: patch: Invalid value: \"{"),
        "{wrong_type}"
    );
    assert!(wrong_type.ends_with(
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    ));
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn copies_of_copies_do_not_fill_the_memory() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let mut doubling = vec![json!({"op": "add", "path": "/data/x", "value": "x".repeat(1000)})];
    doubling.extend(
        (0..60)
            .map(|turn| json!({"op": "copy", "from": "/data", "path": format!("/data/c{turn}")})),
    );
    api.json_patch(&path, &Value::from(doubling))
        .await
        .refused(422);
    let nesting: Vec<Value> = (0..200)
        .map(|_| json!({"op": "copy", "from": "/data", "path": "/data/x"}))
        .collect();
    api.json_patch(&path, &Value::from(nesting))
        .await
        .refused(422);
    let many = vec![json!({"op": "test", "path": "/data/k", "value": "v"}); 10_001];
    api.json_patch(&path, &Value::from(many)).await.refused(413);
}

#[tokio::test]
async fn a_strategic_patch_merges_lists_by_their_keys() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let images = |object: &Value| -> Vec<String> {
        let containers = object["spec"]["template"]["spec"]["containers"].as_array();
        let containers = containers.unwrap().iter();
        containers
            .map(|container| {
                format!("{}={}", container["name"], container["image"]).replace('"', "")
            })
            .collect()
    };
    let containers = |list: Value| json!({"spec": {"template": {"spec": {"containers": list}}}});
    for (change, expected) in [
        (
            json!([{"name": "d", "image": "j"}, {"name": "c", "image": "k"}]),
            &["d=j", "c=k"][..],
        ),
        (json!([{"name": "c", "$patch": "delete"}]), &["d=j"]),
        (json!([{"name": "d"}]), &["d=j"]),
    ] {
        let patched = api.strategic(&path, &containers(change.clone())).await.ok();
        assert_eq!(images(&patched), expected, "{change}");
    }
    let ordered = json!({"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "x"}, {"name": "d"}],
        "containers": [{"name": "x", "image": "y"}],
    }}}});
    let patched = api.strategic(&path, &ordered).await.ok();
    assert_eq!(images(&patched), ["x=y", "d=j"]);
    assert_eq!(
        patched["metadata"]["generation"], 4,
        "the third changed nothing"
    );
    let labels = |labels: Value| json!({"metadata": {"labels": labels}});
    api.merge(&path, &labels(json!({"a": "b"}))).await.ok();
    let replaced = labels(json!({"$patch": "replace", "only": "me"}));
    let patched = api.strategic(&path, &replaced).await.ok();
    assert_eq!(patched["metadata"]["labels"], json!({"only": "me"}));
}

#[tokio::test]
async fn strategic_patches_that_do_not_fit_are_refused_in_the_words_of_the_api() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let before = api.server.revision();
    for (change, code, message) in [
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"image":"noname"}]}}}}"#,
            500,
            "map: map[image:noname] does not contain declared merge key: name",
        ),
        (
            r#"{"spec":{"$patch":"bogus"}}"#,
            500,
            "unknown patch type: bogus in map: map[$patch:bogus]",
        ),
        (
            r#"{"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":{"maxSurge":1}}}}"#,
            400,
            "invalid patch format of retainKeys",
        ),
        (
            r#"{"spec":{"replicas":"three"}}"#,
            422,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[replicas:three]]\": unrecognized type: int32",
        ),
        (
            r#"{"metadata":{"labels":{"a":5}}}"#,
            422,
            " \"\" is invalid: patch: Invalid value: \"map[metadata:map[labels:map[a:5]]]\": cannot convert int64 to string",
        ),
        (
            r#"{"spec":{"paused":[]}}"#,
            422,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[paused:[]]]\": unrecognized type: bool",
        ),
        (
            r#"{"metadata":{"finalizers":{}}}"#,
            422,
            " \"\" is invalid: patch: Invalid value: \"map[metadata:map[finalizers:map[]]]\": cannot restore slice from map",
        ),
        (
            "{bad",
            400,
            "invalid character 'b' looking for beginning of object key string",
        ),
        (
            "[]",
            400,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let headers = [("content-type", "application/strategic-merge-patch+json")];
        let answer = api.send("PATCH", &path, &headers, change).await;
        assert_eq!(answer.refused(code), message, "{change}");
    }
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn duplicate_and_unknown_fields_of_patches_are_reported() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let before = api.server.revision();
    let body = r#"{"data":{"x":"1","x":"2"},"bogus":1}"#;
    let found = "duplicate field \"data.x\", unknown field \"bogus\"";
    for media_type in [
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ] {
        let headers = [("content-type", media_type)];
        let strict = format!("{path}?fieldValidation=Strict");
        let refused = api
            .send("PATCH", &strict, &headers, body)
            .await
            .refused(422);
        assert!(
            refused.ends_with(&format!("strict decoding error: {found}")),
            "{refused}"
        );
        assert_eq!(api.server.revision(), before);
        let ignored = format!("{path}?fieldValidation=Ignore&dryRun=All");
        let answer = api.send("PATCH", &ignored, &headers, body).await;
        assert!(!answer.headers.contains_key("warning"), "{answer:?}");
        let warned = format!("{path}?dryRun=All");
        let answer = api.send("PATCH", &warned, &headers, body).await;
        let warnings: Vec<_> = answer.headers.get_all("warning").iter().collect();
        assert_eq!(
            warnings,
            [
                "299 - \"duplicate field \\\"data.x\\\"\"",
                "299 - \"unknown field \\\"bogus\\\"\""
            ]
        );
        assert_eq!(answer.ok()["data"]["x"], "2");
    }
}

#[tokio::test]
async fn a_patch_of_a_missing_object_is_not_read() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/absent");
    let headers = [("content-type", "application/json-patch+json")];
    let answer = api.send("PATCH", &path, &headers, "{bad").await;
    assert_eq!(answer.refused(404), "configmaps \"absent\" not found");
}

/// Config maps and merge patches of their data.
fn data() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    prop::collection::vec(("[a-d]", prop::option::of("[x-z]{1,3}")), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A merge patch of the data is a map to which entries are added and from which they are taken.
    #[test]
    fn a_merge_patch_changes_an_object_like_a_map(first in data(), second in data()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let api = Api::new();
            let mut model = std::collections::BTreeMap::from([("k".to_owned(), "v".to_owned())]);
            api.config_map("a").await;
            for change in [first, second] {
                let mut body = serde_json::Map::new();
                for (key, value) in change {
                    match &value {
                        Some(value) => model.insert(key.clone(), value.clone()),
                        None => model.remove(&key),
                    };
                    body.insert(key, json!(value));
                }
                let path = format!("{CONFIG_MAPS}/a");
                let patched = api.merge(&path, &json!({"data": body})).await.ok();
                let expected = if model.is_empty() { Value::Null } else { json!(model) };
                prop_assert_eq!(&patched["data"], &expected);
                prop_assert_eq!(api.get(&path).await.ok(), patched);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_json_patch_goes_beyond_the_standard_as_a_real_server_does() {
    let api = Api::new();
    api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let changes = json!([
        {"op": "test", "path": "/data/none", "value": null},
        {"op": "replace", "path": "/data/l", "value": "1"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["a.com/a", "a.com/b"]},
        {"op": "remove", "path": "/metadata/finalizers/-1"},
    ]);
    let patched = api.json_patch(&path, &changes).await.ok();
    assert_eq!(patched["data"], json!({"k": "v", "l": "1"}));
    assert_eq!(patched["metadata"]["finalizers"], json!(["a.com/a"]));
}

#[tokio::test]
async fn only_the_first_document_of_a_stream_is_read() {
    let api = Api::new();
    let stream = "# first\n---\nmetadata: {name: a}\ndata: {k: v}\n---\nmetadata: {name: b}\n";
    let headers = [("content-type", "application/yaml")];
    let made = api.send("POST", CONFIG_MAPS, &headers, stream).await;
    assert_eq!(made.created()["data"], json!({"k": "v"}));
}

#[tokio::test]
async fn the_items_that_a_json_patch_moves_are_limited() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let list = vec!["a.example/b"; 6_000];
    let mut changes = vec![json!({"op": "add", "path": "/metadata/finalizers", "value": list})];
    for _ in 0..4_999 {
        changes
            .push(json!({"op": "add", "path": "/metadata/finalizers/0", "value": "a.example/c"}));
        changes.push(json!({"op": "remove", "path": "/metadata/finalizers/0"}));
    }
    let why = api.json_patch(&path, &json!(changes)).await.refused(413);
    assert!(why.contains("may move 50000000 items of lists"), "{why}");
}
