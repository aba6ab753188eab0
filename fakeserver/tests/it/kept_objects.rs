//! The objects that an API server keeps for itself: they come back when they are deleted.

use std::time::Duration;

use fakeserver::{Controllers, FakeServer, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::Api;

const SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints/kubernetes";
const SLICE: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
const FLOWS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";

/// Returns an object without what differs from one creation to the next.
fn settled(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
    ] {
        assert!(metadata.remove(field).is_some(), "{field}");
    }
    if let Some(conditions) = object["status"]["conditions"].as_array_mut() {
        for condition in conditions {
            condition["lastTransitionTime"].take();
        }
    }
    object
}

/// Deletes objects, and checks that they come back as they were, within a time and not at once unless that is nothing.
async fn check(api: &Api, paths: &[&str], within: Duration) {
    for path in paths {
        let before = api.get(path).await.ok();
        api.delete(path).await.ok();
        if within > Duration::from_secs(1) {
            sleep(Duration::from_secs(1)).await;
            api.get(path).await.refused(404);
        }
        sleep(within).await;
        let after = api.get(path).await.ok();
        assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
        assert_eq!(settled(after), settled(before), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_service_of_the_api_and_its_endpoints_come_back_within_ten_seconds() {
    let workloads = Controllers::default().with_workloads(Workloads::default());
    for api in [Api::new(), Api::with(workloads)] {
        check(&api, &[SERVICE, ENDPOINTS, SLICE], Duration::from_secs(9)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn namespaces_and_flow_control_come_back_within_a_minute() {
    let api = Api::new();
    let flows = [
        "flowschemas/exempt",
        "flowschemas/probes",
        "prioritylevelconfigurations/workload-low",
    ];
    let flows = flows.map(|it| format!("{FLOWS}/{it}"));
    let paths: Vec<&str> = flows.iter().map(String::as_str).collect();
    check(&api, &paths, Duration::from_secs(58)).await;
    // A namespace takes a moment to end.
    let leases = "/api/v1/namespaces/kube-node-lease";
    let before = api.get(leases).await.ok();
    api.delete(leases).await.ok();
    api.settle().await;
    api.get(leases).await.refused(404);
    sleep(Duration::from_secs(54)).await;
    assert_eq!(settled(api.get(leases).await.ok()), settled(before));
}

#[tokio::test(start_paused = true)]
async fn the_configuration_of_the_server_comes_back_at_once() {
    let api = Api::new();
    let map = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    check(&api, &[map], Duration::from_millis(100)).await;
}

#[tokio::test(start_paused = true)]
async fn an_address_that_was_given_away_is_not_given_twice() {
    let api = Api::new();
    api.delete(SERVICE).await.ok();
    let services = "/api/v1/namespaces/default/services";
    let thief = json!({
        "metadata": {"name": "thief"},
        "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80}]},
    });
    api.post(services, &thief).await.created();
    sleep(Duration::from_mins(1)).await;
    api.get(SERVICE).await.refused(404);
    api.delete(&format!("{services}/thief")).await.ok();
    sleep(Duration::from_secs(9)).await;
    assert_eq!(api.get(SERVICE).await.ok()["spec"]["clusterIP"], "10.0.0.1");
}

#[tokio::test(start_paused = true)]
async fn objects_of_the_start_stay_deleted() {
    let api = Api::new();
    let paths = [
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/view",
        "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
    ];
    for path in paths {
        api.delete(path).await.ok();
    }
    sleep(Duration::from_mins(5)).await;
    for path in paths {
        api.get(path).await.refused(404);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_began_empty_stays_so() {
    let server = FakeServer::builder().with_bootstrap(false).build();
    let api = Api { server };
    api.get("/api/v1/namespaces").await.ok();
    sleep(Duration::from_mins(5)).await;
    assert_eq!(api.server.objects("", "v1", "namespaces").len(), 0);
    api.get(SERVICE).await.refused(404);
}
