//! Answers of webhooks that change objects, and deletions as webhooks see them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::{
    support::{CONFIG_MAPS, PODS, pod},
    webhooks::{MUTATING, config_map, configure_one, patched, seen, serving},
};

#[tokio::test(start_paused = true)]
async fn a_patch_that_does_not_apply_says_why() {
    const CALL: &str = "Internal error occurred: failed calling webhook \"p.example.com\": ";
    let internal = |why: &str| format!("Internal error occurred: {why}");
    let undecodable =
        |why: &str| format!("{CALL}received undecodable patch in webhook response: {why}");
    let json_patch =
        |patch: &str| json!({"patchType": "JSONPatch", "patch": STANDARD.encode(patch)});
    let add = r#"[{"op":"add","path":"/metadata/annotations/foo","value":"bar"}]"#;
    let cases = [
        (
            json_patch(add),
            internal(
                "add operation does not apply: doc is missing path: \"/metadata/annotations/foo\": missing value",
            ),
        ),
        (
            json_patch(r#"[{"op":"replace","path":"/metadata/annotations/foo","value":"bar"}]"#),
            internal(
                "replace operation does not apply: doc is missing path: /metadata/annotations/foo: missing value",
            ),
        ),
        (
            json_patch(r#"[{"op":"replace","path":"/kind","value":"Secret"}]"#),
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion".to_owned(),
        ),
        (
            json_patch(r#"[{"op":"replace","path":"/kind","value":"Nonsense"}]"#),
            internal(
                "no kind \"Nonsense\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
            ),
        ),
        (
            json_patch(r#"[{"op":"add","path":"/data","value":{"n":1}}]"#),
            internal(
                "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
        ),
        (
            json_patch("not json"),
            undecodable("invalid character 'o' in literal null (expecting 'u')"),
        ),
        (
            json_patch(r#"{"a":1}"#),
            undecodable("json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ),
        (
            json_patch("[1]"),
            undecodable("json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
        ),
        (
            json!({"patchType": "MergePatch", "patch": STANDARD.encode(add)}),
            format!("{CALL}unsupported patch type \"MergePatch\""),
        ),
        (
            json!({"patchType": "MergePatch", "patch": STANDARD.encode("{}")}),
            undecodable("json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ),
        (
            json!({"patchType": "JSONPatch", "patch": "!!!"}),
            format!("{CALL}failed to call webhook: illegal base64 data at input byte 0"),
        ),
        (
            json!({"patch": "W10="}),
            format!(
                "{CALL}received invalid webhook response: webhook returned response.patch but not response.patchType"
            ),
        ),
    ];
    for (response, why) in cases {
        let mut response = response;
        response["allowed"] = json!(true);
        let (api, _) = serving("/p", move |_| response.clone());
        configure_one(&api, MUTATING, "p.example.com", &["configmaps"]).await;
        let answer = api.post(CONFIG_MAPS, &config_map("a")).await;
        assert_eq!(answer.refused(500), why);
    }
    // A patch of no operations is none, whatever its type.
    let none = json!({"allowed": true, "patchType": "MergePatch", "patch": "W10="});
    let (api, _) = serving("/p", move |_| none.clone());
    configure_one(&api, MUTATING, "p.example.com", &["configmaps"]).await;
    api.post(CONFIG_MAPS, &config_map("a")).await.created();
}

#[tokio::test(start_paused = true)]
async fn a_review_of_a_deletion_has_the_options_that_the_registry_has_completed() {
    let (api, recorder) = seen().await;
    api.config_map("a").await;
    api.post(PODS, &pod("p", "n")).await.created();
    let space = json!({"metadata": {"name": "space"}});
    let space = api.post("/api/v1/namespaces", &space).await.created();
    recorder.take();
    let map = &format!("{CONFIG_MAPS}/a");
    let (pod, space_path) = (&format!("{PODS}/p"), "/api/v1/namespaces/space");
    for (path, sent, seen) in [
        (
            map.as_str(),
            json!({"orphanDependents": true}),
            json!({"orphanDependents": true}),
        ),
        (
            map,
            json!({"gracePeriodSeconds": -7}),
            json!({"gracePeriodSeconds": 1}),
        ),
        (
            CONFIG_MAPS,
            json!({"gracePeriodSeconds": -7}),
            json!({"gracePeriodSeconds": -7}),
        ),
        (pod, json!({}), json!({"gracePeriodSeconds": 30})),
        (
            pod,
            json!({"gracePeriodSeconds": 4}),
            json!({"gracePeriodSeconds": 4}),
        ),
        (
            space_path,
            json!({"propagationPolicy": "Orphan"}),
            json!({
                "propagationPolicy": "Orphan",
                "preconditions": {"uid": space["metadata"]["uid"]},
            }),
        ),
    ] {
        let mut sent = sent;
        sent["dryRun"] = json!(["All"]);
        let mut expected = seen;
        expected["dryRun"] = json!(["All"]);
        expected["kind"] = json!("DeleteOptions");
        expected["apiVersion"] = json!("meta.k8s.io/v1");
        api.delete_with(path, &sent).await;
        let reviews = recorder.take();
        assert_eq!(reviews[0]["options"], expected, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_without_effect_is_not_reviewed() {
    let (api, recorder) = seen().await;
    api.post(PODS, &pod("p", "n")).await.created();
    let space = json!({"metadata": {"name": "space"}});
    api.post("/api/v1/namespaces", &space).await.created();
    let path = format!("{PODS}/p");
    for path in [path.as_str(), "/api/v1/namespaces/space"] {
        recorder.take();
        api.delete(path).await;
        assert_eq!(recorder.take().len(), 1, "{path}");
        api.delete(path).await;
        assert_eq!(recorder.take().len(), 0, "{path} terminates already");
    }
    api.delete_with(&path, &json!({"gracePeriodSeconds": 1}))
        .await;
    assert_eq!(recorder.take().len(), 1, "a shorter period has an effect");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_cannot_take_its_name_from_a_namespace() {
    let patch = json!([{"op": "replace", "path": "/metadata/labels", "value": {"a": "b"}}]);
    let (api, _) = serving("/strip", move |_| patched(&patch));
    configure_one(&api, MUTATING, "strip.example.com", &["namespaces"]).await;
    let labels = json!({"a": "b", "kubernetes.io/metadata.name": "space"});
    let space = json!({"metadata": {"name": "space", "labels": {"c": "d"}}});
    let made = api.post("/api/v1/namespaces", &space).await.created();
    assert_eq!(made["metadata"]["labels"], labels);
    let put = api.put("/api/v1/namespaces/space", &space).await.ok();
    assert_eq!(put["metadata"]["labels"], labels);
}
