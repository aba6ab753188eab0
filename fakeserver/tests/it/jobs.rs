//! Jobs: indexes, limits, policies, suspension, and pods that are counted once.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, PODS};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// A server whose pods run for five seconds, and are tried again after one.
fn api(stages: impl IntoIterator<Item = Stage>) -> Api {
    let workloads = Workloads::default()
        .with_restart_backoff(Duration::from_secs(1))
        .with_stages(stages);
    Api::with(Controllers::default().with_workloads(workloads))
}

fn job(name: &str, spec: &Value) -> Value {
    let mut job = json!({
        "metadata": {"name": name},
        "spec": {"template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "i"}],
        }}},
    });
    for (field, value) in spec.as_object().unwrap() {
        job["spec"][field] = value.clone();
    }
    job
}

fn indexed(spec: &Value) -> Value {
    let mut indexed = json!({"completionMode": "Indexed", "completions": 5, "parallelism": 5});
    indexed
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    job("j", &indexed)
}

async fn status(api: &Api) -> Value {
    api.get(&format!("{JOBS}/j")).await.ok()["status"].clone()
}

async fn pods(api: &Api) -> Vec<Value> {
    let list = api.get(PODS).await.ok();
    list["items"].as_array().unwrap().clone()
}

/// Returns the types and the reasons of the conditions that are true.
fn conditions(status: &Value) -> Vec<String> {
    let all = status["conditions"].as_array().cloned().unwrap_or_default();
    let all = all.iter().filter(|condition| condition["status"] == "True");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|it| format!("{} {}", text(&it["type"]), text(&it["reason"])))
        .collect()
}

/// Returns a count of a status, in which zeros are left out.
fn count(status: &Value, field: &str) -> u64 {
    status[field].as_u64().unwrap_or_default()
}

fn failing(index: &str, code: u8) -> Stage {
    Stage::of_pods("fail")
        .with_label(INDEX, index)
        .with_exit(Duration::from_secs(1), code)
}

#[tokio::test(start_paused = true)]
async fn a_job_with_less_parallelism_keeps_the_pods_that_run() {
    let workloads = Workloads::default()
        .with_nodes(1)
        .with_pods_per_node(3)
        .with_pod_run(Duration::from_hours(1));
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.post(JOBS, &indexed(&json!({}))).await.created();
    sleep(Duration::from_secs(5)).await;
    let running = async || -> Vec<Value> {
        let all = pods(&api).await.into_iter();
        let running = all.filter(|pod| pod["status"]["phase"] == "Running");
        running.map(|pod| pod["metadata"]["uid"].clone()).collect()
    };
    let before = running().await;
    assert_eq!(before.len(), 3);
    let less = json!({"spec": {"parallelism": 3}});
    api.merge(&format!("{JOBS}/j"), &less).await.ok();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(pods(&api).await.len(), 3, "those without a node went");
    assert_eq!(running().await, before);
}

#[tokio::test(start_paused = true)]
async fn an_indexed_job_gives_each_pod_its_index() {
    let api = api([]);
    api.post(JOBS, &indexed(&json!({}))).await.created();
    sleep(Duration::from_secs(3)).await;
    let running = pods(&api).await;
    assert_eq!(running.len(), 5);
    let mut indexes: Vec<&str> = Vec::new();
    for pod in &running {
        let index = pod["metadata"]["labels"][INDEX].as_str().unwrap();
        assert_eq!(pod["spec"]["hostname"], format!("j-{index}"));
        assert_eq!(
            pod["spec"]["containers"][0]["env"][0]["name"],
            "JOB_COMPLETION_INDEX"
        );
        assert_eq!(
            pod["metadata"]["finalizers"],
            json!(["batch.kubernetes.io/job-tracking"])
        );
        indexes.push(index);
    }
    indexes.sort_unstable();
    assert_eq!(indexes, ["0", "1", "2", "3", "4"]);
    sleep(Duration::from_secs(7)).await;
    let done = status(&api).await;
    assert_eq!(done["completedIndexes"], "0-4");
    assert_eq!(
        conditions(&done),
        [
            "SuccessCriteriaMet CompletionsReached",
            "Complete CompletionsReached"
        ]
    );
    assert!(
        pods(&api)
            .await
            .iter()
            .all(|pod| pod["metadata"]["finalizers"].is_null())
    );
}

#[tokio::test(start_paused = true)]
async fn an_index_that_fails_does_not_keep_the_others() {
    let api = api([failing("3", 1)]);
    api.post(JOBS, &indexed(&json!({"backoffLimitPerIndex": 1})))
        .await
        .created();
    sleep(Duration::from_secs(30)).await;
    let done = status(&api).await;
    assert_eq!(
        (&done["completedIndexes"], &done["failedIndexes"]),
        (&json!("0-2,4"), &json!("3"))
    );
    assert_eq!(
        (&done["succeeded"], &done["failed"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(
        conditions(&done),
        ["FailureTarget FailedIndexes", "Failed FailedIndexes"]
    );
    let pods = pods(&api).await;
    let tries = pods
        .iter()
        .filter(|pod| pod["metadata"]["labels"][INDEX] == "3");
    let tries_of = |pod: &Value| {
        pod["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"].clone()
    };
    let mut counts: Vec<String> = tries
        .map(|pod| tries_of(pod).as_str().unwrap().to_owned())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, ["0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn each_index_is_tried_again_after_a_pause_of_its_own() {
    let fails = ["0", "1", "2"].map(|index| failing(index, 1));
    let workloads = Workloads::default()
        .with_pod_run(Duration::from_secs(4))
        .with_stages(fails);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.post(JOBS, &indexed(&json!({"backoffLimitPerIndex": 2})))
        .await
        .created();
    // Starts take a second and failures another; three at once are no reason to wait longer, and a success for none to wait.
    let created = async |index: &str| {
        let pods = pods(&api).await;
        let own = pods
            .iter()
            .filter(|pod| pod["metadata"]["labels"][INDEX] == *index);
        own.count()
    };
    for (seconds, expected) in [(11, 1), (2, 2), (19, 2), (5, 3)] {
        sleep(Duration::from_secs(seconds)).await;
        for index in ["0", "1", "2"] {
            assert_eq!(
                created(index).await,
                expected,
                "index {index} in {seconds} s"
            );
        }
    }
    assert_eq!(status(&api).await["completedIndexes"], "3,4");
}

#[tokio::test(start_paused = true)]
async fn policies_end_a_job_early() {
    let fails = json!({"podFailurePolicy": {"rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
    ]}});
    let enough = json!({"successPolicy": {"rules": [{"succeededIndexes": "0-1"}]}});
    for (spec, index, code, expected) in [
        (
            fails,
            "2",
            42,
            ["FailureTarget PodFailurePolicy", "Failed PodFailurePolicy"],
        ),
        (
            enough,
            "4",
            1,
            ["SuccessCriteriaMet SuccessPolicy", "Complete SuccessPolicy"],
        ),
    ] {
        let api = api([failing(index, code)]);
        api.post(JOBS, &indexed(&spec)).await.created();
        sleep(Duration::from_secs(20)).await;
        let done = status(&api).await;
        assert_eq!(conditions(&done), expected, "{done}");
        assert_eq!(
            (count(&done, "active"), count(&done, "terminating")),
            (0, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_ignores_the_failures_of_pods_that_are_drained() {
    let api = api([Stage::of_pods("slow").with_exit(Duration::from_secs(30), 0)]);
    let spec = json!({"backoffLimit": 0, "podFailurePolicy": {"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
    ]}});
    api.post(JOBS, &job("j", &spec)).await.created();
    sleep(Duration::from_secs(5)).await;
    let drained = pods(&api).await[0]["metadata"]["name"].clone();
    let path = format!("{PODS}/{}/eviction", drained.as_str().unwrap());
    let eviction = json!({"metadata": {"name": drained}});
    api.post(&path, &eviction).await.created();
    sleep(Duration::from_mins(2)).await;
    let done = status(&api).await;
    assert_eq!(
        conditions(&done),
        [
            "SuccessCriteriaMet CompletionsReached",
            "Complete CompletionsReached"
        ],
        "{done}"
    );
    assert_eq!((count(&done, "failed"), count(&done, "succeeded")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_suspended_job_has_no_pods_and_loses_nothing() {
    let api = api([]);
    let spec = json!({"completions": 4, "parallelism": 2});
    api.post(JOBS, &job("j", &spec)).await.created();
    sleep(Duration::from_secs(8)).await;
    let path = format!("{JOBS}/j");
    api.merge(&path, &json!({"spec": {"suspend": true}}))
        .await
        .ok();
    sleep(Duration::from_secs(5)).await;
    let suspended = status(&api).await;
    assert_eq!(conditions(&suspended), ["Suspended JobSuspended"]);
    assert_eq!(
        (count(&suspended, "active"), count(&suspended, "failed")),
        (0, 0)
    );
    assert_eq!(suspended.get("startTime"), None);
    assert_eq!(suspended["succeeded"], 2);
    api.merge(&path, &json!({"spec": {"suspend": false}}))
        .await
        .ok();
    sleep(Duration::from_secs(20)).await;
    let done = status(&api).await;
    assert_eq!(done["succeeded"], 4);
    assert!(
        conditions(&done).contains(&"Complete CompletionsReached".to_owned()),
        "{done}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_active_for_too_long_fails() {
    let api = api([Stage::of_pods("slow").with_exit(Duration::from_hours(1), 0)]);
    api.post(JOBS, &job("j", &json!({"activeDeadlineSeconds": 30})))
        .await
        .created();
    sleep(Duration::from_secs(29)).await;
    assert_eq!(conditions(&status(&api).await), Vec::<String>::new());
    sleep(Duration::from_secs(10)).await;
    let done = status(&api).await;
    assert_eq!(
        conditions(&done),
        ["FailureTarget DeadlineExceeded", "Failed DeadlineExceeded"]
    );
    assert_eq!(count(&done, "failed"), 1, "the pod that ran counts: {done}");
    assert!(pods(&api).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_counted_and_replaced() {
    let api = api([]);
    api.post(JOBS, &job("j", &json!({}))).await.created();
    sleep(Duration::from_secs(3)).await;
    let name = pods(&api).await[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    api.delete(&format!("{PODS}/{name}")).await.ok();
    sleep(Duration::from_secs(20)).await;
    let done = status(&api).await;
    assert_eq!(
        (&done["failed"], &done["succeeded"]),
        (&json!(1), &json!(1)),
        "{done}"
    );
    assert_eq!(pods(&api).await.len(), 1);
    // What has been counted stays counted when the pod is gone.
    let name = pods(&api).await[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    api.delete(&format!("{PODS}/{name}")).await.ok();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(status(&api).await["succeeded"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_of_another_controller_is_left_alone() {
    let api = api([]);
    let spec = json!({"managedBy": "example.com/queue"});
    api.post(JOBS, &job("j", &spec)).await.created();
    sleep(Duration::from_secs(5)).await;
    assert!(pods(&api).await.is_empty());
    assert_eq!(status(&api).await, json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_deleted_job_lets_its_pods_go() {
    for policy in ["Background", "Foreground", "Orphan"] {
        let api = api([]);
        api.post(JOBS, &job("j", &json!({}))).await.created();
        sleep(Duration::from_secs(3)).await;
        let options = json!({"propagationPolicy": policy});
        api.delete_with(&format!("{JOBS}/j"), &options).await.ok();
        sleep(Duration::from_secs(10)).await;
        api.get(&format!("{JOBS}/j")).await.refused(404);
        let left = pods(&api).await;
        let count = usize::from(policy == "Orphan");
        assert_eq!(left.len(), count, "{policy}");
        assert!(
            left.iter()
                .all(|pod| pod["metadata"]["finalizers"].is_null())
        );
    }
}
