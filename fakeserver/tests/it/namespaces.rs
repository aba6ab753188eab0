//! Namespaces: what may be in them, and how they end.

use std::time::Duration;

use fakeserver::Controllers;
use serde_json::{Value, json};

use crate::support::{Api, PODS, pod};

async fn with_namespace(name: &str) -> Api {
    with_namespace_in(Api::new(), name).await
}

async fn with_namespace_in(api: Api, name: &str) -> Api {
    let object = json!({"metadata": {"name": name}});
    let created = api.post("/api/v1/namespaces", &object).await.created();
    assert_eq!(
        created["metadata"]["labels"]["kubernetes.io/metadata.name"],
        name
    );
    assert_eq!(created["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(created["status"]["phase"], "Active");
    api
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_takes_its_contents_along() {
    let api = with_namespace("n").await;
    let maps = "/api/v1/namespaces/n/configmaps";
    api.post(maps, &json!({"metadata": {"name": "a"}}))
        .await
        .created();
    let deleted = api.delete("/api/v1/namespaces/n").await.ok();
    assert_eq!(deleted["status"]["phase"], "Terminating");
    assert_eq!(
        api.post(maps, &json!({"metadata": {"name": "b"}}))
            .await
            .refused(403),
        "configmaps \"b\" is forbidden: unable to create new content in namespace n because it is being terminated"
    );
    api.get(&format!("{maps}/a")).await.ok();
    tokio::time::sleep(Duration::from_secs(2)).await;
    api.get(&format!("{maps}/a")).await.refused(404);
    api.get("/api/v1/namespaces/n").await.refused(404);
    // A new namespace of that name is another one.
    let again = json!({"metadata": {"name": "n"}});
    api.post("/api/v1/namespaces", &again).await.created();
    tokio::time::sleep(Duration::from_secs(5)).await;
    api.get("/api/v1/namespaces/n").await.ok();
}

#[tokio::test(start_paused = true)]
async fn a_namespace_waits_for_the_finalizers_of_its_contents() {
    let api = with_namespace("n").await;
    let maps = "/api/v1/namespaces/n/configmaps";
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/f"]}});
    api.post(maps, &held).await.created();
    api.delete("/api/v1/namespaces/n").await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;
    let held = api.get(&format!("{maps}/held")).await.ok();
    assert!(held["metadata"].get("deletionTimestamp").is_some());
    let namespace = api.get("/api/v1/namespaces/n").await.ok();
    let messages: Vec<&Value> = namespace["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|condition| condition["status"] == "True")
        .map(|condition| &condition["message"])
        .collect();
    assert_eq!(
        messages,
        [
            "Some resources are remaining: configmaps. has 1 resource instances",
            "Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances",
        ]
    );
    api.merge(
        &format!("{maps}/held"),
        &json!({"metadata": {"finalizers": null}}),
    )
    .await
    .ok();
    api.settle().await;
    api.get("/api/v1/namespaces/n").await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_does_not_end_while_an_api_is_not_available() {
    let api = with_namespace("n").await;
    let services = "/apis/apiregistration.k8s.io/v1/apiservices";
    for group in ["example.com", "a.org"] {
        let service = json!({
            "metadata": {"name": format!("v1.{group}")},
            "spec": {
                "group": group, "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10,
                "service": {"namespace": "default", "name": "nowhere"}, "insecureSkipTLSVerify": true,
            },
        });
        api.post(services, &service).await.created();
    }
    let maps = "/api/v1/namespaces/n/configmaps";
    let map = json!({"metadata": {"name": "a"}});
    api.post(maps, &map).await.created();
    api.delete("/api/v1/namespaces/n").await.ok();
    tokio::time::sleep(Duration::from_mins(1)).await;

    api.get(&format!("{maps}/a")).await.refused(404);
    let stays = api.get("/api/v1/namespaces/n").await.ok();
    let condition = &stays["status"]["conditions"][0];
    assert_eq!(condition["type"], "NamespaceDeletionDiscoveryFailure");
    assert_eq!(condition["status"], "True");
    assert_eq!(condition["reason"], "DiscoveryFailed");
    assert_eq!(
        condition["message"],
        "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: \
         a.org/v1: stale GroupVersion discovery: a.org/v1, \
         example.com/v1: stale GroupVersion discovery: example.com/v1"
    );

    let paths = ["example.com", "a.org"].map(|group| format!("{services}/v1.{group}"));
    api.delete(&paths[0]).await.ok();
    tokio::time::sleep(Duration::from_secs(1)).await;
    api.get("/api/v1/namespaces/n").await.ok();
    api.delete(&paths[1]).await.ok();
    tokio::time::sleep(Duration::from_secs(1)).await;
    api.get("/api/v1/namespaces/n").await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn pods_go_before_all_else() {
    let api = with_namespace("n").await;
    let [pods, maps] =
        ["pods", "configmaps"].map(|plural| format!("/api/v1/namespaces/n/{plural}"));
    let mut held = pod("held", "");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    api.post(&pods, &held).await.created();
    api.post(&maps, &json!({"metadata": {"name": "a"}}))
        .await
        .created();
    api.delete("/api/v1/namespaces/n").await.ok();
    api.settle().await;
    let held = api.get(&format!("{pods}/held")).await.ok();
    assert!(held["metadata"].get("deletionTimestamp").is_some());
    let map = api.get(&format!("{maps}/a")).await.ok();
    assert!(map["metadata"].get("deletionTimestamp").is_none());
    let namespace = api.get("/api/v1/namespaces/n").await.ok();
    let conditions = namespace["status"]["conditions"].as_array().unwrap();
    let reasons: Vec<&Value> = conditions
        .iter()
        .map(|condition| &condition["reason"])
        .collect();
    assert_eq!(
        reasons,
        [
            "ResourcesDiscovered",
            "ParsedGroupVersions",
            "ContentDeleted",
            "ContentRemoved",
            "ContentHasNoFinalizers",
        ]
    );
    let free = json!({"metadata": {"finalizers": null}});
    api.merge(&format!("{pods}/held"), &free).await.ok();
    api.settle().await;
    api.get("/api/v1/namespaces/n").await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn without_its_controller_a_namespace_keeps_its_objects() {
    let api = with_namespace_in(Api::with(Controllers::none()), "n").await;
    let maps = "/api/v1/namespaces/n/configmaps";
    api.post(maps, &json!({"metadata": {"name": "a"}}))
        .await
        .created();
    api.delete("/api/v1/namespaces/n").await.ok();
    tokio::time::sleep(Duration::from_hours(1)).await;
    api.get(&format!("{maps}/a")).await.ok();
    let namespace = api.get("/api/v1/namespaces/n").await.ok();
    assert_eq!(namespace["status"], json!({"phase": "Terminating"}));
}

#[tokio::test]
async fn a_client_may_finalize_a_namespace_itself() {
    let api = with_namespace("n").await;
    let path = "/api/v1/namespaces/n";
    let bare = json!({"metadata": {"name": "n"}, "spec": {"finalizers": []}});
    // The main endpoint leaves the finalizers of the specification alone.
    let same = api.put(path, &bare).await.ok();
    assert_eq!(same["spec"]["finalizers"], json!(["kubernetes"]));
    api.delete(path).await.ok();
    let finalized = api.put(&format!("{path}/finalize"), &bare).await.ok();
    assert_eq!(finalized["spec"], json!({}));
    api.get(path).await.refused(404);
}

#[tokio::test]
async fn namespaced_objects_need_a_namespace() {
    let api = Api::new();
    let missing = "/api/v1/namespaces/missing/pods";
    assert_eq!(
        api.post(missing, &pod("p", "")).await.refused(404),
        "namespaces \"missing\" not found"
    );
    api.post(PODS, &pod("p", "")).await.created();
    for name in ["default", "kube-system", "kube-public"] {
        assert_eq!(
            api.delete(&format!("/api/v1/namespaces/{name}"))
                .await
                .refused(403),
            format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shuts_down_does_not_wait_for_a_namespace() {
    let api = with_namespace("n").await;
    api.delete("/api/v1/namespaces/n").await.ok();
    api.server.shutdown().await;
    api.get("/api/v1/namespaces/n").await.ok();
}

#[tokio::test(start_paused = true)]
async fn every_namespace_has_the_root_certificate_without_tls() {
    let controllers = Controllers::default().with_service_accounts(true);
    let api = with_namespace_in(Api::with(controllers), "n").await;
    api.settle().await;
    for namespace in ["default", "kube-system", "n"] {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt");
        let map = api.get(&path).await.ok();
        let certificate = map["data"]["ca.crt"].as_str().unwrap();
        let (_, certificate) = x509_parser::pem::parse_x509_pem(certificate.as_bytes()).unwrap();
        assert!(certificate.parse_x509().unwrap().is_ca());
        api.delete(&path).await.ok();
        api.settle().await;
        let again = api.get(&path).await.ok();
        assert_eq!(again["data"], map["data"]);
        api.merge(&path, &json!({"data": {"ca.crt": "x"}}))
            .await
            .ok();
        api.settle().await;
        assert_eq!(api.get(&path).await.ok()["data"], map["data"]);
    }
    let bare = Api::new();
    bare.settle().await;
    let path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    assert_eq!(
        bare.get(path).await.code,
        404,
        "a kube-apiserver alone has none"
    );
}
