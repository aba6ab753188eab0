//! Nodes that fail, are tainted, or go, and the pods on them.

use std::{collections::BTreeSet, time::Duration};

use fakeserver::{Controllers, FakeServer, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod};

const NODES: &str = "/api/v1/nodes";
const SYSTEM: &str = "/api/v1/namespaces/kube-system/pods";
const STATIC_PODS: [&str; 4] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
];

/// A server of two nodes, and a deployment of four pods that run.
async fn deployed() -> Api {
    let workloads = Workloads::default().with_nodes(2);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    let mut object = deployment("d");
    object["spec"]["replicas"] = json!(4);
    api.post(DEPLOYMENTS, &object).await.created();
    sleep(Duration::from_secs(5)).await;
    api
}

async fn pods(api: &Api) -> Vec<Value> {
    let list = api.get(PODS).await.ok();
    list["items"].as_array().unwrap().clone()
}

fn condition<'a>(pod: &'a Value, kind: &str) -> &'a Value {
    let mut conditions = pod["status"]["conditions"].as_array().unwrap().iter();
    conditions.find(|it| it["type"] == kind).unwrap()
}

fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready")["status"] == "True"
}

async fn set_ready(api: &Api, node: &str, status: &str) {
    let path = format!("{NODES}/{node}/status");
    let change = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
    api.strategic(&path, &change).await.ok();
    api.settle().await;
}

async fn taints(api: &Api, node: &str) -> Vec<String> {
    let node = api.get(&format!("{NODES}/{node}")).await.ok();
    let taints = node["spec"]["taints"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let text = |taint: &Value| {
        let [key, effect] =
            ["key", "effect"].map(|field| taint[field].as_str().unwrap().to_owned());
        format!("{key}:{effect}")
    };
    taints.iter().map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn an_unknown_node_loses_its_pods_after_five_minutes() {
    let api = deployed().await;
    assert_eq!(taints(&api, "node-1").await, Vec::<String>::new());
    set_ready(&api, "node-1", "Unknown").await;
    let expected =
        ["NoSchedule", "NoExecute"].map(|it| format!("node.kubernetes.io/unreachable:{it}"));
    assert_eq!(taints(&api, "node-1").await, expected);
    let all = pods(&api).await;
    let lost: Vec<_> = all
        .iter()
        .filter(|pod| pod["spec"]["nodeName"] == "node-1")
        .collect();
    assert_eq!(lost.len(), 2);
    for pod in &all {
        assert_eq!(is_ready(pod), pod["spec"]["nodeName"] == "node-0");
        let log = format!("{PODS}/{}/log", pod["metadata"]["name"].as_str().unwrap());
        let code = api.get(&log).await.code.as_u16();
        assert_eq!(code, if is_ready(pod) { 200 } else { 500 });
    }
    let ready = condition(lost[0], "Ready");
    assert_eq!(ready["observedGeneration"], 1);
    assert_eq!(ready["reason"], Value::Null, "only its status changes");
    sleep(Duration::from_secs(310)).await;
    let all = pods(&api).await;
    let running = all.iter().filter(|pod| is_ready(pod)).count();
    let going = all
        .iter()
        .filter(|pod| pod["metadata"]["deletionTimestamp"].is_string());
    // Their kubelet does not hear that they are to go.
    let going: Vec<_> = going.collect();
    assert_eq!((running, going.len()), (4, 2));
    for pod in going {
        let target = condition(pod, "DisruptionTarget");
        assert_eq!(target["reason"], "DeletionByTaintManager");
        assert_eq!(target["observedGeneration"], 1);
    }
    set_ready(&api, "node-1", "True").await;
    assert_eq!(taints(&api, "node-1").await, Vec::<String>::new());
    sleep(Duration::from_secs(5)).await;
    let all = pods(&api).await;
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(is_ready));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_comes_back_in_time_keeps_its_pods() {
    let api = deployed().await;
    let before = pods(&api).await;
    set_ready(&api, "node-1", "False").await;
    sleep(Duration::from_secs(200)).await;
    let cancelled = "Cancelling deletion of Pod default/d-";
    assert_eq!(messages(&api, "TaintManagerEviction").await.len(), 0);
    set_ready(&api, "node-1", "True").await;
    let evictions = messages(&api, "TaintManagerEviction").await;
    assert_eq!(evictions.len(), 2);
    assert!(
        evictions.iter().all(|it| it.starts_with(cancelled)),
        "{evictions:?}"
    );
    let ready = "Node node-1 status is now: NodeReady".to_owned();
    let again = messages(&api, "NodeReady").await;
    assert_eq!(again.iter().filter(|message| **message == ready).count(), 2);
    sleep(Duration::from_secs(400)).await;
    let after = pods(&api).await;
    let uids = |pods: &[Value]| -> Vec<Value> {
        pods.iter()
            .map(|pod| pod["metadata"]["uid"].clone())
            .collect()
    };
    assert_eq!(uids(&before), uids(&after));
    assert!(after.iter().all(is_ready));
}

#[tokio::test(start_paused = true)]
async fn a_taint_evicts_pods_that_do_not_tolerate_it() {
    let api = deployed().await;
    let taint = json!({"spec": {"taints": [{"key": "broken", "effect": "NoExecute"}]}});
    api.strategic(&format!("{NODES}/node-1"), &taint).await.ok();
    sleep(Duration::from_secs(10)).await;
    let all = pods(&api).await;
    assert_eq!(all.len(), 4);
    for pod in &all {
        assert_eq!(pod["spec"]["nodeName"], "node-0");
        assert!(is_ready(pod));
    }
}

/// Returns the messages of the events of a reason.
async fn messages(api: &Api, reason: &str) -> Vec<String> {
    let path = format!("/api/v1/namespaces/default/events?fieldSelector=reason={reason}");
    let list = api.get(&path).await.ok();
    let events = list["items"].as_array().unwrap().iter();
    let messages = events.map(|event| event["message"].as_str().unwrap().to_owned());
    messages.collect()
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_toleration_begins_when_pod_and_taint_meet() {
    let api = deployed().await;
    let node = format!("{NODES}/node-1");
    let tolerant = |name: &str| {
        let mut pod = pod(name, "node-1");
        pod["spec"]["tolerations"] =
            json!([{"key": "broken", "effect": "NoExecute", "tolerationSeconds": 20}]);
        pod
    };
    let taint = async |taints: Value| {
        let change = json!({"spec": {"taints": taints}});
        api.merge(&node, &change).await.ok();
        sleep(Duration::from_secs(1)).await;
    };
    let is_there = async |name: &str| {
        let answer = api.get(&format!("{PODS}/{name}")).await;
        answer.code == 200
    };
    let broken = json!([{"key": "broken", "effect": "NoExecute"}]);
    api.post(PODS, &tolerant("early")).await.created();
    sleep(Duration::from_secs(5)).await;
    taint(broken.clone()).await;
    sleep(Duration::from_secs(15)).await;
    // Neither another pod nor another taint that is tolerated makes it longer or shorter.
    api.post(PODS, &tolerant("late")).await.created();
    let mut other = broken.clone();
    other[0]["timeAdded"] = json!("2020-01-01T00:00:00Z");
    taint(other).await;
    assert!(is_there("early").await);
    sleep(Duration::from_secs(8)).await;
    assert!(!is_there("early").await && is_there("late").await);
    sleep(Duration::from_secs(15)).await;
    assert!(!is_there("late").await);

    taint(Value::Null).await;
    api.post(PODS, &tolerant("lucky")).await.created();
    taint(broken).await;
    sleep(Duration::from_secs(15)).await;
    let cancelled = "Cancelling deletion of Pod default/lucky".to_owned();
    assert!(
        !messages(&api, "TaintManagerEviction")
            .await
            .contains(&cancelled)
    );
    taint(Value::Null).await;
    sleep(Duration::from_secs(30)).await;
    assert!(is_there("lucky").await);
    assert!(
        messages(&api, "TaintManagerEviction")
            .await
            .contains(&cancelled)
    );
}

#[tokio::test(start_paused = true)]
async fn pods_go_with_their_node() {
    let api = deployed().await;
    api.delete(&format!("{NODES}/node-1")).await.ok();
    sleep(Duration::from_secs(20)).await;
    let removed = "Node node-1 event: Removing Node node-1 from Controller";
    assert_eq!(messages(&api, "RemovingNode").await, [removed]);
    let all = pods(&api).await;
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|pod| pod["spec"]["nodeName"] == "node-0"));
}

#[tokio::test(start_paused = true)]
async fn a_cordoned_node_has_the_taint_until_it_is_not() {
    let api = deployed().await;
    for (unschedulable, expected) in [(true, 1), (false, 0)] {
        let patch = json!({"spec": {"unschedulable": unschedulable}});
        api.merge(&format!("{NODES}/node-0"), &patch).await.ok();
        api.settle().await;
        assert_eq!(taints(&api, "node-0").await.len(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_cluster_s_own_pods_and_services_have_addresses() {
    let workloads = Workloads::default().with_system_pods(true);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.get(NODES).await.ok();
    sleep(Duration::from_secs(10)).await;
    let service = "/api/v1/namespaces/kube-system/services/kube-dns";
    let service = api.get(service).await.ok();
    assert_eq!(service["spec"]["clusterIPs"], json!(["10.0.0.10"]));
    // Pods of the network of a node have its address.
    let node = api.get(&format!("{NODES}/node-0")).await.ok();
    let host = node["status"]["addresses"][0]["address"].clone();
    let etcd = api.get(&format!("{SYSTEM}/etcd-node-0")).await.ok();
    assert_eq!(etcd["status"]["hostIP"], host);
    assert_eq!(etcd["status"]["podIPs"], json!([{"ip": host}]));
}

#[tokio::test(start_paused = true)]
async fn system_pods_run_if_enabled() {
    let api_with = |workloads| Api::with(Controllers::default().with_workloads(workloads));
    let named = async |api: &Api| -> Vec<String> {
        let list = api.get(SYSTEM).await.ok();
        let pods = list["items"].as_array().unwrap().iter();
        pods.inspect(|pod| assert!(is_ready(pod), "{pod}"))
            .map(|pod| {
                let name = pod["metadata"]["name"].as_str().unwrap();
                let prefix = pod["metadata"]["generateName"].as_str();
                format!("{} {}", prefix.unwrap_or(name), pod["spec"]["priority"])
            })
            .collect()
    };
    let bare = api_with(Workloads::default());
    assert!(named(&bare).await.is_empty());
    sleep(Duration::from_secs(10)).await;
    assert!(named(&bare).await.is_empty());

    let api = api_with(Workloads::default().with_nodes(2).with_system_pods(true));
    // The controllers start with the first request.
    assert!(named(&api).await.is_empty());
    sleep(Duration::from_secs(10)).await;
    let deployment = "/apis/apps/v1/namespaces/kube-system/deployments/coredns";
    let deployed = api.get(deployment).await.ok();
    assert_eq!(deployed["status"]["readyReplicas"], 2);
    let expected = |node: &str| -> Vec<String> {
        let own = STATIC_PODS.map(|component| format!("{component}-{node} 2000001000"));
        own.into_iter().collect()
    };
    let statics = async || -> Vec<String> {
        let is_static = |name: &String| STATIC_PODS.iter().any(|it| name.starts_with(it));
        named(&api).await.into_iter().filter(is_static).collect()
    };
    let all = named(&api).await;
    assert_eq!(all.len(), 8, "{all:?}");
    assert_eq!(
        all.iter()
            .filter(|name| name.starts_with("kube-proxy-"))
            .count(),
        2
    );
    assert_eq!(statics().await, expected("node-0"));
    let node = api.get(&format!("{NODES}/node-0")).await.ok();
    assert_eq!(
        node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"],
        ""
    );
    let dns = "/api/v1/namespaces/kube-system/endpoints/kube-dns";
    let endpoints = api.get(dns).await.ok();
    let addresses = &endpoints["subsets"][0]["addresses"];
    assert_eq!(addresses.as_array().map(Vec::len), Some(2), "{endpoints}");

    // What is static comes back; what is not is the user's.
    let etcd = format!("{SYSTEM}/etcd-node-0");
    let before = api.get(&etcd).await.ok()["metadata"]["uid"].clone();
    api.delete(&etcd).await.ok();
    api.delete(deployment).await.ok();
    sleep(Duration::from_mins(2)).await;
    assert_ne!(api.get(&etcd).await.ok()["metadata"]["uid"], before);
    api.get(deployment).await.refused(404);
    api.delete(&format!("{NODES}/node-0")).await.ok();
    sleep(Duration::from_mins(2)).await;
    assert_eq!(statics().await, expected("node-1"));
}

#[tokio::test(start_paused = true)]
async fn a_node_gets_labels_an_address_and_events_when_it_is_registered() {
    let api = deployed().await;
    api.post(NODES, &json!({"metadata": {"name": "bare"}}))
        .await
        .created();
    api.settle().await;
    let list = api.get(NODES).await.ok();
    let nodes = list["items"].as_array().unwrap();
    let addresses: BTreeSet<&str> = nodes
        .iter()
        .map(|node| node["status"]["addresses"][0]["address"].as_str().unwrap())
        .collect();
    assert_eq!(addresses.len(), 3, "{addresses:?}");
    let labels = json!({
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "bare",
        "kubernetes.io/os": "linux",
    });
    let bare = api.get(&format!("{NODES}/bare")).await.ok();
    assert_eq!(bare["metadata"]["labels"], labels);
    assert_eq!(taints(&api, "bare").await, Vec::<String>::new());
    let events = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=bare";
    let events = api.get(events).await.ok();
    let events = events["items"].as_array().unwrap().iter();
    let reasons: BTreeSet<String> = events
        .map(|event| {
            let [reason, component] = [&event["reason"], &event["source"]["component"]]
                .map(|text| text.as_str().unwrap());
            format!("{component} {reason}")
        })
        .collect();
    let expected = [
        "kubelet NodeReady",
        "kubelet Starting",
        "node-controller RegisteredNode",
    ];
    assert!(reasons.iter().eq(expected.iter()), "{reasons:?}");
    for pod in pods(&api).await {
        let path = format!("{NODES}/{}", pod["spec"]["nodeName"].as_str().unwrap());
        let node = api.get(&path).await.ok();
        let address = &node["status"]["addresses"][0]["address"];
        assert_eq!(pod["status"]["hostIP"], *address);
        assert_ne!(pod["status"]["podIP"], *address);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unready_node_stays_unready() {
    let api = deployed().await;
    set_ready(&api, "node-1", "Unknown").await;
    // The controllers begin anew with what is stored.
    let server = FakeServer::builder()
        .with_controllers(Controllers::default().with_workloads(Workloads::default()))
        .with_snapshot(api.server.snapshot());
    let api = Api {
        server: server.build(),
    };
    api.get(NODES).await.ok();
    api.settle().await;
    let node = api.get(&format!("{NODES}/node-1")).await.ok();
    let conditions = node["status"]["conditions"].as_array().unwrap().iter();
    let mut ready = conditions.filter(|condition| condition["type"] == "Ready");
    assert_eq!(ready.next().unwrap()["status"], "Unknown");
}

#[tokio::test(start_paused = true)]
async fn an_extended_resource_of_a_node_becomes_allocatable() {
    let api = deployed().await;
    let path = format!("{NODES}/node-1");
    for (capacity, expected) in [(json!("3"), json!("3")), (Value::Null, Value::Null)] {
        let change = json!({"status": {"capacity": {"example.com/gpu": capacity}}});
        api.merge(&format!("{path}/status"), &change).await.ok();
        api.settle().await;
        let node = api.get(&path).await.ok();
        assert_eq!(node["status"]["allocatable"]["example.com/gpu"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_is_ready_with_its_nodes_and_pods() {
    let workloads = Workloads::default().with_nodes(2).with_system_pods(true);
    let mut unpulled = pod("unpulled", "");
    unpulled["spec"]["nodeSelector"] = json!({"no": "node"});
    unpulled["kind"] = json!("Pod");
    unpulled["apiVersion"] = json!("v1");
    let mut loaded = deployment("d");
    loaded["kind"] = json!("Deployment");
    loaded["apiVersion"] = json!("apps/v1");
    let server = FakeServer::builder()
        .with_controllers(Controllers::default().with_workloads(workloads))
        .with_objects([unpulled, loaded])
        .build();
    server.ready().await.unwrap();
    let api = Api { server };
    let nodes = api.get(NODES).await.ok();
    let nodes = nodes["items"].as_array().unwrap();
    assert_eq!(nodes.len(), 2);
    assert!(nodes.iter().all(is_ready), "{nodes:?}");
    let system = api.get(SYSTEM).await.ok();
    let system = system["items"].as_array().unwrap();
    assert_eq!(system.len(), 8);
    assert!(system.iter().all(is_ready), "{system:?}");
    let pods = api.get(PODS).await.ok();
    let pods = pods["items"].as_array().unwrap().iter();
    let phases: BTreeSet<&str> = pods
        .map(|pod| pod["status"]["phase"].as_str().unwrap())
        .collect();
    assert_eq!(
        phases,
        BTreeSet::from(["Pending", "Running"]),
        "no node takes one of them"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_lacks_a_volume_does_not_keep_a_server_from_being_ready() {
    let mut stuck = pod("stuck", "");
    stuck["kind"] = json!("Pod");
    stuck["apiVersion"] = json!("v1");
    let volumes = json!([{"name": "v", "configMap": {"name": "missing"}}]);
    stuck["spec"]["volumes"] = volumes;
    let server = FakeServer::builder()
        .with_controllers(Controllers::default().with_workloads(Workloads::default()))
        .with_object(&stuck)
        .build();
    server.ready().await.unwrap();
    let api = Api { server };
    let stuck = api.get(&format!("{PODS}/stuck")).await.ok();
    assert_eq!(stuck["status"]["phase"], "Pending");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_ready_in_time_names_what_is_missing() {
    let workloads = Workloads::default().with_pod_start(Duration::from_mins(1));
    let mut slow = pod("slow", "");
    slow["kind"] = json!("Pod");
    slow["apiVersion"] = json!("v1");
    let server = FakeServer::builder()
        .with_controllers(Controllers::default().with_workloads(workloads))
        .with_object(&slow)
        .build();
    let error = server.ready().await.unwrap_err();
    let expected = "the cluster is not ready after 30 s: pod default/slow is pending";
    assert_eq!(error.to_string(), expected);
    server.ready().await.unwrap_err();
    server.ready().await.unwrap();
    let bare = FakeServer::builder()
        .with_controllers(Controllers::none())
        .build();
    bare.ready().await.unwrap();
}
