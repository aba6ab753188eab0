//! Kinds that are served in two forms and stored in one.

use std::time::Duration;

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Api, PODS, pod, version};

const CORE: &str = "/api/v1/namespaces/default/events";
const OWN: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const OLD: &str = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const NEW: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

fn core_event(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Pulled", "message": "it was pulled", "source": {"component": "kubelet"}, "type": "Normal",
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1,
    })
}

fn own_event(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Pulled", "note": "it was pulled", "type": "Normal", "action": "Pull",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "example.com/c", "reportingInstance": "i",
    })
}

fn events(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn an_event_is_in_both_groups() {
    let api = Api::new();
    let created = api.post(CORE, &core_event("a")).await.created();
    let same = api.get(&format!("{OWN}/a")).await.ok();
    assert_eq!(same["apiVersion"], "events.k8s.io/v1");
    assert_eq!(same["note"], "it was pulled");
    assert_eq!(same["deprecatedCount"], 1);
    assert_eq!(same["metadata"], created["metadata"]);
    assert!(same.get("message").is_none(), "{same}");

    let other = api.post(OWN, &own_event("b")).await.created();
    assert_eq!(other["note"], "it was pulled");
    let read = api.get(&format!("{CORE}/b")).await.ok();
    assert_eq!(read["message"], "it was pulled");
    assert_eq!(read["reportingComponent"], "example.com/c");
    assert_eq!(version(&read), version(&other));

    // Lists agree, and their items say as much as those of other lists.
    let core = api.get(CORE).await.ok();
    let own = api.get(OWN).await.ok();
    assert_eq!(own["kind"], "EventList");
    assert_eq!(own["apiVersion"], "events.k8s.io/v1");
    assert_eq!(core["metadata"], own["metadata"]);
    for (index, name) in ["a", "b"].into_iter().enumerate() {
        let item = &own["items"][index];
        assert_eq!(item["metadata"]["name"], name);
        assert_eq!(item["note"], "it was pulled");
        assert!(item.get("kind").is_none(), "{item}");
        assert_eq!(core["items"][index]["metadata"], item["metadata"]);
    }
    // It is one object: the name is taken, and a deletion is one for both.
    let refused = api.post(OWN, &own_event("a")).await.refused(409);
    assert_eq!(refused, "events.events.k8s.io \"a\" already exists");
    api.delete(&format!("{OWN}/a")).await.ok();
    api.get(&format!("{CORE}/a")).await.refused(404);
    assert_eq!(api.server.objects("events.k8s.io", "v1", "events").len(), 1);
}

#[tokio::test]
async fn a_change_through_one_group_is_a_change_in_the_other() {
    let api = Api::new();
    api.post(OWN, &own_event("a")).await.created();
    let path = format!("{CORE}/a");
    let change = json!({"message": "another"});
    let changed = api.merge(&path, &change).await.ok();
    assert_eq!(changed["message"], "another");
    let read = api.get(&format!("{OWN}/a")).await.ok();
    assert_eq!(read["note"], "another");

    // Who set the old note through the other group does not own it any more.
    let managers = read["metadata"]["managedFields"].as_array().unwrap();
    let versions: Vec<_> = managers.iter().map(|entry| &entry["apiVersion"]).collect();
    assert_eq!(managers.len(), 2, "{managers:?}");
    assert!(versions.contains(&&json!("v1")), "{versions:?}");
    assert!(
        versions.contains(&&json!("events.k8s.io/v1")),
        "{versions:?}"
    );
    for entry in managers {
        let fields = &entry["fieldsV1"];
        assert!(fields.get("f:note").is_none(), "{fields}");
        let is_core = entry["apiVersion"] == "v1";
        assert_eq!(fields.get("f:message").is_some(), is_core, "{fields}");
        assert_eq!(fields.get("f:action").is_some(), !is_core, "{fields}");
    }
    // What is sent back as it was read is no write.
    let again = api.put(&path, &changed).await.ok();
    assert_eq!(version(&again), version(&changed));
}

#[tokio::test]
async fn an_apply_respects_owners_in_the_other_group() {
    let api = Api::new();
    api.post(OWN, &own_event("a")).await.created();
    let path = format!("{CORE}/a?fieldManager=m");
    let config = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": "a", "namespace": "default"}, "message": "another note",
    });
    let refused = api.apply(&path, config.to_string()).await.refused(409);
    assert!(
        refused.contains("conflict with \"unknown\" using events.k8s.io/v1: .note"),
        "{refused}"
    );
    let forced = api
        .apply(&format!("{path}&force=true"), config.to_string())
        .await;
    assert_eq!(forced.ok()["message"], "another note");
    assert_eq!(
        api.get(&format!("{OWN}/a")).await.ok()["note"],
        "another note"
    );
}

#[tokio::test(start_paused = true)]
async fn watches_of_both_groups_see_each_write_in_their_form() {
    let api = Api::new();
    api.post(CORE, &core_event("a")).await.created();
    api.post(OWN, &own_event("b")).await.created();
    api.delete(&format!("{CORE}/a")).await.ok();
    let watch = "?watch=1&resourceVersion=4&timeoutSeconds=1&allowWatchBookmarks=1";
    let core = events(&api.get(&format!("{CORE}{watch}")).await.text);
    let own = events(&api.get(&format!("{OWN}{watch}")).await.text);
    let kinds: Vec<_> = own.iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["ADDED", "ADDED", "DELETED"]);
    for (core, own) in core.iter().zip(&own) {
        assert_eq!(core["type"], own["type"]);
        let (core, own) = (&core["object"], &own["object"]);
        assert_eq!(core["metadata"], own["metadata"]);
        assert_eq!(core["apiVersion"], "v1");
        assert_eq!(own["apiVersion"], "events.k8s.io/v1");
        assert_eq!(
            (&core["message"], &own["note"]),
            (&own["note"], &core["message"])
        );
        assert!(own.get("message").is_none() && core.get("note").is_none());
    }
    let first = format!("{OWN}?watch=1&timeoutSeconds=1&allowWatchBookmarks=1");
    let initial = events(&api.get(&first).await.text);
    assert_eq!(initial[0]["object"]["note"], "it was pulled");
    assert_eq!(initial[1]["type"], "BOOKMARK");
    assert_eq!(initial[1]["object"]["regarding"], json!({}));
}

#[tokio::test]
async fn each_group_selects_by_its_own_names() {
    let api = Api::new();
    api.post(CORE, &core_event("a")).await.created();
    api.post(OWN, &own_event("b")).await.created();
    let names = async |path: &str| -> Vec<String> {
        let list = api.get(path).await.ok();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let select = |base: &str, selector: &str| format!("{base}?fieldSelector={selector}");
    assert_eq!(
        names(&select(CORE, "involvedObject.name=p")).await,
        ["a", "b"]
    );
    assert_eq!(names(&select(OWN, "regarding.name=p")).await, ["a", "b"]);
    assert_eq!(
        names(&select(OWN, "reportingController=example.com/c")).await,
        ["b"]
    );
    assert_eq!(names(&select(CORE, "source=example.com/c")).await, ["b"]);
    assert_eq!(names(&select(CORE, "source=kubelet")).await, ["a"]);
    api.get(&select(OWN, "involvedObject.name=p"))
        .await
        .refused(400);
    api.get(&select(CORE, "regarding.name=p"))
        .await
        .refused(400);
}

#[tokio::test]
async fn other_representations_have_the_requested_form() {
    let api = Api::new();
    api.post(CORE, &core_event("a")).await.created();
    let table = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let read = async |base: &str| {
        let path = format!("{base}?includeObject=Object");
        api.send("GET", &path, &[table], Body::empty()).await.ok()
    };
    let (core, own) = (read(CORE).await, read(OWN).await);
    assert_eq!(core["rows"][0]["cells"], own["rows"][0]["cells"]);
    assert_eq!(own["rows"][0]["object"]["note"], "it was pulled");
    assert_eq!(own["rows"][0]["object"]["apiVersion"], "events.k8s.io/v1");
    assert_eq!(core["rows"][0]["object"]["message"], "it was pulled");

    let yaml = [("accept", "application/yaml")];
    let yaml = api
        .send("GET", &format!("{OWN}/a"), &yaml, Body::empty())
        .await;
    assert!(yaml.text.contains("note: it was pulled\n"), "{yaml:?}");
    let metadata = [(
        "accept",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    )];
    let metadata = api
        .send("GET", &format!("{OWN}/a"), &metadata, Body::empty())
        .await
        .ok();
    assert_eq!(metadata["kind"], "PartialObjectMetadata");
    assert_eq!(metadata["metadata"]["name"], "a");
    assert!(metadata.get("note").is_none(), "{metadata}");

    // As protobuf, what was read in one form can be sent back and is the same.
    let protobuf = "application/vnd.kubernetes.protobuf";
    let path = format!("{OWN}/a");
    let accept = [("accept", protobuf)];
    let read = api.send("GET", &path, &accept, Body::empty()).await;
    assert_eq!(read.headers["content-type"], protobuf);
    let before = api.get(&path).await.ok();
    let headers = [("content-type", protobuf), ("accept", "application/json")];
    let sent = api.send("PUT", &path, &headers, read.bytes).await.ok();
    assert_eq!(sent, before);
}

#[tokio::test]
async fn an_autoscaler_is_in_both_versions() {
    let api = Api::new();
    let old = json!({
        "metadata": {"name": "a"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "maxReplicas": 3, "targetCPUUtilizationPercentage": 70,
        },
    });
    let created = api.post(OLD, &old).await.created();
    assert_eq!(created["apiVersion"], "autoscaling/v1");
    assert_eq!(created["spec"]["targetCPUUtilizationPercentage"], 70);
    let read = api.get(&format!("{NEW}/a")).await.ok();
    let target = json!({"type": "Utilization", "averageUtilization": 70});
    let cpu = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
    assert_eq!(read["spec"]["metrics"], cpu);
    assert_eq!(read["metadata"], created["metadata"]);

    // The status is written in one version and read in the other.
    let status = json!({"status": {
        "currentReplicas": 2, "desiredReplicas": 3,
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    }});
    api.merge(&format!("{NEW}/a/status"), &status).await.ok();
    let read = api.get(&format!("{OLD}/a")).await.ok();
    assert_eq!(read["status"]["desiredReplicas"], 3);
    let conditions = &read["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/conditions"];
    assert!(
        conditions.as_str().unwrap().contains("AbleToScale"),
        "{read}"
    );
    let unchanged = api.put(&format!("{OLD}/a"), &read).await.ok();
    assert_eq!(version(&unchanged), version(&read));

    let default = json!({
        "metadata": {"name": "b"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3,
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
        },
    });
    let created = api.post(NEW, &default).await.created();
    assert_eq!(
        created["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        80
    );
    assert_eq!(
        created["spec"]["behavior"]["scaleUp"]["policies"][0]["value"],
        4
    );
    assert_eq!(
        created["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"],
        60
    );
    let list = api.get(OLD).await.ok();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        list["items"][1]["spec"]["targetCPUUtilizationPercentage"],
        80
    );
}

#[tokio::test]
async fn a_dry_run_answers_in_the_form_of_the_request() {
    let api = Api::new();
    let before = api.server.revision();
    let tried = api
        .post(&format!("{OWN}?dryRun=All"), &own_event("a"))
        .await
        .created();
    assert_eq!(tried["note"], "it was pulled");
    assert_eq!(tried["apiVersion"], "events.k8s.io/v1");
    assert_eq!(api.server.revision(), before);
}

#[tokio::test(start_paused = true)]
async fn an_event_expires_an_hour_after_its_last_write() {
    let api = Api::new();
    let pod = api.post(PODS, &pod("p", "")).await.created();
    api.post(CORE, &core_event("a")).await.created();
    api.post(CORE, &core_event("b")).await.created();
    tokio::time::sleep(Duration::from_mins(30)).await;
    let series = json!({"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"});
    let change = json!({"series": series});
    let renewed = api.merge(&format!("{OWN}/a"), &change).await.ok();
    let from = version(&renewed);
    tokio::time::sleep(Duration::from_mins(29)).await;
    assert_eq!(api.server.revision(), from, "nothing has expired yet");

    let watch = format!("{OWN}?watch=1&resourceVersion={from}&timeoutSeconds=120");
    let seen = events(&api.get(&watch).await.text);
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0]["type"], "DELETED");
    let gone = &seen[0]["object"];
    assert_eq!(
        (&gone["metadata"]["name"], &gone["note"]),
        (&json!("b"), &json!("it was pulled"))
    );
    assert_eq!(version(gone), from + 1);
    api.get(&format!("{CORE}/a")).await.ok();

    tokio::time::sleep(Duration::from_mins(30)).await;
    api.get(&format!("{CORE}/a")).await.refused(404);
    assert_eq!(api.server.revision(), from + 2);
    // What is no event stays.
    assert_eq!(api.get(&format!("{PODS}/p")).await.ok(), pod);
    // One that is written after the others have gone expires too.
    api.post(OWN, &own_event("c")).await.created();
    tokio::time::sleep(Duration::from_mins(61)).await;
    assert_eq!(api.get(CORE).await.ok()["items"], json!([]));
}
