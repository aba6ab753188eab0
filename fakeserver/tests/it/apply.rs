//! Server-side apply through the API.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, deployment, version, warnings};

fn config_map(data: &Value) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
        .to_string()
}

fn path(query: &str) -> String {
    format!("{CONFIG_MAPS}/a?fieldManager=me{query}")
}

#[tokio::test]
async fn a_configuration_is_yaml() {
    let api = Api::new();
    let yaml = "# a comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: |\n    two\n    lines\n";
    let created = api.apply(&path(""), yaml).await.created();
    assert_eq!(created["data"], json!({"k": "two\nlines\n"}));
    let entry = &created["metadata"]["managedFields"][0];
    assert_eq!(
        (&entry["manager"], &entry["operation"]),
        (&json!("me"), &json!("Apply"))
    );
    assert_eq!(
        created["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn the_version_changes_with_the_object_only() {
    let api = Api::new();
    let config = config_map(&json!({"k": "v"}));
    let created = api.apply(&path(""), &*config).await.created();
    assert_eq!(api.apply(&path(""), &*config).await.ok(), created);
    let shared = format!("{CONFIG_MAPS}/a?fieldManager=other");
    // The field has another owner now, too, and that is stored.
    let shared = api.apply(&shared, &*config).await.ok();
    assert!(version(&shared) > version(&created));
    let tried = config_map(&json!({"k": "w"}));
    let tried = api.apply(&path("&dryRun=All&force=true"), tried).await.ok();
    assert_eq!(tried["data"], json!({"k": "w"}));
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.ok(), shared);
}

#[tokio::test]
async fn a_key_that_is_there_twice() {
    let api = Api::new();
    let twice = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n  k: w\n";
    let why = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"k\" \
               already set in map";
    assert_eq!(
        api.apply(&path("&fieldValidation=Strict"), twice)
            .await
            .refused(400),
        why
    );
    api.get(&format!("{CONFIG_MAPS}/a")).await.refused(404);
    let created = api.apply(&path(""), twice).await;
    assert_eq!(
        warnings(&created),
        ["299 - \"line 7: key \\\"k\\\" already set in map\""]
    );
    assert_eq!(created.created()["data"], json!({"k": "w"}));
}

#[tokio::test]
async fn bodies_that_are_no_configuration() {
    let api = Api::new();
    for (body, code, why) in [
        ("", 400, "invalid object type: /, Kind="),
        (
            "[1]",
            400,
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array \
            into Go value of type map[string]interface {}",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "Secret"}"#,
            400,
            "invalid object type: /v1, Kind=Secret",
        ),
        (
            r#"{"apiVersion": "apps/v1", "kind": "ConfigMap"}"#,
            400,
            "invalid object type: apps/v1, Kind=ConfigMap",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "ConfigMap"}"#,
            400,
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "other"}}"#,
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "1"}}"#,
            409,
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid 1, and \
             no existing object was found",
        ),
        (
            r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": 1}"#,
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{1}",
        ),
    ] {
        assert_eq!(api.apply(&path(""), body).await.refused(code), why);
    }
    let broken = api.apply(&path(""), "a: [").await.refused(400);
    assert_eq!(
        broken,
        "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content"
    );
    api.get(&format!("{CONFIG_MAPS}/a")).await.refused(404);
}

#[tokio::test]
async fn status_is_applied_through_its_own_endpoint() {
    let api = Api::new();
    let object = format!("{DEPLOYMENTS}/d");
    let status = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "labels": {"a": "b"}},
        "spec": {"replicas": 7}, "status": {"replicas": 3},
    });
    let through_status = format!("{object}/status?fieldManager=me");
    api.apply(&through_status, status.to_string())
        .await
        .refused(404);
    api.post(DEPLOYMENTS, &deployment("d")).await.created();

    let changed = api.apply(&through_status, status.to_string()).await.ok();
    assert_eq!(changed["spec"]["replicas"], 1);
    assert_eq!(changed["status"], json!({"replicas": 3}));
    assert_eq!(changed["metadata"].get("labels"), None);
    let entry = &changed["metadata"]["managedFields"][0];
    assert_eq!(entry["subresource"], "status");
    assert_eq!(entry["fieldsV1"], json!({"f:status": {"f:replicas": {}}}));

    let config = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "labels": {"a": "b"}},
        "status": {"replicas": 9},
    });
    let through_object = format!("{object}?fieldManager=me");
    let changed = api.apply(&through_object, config.to_string()).await.ok();
    assert_eq!(changed["status"], json!({"replicas": 3}));
    assert_eq!(changed["metadata"]["labels"], json!({"a": "b"}));
}

#[tokio::test]
async fn an_update_takes_fields_from_their_applier() {
    let api = Api::new();
    api.apply(&path(""), config_map(&json!({"k": "v", "l": "v"})))
        .await
        .created();
    let update = format!("{CONFIG_MAPS}/a?fieldManager=updater");
    api.merge(&update, &json!({"data": {"k": "w"}})).await.ok();
    let config = config_map(&json!({"k": "v"}));
    assert_eq!(
        api.apply(&path(""), &*config).await.refused(409),
        "Apply failed with 1 conflict: conflict with \"updater\" using v1: .data.k"
    );
    let forced = api.apply(&path("&force=true"), config).await.ok();
    assert_eq!(forced["data"], json!({"k": "v"}));
    assert_eq!(
        forced["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn only_an_apply_is_forced() {
    let api = Api::new();
    api.config_map("a").await;
    let forced = format!("{CONFIG_MAPS}/a?force=true");
    assert_eq!(
        api.merge(&forced, &json!({})).await.refused(422),
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    let unnamed = format!("{CONFIG_MAPS}/a?force=true");
    assert_eq!(
        api.apply(&unnamed, config_map(&json!({})))
            .await
            .refused(422),
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
}

#[tokio::test]
async fn the_lists_of_a_custom_resource_merge_by_their_list_type() {
    let api = Api::new();
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object",
                    "properties": {
                        "parts": {
                            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                            "items": {"type": "object", "required": ["id"], "properties": {
                                "id": {"type": "string"}, "size": {"type": "integer"},
                            }},
                        },
                    },
                }}}},
            }],
        },
    });
    api.post(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &definition,
    )
    .await
    .created();
    let path = |manager| {
        format!("/apis/example.com/v1/namespaces/default/widgets/w?fieldManager={manager}")
    };
    let widget = |spec: Value| {
        let metadata = json!({"name": "w", "labels": {"a": "b"}});
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec}).to_string()
    };
    let one = widget(json!({"parts": [{"id": "a", "size": 1}]}));
    api.apply(&path("one"), one).await.created();
    let two = widget(json!({"parts": [{"id": "b"}]}));
    let both = api.apply(&path("two"), two).await.ok();
    assert_eq!(
        both["spec"]["parts"],
        json!([{"id": "a", "size": 1}, {"id": "b"}])
    );
    assert_eq!(
        both["metadata"]["managedFields"][0]["fieldsV1"],
        json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {"f:parts": {"k:{\"id\":\"a\"}": {".": {}, "f:id": {}, "f:size": {}}}},
        })
    );
    let unknown = widget(json!({"bogus": 1}));
    assert_eq!(
        api.apply(&path("two"), unknown).await.refused(500),
        "failed to create typed patch object (/w; example.com/v1, Kind=Widget): .spec.bogus: field not declared in schema"
    );
    let nothing =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
            .to_string();
    let left = api.apply(&path("one"), nothing).await.ok();
    assert_eq!(left["spec"], json!({"parts": [{"id": "b"}]}));
}

fn scale(replicas: i64) -> String {
    json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"},
        "spec": {"replicas": replicas},
    })
    .to_string()
}

/// Returns the owners: manager, operation, subresource, and whether the replicas are among the fields.
fn owners(object: &Value) -> Vec<(&str, &str, &str, bool)> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| {
            (
                entry["manager"].as_str().unwrap(),
                entry["operation"].as_str().unwrap(),
                entry["subresource"].as_str().unwrap_or_default(),
                !entry["fieldsV1"]["f:spec"]["f:replicas"].is_null(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_scale_is_applied_like_an_object() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let mut wanted = deployment("d");
    wanted["apiVersion"] = "apps/v1".into();
    wanted["kind"] = "Deployment".into();
    wanted["spec"]["replicas"] = json!(2);
    api.apply(&format!("{path}?fieldManager=owner"), wanted.to_string())
        .await
        .created();
    let scaler = format!("{path}/scale?fieldManager=scaler");
    let why = api.apply(&scaler, scale(5)).await.refused(409);
    assert!(
        why.contains("conflict with \"owner\"") && why.contains(".spec.replicas"),
        "{why}"
    );
    assert_eq!(api.get(&path).await.ok()["spec"]["replicas"], json!(2));

    let forced = api
        .apply(&format!("{scaler}&force=true"), scale(5))
        .await
        .ok();
    assert_eq!(forced["kind"], json!("Scale"));
    assert_eq!(forced["spec"]["replicas"], json!(5));
    let stored = api.get(&path).await.ok();
    assert_eq!(stored["spec"]["replicas"], json!(5));
    assert_eq!(
        owners(&stored),
        [
            ("scaler", "Apply", "scale", true),
            ("owner", "Apply", "", false)
        ]
    );
    assert_eq!(
        stored["metadata"]["managedFields"][0]["apiVersion"],
        json!("apps/v1")
    );

    // What says the same again changes nothing, and what leaves it out gives it up without changing it.
    assert_eq!(
        version(&api.apply(&scaler, scale(5)).await.ok()),
        version(&stored)
    );
    let why = api.apply(&scaler, scale(-1)).await.refused(422);
    assert!(why.contains("must be greater than or equal to 0"), "{why}");
    wanted["spec"].as_object_mut().unwrap().remove("replicas");
    let applied = api
        .apply(&format!("{path}?fieldManager=owner"), wanted.to_string())
        .await
        .ok();
    assert_eq!(applied["spec"]["replicas"], json!(5));
}

#[tokio::test]
async fn a_part_of_a_pod_is_applied_through_its_endpoint() {
    let api = Api::new();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = |image: &str, cpu: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}},
            "spec": {"containers": [
                {"name": "c", "image": image, "resources": {"requests": {"cpu": cpu}}},
            ]},
        })
        .to_string()
    };
    api.apply(&format!("{pods}/p?fieldManager=owner"), pod("i:1", "1"))
        .await
        .created();
    let resized = api
        .apply(
            &format!("{pods}/p/resize?fieldManager=sizer&force=true"),
            pod("i:2", "2"),
        )
        .await
        .ok();
    let container = &resized["spec"]["containers"][0];
    assert_eq!(
        (
            &container["image"],
            &container["resources"]["requests"]["cpu"]
        ),
        (&json!("i:1"), &json!("2"))
    );
    let entries = resized["metadata"]["managedFields"].as_array().unwrap();
    let sizer = entries
        .iter()
        .find(|entry| entry["manager"] == "sizer")
        .unwrap();
    assert_eq!(sizer["fieldsV1"]["f:metadata"], Value::Null);
    assert_eq!(
        sizer["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"]["f:image"],
        Value::Null
    );
}
