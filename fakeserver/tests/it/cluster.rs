//! The simulated cluster: what is in it hangs together, follows from the seed, and lives.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use axum::body::Body;
use fakeserver::{Churn, ClusterOptions, FakeServer, StoredObject};
use http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

const NODES: u32 = 12;
const PODS: u32 = 300;
/// Of every resource that is in a cluster: its group, its plural and its kind.
const RESOURCES: [(&str, &str, &str); 15] = [
    ("", "namespaces", "Namespace"),
    ("", "serviceaccounts", "ServiceAccount"),
    ("", "configmaps", "ConfigMap"),
    ("", "secrets", "Secret"),
    ("", "nodes", "Node"),
    ("coordination.k8s.io", "leases", "Lease"),
    ("", "services", "Service"),
    ("discovery.k8s.io", "endpointslices", "EndpointSlice"),
    ("apps", "deployments", "Deployment"),
    ("apps", "replicasets", "ReplicaSet"),
    ("apps", "daemonsets", "DaemonSet"),
    ("batch", "cronjobs", "CronJob"),
    ("batch", "jobs", "Job"),
    ("", "pods", "Pod"),
    ("", "events", "Event"),
];

fn server(seed: u64, churn: Churn) -> FakeServer {
    let cluster = ClusterOptions::new(NODES, PODS).with_churn(churn);
    FakeServer::builder()
        .with_seed(seed)
        .with_cluster(cluster)
        .build()
}

fn objects(server: &FakeServer, group: &str, plural: &str) -> Vec<Value> {
    let objects = server.objects(group, "v1", plural);
    objects.iter().map(|object| object.to_value()).collect()
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or("")
}

/// Asks for something, since a cluster lives from the first request on.
async fn get(server: &FakeServer, path: &str) -> Value {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = server.router().oneshot(request).await.unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

async fn live(server: &FakeServer, duration: Duration) {
    get(server, "/api/v1/namespaces/default").await;
    tokio::time::sleep(duration).await;
}

/// Everything that is stored, byte for byte.
fn everything(server: &FakeServer) -> Vec<Arc<StoredObject>> {
    let all = RESOURCES.iter();
    all.flat_map(|(group, plural, _)| server.objects(group, "v1", plural))
        .collect()
}

/// Owners exist, pods are on nodes that are there, selectors select, counts are right.
#[track_caller]
fn check_relations(server: &FakeServer) {
    let mut uids: BTreeMap<String, (String, String, String)> = BTreeMap::new();
    let mut all = Vec::new();
    for (group, plural, kind) in RESOURCES {
        for object in objects(server, group, plural) {
            let name = (
                kind.to_owned(),
                text(&object, "/metadata/namespace").to_owned(),
                text(&object, "/metadata/name").to_owned(),
            );
            let before = uids.insert(text(&object, "/metadata/uid").to_owned(), name.clone());
            assert_eq!(before, None, "{name:?} has a uid of its own");
            all.push((kind, object));
        }
    }
    let nodes: BTreeSet<String> = objects(server, "", "nodes")
        .iter()
        .map(|node| text(node, "/metadata/name").to_owned())
        .collect();
    for (kind, object) in &all {
        let namespace = text(object, "/metadata/namespace");
        for owner in object["metadata"]["ownerReferences"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let found = uids.get(text(owner, "/uid")).expect("its owner is there");
            assert_eq!(
                (&*found.0, &*found.2),
                (text(owner, "/kind"), text(owner, "/name"))
            );
            assert!(found.1.is_empty() || found.1 == namespace, "{found:?}");
        }
        let node = text(object, "/spec/nodeName");
        if *kind == "Pod" && text(object, "/status/phase") != "Pending" {
            assert!(nodes.contains(node), "{node}");
        }
    }
    let pods = objects(server, "", "pods");
    for (kind, object) in &all {
        let selector = match *kind {
            "ReplicaSet" => &object["spec"]["selector"]["matchLabels"],
            "Service" => &object["spec"]["selector"],
            _ => continue,
        };
        let Some(selector) = selector.as_object() else {
            continue;
        };
        let selects = |pod: &&Value| {
            let mut labels = selector.iter();
            pod["metadata"]["namespace"] == object["metadata"]["namespace"]
                && labels.all(|(label, value)| pod["metadata"]["labels"][label] == *value)
        };
        let selected: Vec<&Value> = pods.iter().filter(selects).collect();
        if *kind == "ReplicaSet" {
            let uid = text(object, "/metadata/uid");
            let owned = pods.iter();
            let owned = owned.filter(|pod| text(pod, "/metadata/ownerReferences/0/uid") == uid);
            assert_eq!(
                selected.len(),
                owned.count(),
                "{}",
                object["metadata"]["name"]
            );
        } else {
            assert!(!selected.is_empty(), "{}", object["metadata"]["name"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_objects_of_a_cluster_are_consistent() {
    let server = server(7, Churn::default());
    check_relations(&server);
    let count = |group, plural| server.objects(group, "v1", plural).len();
    assert_eq!(count("", "nodes"), NODES as usize);
    assert_eq!(count("coordination.k8s.io", "leases"), NODES as usize);
    assert_eq!(count("", "pods"), PODS as usize);
    for (group, plural, _) in RESOURCES {
        assert_eq!(count(group, plural) == 0, plural == "events", "{plural}");
    }
    for pod in objects(&server, "", "pods") {
        let name = text(&pod, "/metadata/name");
        if let Some(hash) = pod["metadata"]["labels"]["pod-template-hash"].as_str() {
            let app = text(&pod, "/metadata/labels/app.kubernetes.io~1name");
            assert!(name.starts_with(&format!("{app}-{hash}-")), "{name}");
        }
        let expected = match text(&pod, "/metadata/ownerReferences/0/kind") {
            "Job" => "Succeeded",
            _ => "Running",
        };
        assert_eq!(text(&pod, "/status/phase"), expected);
    }
    let before = server.revision();
    live(&server, Duration::from_mins(20)).await;
    assert_eq!(
        server.revision(),
        before,
        "nothing happens that was not asked for"
    );
}

#[test]
fn pods_are_as_large_as_real_ones() {
    let server = server(7, Churn::default());
    for pod in server.objects("", "v1", "pods") {
        let value = pod.to_value();
        let size = pod.json().len();
        let managed = value["metadata"]["managedFields"].to_string().len();
        assert!(
            (6_500..=8_300).contains(&size),
            "{} has {size} bytes",
            pod.name()
        );
        let share = 100 * managed / size;
        assert!((30..=42).contains(&share), "{share} % are managed fields");
    }
}

#[tokio::test(start_paused = true)]
async fn printed_objects_equal_stored_ones() {
    let server = server(7, Churn::new(50));
    live(&server, Duration::from_mins(1)).await;
    // What is filled in is no mark any more, and an update that changes nothing finds nothing to change.
    for object in everything(&server) {
        let json = String::from_utf8(object.json().to_vec()).unwrap();
        assert!(json.chars().all(|c| u32::from(c) < 0xE000), "{json}");
        assert!(!json.contains("19876543"), "{json}");
    }
    for (group, plural, kind) in RESOURCES {
        let Some(object) = server.objects(group, "v1", plural).into_iter().next() else {
            panic!("there is no {plural}");
        };
        let mut value = object.to_value();
        let version = if group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{group}/v1")
        };
        value["kind"] = kind.into();
        value["apiVersion"] = version.clone().into();
        let namespace = object
            .namespace()
            .map_or(String::new(), |name| format!("/namespaces/{name}"));
        let root = if group.is_empty() {
            "/api/v1".to_owned()
        } else {
            format!("/apis/{version}")
        };
        let path = format!("{root}{namespace}/{plural}/{}", object.name());
        let request = Request::put(&path)
            .body(Body::from(value.to_string()))
            .unwrap();
        let response = server.router().oneshot(request).await.unwrap();
        let code = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(code, 200, "{path}: {answer}");
        assert_eq!(answer, value, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_makes_the_same_bytes() {
    let churn = || Churn::new(100).with_node_failure_interval(Some(Duration::from_secs(30)));
    let (first, second, other) = (server(7, churn()), server(7, churn()), server(8, churn()));
    for server in [&first, &second, &other] {
        live(server, Duration::from_mins(1)).await;
    }
    // The second was busier.
    for _ in 0..5 {
        get(&second, "/api/v1/pods?limit=3").await;
    }
    let revision = first.revision().min(second.revision());
    let log = |server: &FakeServer| -> Vec<(u64, Option<Vec<u8>>)> {
        let all = RESOURCES.iter();
        let changes = all.flat_map(|(group, plural, _)| server.history(group, "v1", plural, 0));
        let earlier = changes.filter(|change| change.revision() <= revision);
        let states = earlier.map(|change| {
            (
                change.revision(),
                change.after().map(|object| object.json().to_vec()),
            )
        });
        states.collect()
    };
    assert!(revision > 5_000, "much has happened");
    assert!(
        log(&first) == log(&second),
        "the same bytes at every revision"
    );
    assert!(
        log(&first) != log(&other),
        "another seed makes another cluster"
    );
}

#[tokio::test(start_paused = true)]
async fn churn_keeps_the_cluster_consistent() {
    let churn = Churn::new(40).with_node_failure_interval(Some(Duration::from_secs(45)));
    let server = server(7, churn);
    let before = server.revision();
    let first = server.objects("", "v1", "pods");
    live(&server, Duration::from_mins(10)).await;
    let written = server.revision() - before;
    assert!(
        (23_000..=24_080).contains(&written),
        "{written} writes in 600 s"
    );
    check_relations(&server);
    let pods = server.objects("", "v1", "pods");
    let percent = 100 * pods.len() / first.len();
    assert!((70..140).contains(&percent), "{percent} % of the pods");
    let kinds = |plural: &str, group: &str| -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for change in server.history(group, "v1", plural, before) {
            *kinds.entry(format!("{:?}", change.kind())).or_default() += 1;
        }
        kinds
    };
    for (plural, group) in [("pods", ""), ("replicasets", "apps"), ("jobs", "batch")] {
        assert_eq!(
            kinds(plural, group).len(),
            3,
            "{plural} come, change and go"
        );
    }
    let leases = kinds("leases", "coordination.k8s.io")["Updated"];
    assert!(
        (200..=720).contains(&leases),
        "{leases} of 12 nodes in 600 s"
    );
    let nodes = server.history("", "v1", "nodes", before);
    let lost = nodes.iter().filter_map(|change| change.after());
    let lost = lost.filter(|node| !node.to_value()["spec"]["taints"].is_null());
    assert!(lost.count() >= 3, "nodes were lost");
}

#[test]
fn nodes_take_pods() {
    let server = server(3, Churn::default());
    for node in objects(&server, "", "nodes") {
        assert!(node["spec"]["taints"].is_null(), "{node}");
        assert_eq!(node["status"]["allocatable"]["cpu"], "15890m");
    }
}

#[test]
fn nodes_are_as_large_as_their_pods_need() {
    for (nodes, pods) in [(12, 300), (2, 1_000), (1, 110)] {
        let cluster = ClusterOptions::new(nodes, pods);
        let server = FakeServer::builder().with_cluster(cluster).build();
        let mut requested: BTreeMap<String, u64> = BTreeMap::new();
        for pod in objects(&server, "", "pods") {
            if text(&pod, "/status/phase") != "Succeeded" {
                // Of both containers of each pod.
                *requested
                    .entry(text(&pod, "/spec/nodeName").to_owned())
                    .or_default() += 350;
            }
        }
        for node in objects(&server, "", "nodes") {
            let cpu = text(&node, "/status/allocatable/cpu").trim_end_matches('m');
            let name = text(&node, "/metadata/name");
            let requested = requested.get(name).copied().unwrap_or_default();
            assert!(
                requested <= cpu.parse().unwrap(),
                "{name}: {requested}m of {cpu}m"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_an_unbroken_history() {
    let server = server(3, Churn::new(100));
    let list = get(&server, "/api/v1/pods").await;
    let mut objects = by_uid(&list);
    let version = text(&list, "/metadata/resourceVersion");
    let path = format!("/api/v1/pods?watch=true&timeoutSeconds=300&resourceVersion={version}");
    let request = Request::get(path).body(Body::empty()).unwrap();
    let body = server.router().oneshot(request).await.unwrap().into_body();
    let frames = body.collect().await.unwrap().to_bytes();
    let frames = String::from_utf8(frames.to_vec()).unwrap();
    let mut reached = 0;
    for line in frames.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let mut object = event["object"].take();
        let uid = text(&object, "/metadata/uid").to_owned();
        let revision: u64 = text(&object, "/metadata/resourceVersion").parse().unwrap();
        assert!(revision > reached);
        reached = revision;
        object
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "kind" && name != "apiVersion");
        match event["type"].as_str().unwrap() {
            "ADDED" => assert!(objects.insert(uid, object).is_none()),
            "MODIFIED" => assert!(objects.insert(uid, object).is_some()),
            "DELETED" => assert!(objects.remove(&uid).is_some()),
            other => panic!("{other}"),
        }
    }
    let at = format!("/api/v1/pods?resourceVersionMatch=Exact&resourceVersion={reached}");
    let then = by_uid(&get(&server, &at).await);
    assert!(objects == then, "what was watched is what is there");
    assert!(objects != by_uid(&list), "something has happened");
}

fn by_uid(list: &Value) -> BTreeMap<String, Value> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|pod| (text(pod, "/metadata/uid").to_owned(), pod.clone()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_reset_restarts_the_cluster() {
    let server = server(7, Churn::new(100));
    let before: Vec<_> = server.objects("", "v1", "pods");
    live(&server, Duration::from_mins(1)).await;
    server.reset();
    let names = |pods: &[Arc<StoredObject>]| -> Vec<String> {
        pods.iter().map(|pod| pod.name().to_owned()).collect()
    };
    assert_eq!(names(&server.objects("", "v1", "pods")), names(&before));
    let revision = server.revision();
    live(&server, Duration::from_mins(1)).await;
    assert!(server.revision() > revision + 5_000, "it lives on");
    check_relations(&server);
}

#[tokio::test(start_paused = true)]
async fn deleted_objects_are_created_again() {
    let churn = Churn::new(60).with_rollouts(0).with_scalings(0);
    let server = server(7, churn);
    let all = server.objects("", "v1", "pods");
    let of_sets = all
        .iter()
        .filter(|pod| pod.labels().get("pod-template-hash").is_some());
    for pod in of_sets.clone() {
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}?gracePeriodSeconds=0",
            pod.namespace().unwrap(),
            pod.name()
        );
        let request = Request::delete(path).body(Body::empty()).unwrap();
        let response = server.router().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
    }
    live(&server, Duration::from_mins(5)).await;
    let now = server.objects("", "v1", "pods");
    let now = now
        .iter()
        .filter(|pod| pod.labels().get("pod-template-hash").is_some());
    let (now, before) = (now.count(), of_sets.count());
    assert!(2 * now > before, "{now} of {before} are there again");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_cluster_answers_the_same() {
    let build = |compresses| {
        let cluster = ClusterOptions::new(NODES, PODS).with_churn(Churn::new(100));
        FakeServer::builder()
            .with_seed(7)
            .with_compression(compresses)
            .with_cluster(cluster)
            .build()
    };
    let (plain, compressed) = (build(false), build(true));
    let version = plain.revision();
    live(&plain, Duration::ZERO).await;
    live(&compressed, Duration::from_secs(30)).await;
    assert_eq!(plain.revision(), compressed.revision());
    for (plain, compressed) in everything(&plain).iter().zip(everything(&compressed)) {
        assert_eq!(plain.json(), compressed.json());
    }
    let watch = format!("/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion={version}");
    let mut bodies = Vec::new();
    for (path, accept) in [
        ("/api/v1/pods", METADATA_LIST),
        ("/api/v1/nodes/node-00001", METADATA),
        (watch.as_str(), "application/json"),
    ] {
        for server in [&plain, &compressed] {
            let request = Request::get(path).header("accept", accept);
            let request = request.body(Body::empty()).unwrap();
            let response = server.router().oneshot(request).await.unwrap();
            bodies.push(response.into_body().collect().await.unwrap().to_bytes());
        }
        let [plain, compressed] = [&bodies[bodies.len() - 2], &bodies[bodies.len() - 1]];
        // The second watch is opened a second later, and sees more.
        assert!(compressed.starts_with(plain), "{path}");
        assert!(path == watch || plain == compressed, "{path}");
        assert!(plain.len() > 500, "{path}");
    }
}

/// Only the metadata of objects.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
