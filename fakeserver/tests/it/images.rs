//! Images: pulled once for each node, missing, or never pulled.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, PODS, pod};

const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SERVICES: &str = "/api/v1/namespaces/default/services";

fn api(stages: impl IntoIterator<Item = Stage>) -> Api {
    let workloads = Workloads::default().with_stages(stages);
    Api::with(Controllers::default().with_workloads(workloads))
}

/// Returns a pod of an image, on the first node.
fn of_image(name: &str, image: &str) -> Value {
    let mut pod = pod(name, "node-0");
    pod["spec"]["containers"][0]["image"] = json!(image);
    pod
}

async fn status(api: &Api, name: &str) -> Value {
    api.get(&format!("{PODS}/{name}")).await.ok()["status"].take()
}

/// Returns why the container of a pod waits: the reason and the message.
async fn waits(api: &Api, name: &str) -> [Value; 2] {
    let mut status = status(api, name).await;
    let waiting = &mut status["containerStatuses"][0]["state"]["waiting"];
    ["reason", "message"].map(|field| waiting[field].take())
}

/// Returns the events of kubelets about a pod, the oldest first.
async fn events_of(api: &Api, name: &str) -> Vec<String> {
    let events = api.kubelet_events(name).await;
    events
        .iter()
        .map(|event| {
            let [reason, message] =
                ["reason", "message"].map(|field| event[field].as_str().unwrap());
            format!("{} {reason}: {message}", event["count"])
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn each_pod_that_pulls_an_image_has_an_event() {
    let api = api([]);
    for name in ["one", "two"] {
        api.post(PODS, &of_image(name, "i:1")).await.created();
    }
    api.settle().await;
    api.post(PODS, &of_image("three", "i:1")).await.created();
    api.settle().await;
    for (name, pulls) in [("one", true), ("two", true), ("three", false)] {
        let events = events_of(&api, name).await;
        let has = |text: &str| events.iter().any(|event| event.contains(text));
        assert_eq!(has("Pulling: Pulling image \"i:1\""), pulls, "{events:#?}");
        assert_eq!(
            has("Pulled: Successfully pulled image \"i:1\" in 1s"),
            pulls,
            "{events:#?}"
        );
        assert_eq!(has("already present on machine"), !pulls, "{events:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_never_pulled_is_there_unless_a_stage_says_otherwise() {
    let api = api([Stage::of_pods("absent")
        .with_image("absent")
        .with_times(3)
        .with_pull_error("this text is that of a pull")]);
    for name in ["absent", "there"] {
        let mut pod = of_image(name, name);
        pod["spec"]["containers"][0]["imagePullPolicy"] = json!("Never");
        api.post(PODS, &pod).await.created();
    }
    sleep(Duration::from_secs(25)).await;
    assert_eq!(status(&api, "there").await["phase"], "Running");
    let why = "Container image \"absent\" is not present with pull policy of Never";
    assert_eq!(waits(&api, "absent").await, ["ErrImageNeverPull", why]);
    assert_eq!(
        events_of(&api, "absent").await,
        [
            format!("3 ErrImageNeverPull: {why}"),
            "3 Failed: Error: ErrImageNeverPull".to_owned(),
        ]
    );
    sleep(Duration::from_secs(10)).await;
    assert_eq!(status(&api, "absent").await["phase"], "Running");
    let events = events_of(&api, "absent").await;
    assert!(
        events[2].contains("already present on machine"),
        "{events:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_image_that_cannot_be_pulled_is_not_there() {
    let api = api([Stage::of_pods("gone")
        .with_label("image", "gone")
        .with_pull_error("manifest unknown")]);
    api.post(PODS, &of_image("before", "i:1")).await.created();
    api.settle().await;
    let mut gone = of_image("gone", "i:1");
    gone["metadata"]["labels"] = json!({"image": "gone"});
    api.post(PODS, &gone).await.created();
    sleep(Duration::from_millis(1_500)).await;
    let events = events_of(&api, "gone").await;
    let expected = [
        "1 Pulling: Pulling image \"i:1\"",
        "1 Failed: Failed to pull image \"i:1\": manifest unknown",
        "1 Failed: Error: ErrImagePull",
    ];
    assert_eq!(events, expected);
}

#[tokio::test(start_paused = true)]
async fn a_pod_has_its_address_while_it_waits_for_its_image() {
    let api = api([Stage::of_pods("gone")
        .with_image("gone")
        .with_pull_error("manifest unknown")]);
    let service = json!({"metadata": {"name": "s"}, "spec": {
        "selector": {"app": "s"}, "ports": [{"port": 80}]}});
    api.post(SERVICES, &service).await.created();
    for (name, image) in [("gone", "gone"), ("nameless", "nginx:::")] {
        let mut pod = of_image(name, image);
        pod["metadata"]["labels"] = json!({"app": "s"});
        api.post(PODS, &pod).await.created();
    }
    let mut unmounted = pod("unmounted", "");
    unmounted["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "absent"}}]);
    api.post(PODS, &unmounted).await.created();
    api.settle().await;
    let mut addresses = Vec::new();
    for (name, reason) in [
        ("gone", "ImagePullBackOff"),
        ("nameless", "InvalidImageName"),
    ] {
        assert_eq!(waits(&api, name).await[0], reason);
        let status = status(&api, name).await;
        assert_eq!(status["podIPs"], json!([{"ip": status["podIP"]}]));
        addresses.push(status["podIP"].clone());
    }
    assert_ne!(addresses[0], addresses[1]);
    let endpoints = api.get(&format!("{ENDPOINTS}/s")).await.ok();
    let not_ready = endpoints["subsets"][0]["notReadyAddresses"].as_array();
    assert_eq!(not_ready.map(Vec::len), Some(2), "{endpoints}");
    // There is no sandbox before volumes are mounted.
    assert_eq!(status(&api, "unmounted").await["podIP"], Value::Null);
}
