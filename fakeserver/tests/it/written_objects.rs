//! Objects that controllers create: a client can change each of them, since each is valid.

use std::time::Duration;

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Api, DEPLOYMENTS, deployment};

/// The paths of all resources that can be listed and patched.
async fn resources(api: &Api) -> Vec<String> {
    let groups = api.get("/apis").await.ok();
    let groups = groups["groups"].as_array().unwrap().iter();
    let versions = groups.map(|group| group["preferredVersion"]["groupVersion"].clone());
    let versions = versions.map(|version| format!("/apis/{}", version.as_str().unwrap()));
    let mut paths = Vec::new();
    for root in versions.chain(["/api/v1".to_owned()]) {
        let list = api.get(&root).await.ok();
        for resource in list["resources"].as_array().unwrap() {
            let verbs = resource["verbs"].as_array().unwrap();
            let has = |verb: &str| verbs.iter().any(|own| own == verb);
            let name = resource["name"].as_str().unwrap();
            if has("list") && has("patch") && !name.contains('/') {
                paths.push(format!("{root}/{name}"));
            }
        }
    }
    paths
}

/// Returns the path of an object of a list.
fn path_of(list: &str, object: &Value) -> String {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap();
    match metadata["namespace"].as_str() {
        Some(namespace) => {
            let (root, resource) = list.rsplit_once('/').unwrap();
            format!("{root}/namespaces/{namespace}/{resource}/{name}")
        }
        None => format!("{list}/{name}"),
    }
}

/// Creates a workload of each kind, with claims.
async fn create_workloads(api: &Api) {
    let claim = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    });
    let mut object = deployment("d");
    let template = object["spec"]["template"].clone();
    api.post(DEPLOYMENTS, &object).await.created();
    object["spec"]["serviceName"] = json!("s");
    object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim}]);
    let apps = "/apis/apps/v1/namespaces/default";
    api.post(&format!("{apps}/statefulsets"), &object)
        .await
        .created();
    let daemons = json!({
        "metadata": {"name": "d"},
        "spec": {"selector": object["spec"]["selector"], "template": template},
    });
    api.post(&format!("{apps}/daemonsets"), &daemons)
        .await
        .created();
    let mut once = template.clone();
    once["spec"]["restartPolicy"] = json!("Never");
    let job = json!({"template": once});
    let cron = json!({
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}},
    });
    api.post("/apis/batch/v1/namespaces/default/cronjobs", &cron)
        .await
        .created();
    let service = json!({
        "metadata": {"name": "s"},
        "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
    });
    api.post("/api/v1/namespaces/default/services", &service)
        .await
        .created();
    let secret = json!({
        "metadata": {
            "name": "token",
            "annotations": {"kubernetes.io/service-account.name": "default"},
        },
        "type": "kubernetes.io/service-account-token",
    });
    api.post("/api/v1/namespaces/default/secrets", &secret)
        .await
        .created();
}

#[tokio::test(start_paused = true)]
async fn objects_of_controllers_can_be_changed() {
    let workloads = Workloads::default().with_system_pods(true);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.get("/api/v1/nodes").await.ok();
    api.settle().await;
    create_workloads(&api).await;
    sleep(Duration::from_mins(3)).await;
    let change = json!({"metadata": {"labels": {"changed": "true"}}});
    let mut kinds = 0;
    for list in resources(&api).await {
        let all = api.get(&list).await.ok();
        let items = all["items"].as_array().unwrap();
        kinds += usize::from(!items.is_empty());
        for object in items {
            let path = path_of(&list, object);
            let answer = api.merge(&path, &change).await;
            assert_eq!(answer.code, 200, "{path}: {answer:?}");
        }
    }
    assert!(kinds > 25, "{kinds} kinds have objects");
}
