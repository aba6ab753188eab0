//! PATCH.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, version};

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
    let merge = "application/merge-patch+json";
    let json_patch = "application/json-patch+json";
    let rejected = "the server rejected our request due to an error in our request";
    for (media_type, body, code, message) in [
        (
            merge,
            "{bad",
            400,
            "error decoding patch: invalid character 'b' looking for beginning of object key string",
        ),
        (merge, "[]", 400, "error decoding patch: Invalid JSON Patch"),
        (
            json_patch,
            "{}",
            400,
            "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch",
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
    let forced = format!("{path}?force=true");
    assert_eq!(
        api.merge(&forced, &json!({})).await.refused(422),
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    api.merge(&format!("{CONFIG_MAPS}/absent"), &json!({}))
        .await
        .refused(404);
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn a_patch_that_makes_no_object_shows_what_it_made() {
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

/// Config maps and merge patches of their data.
fn data() -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    prop::collection::vec(("[a-d]", prop::option::of("[x-z]{1,3}")), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A merge patch of the data is a map to which entries are added and from which they are taken.
    #[test]
    fn a_merge_patch_is_what_it_is_to_a_map(first in data(), second in data()) {
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
