//! Scales of custom objects, whose replicas are where their definition says.

use serde_json::{Value, json};

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KITES: &str = "/apis/sky.example/v1/namespaces/default/kites";

fn version(name: &str, replicas: &str, is_stored: bool) -> Value {
    json!({
        "name": name, "served": true, "storage": is_stored,
        "subresources": {"status": {}, "scale": {
            "specReplicasPath": replicas,
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".spec.sel",
        }},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "replicas": {"type": "integer", "maximum": 5, "x-kubernetes-preserve-unknown-fields": true},
            }},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }}},
    })
}

async fn kites(versions: &[Value]) -> Api {
    let api = Api::new();
    let definition = json!({
        "metadata": {"name": "kites.sky.example"},
        "spec": {
            "group": "sky.example",
            "scope": "Namespaced",
            "names": {"plural": "kites", "kind": "Kite"},
            "versions": versions,
        },
    });
    api.post(DEFINITIONS, &definition).await.created();
    api
}

/// Creates a server with the kites `k`, which says nothing of replicas, and `z`, which wants none.
async fn two_kites() -> Api {
    let api = kites(&[version("v1", ".spec.replicas", true)]).await;
    api.post(KITES, &kite("k", &json!({}))).await.created();
    let spec = json!({"replicas": 0, "sel": "a=b"});
    api.post(KITES, &kite("z", &spec)).await.created();
    api
}

fn kite(name: &str, spec: &Value) -> Value {
    json!({"kind": "Kite", "apiVersion": "sky.example/v1", "metadata": {"name": name}, "spec": spec})
}

fn path(name: &str) -> String {
    format!("{KITES}/{name}/scale")
}

fn scale(name: &str, replicas: i64) -> Value {
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": name}, "spec": {"replicas": replicas},
    })
}

#[tokio::test(start_paused = true)]
async fn an_object_without_replicas_has_no_scale_until_it_is_set() {
    let api = two_kites().await;
    let none = api.get(&path("z")).await.ok();
    assert_eq!(
        (&none["spec"], &none["status"]),
        (&json!({}), &json!({"replicas": 0, "selector": "a=b"}))
    );
    assert_eq!(
        api.get(&path("k")).await.refused(500),
        "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist"
    );
    for patch in [json!({}), json!({"metadata": {"name": "k"}})] {
        assert_eq!(
            api.merge(&path("k"), &patch).await.refused(400),
            "the spec replicas field \".spec.replicas\" cannot be empty"
        );
    }
    let replicas = json!({"spec": {"replicas": 2}});
    let scaled = api.merge(&path("k"), &replicas).await.ok();
    assert_eq!(scaled["spec"], json!({"replicas": 2}));
    let kite = api.get(&format!("{KITES}/k")).await.ok();
    assert_eq!(kite["spec"], json!({"replicas": 2}));
    assert_eq!(kite["metadata"]["generation"], 2);
    let unchanged = api.merge(&path("k"), &json!({})).await.ok();
    assert_eq!(
        unchanged["metadata"]["resourceVersion"],
        kite["metadata"]["resourceVersion"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_scale_without_a_version_replaces_whatever_there_is() {
    let api = two_kites().await;
    let put = api.put(&path("k"), &scale("k", 2)).await.ok();
    assert_eq!(put["spec"], json!({"replicas": 2}));
    let mut stale = scale("k", 3);
    stale["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(
        api.put(&path("k"), &stale).await.refused(409),
        "Operation cannot be fulfilled on kites.sky.example \"k\": the object has been modified; please apply your \
         changes to the latest version and try again"
    );
    stale["metadata"]["resourceVersion"] = json!("0");
    assert_eq!(
        api.put(&path("k"), &stale).await.refused(422),
        "kites.sky.example \"k\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
    // Nothing said is none wanted.
    let empty = json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "k"}});
    api.put(&path("k"), &empty).await.ok();
    let kite = api.get(&format!("{KITES}/k")).await.ok();
    assert_eq!(kite["spec"], json!({"replicas": 0}));
}

#[tokio::test(start_paused = true)]
async fn the_object_is_validated_with_its_replicas() {
    let api = two_kites().await;
    for (replicas, why) in [
        (
            -1,
            "Kite.sky.example \"z\" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer",
        ),
        (
            9,
            "Kite.sky.example \"z\" is invalid: spec.replicas: Invalid value: 9: spec.replicas in body should be less \
             than or equal to 5",
        ),
    ] {
        let patch = json!({"spec": {"replicas": replicas}});
        assert_eq!(api.merge(&path("z"), &patch).await.refused(422), why);
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_another_type_has_no_scale() {
    let api = kites(&[version("v1", ".spec.size.count", true)]).await;
    let spec = json!({"size": "large"});
    let refused = api.post(KITES, &kite("k", &spec)).await.refused(422);
    let why = ".spec.size.count accessor error: large is of the type string, expected map[string]interface{}";
    assert!(refused.contains(why), "{refused}");
    let spec = json!({"size": {"count": 1}});
    api.post(KITES, &kite("k", &spec)).await.created();
    // As if it had been stored before there was a scale.
    let definition = format!("{DEFINITIONS}/kites.sky.example");
    let versions = |version: Value| json!({"spec": {"versions": [version]}});
    let mut without = version("v1", ".spec.size.count", true);
    without["subresources"] = json!({});
    api.merge(&definition, &versions(without)).await.ok();
    let text = json!({"spec": {"size": null}});
    api.merge(&format!("{KITES}/k"), &text).await.ok();
    let text = json!({"spec": {"size": "large"}});
    api.merge(&format!("{KITES}/k"), &text).await.ok();
    let with = version("v1", ".spec.size.count", true);
    api.merge(&definition, &versions(with)).await.ok();
    assert_eq!(api.get(&path("k")).await.refused(500), why);
    let replicas = json!({"spec": {"replicas": 2}});
    assert_eq!(api.merge(&path("k"), &replicas).await.refused(500), why);
}

/// Returns the owners of an object: manager, operation, subresource and fields of the specification.
fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let entries = entries.into_iter().flatten();
    let entries = entries.map(|entry| {
        let text = |field: &str| entry[field].as_str().unwrap_or("-");
        let (manager, operation, subresource) =
            (text("manager"), text("operation"), text("subresource"));
        let version = text("apiVersion");
        let fields = &entry["fieldsV1"]["f:spec"];
        format!("{manager} {operation} {subresource} {version} {fields}")
    });
    let mut owners: Vec<String> = entries.collect();
    owners.sort();
    owners
}

#[tokio::test(start_paused = true)]
async fn managers_of_each_version_own_the_replicas_where_it_has_them() {
    let api = kites(&[
        version("v1beta1", ".spec.count", false),
        version("v1", ".spec.replicas", true),
    ])
    .await;
    let beta = "/apis/sky.example/v1beta1/namespaces/default/kites/k";
    let config = json!({
        "kind": "Kite", "apiVersion": "sky.example/v1beta1",
        "metadata": {"name": "k"}, "spec": {"count": 1, "replicas": 1},
    });
    api.apply(&format!("{beta}?fieldManager=old"), config.to_string())
        .await
        .created();
    // In this version the replicas are somewhere else: their owner of the other one has the other field.
    let scaler = format!("{}?fieldManager=scaler", path("k"));
    assert_eq!(
        api.apply(&scaler, scale("k", 3).to_string())
            .await
            .refused(409),
        "Apply failed with 1 conflict: conflict with \"old\": .spec.replicas"
    );
    let forced = format!("{scaler}&force=true");
    api.apply(&forced, scale("k", 3).to_string()).await.ok();
    let kite = api.get(&format!("{KITES}/k")).await.ok();
    assert_eq!(
        owners(&kite),
        [
            r#"old Apply - sky.example/v1beta1 {"f:replicas":{}}"#,
            r#"scaler Apply scale sky.example/v1 {"f:replicas":{}}"#,
        ]
    );
    assert_eq!(kite["spec"], json!({"count": 1, "replicas": 3}));
}

#[tokio::test(start_paused = true)]
async fn null_in_maps_and_lists_becomes_the_default_of_their_values() {
    let api = Api::new();
    let size = json!({"type": "integer", "default": 3});
    let definition = json!({
        "metadata": {"name": "kites.sky.example"},
        "spec": {
            "group": "sky.example",
            "scope": "Namespaced",
            "names": {"plural": "kites", "kind": "Kite"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object",
                    "properties": {
                        "sizes": {"type": "object", "additionalProperties": size},
                        "parts": {"type": "array", "items": size},
                        "none": {"type": "object", "additionalProperties": {"type": "integer"}},
                        "some": {"type": "object", "additionalProperties": {"type": "integer", "nullable": true}},
                    },
                }}}},
            }],
        },
    });
    api.post(DEFINITIONS, &definition).await.created();
    let spec = json!({
        "sizes": {"a": null, "b": 1}, "parts": [null, 1], "none": {"a": null}, "some": {"a": null},
    });
    let made = api.post(KITES, &kite("k", &spec)).await.created();
    assert_eq!(
        made["spec"],
        json!({"sizes": {"a": 3, "b": 1}, "parts": [3, 1], "none": {}, "some": {"a": null}})
    );
}
