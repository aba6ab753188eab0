//! Cluster roles that get the rules of others.

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::Api;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const TO_VIEW: &str = "rbac.authorization.k8s.io/aggregate-to-view";

async fn rules(api: &Api, role: &str) -> Value {
    api.settle().await;
    api.get(&format!("{ROLES}/{role}")).await.ok()["rules"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_role_has_the_rules_of_those_that_it_selects() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    // Controllers work from the first request on.
    rules(&api, "view").await;
    let before = rules(&api, "view").await;
    let rule = json!({"apiGroups": ["e.io"], "resources": ["widgets"], "verbs": ["get"]});
    let part = json!({
        "metadata": {"name": "widgets", "labels": {TO_VIEW: "true"}},
        "rules": [rule],
    });
    api.post(ROLES, &part).await.created();
    let all: Vec<Value> = rules(&api, "view").await.as_array().unwrap().clone();
    assert!(all.contains(&rule), "{all:?}");
    // What `view` has, `edit` and `admin` have.
    for whole in ["edit", "admin"] {
        let rules = rules(&api, whole).await;
        assert!(
            rules.as_array().unwrap().contains(&rule),
            "{whole}: {rules}"
        );
    }
    let view = api.get(&format!("{ROLES}/view")).await.ok();
    let managers = view["metadata"]["managedFields"].as_array().unwrap();
    let ours = managers
        .iter()
        .find(|entry| entry["manager"] == "clusterrole-aggregation-controller")
        .unwrap();
    assert_eq!(ours["operation"], "Apply");
    assert_eq!(ours["fieldsV1"], json!({"f:rules": {}}));

    // A role counts as long as it is selected.
    for (label, expected) in [(Value::Null, json!(before)), (json!("true"), json!(all))] {
        let labels = json!({"metadata": {"labels": {TO_VIEW: label}}});
        api.merge(&format!("{ROLES}/widgets"), &labels).await.ok();
        assert_eq!(rules(&api, "view").await, expected);
    }
    api.delete(&format!("{ROLES}/widgets")).await.ok();
    assert_eq!(rules(&api, "view").await, before);
    // A role that is written by a client gets its rules back.
    api.merge(&format!("{ROLES}/view"), &json!({"rules": []}))
        .await
        .ok();
    assert_eq!(rules(&api, "view").await, before);
}
