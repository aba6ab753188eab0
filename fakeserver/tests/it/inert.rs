//! Warnings about objects that are stored and not acted on.

use serde_json::{Value, json};

use crate::support::{Answer, Api, warnings};

const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

fn api_service(group: &str) -> Value {
    json!({
        "metadata": {"name": format!("v1.{group}")},
        "spec": {
            "group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
            "service": {"namespace": "metrics", "name": "adapter"}, "insecureSkipTLSVerify": true,
        },
    })
}

/// Creates the service of the API services, whose endpoints are pods.
async fn service(api: &Api) {
    let namespace = json!({"metadata": {"name": "metrics"}});
    api.post("/api/v1/namespaces", &namespace).await.created();
    let service = json!({
        "metadata": {"name": "adapter"},
        "spec": {"selector": {"app": "adapter"}, "ports": [{"port": 443}]},
    });
    let path = "/api/v1/namespaces/metrics/services";
    api.post(path, &service).await.created();
}

async fn post(api: &Api, agent: &str, path: &str, object: &Value) -> Answer {
    let headers = [("user-agent", agent)];
    let answer = api.send("POST", path, &headers, object.to_string()).await;
    assert_eq!(answer.code, 201, "{answer:?}");
    answer
}

#[tokio::test]
async fn a_client_is_warned_once_of_each_kind() {
    let api = Api::new();
    let not_forwarded = "299 - \"fakeserver: no process stands for service metrics/adapter, to which requests are forwarded; say \
                         where it is by `--webhook-service metrics/adapter=URL`, or by `--pod-backend`\"";
    service(&api).await;
    let tried = format!("{API_SERVICES}?dryRun=All");
    let tried = post(&api, "a", &tried, &api_service("example.com")).await;
    assert!(warnings(&tried).is_empty(), "nothing was stored");
    let first = post(&api, "a", API_SERVICES, &api_service("example.com")).await;
    assert_eq!(warnings(&first), [not_forwarded]);
    let again = post(&api, "a", API_SERVICES, &api_service("example.org")).await;
    assert!(warnings(&again).is_empty());
    let other = post(&api, "b", API_SERVICES, &api_service("example.net")).await;
    assert_eq!(warnings(&other), [not_forwarded]);

    api.server.reset();
    service(&api).await;
    let anew = post(&api, "a", API_SERVICES, &api_service("example.com")).await;
    assert_eq!(warnings(&anew), [not_forwarded]);
}

#[tokio::test]
async fn fields_with_effect_get_no_warning() {
    let api = Api::new();
    let mut local = api_service("example.com");
    local["spec"].as_object_mut().unwrap().remove("service");
    local["spec"]
        .as_object_mut()
        .unwrap()
        .remove("insecureSkipTLSVerify");
    let created = post(&api, "a", API_SERVICES, &local).await;
    assert!(warnings(&created).is_empty());
    // Its service may come later, and may be anywhere.
    let early = post(&api, "a", API_SERVICES, &api_service("example.org")).await;
    assert!(warnings(&early).is_empty());
    service(&api).await;
    let to = "http://127.0.0.1:1".parse().unwrap();
    api.server.redirect_webhooks("adapter.metrics.svc", to);
    let routed = post(&api, "a", API_SERVICES, &api_service("example.net")).await;
    assert!(warnings(&routed).is_empty());
}
