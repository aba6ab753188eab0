//! PUT.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod, version};

fn with_data(mut object: Value, value: &str) -> Value {
    object["data"] = json!({"k": value});
    object
}

#[tokio::test]
async fn a_stale_version_conflicts_and_none_overwrites() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let first = api.config_map("a").await;
    let second = api.put(&path, &with_data(first.clone(), "2")).await.ok();
    assert!(version(&second) > version(&first));
    assert_eq!(
        api.put(&path, &with_data(first, "3")).await.refused(409),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes \
         to the latest version and try again"
    );
    let third = json!({"metadata": {"name": "a"}, "data": {"k": "4"}});
    assert_eq!(api.put(&path, &third).await.ok()["data"]["k"], "4");
}

#[tokio::test]
async fn an_update_that_changes_nothing_keeps_its_version() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let first = api.config_map("a").await;
    let before = api.server.revision();
    assert_eq!(api.put(&path, &first).await.ok(), first);
    let by_another = format!("{path}?fieldManager=other");
    assert_eq!(api.put(&by_another, &first).await.ok(), first);
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn types_differ_in_the_fields_that_an_update_may_leave_out() {
    let api = Api::new();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}});
    // A lease is created by an update, and later needs the version that it is based on.
    api.put(&format!("{leases}/l"), &lease).await.created();
    assert_eq!(
        api.put(&format!("{leases}/l"), &lease).await.refused(422),
        "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified \
         for an update"
    );
    let config_map = json!({"metadata": {"name": "absent", "resourceVersion": "5"}});
    assert_eq!(
        api.put(&format!("{CONFIG_MAPS}/absent"), &config_map)
            .await
            .refused(404),
        "configmaps \"absent\" not found"
    );
}

#[tokio::test]
async fn only_changes_of_the_desired_state_count_as_a_generation() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let mut object = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let generation = |object: &Value| object["metadata"]["generation"].as_i64().unwrap();
    object["metadata"]["labels"] = json!({"x": "y"});
    object["metadata"]["generation"] = json!(70);
    object = api.put(&path, &object).await.ok();
    assert_eq!(generation(&object), 1);
    object["spec"]["replicas"] = json!(0);
    object = api.put(&path, &object).await.ok();
    assert_eq!(
        (generation(&object), &object["spec"]["replicas"]),
        (2, &json!(0))
    );
    object["metadata"]["annotations"] = json!({"x": "y"});
    object = api.put(&path, &object).await.ok();
    assert_eq!(generation(&object), 3);
}

#[tokio::test]
async fn status_and_the_rest_are_written_through_different_endpoints() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let mut object = api.post(DEPLOYMENTS, &deployment("d")).await.created();
    object["status"] = json!({"replicas": 3});
    object["spec"]["replicas"] = json!(3);
    let main = api.put(&path, &object).await.ok();
    assert_eq!(
        (&main["status"], &main["spec"]["replicas"]),
        (&json!({}), &json!(3))
    );

    let mut object = main;
    object["status"] = json!({"replicas": 3});
    object["spec"]["replicas"] = json!(9);
    object["metadata"]["labels"] = json!({"x": "y"});
    let status = api.put(&format!("{path}/status"), &object).await.ok();
    assert_eq!(status["status"]["replicas"], 3);
    assert_eq!(status["spec"]["replicas"], 3);
    assert!(status["metadata"].get("labels").is_none());
    assert_eq!(status["metadata"]["generation"], 2);

    // The status of a pod comes with labels.
    let mut object = api.post(PODS, &pod("p", "")).await.created();
    object["status"]["phase"] = json!("Running");
    object["metadata"]["labels"] = json!({"x": "y"});
    let status = api.put(&format!("{PODS}/p/status"), &object).await.ok();
    assert_eq!(status["status"]["phase"], "Running");
    assert_eq!(status["metadata"]["labels"]["x"], "y");
    assert_eq!(status["metadata"]["generation"], 1);
}

#[tokio::test]
async fn identity_does_not_change() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let first = api.config_map("a").await;
    let mut other = first.clone();
    other["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000000");
    let message = api.put(&path, &other).await.refused(409);
    assert!(
        message.contains("Precondition failed: UID in precondition: 0000"),
        "{message}"
    );

    let mut older = first.clone();
    older["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    assert_eq!(api.put(&path, &older).await.ok(), first);

    let mut deleted = first;
    deleted["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    let message = api.put(&path, &deleted).await.refused(422);
    assert!(
        message.contains("metadata.deletionTimestamp: Invalid value"),
        "{message}"
    );
}

#[tokio::test]
async fn immutable_fields_stay() {
    let api = Api::new();
    let frozen = json!({"metadata": {"name": "im"}, "data": {"a": "b"}, "immutable": true});
    let frozen = api.post(CONFIG_MAPS, &frozen).await.created();
    let path = format!("{CONFIG_MAPS}/im");
    let mut thawed = frozen.clone();
    thawed["immutable"] = json!(false);
    assert_eq!(
        api.put(&path, &thawed).await.refused(422),
        "ConfigMap \"im\" is invalid: immutable: Forbidden: field is immutable when `immutable` is set"
    );
    let mut labelled = frozen;
    labelled["metadata"]["labels"] = json!({"x": "y"});
    api.put(&path, &labelled).await.ok();
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let api = Api::new();
    let first = api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a?dryRun=All");
    let updated = api.put(&path, &with_data(first.clone(), "2")).await.ok();
    assert_eq!(updated["data"]["k"], "2");
    assert_eq!(version(&updated), version(&first));
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/a")).await.ok(), first);
}
