//! The API services of the versions that definitions serve.

use fakeserver::FakeServer;
use serde_json::{Value, json};

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

fn definition(versions: &[(&str, bool)]) -> Value {
    let versions = versions
        .iter()
        .enumerate()
        .map(|(index, (name, is_served))| {
            json!({
                "name": name,
                "served": is_served,
                "storage": index == 0,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            })
        });
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

async fn custom(api: &Api) -> Vec<String> {
    api.settle().await;
    let list = api.get(SERVICES).await.ok();
    let names = list["items"].as_array().unwrap().iter();
    names
        .map(|service| service["metadata"]["name"].as_str().unwrap().to_owned())
        .filter(|name| name.ends_with(".example.com"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn each_served_version_has_an_api_service() {
    let api = Api::new();
    let both = definition(&[("v1", true), ("v2", true), ("v3", false)]);
    api.post(DEFINITIONS, &both).await.created();
    assert_eq!(custom(&api).await, ["v1.example.com", "v2.example.com"]);
    let service = api.get(&format!("{SERVICES}/v1.example.com")).await.ok();
    assert_eq!(
        service["metadata"]["labels"],
        json!({"kube-aggregator.kubernetes.io/automanaged": "true"})
    );
    let spec = json!({
        "group": "example.com",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 100,
    });
    assert_eq!(service["spec"], spec);
    let condition = &service["status"]["conditions"][0];
    assert_eq!(condition["reason"], "Local");
    assert_eq!(condition["status"], "True");

    let path = format!("{DEFINITIONS}/widgets.example.com");
    let mut changed = api.get(&path).await.ok();
    changed["spec"]["versions"][1]["served"] = json!(false);
    api.put(&path, &changed).await.ok();
    assert_eq!(custom(&api).await, ["v1.example.com"]);
    api.delete(&path).await.ok();
    assert_eq!(custom(&api).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_needed_api_service_comes_back_and_those_of_users_stay() {
    let api = Api::new();
    let own = json!({
        "metadata": {"name": "v2.example.com"},
        "spec": {
            "group": "example.com",
            "version": "v2",
            "groupPriorityMinimum": 7,
            "versionPriority": 7,
            "service": {"namespace": "default", "name": "own"},
        },
    });
    api.post(SERVICES, &own).await.created();
    let both = definition(&[("v1", true), ("v2", true)]);
    api.post(DEFINITIONS, &both).await.created();
    api.settle().await;
    let path = format!("{SERVICES}/v1.example.com");
    let first = api.get(&path).await.ok();
    api.delete(&path).await.ok();
    api.settle().await;
    let second = api.get(&path).await.ok();
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
    api.merge(&path, &json!({"spec": {"versionPriority": 5}}))
        .await
        .ok();
    api.settle().await;
    assert_eq!(api.get(&path).await.ok()["spec"]["versionPriority"], 100);

    api.delete(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .ok();
    assert_eq!(custom(&api).await, ["v2.example.com"]);
    let kept = api.get(&format!("{SERVICES}/v2.example.com")).await.ok();
    assert_eq!(kept["spec"]["versionPriority"], 7);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_begins_empty_has_none() {
    let api = Api {
        server: FakeServer::builder().with_bootstrap(false).build(),
    };
    let definition = definition(&[("v1", true)]);
    api.post(DEFINITIONS, &definition).await.created();
    assert_eq!(custom(&api).await, Vec::<String>::new());
}
