//! `metadata.managedFields`, as writes through the API leave them.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, deployment};

/// Each manager with its subresource and what it owns.
fn managers(object: &Value) -> Vec<(String, Value)> {
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let described = |entry: &Value| {
        let manager = entry["manager"].as_str().unwrap();
        match entry["subresource"].as_str() {
            Some(subresource) => format!("{manager}/{subresource}"),
            None => manager.to_owned(),
        }
    };
    entries
        .iter()
        .map(|entry| (described(entry), entry["fieldsV1"].clone()))
        .collect()
}

fn owns(object: &Value, manager: &str) -> Value {
    let found = managers(object)
        .into_iter()
        .find(|(name, _)| name == manager);
    found.map(|(_, fields)| fields).unwrap_or_default()
}

#[tokio::test]
async fn the_manager_is_named_or_is_the_user_agent() {
    let api = Api::new();
    let agent = ("user-agent", "kubectl/v1.36.2 (linux/amd64)");
    let long_agent = format!("{}/v1", "a".repeat(200));
    for (query, headers, manager) in [
        ("?fieldManager=me", vec![agent], "me"),
        ("", vec![agent], "kubectl"),
        ("", vec![], "unknown"),
        ("", vec![("user-agent", &*long_agent)], &"a".repeat(128)),
    ] {
        let object = json!({"metadata": {"generateName": "x-"}});
        let path = format!("{CONFIG_MAPS}{query}");
        let created = api
            .send("POST", &path, &headers, object.to_string())
            .await
            .created();
        assert_eq!(managers(&created)[0].0, manager);
    }
}

#[tokio::test]
async fn a_field_belongs_to_its_last_writer() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let object = json!({"metadata": {"name": "a"}, "data": {"k": "1", "l": "1"}});
    api.post(&format!("{CONFIG_MAPS}?fieldManager=first"), &object)
        .await
        .created();
    let second = format!("{path}?fieldManager=second");
    let object = api
        .merge(&second, &json!({"data": {"k": "2", "l": "1", "m": "3"}}))
        .await
        .ok();
    assert_eq!(
        owns(&object, "first"),
        json!({"f:data": {".": {}, "f:l": {}}})
    );
    assert_eq!(
        owns(&object, "second"),
        json!({"f:data": {"f:k": {}, "f:m": {}}})
    );
    let object = api
        .merge(&second, &json!({"data": {"l": null, "m": null}}))
        .await
        .ok();
    assert_eq!(owns(&object, "first"), json!({"f:data": {}}));
    let object = api.merge(&second, &json!({"data": null})).await.ok();
    assert_eq!(managers(&object), []);
    // An update of an unmanaged object records no manager.
    let object = api.merge(&second, &json!({"data": {"z": "1"}})).await.ok();
    assert_eq!(managers(&object), []);
}

#[tokio::test]
async fn status_has_managers_of_its_own() {
    let api = Api::new();
    api.post(
        &format!("{DEPLOYMENTS}?fieldManager=user"),
        &deployment("d"),
    )
    .await
    .created();
    let path = format!("{DEPLOYMENTS}/d/status?fieldManager=controller");
    let object = api
        .merge(
            &path,
            &json!({"status": {"replicas": 1}, "spec": {"replicas": 7}}),
        )
        .await
        .ok();
    assert_eq!(
        owns(&object, "controller/status"),
        json!({"f:status": {"f:replicas": {}}})
    );
    let containers = &owns(&object, "user")["f:spec"]["f:template"]["f:spec"]["f:containers"];
    assert_eq!(containers["k:{\"name\":\"c\"}"]["f:image"], json!({}));
    let times = object["metadata"]["managedFields"].as_array().unwrap();
    assert!(
        times
            .iter()
            .all(|entry| entry["time"] == "2026-01-01T00:00:00Z")
    );
}

#[tokio::test]
async fn a_list_of_one_empty_entry_clears_them() {
    let api = Api::new();
    api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let object = api
        .merge(&path, &json!({"metadata": {"managedFields": [{}]}}))
        .await
        .ok();
    assert_eq!(managers(&object), []);
}

#[tokio::test]
async fn managers_are_reset_for_ambiguous_items_or_on_request() {
    let api = Api::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "a"}, "secrets": [{"name": ""}]});
    assert_eq!(managers(&api.post(accounts, &account).await.created()), []);

    let map = json!({"metadata": {"name": "m", "managedFields": [{}]}, "data": {"k": "v"}});
    let made = api.post(CONFIG_MAPS, &map).await.created();
    assert_eq!(managers(&made).len(), 1);
    for none in [json!([]), json!([{}])] {
        let mut reset = made.clone();
        reset["metadata"]["managedFields"] = none;
        let path = format!("{CONFIG_MAPS}/m?dryRun=All");
        assert_eq!(managers(&api.put(&path, &reset).await.ok()), []);
    }
}

#[tokio::test]
async fn items_that_are_there_twice_are_owned_without_their_parts() {
    let api = Api::new();
    let mut twice = deployment("d");
    let port = json!({"containerPort": 80});
    twice["spec"]["template"]["spec"]["containers"][0]["ports"] = json!([port, port]);
    let made = api.post(DEPLOYMENTS, &twice).await.created();
    let owned = &owns(&made, "unknown")["f:spec"]["f:template"]["f:spec"]["f:containers"];
    let owned = owned.as_object().unwrap().values().next().unwrap();
    assert_eq!(
        owned["f:ports"],
        json!({".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {}})
    );
}
