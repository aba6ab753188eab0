//! Endpoints of services, in slices and in the older endpoints.

use std::{collections::BTreeSet, time::Duration};

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, warnings};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn api() -> Api {
    let workloads = Workloads::default().with_pod_stop(Duration::from_secs(3));
    Api::with(Controllers::default().with_workloads(workloads))
}

fn service(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"tier": "front"}},
        "spec": {"selector": {"app": "d"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}]},
    })
}

/// A deployment of two pods that give their port a name.
async fn deployed(api: &Api) {
    let mut object = deployment("d");
    object["spec"]["replicas"] = json!(2);
    object["spec"]["template"]["metadata"]["labels"]["app"] = json!("d");
    object["spec"]["selector"]["matchLabels"] =
        object["spec"]["template"]["metadata"]["labels"].clone();
    let ports = json!([{"name": "web", "containerPort": 8080}]);
    object["spec"]["template"]["spec"]["containers"][0]["ports"] = ports;
    api.post(DEPLOYMENTS, &object).await.created();
    sleep(Duration::from_secs(5)).await;
}

async fn items(api: &Api, path: &str) -> Vec<Value> {
    let list = api.get(path).await.ok();
    list["items"].as_array().unwrap().clone()
}

/// The slices of a service.
async fn slices(api: &Api, name: &str) -> Vec<Value> {
    items(
        api,
        &format!("{SLICES}?labelSelector=kubernetes.io/service-name={name}"),
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn a_service_has_the_addresses_of_its_ready_pods() {
    let api = api();
    api.post(SERVICES, &service("s")).await.created();
    sleep(Duration::from_secs(1)).await;
    let empty = slices(&api, "s").await;
    assert_eq!(empty.len(), 1, "one slice without endpoints");
    assert!(empty[0]["endpoints"].is_null() && empty[0]["ports"].is_null());
    let endpoints = api.get(&format!("{ENDPOINTS}/s")).await.ok();
    assert!(endpoints.get("subsets").is_none(), "{endpoints}");

    deployed(&api).await;
    let pods = items(&api, PODS).await;
    let found = slices(&api, "s").await;
    assert_eq!(found.len(), 1);
    let slice = &found[0];
    let labels = json!({
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "s",
        "tier": "front",
    });
    assert_eq!(slice["metadata"]["labels"], labels);
    assert_eq!(slice["metadata"]["ownerReferences"][0]["kind"], "Service");
    assert_eq!(slice["addressType"], "IPv4");
    let ports = json!([{"name": "http", "port": 8080, "protocol": "TCP"}]);
    assert_eq!(slice["ports"], ports);
    let expected: Vec<Value> = pods
        .iter()
        .map(|pod| {
            json!({
                "addresses": [pod["status"]["podIP"]],
                "conditions": {"ready": true, "serving": true, "terminating": false},
                "nodeName": "node-0",
                "targetRef": {
                    "kind": "Pod",
                    "namespace": "default",
                    "name": pod["metadata"]["name"],
                    "uid": pod["metadata"]["uid"],
                },
            })
        })
        .collect();
    assert_eq!(slice["endpoints"], json!(expected));

    let endpoints = api.get(&format!("{ENDPOINTS}/s")).await.ok();
    let labels = &endpoints["metadata"]["labels"];
    assert_eq!(
        labels["endpoints.kubernetes.io/managed-by"],
        "endpoint-controller"
    );
    let subset = &endpoints["subsets"][0];
    assert_eq!(subset["ports"], ports);
    let addresses = subset["addresses"].as_array().unwrap();
    assert_eq!(addresses.len(), 2);
    assert_eq!(addresses[0]["ip"], pods[0]["status"]["podIP"]);
    assert_eq!(
        addresses[0]["targetRef"]["name"],
        pods[0]["metadata"]["name"]
    );

    // At rest nothing is written.
    let before = api.server.revision();
    sleep(Duration::from_mins(10)).await;
    assert_eq!(api.server.revision(), before);
}

#[tokio::test(start_paused = true)]
async fn a_service_keeps_its_slice_when_endpoints_come_and_go() {
    let api = api();
    api.post(SERVICES, &service("s")).await.created();
    sleep(Duration::from_secs(1)).await;
    let uid = async || {
        let mut found = slices(&api, "s").await;
        assert_eq!(found.len(), 1);
        found.remove(0)["metadata"]["uid"].clone()
    };
    let first = uid().await;
    deployed(&api).await;
    assert_eq!(uid().await, first);
    let path = format!("{DEPLOYMENTS}/d");
    let scale = json!({"spec": {"replicas": 0}});
    api.merge(&path, &scale).await.ok();
    sleep(Duration::from_secs(40)).await;
    let empty = slices(&api, "s").await.remove(0);
    assert_eq!(empty["metadata"]["uid"], first);
    assert!(
        empty["endpoints"].is_null() && empty["ports"].is_null(),
        "{empty}"
    );
    // Another port is another slice upstream, too, but for the one that is given up.
    let ports = json!([{"name": "other", "port": 81, "targetPort": 9090}]);
    api.merge(&format!("{SERVICES}/s"), &json!({"spec": {"ports": ports}}))
        .await
        .ok();
    api.merge(&path, &json!({"spec": {"replicas": 1}}))
        .await
        .ok();
    sleep(Duration::from_secs(5)).await;
    let moved = slices(&api, "s").await.remove(0);
    assert_eq!(moved["metadata"]["uid"], first);
    assert_eq!(moved["ports"][0]["port"], 9090);
}

#[tokio::test(start_paused = true)]
async fn each_address_of_a_service_has_an_object() {
    let api = api();
    let addresses = "/apis/networking.k8s.io/v1/ipaddresses";
    let made = api.post(SERVICES, &service("s")).await.created();
    let mut headless = service("h");
    headless["spec"]["clusterIP"] = json!("None");
    api.post(SERVICES, &headless).await.created();
    sleep(Duration::from_secs(1)).await;
    let address = made["spec"]["clusterIP"].as_str().unwrap();
    let path = format!("{addresses}/{address}");
    let object = api.get(&path).await.ok();
    let parent = json!({"resource": "services", "namespace": "default", "name": "s"});
    assert_eq!(object["spec"]["parentRef"], parent);
    let labels = json!({
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    });
    assert_eq!(object["metadata"]["labels"], labels);
    assert_eq!(items(&api, addresses).await.len(), 2);
    // It comes back while its service is there.
    api.delete(&path).await.ok();
    sleep(Duration::from_secs(1)).await;
    let again = api.get(&path).await.ok();
    assert_ne!(again["metadata"]["uid"], object["metadata"]["uid"]);
    // The next service of the address takes it over.
    api.delete(&format!("{SERVICES}/s")).await.ok();
    let mut next = service("next");
    next["spec"]["clusterIP"] = json!(address);
    api.post(SERVICES, &next).await.created();
    sleep(Duration::from_secs(1)).await;
    let taken = api.get(&path).await.ok();
    assert_eq!(taken["spec"]["parentRef"]["name"], "next");
    api.delete(&format!("{SERVICES}/next")).await.ok();
    sleep(Duration::from_secs(1)).await;
    api.get(&path).await.refused(404);
    assert_eq!(items(&api, addresses).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_range_of_addresses_ends_after_the_last_of_them() {
    let api = api();
    let cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
    let more = json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.96.0.0/16"]}});
    let created = api.post(cidrs, &more).await;
    assert!(warnings(&created).is_empty());
    let mut asks = service("s");
    asks["spec"]["clusterIP"] = json!("10.96.0.7");
    api.post(SERVICES, &asks).await.created();
    sleep(Duration::from_secs(1)).await;
    let path = format!("{cidrs}/more");
    let ready = api.get(&path).await.ok();
    assert_eq!(
        ready["metadata"]["finalizers"],
        json!(["networking.k8s.io/service-cidr-finalizer"])
    );
    let condition = &ready["status"]["conditions"][0];
    assert_eq!(condition["message"], "Kubernetes Service CIDR is ready");

    api.delete(&path).await.ok();
    sleep(Duration::from_mins(1)).await;
    let leaving = api.get(&path).await.ok();
    let condition = &leaving["status"]["conditions"][0];
    assert_eq!(
        (
            &condition["type"],
            &condition["status"],
            &condition["reason"]
        ),
        (&json!("Ready"), &json!("False"), &json!("Terminating"))
    );
    asks["metadata"]["name"] = json!("other");
    asks["spec"]["clusterIP"] = json!("10.96.0.8");
    api.post(SERVICES, &asks).await.refused(422);

    api.delete(&format!("{SERVICES}/s")).await.ok();
    sleep(Duration::from_secs(1)).await;
    api.get(&path).await.refused(404);
    // The first range is the server's, and it has an address.
    api.delete(&format!("{cidrs}/kubernetes")).await.ok();
    sleep(Duration::from_mins(1)).await;
    let kept = api.get(&format!("{cidrs}/kubernetes")).await.ok();
    assert_eq!(kept["status"]["conditions"][0]["reason"], "Terminating");
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_stops_leaves_the_endpoints_before_it_goes() {
    let api = api();
    deployed(&api).await;
    api.post(SERVICES, &service("s")).await.created();
    sleep(Duration::from_secs(1)).await;
    let pods = items(&api, PODS).await;
    let path = format!("{PODS}/{}", pods[0]["metadata"]["name"].as_str().unwrap());
    api.delete(&path).await.ok();
    sleep(Duration::from_secs(1)).await;
    let slice = slices(&api, "s").await.remove(0);
    let conditions = slice["endpoints"].as_array().unwrap().iter();
    let conditions: Vec<&Value> = conditions
        .filter(|endpoint| endpoint["targetRef"]["uid"] == pods[0]["metadata"]["uid"])
        .map(|endpoint| &endpoint["conditions"])
        .collect();
    let terminating = json!({"ready": false, "serving": true, "terminating": true});
    assert_eq!(conditions, [&terminating]);
    let endpoints = api.get(&format!("{ENDPOINTS}/s")).await.ok();
    assert!(
        !endpoints
            .to_string()
            .contains(pods[0]["metadata"]["uid"].as_str().unwrap())
    );
    let stops = api.get(&path).await.ok();
    assert_eq!(stops["status"]["phase"], "Running");

    // Its containers end, then it goes.
    sleep(Duration::from_millis(2_050)).await;
    let ended = api.get(&path).await.ok();
    assert_eq!(ended["status"]["phase"], "Succeeded");
    let state = &ended["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(state["exitCode"], 0);
    let conditions = ended["status"]["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|each| each["type"] == "Ready");
    assert_eq!(ready.unwrap()["status"], "False");
    sleep(Duration::from_secs(1)).await;
    api.get(&path).await.refused(404);
    let slice = slices(&api, "s").await.remove(0);
    assert_eq!(slice["endpoints"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_does_not_stop_in_time_is_killed() {
    let api = api();
    deployed(&api).await;
    let pods = items(&api, PODS).await;
    let path = format!("{PODS}/{}", pods[0]["metadata"]["name"].as_str().unwrap());
    let before = api.server.revision();
    api.delete(&format!("{path}?gracePeriodSeconds=1"))
        .await
        .ok();
    sleep(Duration::from_secs(2)).await;
    api.get(&path).await.refused(404);
    let history = api.server.history("", "v1", "pods", before);
    let ends = history.iter().filter_map(|change| {
        let pod = change.after()?.to_value();
        let ended = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
        Some((pod["status"]["phase"].clone(), ended["exitCode"].as_i64()?))
    });
    let ends: BTreeSet<String> = ends.map(|end| format!("{end:?}")).collect();
    assert_eq!(ends, [r#"(String("Failed"), 137)"#.to_owned()].into());
}

#[tokio::test(start_paused = true)]
async fn endpoints_follow_their_service() {
    let api = api();
    deployed(&api).await;
    let mut headless = service("s");
    headless["spec"]["clusterIP"] = json!("None");
    headless["spec"]["publishNotReadyAddresses"] = json!(true);
    headless["spec"]["ports"] = json!([{"port": 80, "targetPort": 8080}]);
    api.post(SERVICES, &headless).await.created();
    sleep(Duration::from_secs(1)).await;
    let slice = slices(&api, "s").await.remove(0);
    assert_eq!(
        slice["metadata"]["labels"]["service.kubernetes.io/headless"],
        ""
    );
    assert_eq!(
        slice["ports"],
        json!([{"name": "", "port": 8080, "protocol": "TCP"}])
    );

    // What somebody else changes comes back.
    let name = slice["metadata"]["name"].as_str().unwrap();
    api.delete(&format!("{SLICES}/{name}")).await.ok();
    api.delete(&format!("{ENDPOINTS}/s")).await.ok();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(slices(&api, "s").await.len(), 1);
    api.get(&format!("{ENDPOINTS}/s")).await.ok();

    let other = json!({"spec": {"ports": [{"port": 80, "targetPort": 9090}]}});
    api.merge(&format!("{SERVICES}/s"), &other).await.ok();
    sleep(Duration::from_secs(1)).await;
    let found = slices(&api, "s").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["ports"][0]["port"], 9090);

    api.delete(&format!("{SERVICES}/s")).await.ok();
    sleep(Duration::from_secs(1)).await;
    assert!(slices(&api, "s").await.is_empty());
    api.get(&format!("{ENDPOINTS}/s")).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn more_than_a_hundred_pods_are_in_several_slices() {
    let api = api();
    api.post(SERVICES, &service("s")).await.created();
    let mut object = deployment("d");
    object["spec"]["replicas"] = json!(105);
    object["spec"]["template"]["metadata"]["labels"]["app"] = json!("d");
    object["spec"]["selector"]["matchLabels"] =
        object["spec"]["template"]["metadata"]["labels"].clone();
    api.post(DEPLOYMENTS, &object).await.created();
    sleep(Duration::from_secs(20)).await;
    let counts = slices(&api, "s").await;
    let mut counts: Vec<usize> = counts
        .iter()
        .map(|slice| slice["endpoints"].as_array().unwrap().len())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [5, 100]);
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_a_user_has_written_are_mirrored() {
    let api = api();
    let mut own = service("own");
    own["spec"].as_object_mut().unwrap().remove("selector");
    api.post(SERVICES, &own).await.created();
    let endpoints = json!({
        "metadata": {"name": "own"},
        "subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 5432}]}],
    });
    api.post(ENDPOINTS, &endpoints).await.created();
    sleep(Duration::from_secs(1)).await;
    let slice = slices(&api, "own").await.remove(0);
    let labels = &slice["metadata"]["labels"];
    assert_eq!(
        labels["endpointslice.kubernetes.io/managed-by"],
        "endpointslicemirroring-controller.k8s.io"
    );
    assert_eq!(
        slice["endpoints"],
        json!([{"addresses": ["192.0.2.7"], "conditions": {"ready": true}}])
    );
    assert_eq!(slice["metadata"]["ownerReferences"][0]["kind"], "Endpoints");
    api.delete(&format!("{ENDPOINTS}/own")).await.ok();
    sleep(Duration::from_secs(1)).await;
    assert!(slices(&api, "own").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn endpoints_without_a_service_stay() {
    let api = api();
    let subsets = json!([{"addresses": [{"ip": "10.0.0.24"}], "ports": [{"port": 80}]}]);
    let own = json!({"metadata": {"name": "own"}, "subsets": subsets});
    api.post(ENDPOINTS, &own).await.created();
    sleep(Duration::from_secs(1)).await;
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    let path = format!("{ENDPOINTS}/own");
    api.merge(&path, &labels).await.ok();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        api.get(&path).await.ok()["subsets"][0]["ports"][0]["port"],
        80
    );
}
