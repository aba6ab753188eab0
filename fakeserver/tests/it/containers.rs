//! The containers of pods: what they wait for, how they end and start again, and the stages that say so.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, PODS, pod};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn api(stages: impl IntoIterator<Item = Stage>) -> Api {
    let workloads = Workloads::default().with_stages(stages);
    Api::with(Controllers::default().with_workloads(workloads))
}

async fn get(api: &Api, name: &str) -> Value {
    api.get(&format!("{PODS}/{name}")).await.ok()
}

/// Returns the state of the first container, and how often it was restarted.
async fn state(api: &Api, name: &str) -> (Value, Value) {
    let status = &get(api, name).await["status"]["containerStatuses"][0];
    (status["state"].clone(), status["restartCount"].clone())
}

/// Returns the reason for which the first container waits, or with which it ended.
async fn reason(api: &Api, name: &str) -> Value {
    let (state, _) = state(api, name).await;
    let state = state.as_object().unwrap().values().next().unwrap().clone();
    state["reason"].clone()
}

async fn events_of(api: &Api, name: &str) -> Vec<String> {
    let path = format!("{EVENTS}?fieldSelector=involvedObject.name={name}");
    let list = api.get(&path).await.ok();
    let events = list["items"].as_array().unwrap();
    let text = |event: &Value| {
        let [reason, message] = ["reason", "message"].map(|field| event[field].as_str().unwrap());
        format!("{reason}: {message}")
    };
    events.iter().map(text).collect()
}

fn condition(pod: &Value, kind: &str) -> Value {
    let mut conditions = pod["status"]["conditions"].as_array().unwrap().iter();
    conditions.find(|it| it["type"] == kind).unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_created_before_it_runs() {
    let api = api([]);
    api.post(PODS, &pod("p", "")).await.created();
    sleep(Duration::from_millis(500)).await;
    let pending = get(&api, "p").await;
    assert_eq!(pending["status"]["phase"], "Pending");
    assert_eq!(reason(&api, "p").await, "ContainerCreating");
    assert_eq!(
        condition(&pending, "Ready")["message"],
        "containers with unready status: [c]"
    );
    sleep(Duration::from_secs(1)).await;
    let running = get(&api, "p").await;
    assert_eq!(running["status"]["phase"], "Running");
    assert_eq!(
        running["status"]["observedGeneration"],
        running["metadata"]["generation"]
    );
    assert_eq!(condition(&running, "Ready")["status"], "True");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_crashes_is_restarted_with_a_growing_pause() {
    let api = api([Stage::of_pods("crash").with_exit(Duration::from_secs(1), 3)]);
    api.post(PODS, &pod("p", "")).await.created();
    // It starts at 1 s, ends at 2 s, runs at once again until 3 s, and then at 13 s and 34 s.
    let mut seen = Vec::new();
    for after in [1_500, 1_000, 1_000, 10_000, 1_000, 20_000] {
        sleep(Duration::from_millis(after)).await;
        let (state, restarts) = state(&api, "p").await;
        let state = state.as_object().unwrap().keys().next().unwrap().clone();
        seen.push(format!("{state} {restarts}"));
    }
    assert_eq!(
        seen,
        [
            "running 0",
            "running 1",
            "waiting 1",
            "running 2",
            "waiting 2",
            "running 3"
        ]
    );
    sleep(Duration::from_secs(1)).await;
    let crashed = get(&api, "p").await;
    assert_eq!(reason(&api, "p").await, "CrashLoopBackOff");
    assert_eq!(crashed["status"]["phase"], "Running");
    let status = &crashed["status"]["containerStatuses"][0];
    assert_eq!(status["lastState"]["terminated"]["exitCode"], 3);
    let uid = crashed["metadata"]["uid"].as_str().unwrap();
    assert_eq!(
        status["state"]["waiting"]["message"],
        format!("back-off 40s restarting failed container=c pod=p_default({uid})")
    );
    let events = events_of(&api, "p").await;
    let back_off =
        format!("BackOff: Back-off restarting failed container c in pod p_default({uid})");
    assert!(events.contains(&back_off), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_pulled_is_tried_again() {
    let api = api([Stage::of_pods("pull")
        .with_image("i")
        .with_times(2)
        .with_pull_error("manifest unknown")]);
    api.post(PODS, &pod("p", "")).await.created();
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(reason(&api, "p").await, "ErrImagePull");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(reason(&api, "p").await, "ImagePullBackOff");
    sleep(Duration::from_secs(10)).await;
    sleep(Duration::from_secs(22)).await;
    assert_eq!(get(&api, "p").await["status"]["phase"], "Running");
    let events = events_of(&api, "p").await;
    let failed = "Failed: Failed to pull image \"i\": manifest unknown".to_owned();
    assert!(events.contains(&failed), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_references() {
    let api = api([]);
    let mut mounts = pod("mounts", "");
    mounts["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "settings"}}]);
    let mut reads = pod("reads", "");
    let key = json!({"configMapKeyRef": {"name": "settings", "key": "color"}});
    reads["spec"]["containers"][0]["env"] = json!([{"name": "COLOR", "valueFrom": key}]);
    let mut may = pod("may", "");
    may["spec"]["containers"][0]["envFrom"] =
        json!([{"configMapRef": {"name": "settings", "optional": true}}]);
    let mut one = pod("one", "");
    let items = json!([{"key": "color", "path": "c"}]);
    one["spec"]["volumes"] =
        json!([{"name": "v", "configMap": {"name": "settings", "items": items}}]);
    for pod in [&mounts, &reads, &may, &one] {
        api.post(PODS, pod).await.created();
    }
    sleep(Duration::from_secs(5)).await;
    assert_eq!(reason(&api, "mounts").await, "ContainerCreating");
    assert_eq!(reason(&api, "reads").await, "CreateContainerConfigError");
    assert_eq!(get(&api, "may").await["status"]["phase"], "Running");
    let why = "configmap \"settings\" not found";
    let mount = format!("FailedMount: MountVolume.SetUp failed for volume \"v\" : {why}");
    assert!(events_of(&api, "mounts").await.contains(&mount));
    assert!(
        events_of(&api, "reads")
            .await
            .contains(&format!("Failed: Error: {why}"))
    );
    let settings = json!({"metadata": {"name": "settings"}, "data": {"other": "x"}});
    api.post(CONFIG_MAPS, &settings).await.created();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(get(&api, "mounts").await["status"]["phase"], "Running");
    let (state, _) = state(&api, "reads").await;
    let why = "couldn't find key color in ConfigMap default/settings";
    assert_eq!(state["waiting"]["message"], why);
    let why = "configmap references non-existent config key: color";
    let mount = format!("FailedMount: MountVolume.SetUp failed for volume \"v\" : {why}");
    assert!(events_of(&api, "one").await.contains(&mount));
    let color = json!({"data": {"color": "blue"}});
    api.merge(&format!("{CONFIG_MAPS}/settings"), &color)
        .await
        .ok();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(get(&api, "reads").await["status"]["phase"], "Running");
}

#[tokio::test(start_paused = true)]
async fn the_certificates_of_the_cluster_have_one_key() {
    let api = api([]);
    let reading = |name: &str, key: &str| {
        let mut pod = pod(name, "");
        let key = json!({"configMapKeyRef": {"name": "kube-root-ca.crt", "key": key}});
        pod["spec"]["containers"][0]["env"] = json!([{"name": "CA", "valueFrom": key}]);
        pod
    };
    // It is there as in a cluster, though the server has no certificates.
    for (name, key) in [("right", "ca.crt"), ("wrong", "ca.pem")] {
        api.post(PODS, &reading(name, key)).await.created();
    }
    api.settle().await;
    assert_eq!(get(&api, "right").await["status"]["phase"], "Running");
    let (state, _) = state(&api, "wrong").await;
    let why = "couldn't find key ca.pem in ConfigMap default/kube-root-ca.crt";
    let expected = json!({"reason": "CreateContainerConfigError", "message": why});
    assert_eq!(state["waiting"], expected);
}

#[tokio::test(start_paused = true)]
async fn a_container_that_may_not_be_root_is_not_created_as_root() {
    let api = api([]);
    let mut root = pod("p", "");
    root["spec"]["securityContext"] = json!({"runAsNonRoot": true, "runAsUser": 1000});
    root["spec"]["containers"] = json!([
        {"name": "c", "image": "i", "securityContext": {"runAsUser": 0}},
        {"name": "d", "image": "i"},
    ]);
    api.post(PODS, &root).await.created();
    api.settle().await;
    let pod = get(&api, "p").await;
    let uid = pod["metadata"]["uid"].as_str().unwrap();
    let why = format!(
        "container's runAsUser breaks non-root policy (pod: \"p_default({uid})\", container: c)"
    );
    let statuses = &pod["status"]["containerStatuses"];
    assert_eq!(
        statuses[0]["state"]["waiting"],
        json!({"reason": "CreateContainerConfigError", "message": why})
    );
    assert!(statuses[1]["state"]["running"].is_object(), "{pod}");
    let events = events_of(&api, "p").await;
    assert!(
        events.contains(&format!("Failed: Error: {why}")),
        "{events:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_status_lists_mounts() {
    let api = api([]);
    let mut mounting = pod("p", "");
    mounting["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    mounting["spec"]["containers"][0]["volumeMounts"] = json!([
        {"name": "v", "mountPath": "/a"},
        {"name": "v", "mountPath": "/b", "readOnly": true},
        {"name": "v", "mountPath": "/c", "readOnly": true, "recursiveReadOnly": "Enabled"},
    ]);
    api.post(PODS, &mounting).await.created();
    api.settle().await;
    let pod = get(&api, "p").await;
    let mounts = pod["status"]["containerStatuses"][0]["volumeMounts"].as_array();
    let mounts: Vec<&Value> = mounts.unwrap().iter().collect();
    let own = [
        &json!({"name": "v", "mountPath": "/a"}),
        &json!({"name": "v", "mountPath": "/b", "readOnly": true, "recursiveReadOnly": "Disabled"}),
        &json!({"name": "v", "mountPath": "/c", "readOnly": true, "recursiveReadOnly": "Enabled"}),
    ];
    assert_eq!(mounts[..3], own);
    let token = mounts[3];
    assert_eq!(
        [
            &token["mountPath"],
            &token["readOnly"],
            &token["recursiveReadOnly"]
        ],
        [
            &json!("/var/run/secrets/kubernetes.io/serviceaccount"),
            &json!(true),
            &json!("Disabled")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn init_containers_run_in_order_and_sidecars_beside_them() {
    let slow = Stage::of_pods("slow")
        .with_container("first")
        .with_exit(Duration::from_secs(5), 0);
    let api = api([slow]);
    let mut object = pod("p", "");
    object["spec"]["restartPolicy"] = json!("Never");
    object["spec"]["initContainers"] = json!([
        {"name": "first", "image": "i"},
        {"name": "side", "image": "i", "restartPolicy": "Always"},
        {"name": "second", "image": "i"},
    ]);
    api.post(PODS, &object).await.created();
    sleep(Duration::from_secs(3)).await;
    let early = get(&api, "p").await;
    assert_eq!(early["status"]["phase"], "Pending");
    assert_eq!(condition(&early, "Initialized")["status"], "False");
    let states = |pod: &Value| -> Vec<String> {
        let statuses = ["initContainerStatuses", "containerStatuses"];
        let all = statuses
            .iter()
            .flat_map(|field| pod["status"][*field].as_array().unwrap());
        all.map(|it| {
            it["state"]
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .clone()
        })
        .collect()
    };
    assert_eq!(states(&early), ["running", "waiting", "waiting", "waiting"]);
    sleep(Duration::from_secs(7)).await;
    let late = get(&api, "p").await;
    assert_eq!(
        states(&late),
        ["terminated", "running", "terminated", "running"],
        "{late}"
    );
    assert_eq!(late["status"]["phase"], "Running");
    sleep(Duration::from_secs(10)).await;
    let ended = get(&api, "p").await;
    assert_eq!(ended["status"]["phase"], "Succeeded");
    assert_eq!(states(&ended), ["terminated"; 4]);
}

#[tokio::test(start_paused = true)]
async fn the_policy_decides_which_ends_are_followed_by_a_restart() {
    let stages = [
        Stage::of_pods("fail")
            .with_label("ends", "badly")
            .with_exit(Duration::ZERO, 1),
        Stage::of_pods("oom")
            .with_label("ends", "killed")
            .with_exit_reason("OOMKilled"),
    ];
    let api = api(stages);
    let ends = |name: &str, policy: &str, how: &str| {
        let mut object = pod(name, "");
        object["metadata"]["labels"] = json!({"ends": how});
        object["spec"]["restartPolicy"] = json!(policy);
        object
    };
    for object in [
        ends("never", "Never", "badly"),
        ends("on-failure", "OnFailure", "badly"),
        ends("well", "OnFailure", "well"),
        ends("killed", "Never", "killed"),
    ] {
        api.post(PODS, &object).await.created();
    }
    sleep(Duration::from_secs(20)).await;
    for (name, phase) in [
        ("never", "Failed"),
        ("on-failure", "Running"),
        ("well", "Succeeded"),
        ("killed", "Failed"),
    ] {
        assert_eq!(get(&api, name).await["status"]["phase"], phase, "{name}");
    }
    assert_eq!(reason(&api, "killed").await, "OOMKilled");
    let (ended, _) = state(&api, "killed").await;
    assert_eq!(ended["terminated"]["exitCode"], 137);
    let deadline = {
        let mut object = pod("late", "");
        object["spec"]["activeDeadlineSeconds"] = json!(30);
        object
    };
    api.post(PODS, &deadline).await.created();
    sleep(Duration::from_secs(40)).await;
    let late = get(&api, "late").await;
    assert_eq!(late["status"]["phase"], "Failed");
    assert_eq!(late["status"]["reason"], "DeadlineExceeded");
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_ready_by_its_stage_and_its_gates() {
    let stages = [
        Stage::of_pods("never")
            .with_label("app", "never")
            .with_readiness(None),
        Stage::of_pods("late")
            .with_label("app", "late")
            .with_readiness(Some(Duration::from_secs(8))),
    ];
    let api = api(stages);
    for name in ["never", "late", "gated"] {
        let mut object = pod(name, "");
        object["metadata"]["labels"] = json!({"app": name});
        if name == "gated" {
            object["spec"]["readinessGates"] = json!([{"conditionType": "example.com/open"}]);
        }
        api.post(PODS, &object).await.created();
    }
    let ready = async |name: &str| condition(&get(&api, name).await, "Ready")["status"].clone();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(ready("late").await, "False");
    assert_eq!(
        condition(&get(&api, "gated").await, "ContainersReady")["status"],
        "True"
    );
    assert_eq!(
        condition(&get(&api, "gated").await, "Ready")["reason"],
        "ReadinessGatesNotReady"
    );
    let open = json!({"status": {"conditions": [{"type": "example.com/open", "status": "True"}]}});
    api.strategic(&format!("{PODS}/gated/status"), &open)
        .await
        .ok();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(ready("late").await, "True");
    assert_eq!(ready("never").await, "False");
    assert_eq!(ready("gated").await, "True");
}

#[tokio::test(start_paused = true)]
async fn stages_change_objects_of_other_kinds() {
    let ready = Stage::of("ready", "v1", "Service")
        .with_label("wants", "address")
        .with_delay(Duration::from_secs(3))
        .with_status(json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}));
    let gone = Stage::of("gone", "v1", "ConfigMap")
        .with_expression("object.data.?keep.orValue('yes') == 'no'")
        .unwrap()
        .with_deletion();
    let api = api([ready, gone]);
    let services = "/api/v1/namespaces/default/services";
    let service = json!({
        "metadata": {"name": "s", "labels": {"wants": "address"}},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    });
    api.post(services, &service).await.created();
    for (name, keep) in [("a", "yes"), ("b", "no")] {
        let object = json!({"metadata": {"name": name}, "data": {"keep": keep}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    sleep(Duration::from_secs(2)).await;
    let path = format!("{services}/s");
    assert_eq!(
        api.get(&path).await.ok()["status"]["loadBalancer"],
        json!({})
    );
    sleep(Duration::from_secs(2)).await;
    let given = api.get(&path).await.ok();
    assert_eq!(
        given["status"]["loadBalancer"]["ingress"][0]["ip"],
        "192.0.2.1"
    );
    api.get(&format!("{CONFIG_MAPS}/a")).await.ok();
    api.get(&format!("{CONFIG_MAPS}/b")).await.refused(404);
}
