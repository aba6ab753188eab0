//! Roll-outs that keep pods up or stand still: daemon sets that surge, deployments that are paused, and claims of stateful
//! sets.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{Controllers, StoredObject, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, DEPLOYMENTS, PODS, deployment};

const DAEMONS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const STATEFUL: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const NODES: usize = 3;

fn api() -> Api {
    let workloads = Workloads::default().with_nodes(NODES);
    Api::with(Controllers::default().with_workloads(workloads))
}

fn image(name: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}})
}

/// A daemon set `d` whose pods are up, with these limits of a roll-out.
async fn daemons(api: &Api, limits: Value) -> String {
    let mut set = deployment("d");
    set["spec"].as_object_mut().unwrap().remove("replicas");
    set["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": limits});
    api.post(DAEMONS, &set).await.created();
    api.settle().await;
    format!("{DAEMONS}/d")
}

/// The fewest pods that were ready, and the most that were there and not going, in each state since a revision.
fn extremes(api: &Api, since: u64) -> [usize; 2] {
    let mut pods: BTreeMap<String, [bool; 2]> = BTreeMap::new();
    let (mut fewest, mut most) = (usize::MAX, 0);
    for change in api.server.history("", "v1", "pods", 0) {
        let name = |object: &StoredObject| object.name().to_owned();
        if let Some(gone) = change.before() {
            pods.remove(&name(gone));
        }
        if let Some(pod) = change.after() {
            let object = pod.to_value();
            let conditions = object["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            let is_ready = conditions.any(|it| it["type"] == "Ready" && it["status"] == "True");
            let stays = object["metadata"]["deletionTimestamp"].is_null();
            pods.insert(name(pod), [is_ready && stays, stays]);
        }
        if change.revision() > since {
            fewest = fewest.min(pods.values().filter(|pod| pod[0]).count());
            most = most.max(pods.values().filter(|pod| pod[1]).count());
        }
    }
    [fewest, most]
}

async fn messages(api: &Api, reason: &str) -> Vec<String> {
    let list = api
        .get(&format!("{EVENTS}?fieldSelector=reason={reason}"))
        .await
        .ok();
    let events = list["items"].as_array().unwrap().iter();
    events
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

fn progressing(deployment: &Value) -> String {
    let conditions = deployment["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|it| it["type"] == "Progressing");
    let found = found.unwrap();
    format!("{} {}", found["status"], found["reason"]).replace('"', "")
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_surges_takes_no_pod_down_before_its_successor_is_up() {
    let api = api();
    let path = daemons(&api, json!({"maxSurge": 1, "maxUnavailable": 0})).await;
    let since = api.server.revision();
    api.strategic(&path, &image("j")).await.ok();
    sleep(Duration::from_mins(1)).await;
    assert_eq!(extremes(&api, since), [NODES, NODES + 1]);
    let status = api.get(&path).await.ok()["status"].take();
    for field in [
        "updatedNumberScheduled",
        "numberAvailable",
        "currentNumberScheduled",
    ] {
        assert_eq!(status[field], NODES, "{field}: {status}");
    }
    let pods = api.get(PODS).await.ok()["items"].take();
    let images: Vec<&Value> = pods
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| &pod["spec"]["containers"][0]["image"])
        .collect();
    assert_eq!(images, ["j"; NODES]);
    assert_eq!(messages(&api, "SuccessfulDelete").await.len(), NODES);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_does_not_surge_has_never_two_pods_on_a_node() {
    let api = api();
    let path = daemons(&api, json!({"maxUnavailable": 2})).await;
    let since = api.server.revision();
    api.strategic(&path, &image("j")).await.ok();
    sleep(Duration::from_mins(1)).await;
    assert_eq!(extremes(&api, since), [NODES - 2, NODES]);
    let deleted = messages(&api, "SuccessfulDelete").await;
    assert_eq!(deleted.len(), NODES, "{deleted:?}");
    assert!(deleted.iter().all(|it| it.starts_with("Deleted pod: d-")));
}

#[tokio::test(start_paused = true)]
async fn an_old_pod_that_is_not_ready_goes_as_soon_as_its_successor_is_there() {
    let api = api();
    let path = daemons(&api, json!({"maxSurge": 1, "maxUnavailable": 0})).await;
    let old = api.get(PODS).await.ok()["items"][0].take();
    let old = format!("{PODS}/{}", old["metadata"]["name"].as_str().unwrap());
    // Each of the new ones takes so long that the first does not wait for another.
    let slow = json!({"spec": {"template": {"spec": {"containers": [{
        "name": "c",
        "image": "j",
        "readinessProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 100},
    }]}}}});
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    api.strategic(&format!("{old}/status"), &unready).await.ok();
    api.strategic(&path, &slow).await.ok();
    sleep(Duration::from_secs(20)).await;
    let gone = api.get(&old).await;
    assert_eq!(gone.code, 404, "{gone:?}");
    let images = api.get(PODS).await.ok()["items"].take();
    let images = images.as_array().unwrap().iter();
    let images = images.map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap());
    let mut images: Vec<&str> = images.collect();
    images.sort_unstable();
    assert_eq!(images, ["i", "i", "j", "j"], "and one surges elsewhere");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_records_events_for_ended_pods() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    let set = daemons(&api, json!({})).await;
    for (phase, reason, verb, kind) in [
        ("Failed", "FailedDaemonPod", "kill", "Warning"),
        ("Succeeded", "SucceededDaemonPod", "delete", "Normal"),
    ] {
        let pods = api.get(PODS).await.ok();
        let name = pods["items"][0]["metadata"]["name"].as_str().unwrap();
        let status = json!({"status": {"phase": phase}});
        api.merge(&format!("{PODS}/{name}/status"), &status)
            .await
            .ok();
        api.settle().await;
        let path = format!("/api/v1/namespaces/default/events?fieldSelector=reason={reason}");
        let events = api.get(&path).await.ok();
        let event = &events["items"][0];
        let ended = phase.to_lowercase();
        let message = format!(
            "Found {ended} daemon pod default/{name} on node node-0, will try to {verb} it"
        );
        assert_eq!(
            (&event["message"], &event["type"]),
            (&json!(message), &json!(kind))
        );
        let status = api.get(&set).await.ok()["status"].clone();
        assert_eq!(status["numberReady"], 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_replaces_pods_that_fail_again_and_again_later_and_later() {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    daemons(&api, json!({})).await;
    let first = async || {
        let pods = api.get(PODS).await.ok();
        pods["items"][0]["metadata"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // The pauses are 1, 2, 4, 8 and 16 s long.
    for waits in [false, false, false, false, true] {
        let name = first().await;
        let failed = json!({"status": {"phase": "Failed"}});
        api.merge(&format!("{PODS}/{name}/status"), &failed)
            .await
            .ok();
        sleep(Duration::from_millis(2_500)).await;
        assert_eq!(first().await == name, waits);
    }
    sleep(Duration::from_secs(5)).await;
    let events = api
        .get(&format!("{EVENTS}?fieldSelector=reason=FailedDaemonPod"))
        .await
        .ok();
    assert_eq!(
        events["items"].as_array().map(Vec::len),
        Some(5),
        "{events}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_taint_that_does_not_evict_keeps_the_pods_that_are_there() {
    let api = api();
    daemons(&api, json!({"maxUnavailable": 1})).await;
    let taint = |effect: &str| json!({"spec": {"taints": [{"key": "k", "effect": effect}]}});
    let nodes = async || {
        api.settle().await;
        let pods = api.get(PODS).await.ok()["items"].take();
        pods.as_array().unwrap().len()
    };
    api.merge("/api/v1/nodes/node-0", &taint("NoSchedule"))
        .await
        .ok();
    assert_eq!(nodes().await, NODES);
    let status = api.get(&format!("{DAEMONS}/d")).await.ok()["status"].take();
    assert_eq!(
        [
            &status["desiredNumberScheduled"],
            &status["numberMisscheduled"]
        ],
        [&json!(NODES - 1), &json!(1)]
    );
    api.merge("/api/v1/nodes/node-0", &taint("NoExecute"))
        .await
        .ok();
    assert_eq!(nodes().await, NODES - 1);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_reports_pause_and_resumption() {
    let api = api();
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    api.settle().await;
    let path = format!("{DEPLOYMENTS}/d");
    let since = api.server.revision();
    let set_paused = async |paused: bool| {
        api.merge(&path, &json!({"spec": {"paused": paused}}))
            .await
            .ok();
        api.settle().await;
        progressing(&api.get(&path).await.ok())
    };
    assert_eq!(set_paused(true).await, "Unknown DeploymentPaused");
    assert_eq!(set_paused(false).await, "True NewReplicaSetAvailable");
    let history = api.server.history("apps", "v1", "deployments", since);
    let states = history
        .iter()
        .map(|change| progressing(&change.after().unwrap().to_value()));
    let mut states: Vec<String> = states.collect();
    states.dedup();
    let expected = [
        "NewReplicaSetAvailable",
        "DeploymentPaused",
        "DeploymentResumed",
        "NewReplicaSetAvailable",
    ];
    let reasons: Vec<&str> = states
        .iter()
        .map(|it| it.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(reasons, expected);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_roll_out_gets_a_new_deadline() {
    let api = api();
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    api.settle().await;
    let path = format!("{DEPLOYMENTS}/d");
    let stuck = json!({"spec": {
        "paused": true,
        "progressDeadlineSeconds": 60,
        "template": {"spec": {"nodeSelector": {"disk": "ssd"}}},
    }});
    api.strategic(&path, &stuck).await.ok();
    sleep(Duration::from_secs(90)).await;
    let state = async || progressing(&api.get(&path).await.ok());
    assert_eq!(state().await, "Unknown DeploymentPaused");
    api.merge(&path, &json!({"spec": {"paused": false}}))
        .await
        .ok();
    sleep(Duration::from_secs(50)).await;
    assert_eq!(state().await, "True ReplicaSetUpdated");
    sleep(Duration::from_secs(20)).await;
    assert_eq!(state().await, "False ProgressDeadlineExceeded");
    // What has been given up stays so.
    api.merge(&path, &json!({"spec": {"paused": true}}))
        .await
        .ok();
    api.settle().await;
    assert_eq!(state().await, "False ProgressDeadlineExceeded");
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_records_events_for_new_claims() {
    let api = api();
    let mut set = deployment("ss");
    set["spec"]["serviceName"] = json!("web");
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "d"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    api.post(STATEFUL, &set).await.created();
    api.settle().await;
    assert_eq!(
        messages(&api, "SuccessfulCreate").await,
        [
            "create Claim d-ss-0 Pod ss-0 in StatefulSet ss success",
            "create Pod ss-0 in StatefulSet ss successful",
        ]
    );
    // A claim that is there is not made.
    api.delete(&format!("{PODS}/ss-0")).await.ok();
    api.settle().await;
    let messages = messages(&api, "SuccessfulCreate").await;
    assert_eq!(
        messages.iter().filter(|it| it.contains("Claim")).count(),
        1,
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_revision_has_the_hash_of_its_template_and_the_annotations_of_its_owner() {
    const DAEMONS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
    const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";
    for (collection, label) in [
        (STATEFUL, "controller.kubernetes.io/hash"),
        (DAEMONS, "controller-revision-hash"),
    ] {
        let api = api();
        let mut set = deployment("s");
        if collection == DAEMONS {
            set["spec"].as_object_mut().unwrap().remove("replicas");
        }
        set["metadata"]["annotations"] = json!({"team": "a"});
        api.post(collection, &set).await.created();
        api.settle().await;
        let all = api.get(REVISIONS).await.ok();
        let first = &all["items"][0];
        let hash = first["metadata"]["labels"][label].as_str().unwrap();
        assert_eq!(first["metadata"]["name"], format!("s-{hash}"));
        assert_eq!(first["metadata"]["annotations"]["team"], "a");
        // One of the same template that a client has created takes its place.
        let mut copy = first.clone();
        copy["metadata"] = json!({
            "name": "s-copy",
            "labels": first["metadata"]["labels"],
            "ownerReferences": first["metadata"]["ownerReferences"],
        });
        copy["revision"] = json!(2);
        api.post(REVISIONS, &copy).await.created();
        let path = format!("{REVISIONS}/s-{hash}");
        api.delete(&path).await.ok();
        let touched = json!({"metadata": {"labels": {"touched": "yes"}}});
        api.merge(&format!("{collection}/s"), &touched).await.ok();
        api.settle().await;
        let all = api.get(REVISIONS).await.ok();
        let names: Vec<&Value> = all["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["metadata"]["name"])
            .collect();
        assert_eq!(names, ["s-copy"], "{collection}");
    }
}
