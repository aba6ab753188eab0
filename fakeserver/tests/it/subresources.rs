//! Subresources of objects.

use serde_json::{Value, json};

use crate::support::{Api, DEPLOYMENTS, PODS, deployment, pod, version};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[tokio::test]
async fn a_scale_is_the_replicas_of_its_object() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let created = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let scale = api.get(&format!("{path}/scale")).await.ok();
    assert_eq!(
        (&scale["kind"], &scale["apiVersion"]),
        (&json!("Scale"), &json!("autoscaling/v1"))
    );
    assert_eq!(
        scale["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
    assert_eq!(scale["spec"], json!({"replicas": 1}));
    assert_eq!(scale["status"], json!({"replicas": 0, "selector": "a=b"}));

    let mut wanted = scale.clone();
    wanted["spec"]["replicas"] = json!(4);
    let scaled = api.put(&format!("{path}/scale"), &wanted).await.ok();
    assert_eq!(scaled["spec"], json!({"replicas": 4}));
    let conflicting = api
        .put(&format!("{path}/scale"), &wanted)
        .await
        .refused(409);
    assert!(
        conflicting.contains("the object has been modified"),
        "{conflicting}"
    );
    let strategic = api
        .strategic(&format!("{path}/scale"), &json!({"spec": {"replicas": 2}}))
        .await
        .ok();
    assert_eq!(strategic["spec"]["replicas"], 2);
    let object = api.get(&path).await.ok();
    assert_eq!(object["spec"]["replicas"], 2);
    assert_eq!(object["metadata"]["generation"], 3);
    assert_eq!(version(&object), version(&strategic));
    let scaled = manager_of_scale(&object).unwrap();
    assert_eq!(scaled["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert!(scaled.get("time").is_none());

    // A scale leaves out that there are none, and so its manager owns nothing any more.
    let patched = api
        .merge(&format!("{path}/scale"), &json!({"spec": {"replicas": 0}}))
        .await
        .ok();
    assert_eq!(patched["spec"], json!({}));
    let object = api.get(&path).await.ok();
    assert_eq!(object["spec"]["replicas"], 0);
    assert_eq!(manager_of_scale(&object), None);
}

fn manager_of_scale(object: &Value) -> Option<&Value> {
    let mut managers = object["metadata"]["managedFields"].as_array()?.iter();
    managers.find(|entry| entry["subresource"] == "scale")
}

#[tokio::test]
async fn a_scale_that_cannot_be_is_refused() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d/scale");
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let before = api.server.revision();
    let scale = |name: &str, replicas: i64| json!({"metadata": {"name": name}, "spec": {"replicas": replicas}});
    assert_eq!(
        api.put(&path, &scale("d", -1)).await.refused(422),
        "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
    api.put(&path, &scale("e", 1)).await.refused(400);
    let missing = format!("{DEPLOYMENTS}/e/scale");
    assert_eq!(
        api.put(&missing, &scale("e", 1)).await.refused(404),
        "deployments.apps \"e\" not found"
    );
    api.get("/api/v1/namespaces/default/configmaps/x/scale")
        .await
        .refused(404);
    api.delete(&path).await.refused(405);
    let tried = api
        .put(&format!("{path}?dryRun=All"), &scale("d", 9))
        .await
        .ok();
    assert_eq!(tried["spec"]["replicas"], 9);
    assert_eq!(api.server.revision(), before);
}

fn binding(name: &str, node: &str) -> Value {
    json!({"metadata": {"name": name, "annotations": {"by": "scheduler"}}, "target": {"kind": "Node", "name": node}})
}

#[tokio::test]
async fn a_binding_puts_a_pod_on_a_node_once() {
    let api = Api::new();
    api.post(PODS, &pod("p", "")).await.created();
    api.post(PODS, &pod("q", "")).await.created();
    let path = format!("{PODS}/p/binding");
    let bound = api.post(&path, &binding("p", "n")).await.created();
    assert_eq!(
        (&bound["status"], &bound["code"]),
        (&json!("Success"), &json!(201))
    );
    let found = api.get(&format!("{PODS}/p")).await.ok();
    assert_eq!(found["spec"]["nodeName"], "n");
    assert_eq!(found["metadata"]["annotations"], json!({"by": "scheduler"}));
    assert_eq!(found["metadata"]["generation"], 1);
    let condition = &found["status"]["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["status"]),
        (&json!("PodScheduled"), &json!("True"))
    );
    assert_eq!(
        api.post(&path, &binding("p", "m")).await.refused(409),
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\""
    );
    // The collection of bindings does the same.
    let bindings = "/api/v1/namespaces/default/bindings";
    api.post(bindings, &binding("q", "n")).await.created();
    assert_eq!(
        api.get(&format!("{PODS}/q")).await.ok()["spec"]["nodeName"],
        "n"
    );

    let before = api.server.revision();
    api.post(&format!("{PODS}/r/binding"), &binding("r", "n"))
        .await
        .refused(404);
    api.post(&path, &binding("q", "n")).await.refused(400);
    assert_eq!(
        api.post(&path, &binding("p", "")).await.refused(500),
        "target.name: Required value"
    );
    assert_eq!(api.server.revision(), before);
}

/// A pod that runs, and counts for its budget.
async fn running(api: &Api, name: &str) {
    let mut object = pod(name, "n");
    object["metadata"]["labels"] = json!({"app": "a"});
    api.post(PODS, &object).await.created();
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    api.merge(&format!("{PODS}/{name}/status"), &status)
        .await
        .ok();
}

async fn evict(api: &Api, name: &str) -> crate::support::Answer {
    let eviction = json!({"metadata": {"name": name}, "deleteOptions": {"gracePeriodSeconds": 0}});
    api.post(&format!("{PODS}/{name}/eviction"), &eviction)
        .await
}

#[tokio::test]
async fn an_eviction_asks_the_budget() {
    let api = Api::new();
    for name in ["p", "q", "r"] {
        running(&api, name).await;
    }
    evict(&api, "r").await.created();
    api.get(&format!("{PODS}/r")).await.refused(404);

    let budget =
        json!({"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "a"}}}});
    api.post(BUDGETS, &budget).await.created();
    let unseen = evict(&api, "p").await;
    assert_eq!(unseen.headers["retry-after"], "10");
    let cause = unseen.json()["details"]["causes"][0].take();
    assert_eq!(cause["reason"], "DisruptionBudget");
    assert_eq!(
        unseen.refused(429),
        "Cannot evict pod as it would violate the pod's disruption budget."
    );
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "desiredHealthy": 1, "currentHealthy": 2, "expectedPods": 2}});
    let path = format!("{BUDGETS}/b");
    api.merge(&format!("{path}/status"), &status).await.ok();
    evict(&api, "p").await.created();
    let left = api.get(&path).await.ok();
    assert_eq!(left["status"]["disruptionsAllowed"], 0);
    assert!(left["status"]["disruptedPods"]["p"].is_string());
    let refused = evict(&api, "q").await;
    assert_eq!(
        refused.json()["details"]["causes"][0]["message"],
        "The disruption budget b needs 1 healthy pods and has 2 currently"
    );
    refused.refused(429);
    api.get(&format!("{PODS}/q")).await.ok();

    let ended = json!({"status": {"phase": "Succeeded"}});
    api.merge(&format!("{PODS}/q/status"), &ended).await.ok();
    evict(&api, "q").await.created();
    api.get(&format!("{PODS}/q")).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn an_evicted_pod_has_a_condition_before_it_is_deleted() {
    let api = Api::new();
    running(&api, "p").await;
    let before = api.server.revision();
    let eviction = json!({"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 30}});
    let path = format!("{PODS}/p/eviction");
    api.post(&format!("{path}?dryRun=All"), &eviction)
        .await
        .created();
    assert_eq!(api.server.revision(), before);
    api.post(&path, &eviction).await.created();
    // The second says what the first has said, and marks nothing.
    let marked = api.server.revision();
    api.post(&path, &eviction).await.created();
    assert_eq!(api.server.revision(), marked);

    let watch = format!("{PODS}?watch=true&resourceVersion={before}&timeoutSeconds=1");
    let watched = api.get(&watch).await;
    let events: Vec<Value> = watched
        .bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(events.len(), 2, "{events:?}");
    let deleted = |event: &Value| {
        event["object"]["metadata"]
            .get("deletionTimestamp")
            .is_some()
    };
    assert_eq!((deleted(&events[0]), deleted(&events[1])), (false, true));
    for event in &events {
        assert_eq!(event["type"], "MODIFIED");
        let condition = &event["object"]["status"]["conditions"][1];
        let since = &condition["lastTransitionTime"];
        assert!(since.is_string());
        assert_eq!(
            *condition,
            json!({
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
                "lastProbeTime": null,
                "lastTransitionTime": since,
            })
        );
    }
}

#[tokio::test]
async fn a_token_looks_like_one() {
    let api = Api::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    api.post(accounts, &json!({"metadata": {"name": "a"}}))
        .await
        .created();
    let path = format!("{accounts}/a/token");
    let issued = api
        .post(&path, &json!({"spec": {"audiences": ["x"]}}))
        .await
        .created();
    assert_eq!(issued["kind"], "TokenRequest");
    assert_eq!(issued["spec"]["expirationSeconds"], 3600);
    assert_eq!(
        issued["status"]["expirationTimestamp"],
        "2026-01-01T01:00:00Z"
    );
    let token = issued["status"]["token"].as_str().unwrap();
    assert_eq!(token.split('.').count(), 3);
    assert_eq!(
        api.post(&path, &json!({"spec": {"expirationSeconds": 60}}))
            .await
            .refused(422),
        "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 60: may not \
         specify a duration less than 10 minutes"
    );
    api.post(&format!("{accounts}/b/token"), &json!({"spec": {}}))
        .await
        .refused(404);
}

#[tokio::test]
async fn there_are_no_containers_to_talk_to() {
    let api = Api::new();
    api.post(PODS, &pod("p", "")).await.created();
    api.post(PODS, &pod("q", "n")).await.created();
    assert_eq!(
        api.get(&format!("{PODS}/x/log")).await.refused(404),
        "pods \"x\" not found"
    );
    let logs = api.get(&format!("{PODS}/p/log")).await;
    assert_eq!((logs.code.as_u16(), logs.bytes.len()), (204, 0));
    assert_eq!(
        api.get(&format!("{PODS}/p/log?container=x"))
            .await
            .refused(400),
        "container x is not valid for pod p"
    );
    assert_eq!(
        api.get(&format!("{PODS}/p/portforward")).await.refused(400),
        "pod p does not have a host assigned"
    );
    assert_eq!(
        api.get(&format!("{PODS}/q/exec")).await.refused(404),
        "nodes \"n\" not found"
    );
    api.post("/api/v1/nodes", &json!({"metadata": {"name": "n"}}))
        .await
        .created();
    for (subresource, method) in [("log", "GET"), ("attach", "POST"), ("portforward", "GET")] {
        let answer = api
            .send(method, &format!("{PODS}/q/{subresource}"), &[], "")
            .await;
        assert_eq!(
            answer.refused(500),
            format!(
                "Internal error occurred: this server runs no containers: pods/{subresource} has no answer"
            )
        );
    }
}

#[tokio::test]
async fn some_endpoints_write_a_part_of_a_pod() {
    let api = Api::new();
    let path = format!("{PODS}/p");
    let mut asking = pod("p", "n");
    asking["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "1"});
    api.post(PODS, &asking).await.created();
    let debug = json!({"spec": {"ephemeralContainers": [{"name": "d", "image": "i"}], "nodeName": "other"}});
    let patched = api
        .strategic(&format!("{path}/ephemeralcontainers"), &debug)
        .await
        .ok();
    assert_eq!(patched["spec"]["ephemeralContainers"][0]["name"], "d");
    assert_eq!(patched["spec"]["nodeName"], "n");
    let resize = json!({"spec": {"containers": [{"name": "c", "image": "other", "resources": {"requests": {"cpu": "2"}}}]}});
    let resized = api.strategic(&format!("{path}/resize"), &resize).await.ok();
    let container = &resized["spec"]["containers"][0];
    assert_eq!(container["resources"], json!({"requests": {"cpu": "2"}}));
    assert_eq!(container["image"], "i");
    assert_eq!(resized["metadata"]["generation"], 3);
    // It may not become a pod that is evicted sooner.
    let greedy = json!([{"op": "remove", "path": "/spec/containers/0/resources"}]);
    let refused = api.json_patch(&format!("{path}/resize"), &greedy).await;
    assert_eq!(
        refused.refused(422),
        "Pod \"p\" is invalid: [spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of \
         resizing, spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed]"
    );
}
