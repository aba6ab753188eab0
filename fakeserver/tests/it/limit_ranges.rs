//! Limit ranges: the defaults that containers get, and what is rejected.

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod};

const RANGES: &str = "/api/v1/namespaces/default/limitranges";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const SET: &str = "kubernetes.io/limit-ranger";

async fn range(api: &Api, name: &str, limits: Value) {
    let range = json!({"metadata": {"name": name}, "spec": {"limits": limits}});
    api.post(RANGES, &range).await.created();
}

#[tokio::test]
async fn containers_and_init_containers_get_default_limits() {
    let api = Api::new();
    let limit = json!({
        "type": "Container", "default": {"cpu": "1", "memory": "1Gi"}, "defaultRequest": {"cpu": "100m"},
    });
    range(&api, "a", json!([limit])).await;
    let mut sent = pod("p", "");
    sent["spec"]["containers"][0]["resources"] = json!({"requests": {"memory": "1Mi"}});
    sent["spec"]["initContainers"] = json!([{"name": "i", "image": "i"}]);
    let made = api.post(PODS, &sent).await.created();
    let container = &made["spec"]["containers"][0];
    assert_eq!(
        container["resources"],
        json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "1Mi"}})
    );
    assert_eq!(
        made["metadata"]["annotations"][SET],
        "LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; \
         cpu, memory request for init container i; cpu, memory limit for init container i"
    );
    assert_eq!(made["status"]["qosClass"], "Burstable");
    let managed = made["metadata"]["managedFields"].to_string();
    assert!(
        !managed.contains("f:limits"),
        "the plugin manages no fields"
    );
    // An update is not limited, and gets nothing.
    range(
        &api,
        "b",
        json!([{"type": "Container", "max": {"cpu": "1m"}}]),
    )
    .await;
    let path = format!("{PODS}/p");
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    api.merge(&path, &labels).await.ok();
    let other = api.post(PODS, &pod("q", "")).await;
    let why = "maximum cpu usage per Container is 1m, but limit is 1";
    assert_eq!(
        other.refused(403),
        format!("pods \"q\" is forbidden: {why}")
    );
}

#[tokio::test]
async fn a_pod_is_limited_by_its_containers_and_its_own_resources() {
    let api = Api::new();
    let limit = json!({"type": "Pod", "min": {"cpu": "200m"}, "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "2"}});
    range(&api, "a", json!([limit])).await;
    let mut sent = pod("p", "");
    let refused = async |sent: &Value| {
        let message = api
            .post(&format!("{PODS}?dryRun=All"), sent)
            .await
            .refused(403);
        message.replace("pods \"p\" is forbidden: ", "")
    };
    assert_eq!(
        refused(&sent).await,
        "[minimum cpu usage per Pod is 200m.  No request is specified, \
         maximum cpu usage per Pod is 1.  No limit is specified, \
         cpu max limit to request ratio per Pod is 2, but no request is specified or request is 0]"
    );
    let resources = |request: &str, limit: &str| json!({"requests": {"cpu": request}, "limits": {"cpu": limit}});
    sent["spec"]["containers"][0]["resources"] = resources("150m", "400m");
    assert_eq!(
        refused(&sent).await,
        "[minimum cpu usage per Pod is 200m, but request is 150m, \
         cpu max limit to request ratio per Pod is 2, but provided ratio is 2.666667]"
    );
    sent["spec"]["initContainers"] =
        json!([{"name": "i", "image": "i", "resources": resources("1100m", "1100m")}]);
    assert_eq!(
        refused(&sent).await,
        "maximum cpu usage per Pod is 1, but limit is 1100m"
    );
    sent["spec"]["resources"] = resources("500m", "1");
    sent["spec"]["initContainers"] = json!([]);
    api.post(PODS, &sent).await.created();
}

#[tokio::test]
async fn claims_are_limited_by_their_requests() {
    let api = Api::new();
    let limit = json!({"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}});
    range(&api, "a", json!([limit])).await;
    let claim = |size: &str| {
        json!({"metadata": {"name": "v"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
        }})
    };
    let small = api.post(CLAIMS, &claim("1Mi")).await.refused(403);
    assert_eq!(
        small,
        "persistentvolumeclaims \"v\" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, \
         but request is 1Mi"
    );
    api.post(CLAIMS, &claim("2Gi")).await.created();
}

#[tokio::test(start_paused = true)]
async fn pods_of_controllers_get_defaults_and_are_limited() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    let limit = json!({"type": "Container", "defaultRequest": {"cpu": "100m"}, "maxLimitRequestRatio": {"memory": "1"}});
    range(&api, "a", json!([limit])).await;
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    api.settle().await;
    let events = api.get("/api/v1/namespaces/default/events").await.ok();
    let events = events["items"].as_array().unwrap();
    let failed = events
        .iter()
        .find(|event| event["reason"] == "FailedCreate");
    let failed = failed.expect("the replica set says what is wrong");
    let message = failed["message"].as_str().unwrap();
    assert!(
        message.ends_with(
            "is forbidden: memory max limit to request ratio per Container is 1, but no request is specified or request is 0"
        ),
        "{message}"
    );
    api.delete(&format!("{RANGES}/a")).await.ok();
    let limit = json!({"type": "Container", "defaultRequest": {"cpu": "100m"}});
    range(&api, "a", json!([limit])).await;
    api.settle().await;
    api.settle().await;
    let pods = api.get(PODS).await.ok();
    let container = &pods["items"][0]["spec"]["containers"][0];
    assert_eq!(container["resources"], json!({"requests": {"cpu": "100m"}}));
}
