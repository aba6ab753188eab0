//! Workloads: deployments and the others become pods, which get nodes, run, and end.

use std::time::Duration;

use fakeserver::{Change, Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod};

const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const STATEFUL: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const DAEMONS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const NODES: &str = "/api/v1/nodes";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn api_with(workloads: Workloads) -> Api {
    Api::with(Controllers::default().with_workloads(workloads))
}

/// A server with one node.
fn api() -> Api {
    api_with(Workloads::default())
}

async fn items(api: &Api, path: &str) -> Vec<Value> {
    let list = api.get(path).await.ok();
    list["items"].as_array().unwrap().clone()
}

async fn names(api: &Api, path: &str) -> Vec<String> {
    let items = items(api, path).await;
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}

/// The value of one field of each object.
async fn each(api: &Api, path: &str, pointer: &str) -> Vec<Value> {
    let items = items(api, path).await;
    let field = |item: &Value| item.pointer(pointer).cloned().unwrap_or_default();
    items.iter().map(field).collect()
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    let mut found = conditions.iter().filter(|each| each["type"] == kind);
    found.next().unwrap()
}

/// A deployment `d` of three, which is up.
async fn deployed(api: &Api) -> String {
    let mut object = deployment("d");
    object["spec"]["replicas"] = json!(3);
    api.post(DEPLOYMENTS, &object).await.created();
    api.settle().await;
    format!("{DEPLOYMENTS}/d")
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_pods_that_run_on_a_node() {
    let api = api();
    let path = deployed(&api).await;
    let top = api.get(&path).await.ok();
    let status = &top["status"];
    for field in [
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
    ] {
        assert_eq!(status[field], 3, "{field}: {top}");
    }
    assert_eq!(top["metadata"]["generation"], 1, "a status is no new wish");
    assert_eq!(status["observedGeneration"], 1);
    assert_eq!(condition(&top, "Available")["status"], "True");
    assert_eq!(
        condition(&top, "Progressing")["reason"],
        "NewReplicaSetAvailable"
    );
    let annotations = &top["metadata"]["annotations"];
    assert_eq!(annotations["deployment.kubernetes.io/revision"], "1");

    let sets = items(&api, SETS).await;
    assert_eq!(sets.len(), 1);
    let hash = &sets[0]["metadata"]["labels"]["pod-template-hash"];
    assert_eq!(
        sets[0]["metadata"]["name"],
        format!("d-{}", hash.as_str().unwrap())
    );
    assert_eq!(
        sets[0]["metadata"]["ownerReferences"][0]["uid"],
        top["metadata"]["uid"]
    );
    for pod in items(&api, PODS).await {
        assert_eq!(pod["metadata"]["labels"]["pod-template-hash"], *hash);
        assert_eq!(pod["metadata"]["ownerReferences"][0]["controller"], true);
        assert_eq!(pod["spec"]["nodeName"], "node-0");
        assert_eq!(pod["status"]["phase"], "Running");
        assert_eq!(condition(&pod, "Ready")["status"], "True");
        assert!(pod["status"]["podIP"].is_string());
    }
    // The set has its replicas from its first version on.
    let sets = api.server.history("apps", "v1", "replicasets", 0);
    let created = sets[0].after().unwrap().to_value();
    assert_eq!(created["spec"]["replicas"], 3);
    let reasons = each(&api, EVENTS, "/reason").await;
    for reason in [
        "ScalingReplicaSet",
        "SuccessfulCreate",
        "Scheduled",
        "Started",
    ] {
        assert!(reasons.contains(&json!(reason)), "{reason}: {reasons:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_any_more_when_all_is_as_it_should_be() {
    let api = api();
    deployed(&api).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    let before = api.server.revision();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(api.server.revision(), before);
}

#[tokio::test(start_paused = true)]
async fn workloads_are_off_by_default() {
    let api = Api::new();
    deployed(&api).await;
    assert!(items(&api, SETS).await.is_empty());
    assert!(items(&api, NODES).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deployment_scales_and_replaces_deleted_pods() {
    let api = api();
    let path = deployed(&api).await;
    api.merge(&format!("{path}/scale"), &json!({"spec": {"replicas": 1}}))
        .await
        .ok();
    api.settle().await;
    let left = names(&api, PODS).await;
    assert_eq!(left.len(), 1);
    api.delete(&format!("{PODS}/{}", left[0])).await.ok();
    api.settle().await;
    let replaced = names(&api, PODS).await;
    assert_eq!(replaced.len(), 1);
    assert_ne!(left, replaced);
    assert_eq!(api.get(&path).await.ok()["status"]["availableReplicas"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_roll_out_keeps_its_bounds_and_its_history() {
    let api = api();
    let path = deployed(&api).await;
    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    let before = api.server.revision();
    api.strategic(&path, &image("i2")).await.ok();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let top = api.get(&path).await.ok();
    assert_eq!(top["status"]["updatedReplicas"], 3, "{top}");
    assert_eq!(top["status"]["replicas"], 3);
    assert_eq!(
        top["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "2"
    );
    let images = each(&api, PODS, "/spec/containers/0/image").await;
    assert_eq!(images, ["i2", "i2", "i2"]);
    for change in api.server.history("apps", "v1", "deployments", before) {
        let state: Value = serde_json::from_slice(&change.after().unwrap().json()).unwrap();
        let status = &state["status"];
        assert!(status["availableReplicas"].as_i64() >= Some(3), "{status}");
        assert!(status["replicas"].as_i64() <= Some(4), "{status}");
    }
    // Back again: the first set is used again, and is the newest now.
    api.strategic(&path, &image("i")).await.ok();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(items(&api, SETS).await.len(), 2);
    let top = api.get(&path).await.ok();
    assert_eq!(
        top["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
    assert_eq!(
        each(&api, PODS, "/spec/containers/0/image").await,
        ["i", "i", "i"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stalled_roll_out_fails() {
    let api = api();
    let path = deployed(&api).await;
    let stuck = json!({"spec": {
        "progressDeadlineSeconds": 60,
        "template": {"spec": {"nodeSelector": {"disk": "ssd"}}},
    }});
    api.strategic(&path, &stuck).await.ok();
    tokio::time::sleep(Duration::from_secs(50)).await;
    let top = api.get(&path).await.ok();
    assert_eq!(
        condition(&top, "Progressing")["reason"],
        "ReplicaSetUpdated"
    );
    tokio::time::sleep(Duration::from_secs(20)).await;
    let top = api.get(&path).await.ok();
    let given_up = condition(&top, "Progressing");
    assert_eq!(given_up["status"], "False");
    assert_eq!(given_up["reason"], "ProgressDeadlineExceeded");
    assert_eq!(top["status"]["availableReplicas"], 3, "the old ones stay");
    let ssd = json!({"metadata": {"name": "ssd", "labels": {"disk": "ssd"}}});
    api.post(NODES, &ssd).await.created();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let top = api.get(&path).await.ok();
    assert_eq!(
        condition(&top, "Progressing")["reason"],
        "NewReplicaSetAvailable"
    );
    assert_eq!(top["status"]["updatedReplicas"], 3);
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_makes_the_same_cluster_to_the_byte() {
    let mut histories = Vec::new();
    for _ in 0..2 {
        let api = api();
        let path = deployed(&api).await;
        let image = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}});
        api.strategic(&path, &image).await.ok();
        tokio::time::sleep(Duration::from_secs(20)).await;
        api.delete(&path).await.ok();
        api.settle().await;
        let mut history = Vec::new();
        for (group, resource) in [("", "pods"), ("apps", "replicasets"), ("", "events")] {
            let changes = api.server.history(group, "v1", resource, 0);
            let state = |change: &Change| change.after().map(|object| object.json());
            history.extend(
                changes
                    .iter()
                    .map(|change| (change.revision(), state(change))),
            );
        }
        histories.push(history);
    }
    assert!(histories[0].len() > 30);
    // The clocks of the two servers began at the same time, and so did what they wrote.
    assert_eq!(histories[0], histories[1]);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_goes_with_all_that_is_its_own_or_leaves_it() {
    let api = api();
    let path = deployed(&api).await;
    api.delete(&format!("{path}?propagationPolicy=Orphan"))
        .await
        .ok();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let pods = names(&api, PODS).await;
    assert_eq!((names(&api, SETS).await.len(), pods.len()), (1, 3));
    // The next one of its name takes it over.
    deployed(&api).await;
    assert_eq!(names(&api, SETS).await.len(), 1);
    assert_eq!(names(&api, PODS).await, pods);
    api.delete(&format!("{path}?propagationPolicy=Foreground"))
        .await
        .ok();
    tokio::time::sleep(Duration::from_secs(10)).await;
    for collection in [DEPLOYMENTS, SETS, PODS] {
        assert!(names(&api, collection).await.is_empty(), "{collection}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_adopts_pods_and_lets_them_go() {
    let api = api();
    let mut orphan = pod("orphan", "");
    orphan["metadata"]["labels"] = json!({"a": "b"});
    api.post(PODS, &orphan).await.created();
    let mut set = deployment("r");
    set["spec"]["replicas"] = json!(2);
    api.post(SETS, &set).await.created();
    api.settle().await;
    let path = format!("{PODS}/orphan");
    let adopted = api.get(&path).await.ok();
    assert_eq!(adopted["metadata"]["ownerReferences"][0]["name"], "r");
    assert_eq!(names(&api, PODS).await.len(), 2);
    api.merge(&path, &json!({"metadata": {"labels": {"a": "other"}}}))
        .await
        .ok();
    api.settle().await;
    let released = api.get(&path).await.ok();
    assert!(released["metadata"].get("ownerReferences").is_none());
    assert_eq!(names(&api, PODS).await.len(), 3);
    assert_eq!(
        api.get(&format!("{SETS}/r")).await.ok()["status"]["readyReplicas"],
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_counts_its_pods_and_their_claims() {
    let api = api();
    let mut set = deployment("s");
    set["spec"]["serviceName"] = json!("web");
    set["spec"]["replicas"] = json!(2);
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    api.post(STATEFUL, &set).await.created();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(names(&api, PODS).await, ["s-0"], "one after the other");
    api.settle().await;
    assert_eq!(names(&api, PODS).await, ["s-0", "s-1"]);
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    assert_eq!(names(&api, claims).await, ["data-s-0", "data-s-1"]);
    let path = format!("{STATEFUL}/s");
    let status = api.get(&path).await.ok()["status"].clone();
    assert_eq!(
        (&status["readyReplicas"], &status["updatedReplicas"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    api.merge(&path, &json!({"spec": {"replicas": 1}}))
        .await
        .ok();
    api.settle().await;
    assert_eq!(names(&api, PODS).await, ["s-0"]);
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}});
    api.strategic(&path, &image).await.ok();
    api.settle().await;
    assert_eq!(each(&api, PODS, "/spec/containers/0/image").await, ["j"]);
    let after = api.get(&path).await.ok()["status"].clone();
    assert_ne!(after["currentRevision"], status["currentRevision"]);
    assert_eq!(after["currentRevision"], after["updateRevision"]);
}

#[tokio::test(start_paused = true)]
async fn pods_below_the_partition_keep_the_old_revision() {
    let api = api();
    let mut set = deployment("s");
    set["spec"]["replicas"] = json!(3);
    set["spec"]["revisionHistoryLimit"] = json!(0);
    set["spec"]["updateStrategy"] = json!({"rollingUpdate": {"partition": 2}});
    api.post(STATEFUL, &set).await.created();
    api.settle().await;
    let path = format!("{STATEFUL}/s");
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}});
    api.strategic(&path, &image).await.ok();
    api.settle().await;
    let images = async || each(&api, PODS, "/spec/containers/0/image").await;
    assert_eq!(images().await, ["i", "i", "j"]);
    for pod in ["s-0", "s-1", "s-2"] {
        api.delete(&format!("{PODS}/{pod}?gracePeriodSeconds=0"))
            .await
            .ok();
    }
    api.settle().await;
    assert_eq!(images().await, ["i", "i", "j"]);
    let status = api.get(&path).await.ok()["status"].clone();
    let label = "/metadata/labels/controller-revision-hash";
    let [current, updated] = [&status["currentRevision"], &status["updateRevision"]];
    assert_eq!(
        each(&api, PODS, label).await,
        [current.clone(), current.clone(), updated.clone()]
    );
    assert_ne!(current, updated);
    let whole = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    api.merge(&path, &whole).await.ok();
    api.settle().await;
    assert_eq!(images().await, ["j", "j", "j"]);
}

#[tokio::test(start_paused = true)]
async fn a_set_remembers_its_templates_and_can_go_back() {
    for collection in [STATEFUL, DAEMONS] {
        let api = api();
        let mut set = deployment("s");
        if collection == DAEMONS {
            set["spec"].as_object_mut().unwrap().remove("replicas");
        }
        set["spec"]["revisionHistoryLimit"] = json!(1);
        api.post(collection, &set).await.created();
        api.settle().await;
        let path = format!("{collection}/s");
        let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
        let revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
        let numbers = || async {
            let mut numbers = each(&api, revisions, "/revision").await;
            numbers.sort_by_key(Value::as_i64);
            numbers
        };
        api.strategic(&path, &image("j")).await.ok();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(numbers().await, [1, 2], "{collection}");
        // As kubectl goes back: the data of the revision is a patch.
        let all = items(&api, revisions).await;
        let first = all.iter().find(|each| each["revision"] == 1).unwrap();
        api.strategic(&path, &first["data"]).await.ok();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(numbers().await, [2, 3], "the first is the newest again");
        assert_eq!(each(&api, PODS, "/spec/containers/0/image").await, ["i"]);
        api.strategic(&path, &image("k")).await.ok();
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(numbers().await, [3, 4], "the oldest is forgotten");
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_has_a_pod_on_each_node() {
    let api = api_with(Workloads::default().with_nodes(3));
    let mut set = deployment("d");
    set["spec"].as_object_mut().unwrap().remove("replicas");
    api.post(DAEMONS, &set).await.created();
    api.settle().await;
    let on = each(&api, PODS, "/spec/nodeName").await;
    let mut on: Vec<&str> = on.iter().map(|node| node.as_str().unwrap()).collect();
    on.sort_unstable();
    assert_eq!(on, ["node-0", "node-1", "node-2"]);
    let path = format!("{DAEMONS}/d");
    let status = api.get(&path).await.ok()["status"].clone();
    for field in [
        "desiredNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ] {
        assert_eq!(status[field], 3, "{field}: {status}");
    }
    api.post(NODES, &json!({"metadata": {"name": "late"}}))
        .await
        .created();
    api.delete(&format!("{NODES}/node-2")).await.ok();
    tokio::time::sleep(Duration::from_secs(10)).await;
    let on = each(&api, PODS, "/spec/nodeName").await;
    assert!(
        on.contains(&json!("late")) && !on.contains(&json!("node-2")),
        "{on:?}"
    );
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}});
    api.strategic(&path, &image).await.ok();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(
        each(&api, PODS, "/spec/containers/0/image").await,
        ["j", "j", "j"]
    );
}

fn job(name: &str, exit_code: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "completions": 3,
            "parallelism": 2,
            "backoffLimit": 1,
            "template": {
                "metadata": {"annotations": {"fakeserver/exit-code": exit_code}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_job_runs_until_enough_pods_have_succeeded() {
    let api = api();
    let mut object = job("j", "0");
    object["spec"]["ttlSecondsAfterFinished"] = json!(60);
    api.post(JOBS, &object).await.created();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let path = format!("{JOBS}/j");
    assert_eq!(api.get(&path).await.ok()["status"]["active"], 2);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let done = api.get(&path).await.ok();
    assert_eq!(done["status"]["succeeded"], 3, "{done}");
    assert_eq!(condition(&done, "Complete")["status"], "True");
    assert!(done["status"]["completionTime"].is_string());
    assert_eq!(each(&api, PODS, "/status/phase").await, ["Succeeded"; 3]);
    tokio::time::sleep(Duration::from_mins(2)).await;
    api.get(&path).await.refused(404);
    assert!(names(&api, PODS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_job_gives_up_when_too_many_pods_have_failed() {
    let api = api();
    api.post(JOBS, &job("j", "1")).await.created();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let failed = api.get(&format!("{JOBS}/j")).await.ok();
    assert_eq!(
        condition(&failed, "Failed")["reason"],
        "BackoffLimitExceeded"
    );
    assert_eq!(failed["status"]["failed"], 2);
    assert_eq!(each(&api, PODS, "/status/phase").await, ["Failed"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_a_node_that_takes_it() {
    let api = api_with(Workloads::default().with_pods_per_node(1));
    let mut picky = pod("picky", "");
    picky["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    api.post(PODS, &picky).await.created();
    api.post(PODS, &pod("first", "")).await.created();
    api.settle().await;
    api.post(PODS, &pod("second", "")).await.created();
    api.settle().await;
    let node = |name: &'static str| {
        let path = format!("{PODS}/{name}");
        let api = &api;
        async move { api.get(&path).await.ok() }
    };
    assert_eq!(node("first").await["spec"]["nodeName"], "node-0");
    for waiting in ["picky", "second"] {
        let waiting = node(waiting).await;
        assert!(waiting["spec"].get("nodeName").is_none());
        assert_eq!(
            condition(&waiting, "PodScheduled")["reason"],
            "Unschedulable"
        );
    }
    let ssd = json!({"metadata": {"name": "ssd", "labels": {"disk": "ssd"}}});
    api.post(NODES, &ssd).await.created();
    api.settle().await;
    assert_eq!(node("picky").await["spec"]["nodeName"], "ssd");
    api.delete(&format!("{PODS}/first")).await.ok();
    api.settle().await;
    assert_eq!(node("second").await["spec"]["nodeName"], "node-0");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_lets_its_pods_stop() {
    let api = api();
    api.post("/api/v1/namespaces", &json!({"metadata": {"name": "n"}}))
        .await
        .created();
    let deployments = "/apis/apps/v1/namespaces/n/deployments";
    api.post(deployments, &deployment("d")).await.created();
    api.settle().await;
    let pods = "/api/v1/namespaces/n/pods";
    assert_eq!(names(&api, pods).await.len(), 1);
    api.delete("/api/v1/namespaces/n").await.ok();
    tokio::time::sleep(Duration::from_secs(10)).await;
    api.get("/api/v1/namespaces/n").await.refused(404);
    assert!(names(&api, pods).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_creates_a_job_a_minute_and_keeps_the_last_ones() {
    let api = api();
    let cron_jobs = "/apis/batch/v1/namespaces/default/cronjobs";
    let cron_job = json!({
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "timeZone": "Europe/Berlin", "jobTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
            }}},
        }},
    });
    api.post(cron_jobs, &cron_job).await.created();
    api.settle().await;
    assert_eq!(names(&api, JOBS).await, Vec::<String>::new());
    // The clock of the server begins with the year.
    tokio::time::sleep(Duration::from_secs(57)).await;
    let minute = 1_767_225_600 / 60;
    let name = |minutes| format!("c-{}", minute + minutes);
    let job = api.get(&format!("{JOBS}/{}", name(1))).await.ok();
    let metadata = &job["metadata"];
    assert_eq!(metadata["labels"]["a"], "b");
    assert_eq!(metadata["ownerReferences"][0]["name"], "c");
    assert_eq!(
        metadata["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"],
        "2026-01-01T01:01:00+01:00"
    );
    let path = format!("{cron_jobs}/c");
    let status = api.get(&path).await.ok()["status"].clone();
    assert_eq!(status["lastScheduleTime"], "2026-01-01T00:01:00Z");
    assert_eq!(status["active"][0]["name"], json!(name(1)));
    tokio::time::sleep(Duration::from_secs(4 * 60 + 30)).await;
    assert_eq!(names(&api, JOBS).await, [3, 4, 5].map(name));
    let status = api.get(&path).await.ok()["status"].clone();
    assert_eq!(status.get("active"), None);
    assert_eq!(status["lastScheduleTime"], "2026-01-01T00:05:00Z");
    assert!(status["lastSuccessfulTime"].as_str().unwrap() > "2026-01-01T00:05:00Z");
    let background = json!({"propagationPolicy": "Background"});
    api.delete_with(&path, &background).await.ok();
    api.settle().await;
    for path in [JOBS, PODS] {
        assert_eq!(names(&api, path).await, Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_without_history_knows_its_last_success() {
    let api = api();
    let cron_jobs = "/apis/batch/v1/namespaces/default/cronjobs";
    let cron_job = json!({
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "successfulJobsHistoryLimit": 0, "jobTemplate": {
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
            }}},
        }},
    });
    api.post(cron_jobs, &cron_job).await.created();
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(names(&api, JOBS).await, Vec::<String>::new());
    let status = api.get(&format!("{cron_jobs}/c")).await.ok()["status"].clone();
    assert!(
        status["lastSuccessfulTime"].as_str() > Some("2026-01-01T00:01:00Z"),
        "{status}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_cron_job_that_happens_again_is_counted() {
    let api = api();
    let cron_jobs = "/apis/batch/v1/namespaces/default/cronjobs";
    let template = json!({"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
    }});
    let cron_job = json!({
        "metadata": {"name": "c"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}},
    });
    let cron_job = api.post(cron_jobs, &cron_job).await.created();
    let owner = json!({"apiVersion": "batch/v1", "kind": "CronJob", "name": "c",
        "uid": cron_job["metadata"]["uid"], "controller": true});
    let job = json!({
        "metadata": {"name": "manual", "ownerReferences": [owner]},
        "spec": {"template": template},
    });
    api.post(JOBS, &job).await.created();
    api.settle().await;
    let path = "/api/v1/namespaces/default/events?fieldSelector=reason=UnexpectedJob";
    let events = api.get(path).await.ok();
    let events = events["items"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{events:#?}");
    let message = "Saw a job that the controller did not create or forgot: manual";
    assert_eq!(events[0]["message"], message);
    assert!(events[0]["count"].as_u64() > Some(1), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_waits_for_a_running_job_or_replaces_it() {
    for (policy, jobs) in [("Allow", 3), ("Forbid", 1), ("Replace", 1)] {
        let api = api_with(Workloads::default().with_pod_run(Duration::from_hours(1)));
        let cron_job = json!({
            "metadata": {"name": "c"},
            "spec": {"schedule": "@every 1m", "concurrencyPolicy": policy, "jobTemplate": {
                "spec": {"template": {"spec": {
                    "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}],
                }}},
            }},
        });
        let cron_jobs = "/apis/batch/v1/namespaces/default/cronjobs";
        api.post(cron_jobs, &cron_job).await.created();
        tokio::time::sleep(Duration::from_secs(190)).await;
        let names = names(&api, JOBS).await;
        assert_eq!(names.len(), jobs, "{policy}");
        let minute = 1_767_225_600 / 60;
        let last = if policy == "Forbid" { 1 } else { 3 };
        assert_eq!(names[jobs - 1], format!("c-{}", minute + last), "{policy}");
    }
}
