//! Horizontal pod autoscalers: the usage of pods scales workloads.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, DEPLOYMENTS, deployment};

const SCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// A deployment `d` of two pods that request 1 core each, and use what `cpu` says.
async fn scaled(cpu: &str) -> Api {
    let api = Api::with(Controllers::default().with_workloads(Workloads::default()));
    let mut object = deployment("d");
    object["spec"]["replicas"] = json!(2);
    let template = &mut object["spec"]["template"];
    template["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    template["metadata"]["annotations"] = json!({"fakeserver/usage-cpu": cpu});
    api.post(DEPLOYMENTS, &object).await.created();
    api
}

/// An autoscaler `a` of `d`, up to 10, whose pods are to use half of a core.
fn autoscaler() -> Value {
    json!({
        "metadata": {"name": "a"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "maxReplicas": 10,
            "metrics": [{
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 50},
                },
            }],
        },
    })
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

async fn status(api: &Api) -> Value {
    api.get(&format!("{SCALERS}/a")).await.ok()["status"].clone()
}

fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let conditions = status["conditions"].as_array().unwrap();
    let mut found = conditions.iter().filter(|each| each["type"] == kind);
    found.next().unwrap()
}

async fn replicas(api: &Api) -> i64 {
    let deployment = api.get(&format!("{DEPLOYMENTS}/d")).await.ok();
    deployment["spec"]["replicas"].as_i64().unwrap()
}

async fn events(api: &Api, reason: &str) -> Vec<String> {
    let list = api.get(EVENTS).await.ok();
    let events = list["items"].as_array().unwrap().iter();
    let about = events.filter(|event| {
        event["reason"] == reason && event["involvedObject"]["kind"] == "HorizontalPodAutoscaler"
    });
    about
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn pods_that_use_too_much_become_more() {
    let api = scaled("900m").await;
    seconds(30).await;
    api.post(SCALERS, &autoscaler()).await.created();
    seconds(16).await;
    assert_eq!(replicas(&api).await, 4, "90 of 50 percent");
    let now = status(&api).await;
    assert_eq!(now["currentReplicas"], 2);
    assert_eq!(now["desiredReplicas"], 4);
    let current = json!({"averageUtilization": 90, "averageValue": "900m"});
    let metric = json!({"type": "Resource", "resource": {"name": "cpu", "current": current}});
    assert_eq!(now["currentMetrics"], json!([metric]));
    assert!(now["lastScaleTime"].is_string());
    let able = condition(&now, "AbleToScale");
    assert_eq!(able["reason"], "SucceededRescale");
    let active = condition(&now, "ScalingActive");
    assert_eq!(active["reason"], "ValidMetricFound");
    let words = "cpu resource utilization (percentage of request)";
    let calculated = "the HPA was able to successfully calculate a replica count from ";
    assert_eq!(active["message"], format!("{calculated}{words}"));
    let messages = events(&api, "SuccessfulRescale").await;
    assert_eq!(
        messages,
        [format!("New size: 4; reason: {words} above target")]
    );

    let deployment = api.get(&format!("{DEPLOYMENTS}/d")).await.ok();
    assert_eq!(deployment["metadata"]["generation"], 2);
    let managers = deployment["metadata"]["managedFields"].as_array().unwrap();
    let scale = |entry: &&Value| entry["subresource"] == "scale";
    let manager = managers.iter().find(scale).unwrap();
    assert_eq!(manager["manager"], "kube-controller-manager");

    seconds(120).await;
    assert_eq!(replicas(&api).await, 10, "usage of each stays");
    let limited = status(&api).await;
    let limited = condition(&limited, "ScalingLimited");
    assert_eq!(
        (&limited["status"], &limited["reason"]),
        (&json!("True"), &json!("TooManyReplicas"))
    );
}

#[tokio::test(start_paused = true)]
async fn pods_that_use_too_little_become_fewer_after_five_minutes() {
    let api = scaled("100m").await;
    seconds(30).await;
    api.post(SCALERS, &autoscaler()).await.created();
    seconds(120).await;
    assert_eq!(replicas(&api).await, 2);
    let able = status(&api).await;
    assert_eq!(
        condition(&able, "AbleToScale")["reason"],
        "ScaleDownStabilized"
    );
    seconds(300).await;
    assert_eq!(replicas(&api).await, 1);
    let messages = events(&api, "SuccessfulRescale").await;
    assert_eq!(messages, ["New size: 1; reason: All metrics below target"]);
}

#[tokio::test(start_paused = true)]
async fn a_missing_target_is_reported_once() {
    let api = scaled("900m").await;
    let mut lost = autoscaler();
    lost["spec"]["scaleTargetRef"]["name"] = json!("none");
    api.post(SCALERS, &lost).await.created();
    seconds(100).await;
    let now = status(&api).await;
    let able = condition(&now, "AbleToScale");
    let why = "deployments.apps \"none\" not found";
    let unable = "the HPA controller was unable to get the target's current scale: ";
    assert_eq!(able["message"], format!("{unable}{why}"));
    assert_eq!(able["status"], "False");
    assert_eq!(events(&api, "FailedGetScale").await, [why]);
    let all = api.get(EVENTS).await.ok();
    let mut messages = all["items"].as_array().unwrap().iter();
    let messages = messages
        .find(|event| event["reason"] == "FailedGetScale")
        .unwrap();
    assert_eq!(messages["count"], 6);
    assert_ne!(messages["firstTimestamp"], messages["lastTimestamp"]);
}

#[tokio::test(start_paused = true)]
async fn metrics_without_values_are_unavailable_until_they_are_set() {
    let api = scaled("900m").await;
    seconds(30).await;
    let mut queue = autoscaler();
    let target = json!({"type": "Value", "value": "10"});
    let external = json!({"metric": {"name": "queue"}, "target": target});
    queue["spec"]["metrics"] = json!([{"type": "External", "external": external}]);
    api.post(SCALERS, &queue).await.created();
    seconds(16).await;
    let now = status(&api).await;
    let active = condition(&now, "ScalingActive");
    assert_eq!(active["reason"], "FailedGetExternalMetric");
    let message = active["message"].as_str().unwrap();
    let why = "unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API";
    assert!(message.contains(why), "{message}");
    let messages = events(&api, "FailedComputeMetricsReplicas").await;
    assert!(
        messages[0].starts_with("invalid metrics (1 invalid out of 1)"),
        "{messages:?}"
    );
    assert_eq!(replicas(&api).await, 2);

    let set = json!({"metadata": {"annotations": {"fakeserver/metric.queue": "30"}}});
    api.merge(&format!("{SCALERS}/a"), &set).await.ok();
    seconds(16).await;
    assert_eq!(
        replicas(&api).await,
        4,
        "three times as many, and at most 4 at once"
    );
    let now = status(&api).await;
    assert_eq!(
        now["currentMetrics"][0]["external"]["current"],
        json!({"value": "30"})
    );
}

#[tokio::test(start_paused = true)]
async fn pods_of_two_autoscalers_are_scaled_by_none() {
    let api = scaled("900m").await;
    api.post(SCALERS, &autoscaler()).await.created();
    let mut other = autoscaler();
    other["metadata"]["name"] = json!("b");
    seconds(31).await;
    assert_eq!(replicas(&api).await, 4);
    api.post(SCALERS, &other).await.created();
    seconds(31).await;
    let why = "pods by selector a=b are controlled by multiple HPAs: [default/a default/b]";
    let now = status(&api).await;
    let active = condition(&now, "ScalingActive");
    assert_eq!(
        json!([active["status"], active["reason"], active["message"]]),
        json!(["False", "AmbiguousSelector", why])
    );
    assert!(now["currentMetrics"].is_null(), "{now}");
    let messages = events(&api, "AmbiguousSelector").await;
    assert_eq!(messages, [why; 2], "one for each of them");
    let messages = events(&api, "FailedComputeMetricsReplicas").await;
    assert_eq!(
        messages.iter().filter(|message| **message == why).count(),
        2
    );
    api.delete(&format!("{SCALERS}/b")).await.ok();
    seconds(16).await;
    let now = status(&api).await;
    assert_eq!(
        condition(&now, "ScalingActive")["reason"],
        "ValidMetricFound"
    );
}

#[tokio::test(start_paused = true)]
async fn a_metric_without_a_value_keeps_its_place_among_the_others() {
    let api = scaled("900m").await;
    seconds(30).await;
    let mut both = autoscaler();
    let target = json!({"type": "AverageValue", "averageValue": "10"});
    let external = json!({"metric": {"name": "queue"}, "target": target});
    let metrics = both["spec"]["metrics"].as_array_mut().unwrap();
    metrics.insert(0, json!({"type": "External", "external": external}));
    api.post(SCALERS, &both).await.created();
    seconds(16).await;
    assert_eq!(replicas(&api).await, 4, "the other one scales up");
    let now = status(&api).await;
    assert_eq!(now["currentMetrics"][0], json!({"type": ""}));
    assert_eq!(now["currentMetrics"][1]["type"], "Resource");
    assert_eq!(
        condition(&now, "ScalingActive")["reason"],
        "ValidMetricFound"
    );
    assert_eq!(events(&api, "FailedGetExternalMetric").await.len(), 1);
    let idle = json!({"spec": {"metrics": [{"type": "External", "external": external}]}});
    api.merge(&format!("{SCALERS}/a"), &idle).await.ok();
    seconds(16).await;
    let messages = events(&api, "FailedComputeMetricsReplicas").await;
    let why = "invalid metrics (1 invalid out of 1), first error is: failed to get queue external metric value: failed to get \
               queue external metric: unable to get external metric default/queue/nil: ";
    assert!(messages[0].starts_with(why), "{messages:?}");
}

#[tokio::test(start_paused = true)]
async fn the_bounds_count_without_metrics_and_zero_disables() {
    let api = scaled("500m").await;
    let mut bounded = autoscaler();
    bounded["spec"]["minReplicas"] = json!(3);
    api.post(SCALERS, &bounded).await.created();
    seconds(16).await;
    assert_eq!(replicas(&api).await, 3);
    let messages = events(&api, "SuccessfulRescale").await;
    let reason = "Current number of replicas below Spec.MinReplicas";
    assert_eq!(messages, [format!("New size: 3; reason: {reason}")]);
    let none = json!({"spec": {"replicas": 0}});
    api.merge(&format!("{DEPLOYMENTS}/d"), &none).await.ok();
    seconds(16).await;
    assert_eq!(replicas(&api).await, 0);
    let now = status(&api).await;
    assert_eq!(
        condition(&now, "ScalingActive")["reason"],
        "ScalingDisabled"
    );
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_scaled_where_their_definitions_say() {
    let api = scaled("900m").await;
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": "farms.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "farms", "kind": "Farm"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.size",
                    "statusReplicasPath": ".status.size",
                    "labelSelectorPath": ".status.selector",
                }},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    api.post(definitions, &definition).await.created();
    seconds(30).await;
    let pods = api.get("/api/v1/namespaces/default/pods").await.ok();
    let labels = &pods["items"][0]["metadata"]["labels"];
    let (label, value) = labels.as_object().unwrap().iter().next().unwrap();
    let farms = "/apis/example.com/v1/namespaces/default/farms";
    let farm = json!({
        "apiVersion": "example.com/v1",
        "kind": "Farm",
        "metadata": {"name": "f"},
        "spec": {"size": 2},
    });
    api.post(farms, &farm).await.created();
    let selector = format!("{label}={}", value.as_str().unwrap());
    let selects = json!({"status": {"size": 2, "selector": selector}});
    api.merge(&format!("{farms}/f/status"), &selects).await.ok();
    let mut scaler = autoscaler();
    let reference = json!({"apiVersion": "example.com/v1", "kind": "Farm", "name": "f"});
    scaler["spec"]["scaleTargetRef"] = reference;
    api.post(SCALERS, &scaler).await.created();
    seconds(16).await;
    assert_eq!(api.get(&format!("{farms}/f")).await.ok()["spec"]["size"], 4);
}

#[tokio::test(start_paused = true)]
async fn usage_is_unknown_without_a_metrics_server() {
    let workloads = Workloads::default().with_metrics(false);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    api.post(SCALERS, &autoscaler()).await.created();
    seconds(16).await;
    let now = status(&api).await;
    let active = condition(&now, "ScalingActive");
    assert_eq!(active["reason"], "FailedGetResourceMetric");
    assert_eq!(
        active["message"],
        "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource \
         cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get \
         pods.metrics.k8s.io)"
    );
}
