//! Dependents of deleted owners: background, foreground and orphan deletion.

use std::time::Duration;

use fakeserver::Controllers;
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, deployment, pod};

const NODES: &str = "/api/v1/nodes";

/// A reference to an object as an owner that waits for what it owns.
fn owner(api_version: &str, kind: &str, object: &Value) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

async fn owned(api: &Api, name: &str, owners: &[Value]) -> Value {
    let object = json!({"metadata": {"name": name, "ownerReferences": owners}});
    api.post(CONFIG_MAPS, &object).await.created()
}

async fn names(api: &Api, collection: &str) -> Vec<String> {
    let list = api.get(collection).await.ok();
    let items = list["items"].as_array().unwrap().iter();
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.map(name).collect()
}

/// A deployment `d` that owns `child`, which owns `grandchild`.
async fn family(api: &Api) {
    let top = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let child = owned(api, "child", &[owner("apps/v1", "Deployment", &top)]).await;
    owned(api, "grandchild", &[owner("v1", "ConfigMap", &child)]).await;
}

#[tokio::test(start_paused = true)]
async fn dependents_are_deleted_after_their_owner() {
    let api = Api::new();
    family(&api).await;
    api.config_map("other").await;
    api.settle().await;
    assert_eq!(
        names(&api, CONFIG_MAPS).await,
        ["child", "grandchild", "other"]
    );
    api.delete(&format!("{DEPLOYMENTS}/d")).await.ok();
    assert_eq!(names(&api, DEPLOYMENTS).await, [""; 0]);
    assert_eq!(
        names(&api, CONFIG_MAPS).await,
        ["child", "grandchild", "other"]
    );
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, ["other"]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_deleted_in_the_foreground_goes_last() {
    let api = Api::new();
    family(&api).await;
    let before = api.server.revision();
    let path = format!("{DEPLOYMENTS}/d?propagationPolicy=Foreground");
    let marked = api.delete(&path).await.ok();
    assert_eq!(
        marked["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
    assert_eq!(names(&api, DEPLOYMENTS).await, [""; 0]);
    let gone = |group, resource, name| {
        let history = api.server.history(group, "v1", resource, before);
        let mut deletions = history.iter().filter(|change| change.after().is_none());
        let change = deletions.find(|change| change.before().unwrap().name() == name);
        change.unwrap().revision()
    };
    let child = gone("", "configmaps", "child");
    assert!(gone("", "configmaps", "grandchild") < child);
    assert!(child < gone("apps", "deployments", "d"));
}

#[tokio::test(start_paused = true)]
async fn an_owner_does_not_wait_for_unblocking_dependents() {
    let api = Api::new();
    let top = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let mut reference = owner("apps/v1", "Deployment", &top);
    reference["blockOwnerDeletion"] = json!(false);
    let object = json!({"metadata": {
        "name": "held", "ownerReferences": [reference], "finalizers": ["example.com/f"],
    }});
    api.post(CONFIG_MAPS, &object).await.created();
    api.delete(&format!("{DEPLOYMENTS}/d?propagationPolicy=Foreground"))
        .await
        .ok();
    api.settle().await;
    assert_eq!(names(&api, DEPLOYMENTS).await, [""; 0]);
    let held = api.get(&format!("{CONFIG_MAPS}/held")).await.ok();
    assert!(held["metadata"]["deletionTimestamp"].is_string());
}

#[tokio::test(start_paused = true)]
async fn an_owner_waits_for_blocking_dependents() {
    let api = Api::new();
    let top = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let object = json!({"metadata": {
        "name": "held",
        "ownerReferences": [owner("apps/v1", "Deployment", &top)],
        "finalizers": ["example.com/f"],
    }});
    api.post(CONFIG_MAPS, &object).await.created();
    api.delete(&format!("{DEPLOYMENTS}/d?propagationPolicy=Foreground"))
        .await
        .ok();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(names(&api, DEPLOYMENTS).await, ["d"]);
    let held = format!("{CONFIG_MAPS}/held");
    api.merge(&held, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
    assert_eq!(names(&api, DEPLOYMENTS).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_name_no_owner() {
    let api = Api::new();
    family(&api).await;
    let path = format!("{DEPLOYMENTS}/d?propagationPolicy=Orphan");
    api.delete(&path).await.ok();
    api.settle().await;
    assert_eq!(names(&api, DEPLOYMENTS).await, [""; 0]);
    assert_eq!(names(&api, CONFIG_MAPS).await, ["child", "grandchild"]);
    let child = api.get(&format!("{CONFIG_MAPS}/child")).await.ok();
    assert!(
        child["metadata"].get("ownerReferences").is_none(),
        "{child}"
    );
    let managers = child["metadata"]["managedFields"].to_string();
    assert!(!managers.contains("ownerReferences"), "{managers}");
}

#[tokio::test(start_paused = true)]
async fn one_owner_that_is_there_is_enough_and_the_others_are_forgotten() {
    let api = Api::new();
    let first = api.config_map("first").await;
    let second = api.config_map("second").await;
    let owners = [
        owner("v1", "ConfigMap", &first),
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "second",
            "uid": second["metadata"]["uid"],
        }),
    ];
    owned(&api, "child", &owners).await;
    api.delete(&format!("{CONFIG_MAPS}/first")).await.ok();
    api.settle().await;
    let child = api.get(&format!("{CONFIG_MAPS}/child")).await.ok();
    assert_eq!(child["metadata"]["ownerReferences"], json!([owners[1]]));
    api.delete(&format!("{CONFIG_MAPS}/second")).await.ok();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_another_uid_or_namespace_does_not_count() {
    let api = Api::new();
    let mut first = api.config_map("first").await;
    owned(&api, "kept", &[owner("v1", "ConfigMap", &first)]).await;
    first["metadata"]["uid"] = json!("another");
    owned(&api, "gone", &[owner("v1", "ConfigMap", &first)]).await;
    let elsewhere = json!({"metadata": {"name": "elsewhere"}});
    let elsewhere = api
        .post("/api/v1/namespaces/kube-system/configmaps", &elsewhere)
        .await
        .created();
    owned(&api, "gone-too", &[owner("v1", "ConfigMap", &elsewhere)]).await;
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, ["first", "kept"]);
}

#[tokio::test(start_paused = true)]
async fn owners_may_be_objects_of_the_cluster_but_not_the_other_way_round() {
    let api = Api::new();
    let node = json!({"metadata": {"name": "n"}});
    let node = api.post(NODES, &node).await.created();
    owned(&api, "child", &[owner("v1", "Node", &node)]).await;
    let map = api.config_map("map").await;
    let mut odd = json!({"metadata": {"name": "odd"}});
    odd["metadata"]["ownerReferences"] = json!([owner("v1", "ConfigMap", &map)]);
    api.post(NODES, &odd).await.created();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, ["child", "map"]);
    api.delete(&format!("{NODES}/n")).await.ok();
    api.delete(&format!("{CONFIG_MAPS}/map")).await.ok();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
    assert_eq!(names(&api, NODES).await, ["odd"], "nobody can tell");
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_a_kind_that_comes_later_is_waited_for() {
    let api = Api::new();
    let reference = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "none",
    });
    owned(&api, "child", &[reference]).await;
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, ["child"]);
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    api.post(definitions, &definition).await.created();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn owners_in_a_circle_go_together() {
    let api = Api::new();
    let a = api.config_map("a").await;
    let b = owned(&api, "b", &[owner("v1", "ConfigMap", &a)]).await;
    let change = json!({"metadata": {"ownerReferences": [owner("v1", "ConfigMap", &b)]}});
    api.merge(&format!("{CONFIG_MAPS}/a"), &change).await.ok();
    api.delete(&format!("{CONFIG_MAPS}/a?propagationPolicy=Foreground"))
        .await
        .ok();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_pod_on_a_node_is_given_its_time_by_the_collector_too() {
    let api = Api::new();
    let top = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let mut on_node = pod("p", "n");
    on_node["metadata"]["ownerReferences"] = json!([owner("apps/v1", "Deployment", &top)]);
    let pods = "/api/v1/namespaces/default/pods";
    api.post(pods, &on_node).await.created();
    api.delete(&format!("{DEPLOYMENTS}/d")).await.ok();
    api.settle().await;
    let stopping = api.get(&format!("{pods}/p")).await.ok();
    assert_eq!(stopping["metadata"]["deletionGracePeriodSeconds"], 30);
}

#[tokio::test(start_paused = true)]
async fn without_the_collector_nothing_is_collected() {
    let api = Api::with(Controllers::default().with_garbage_collector(false));
    family(&api).await;
    api.delete(&format!("{DEPLOYMENTS}/d?propagationPolicy=Foreground"))
        .await
        .ok();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(names(&api, DEPLOYMENTS).await, ["d"]);
    assert_eq!(names(&api, CONFIG_MAPS).await, ["child", "grandchild"]);
}

#[tokio::test(start_paused = true)]
async fn a_reset_server_collects_again() {
    let api = Api::new();
    family(&api).await;
    api.server.reset();
    family(&api).await;
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, ["child", "grandchild"]);
    api.delete(&format!("{DEPLOYMENTS}/d")).await.ok();
    api.settle().await;
    assert_eq!(names(&api, CONFIG_MAPS).await, [""; 0]);
    assert_eq!(api.server.stats().unseen_changes, 0);
}

#[tokio::test(start_paused = true)]
async fn an_owner_in_another_namespace_is_reported() {
    let api = Api::new();
    let namespace = json!({"metadata": {"name": "n"}});
    api.post("/api/v1/namespaces", &namespace).await.created();
    let there = json!({"metadata": {"name": "there"}});
    let there = api
        .post("/api/v1/namespaces/n/configmaps", &there)
        .await
        .created();
    let uid = there["metadata"]["uid"].as_str().unwrap().to_owned();
    owned(&api, "child", &[owner("v1", "ConfigMap", &there)]).await;
    let node = json!({"metadata": {"name": "node", "ownerReferences": [owner("v1", "ConfigMap", &there)]}});
    api.post(NODES, &node).await.created();
    api.settle().await;
    assert!(!names(&api, CONFIG_MAPS).await.contains(&"child".to_owned()));
    assert_eq!(names(&api, NODES).await, ["node"]);
    let events = api.get("/api/v1/namespaces/default/events").await.ok();
    let events = events["items"].as_array().unwrap().iter();
    let messages: Vec<String> = events
        .map(|event| {
            assert_eq!(event["reason"], "OwnerRefInvalidNamespace");
            assert_eq!(event["type"], "Warning");
            assert_eq!(
                event["source"],
                json!({"component": "garbage-collector-controller"})
            );
            let about = &event["involvedObject"];
            let message = event["message"].as_str().unwrap().replace(&uid, "UID");
            format!("{} {}: {message}", about["apiVersion"], about["kind"])
        })
        .collect();
    let expected = [
        "\"v1\" \"ConfigMap\": ownerRef [v1/ConfigMap, namespace: default, name: there, uid: UID] does not exist in \
         namespace \"default\"",
        "\"v1\" \"Node\": ownerRef [v1/ConfigMap, namespace: , name: there, uid: UID] does not exist in namespace \"\"",
    ];
    assert_eq!(messages, expected);
}
