//! Servers of several versions of Kubernetes in one process.

use fakeserver::{Controllers, FakeServer, Feature, KubernetesVersion, Workloads};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, PODS, pod, warnings};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// A policy that mutates, which version 1.36 is the first to serve as `v1`.
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";

fn names(document: &Value) -> Vec<&str> {
    let resources = document["resources"].as_array().unwrap().iter();
    resources
        .map(|resource| resource["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn every_version_says_which_one_it_is() {
    for version in KubernetesVersion::all() {
        let api = Api::of_version(version.release());
        assert_eq!(api.server.kubernetes_version(), version);
        let answer = api.get("/version").await.ok();
        let (major, minor) = version.parts();
        assert_eq!(answer["gitVersion"], version.git_version());
        assert_eq!(
            (&answer["major"], &answer["minor"]),
            (&json!(major), &json!(minor))
        );
        assert_eq!(answer["emulationMinor"], minor);
        let before = minor.parse::<u32>().unwrap() - 1;
        assert_eq!(answer["minCompatibilityMinor"], before.to_string());
        let document = api.get("/openapi/v2").await.ok();
        assert_eq!(document["info"]["version"], version.name());
    }
}

#[tokio::test]
async fn every_version_serves_what_its_discovery_lists() {
    for version in KubernetesVersion::all() {
        let api = Api::of_version(version.release());
        let groups = api.get("/apis").await.ok();
        let versions = groups["groups"].as_array().unwrap().iter();
        let versions = versions.flat_map(|group| group["versions"].as_array().unwrap());
        let paths =
            versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap()));
        let paths: Vec<String> = paths.chain(["/api/v1".to_owned()]).collect();
        for path in paths {
            let document = api.get(&path).await.ok();
            for resource in document["resources"].as_array().unwrap() {
                let verbs = resource["verbs"].as_array().unwrap();
                let name = resource["name"].as_str().unwrap();
                if !verbs.contains(&json!("list")) {
                    continue;
                }
                let list = api.get(&format!("{path}/{name}")).await;
                assert_eq!(
                    list.code,
                    StatusCode::OK,
                    "{version}: {path}/{name}: {}",
                    list.text
                );
                let rows = "application/json;as=Table;v=v1;g=meta.k8s.io";
                let table = api
                    .send("GET", &format!("{path}/{name}"), &[("accept", rows)], "")
                    .await;
                assert_eq!(table.json()["kind"], "Table", "{version}: {path}/{name}");
            }
        }
    }
}

#[tokio::test]
async fn servers_of_several_versions_live_in_one_process() {
    let (old, new) = (Api::of_version("1.35"), Api::of_version("1.36"));
    let policy = json!({"kind": "MutatingAdmissionPolicy", "metadata": {"name": "a"}});
    let refused = old.post(POLICIES, &policy).await;
    assert_eq!(refused.code, StatusCode::NOT_FOUND);
    assert_eq!(new.get(POLICIES).await.code, StatusCode::OK);
    let group = "/apis/admissionregistration.k8s.io/v1";
    let (old, new) = (old.get(group).await.ok(), new.get(group).await.ok());
    assert!(!names(&old).contains(&"mutatingadmissionpolicies"));
    assert!(names(&new).contains(&"mutatingadmissionpolicies"));
}

#[tokio::test]
async fn a_field_that_a_version_does_not_know_is_dropped_with_a_warning() {
    let old = Api::of_version("1.34");
    let mut pod = pod("a", "");
    pod["spec"]["schedulingGroup"] = json!({"podGroupName": "g"});
    let new = Api::of_version("1.36");
    let path = format!("{PODS}?dryRun=All");
    let strict = format!("{path}&fieldValidation=Strict");
    let answer = old.post(&path, &pod).await;
    assert_eq!(
        warnings(&answer),
        [r#"299 - "unknown field \"spec.schedulingGroup\"""#]
    );
    assert!(answer.created()["spec"]["schedulingGroup"].is_null());
    let why = old.post(&strict, &pod).await.refused(400);
    assert!(
        why.contains(r#"strict decoding error: unknown field "spec.schedulingGroup""#),
        "{why}"
    );
    let answer = new.post(&strict, &pod).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.text);
    assert_eq!(warnings(&answer), [""; 0]);
}

#[tokio::test]
async fn patches_and_applied_configurations_have_the_fields_of_the_version() {
    let change = json!({"spec": {"schedulingGroup": {"podGroupName": "g"}}});
    let api = Api::of_version("1.34");
    api.post(PODS, &pod("a", "")).await.created();
    let path = format!("{PODS}/a");
    let patched = api.merge(&path, &change).await;
    assert_eq!(
        warnings(&patched),
        [r#"299 - "unknown field \"spec.schedulingGroup\"""#]
    );
    let config = json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a"},
        "spec": {"schedulingGroup": {"podGroupName": "g"}},
    });
    let path = format!("{path}?fieldManager=me&force=true");
    let why = api.apply(&path, config.to_string()).await.refused(500);
    assert!(
        why.contains(".spec.schedulingGroup: field not declared in schema"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn nodes_and_objects_of_the_cluster_are_of_the_version() {
    let version: KubernetesVersion = "1.34".parse().unwrap();
    let server = FakeServer::builder()
        .with_kubernetes_version(version)
        .with_controllers(Controllers::default().with_workloads(Workloads::default()))
        .build();
    let api = Api { server };
    let node = json!({"metadata": {"name": "a"}});
    api.post("/api/v1/nodes", &node).await.created();
    api.settle().await;
    let nodes = api.get("/api/v1/nodes").await.ok();
    assert_eq!(
        nodes["items"][0]["status"]["nodeInfo"]["kubeletVersion"],
        "v1.34.9"
    );
    api.post(CONFIG_MAPS, &json!({"metadata": {"name": "a"}}))
        .await
        .created();
    api.server.reset();
    assert_eq!(api.get("/version").await.ok()["minor"], "34");
    assert_eq!(
        api.get("/api/v1/namespaces/default").await.code,
        StatusCode::OK
    );
}

#[tokio::test]
async fn streaming_lists_are_refused_where_their_gate_is_off_by_default() {
    const WATCH: &str =
        "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let path = format!("{CONFIG_MAPS}{WATCH}");
    for (version, is_on) in [
        ("1.31", false),
        ("1.32", true),
        ("1.33", false),
        ("1.34", true),
        ("1.37", true),
    ] {
        let api = Api::of_version(version);
        if is_on {
            assert_eq!(api.get(&path).await.code, StatusCode::OK, "{version}");
        } else {
            let why = api.get(&path).await.refused(422);
            let expected = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
            assert!(why.contains(expected), "{version}: {why}");
        }
    }
    let builder = FakeServer::builder().with_kubernetes_version("1.33".parse().unwrap());
    let server = builder.with_feature(Feature::WatchList, true).build();
    let api = Api { server };
    assert_eq!(api.get(&path).await.code, StatusCode::OK);
}

#[tokio::test]
async fn an_absent_time_of_creation_is_shown_before_1_34_and_counts_as_absent() {
    const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let review = json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    for (version, is_shown) in [("1.33", true), ("1.34", false)] {
        let api = Api::of_version(version);
        let answer = api.post(REVIEWS, &review).await.created();
        let shown = |object: &Value| {
            let metadata = object["metadata"].as_object().unwrap();
            metadata.contains_key("creationTimestamp")
        };
        assert_eq!(shown(&answer), is_shown, "{version}");
        for path in ["/api", "/apis"] {
            let groups = api.send("GET", path, &[("accept", DISCOVERY)], "").await;
            assert_eq!(shown(&groups.json()["items"][0]), is_shown, "{version}");
        }
    }
}

#[tokio::test]
async fn errors_show_values_as_the_version_does() {
    let both = json!({"metadata": {"name": "a", "finalizers": ["foregroundDeletion", "orphan"]}});
    for (version, shown) in [
        (
            "1.33",
            r#"Invalid value: []string{"foregroundDeletion", "orphan"}: finalizer"#,
        ),
        (
            "1.34",
            r#"Invalid value: ["foregroundDeletion","orphan"]: finalizer"#,
        ),
    ] {
        let why = Api::of_version(version)
            .post(CONFIG_MAPS, &both)
            .await
            .refused(422);
        assert!(why.contains(shown), "{version}: {why}");
    }
}

#[tokio::test]
async fn a_rule_that_does_not_compile_is_shown_as_the_version_shows_structs() {
    let schema = json!({"type": "object", "properties": {"spec": {
        "type": "object", "x-kubernetes-validations": [{"rule": "self.nope == 1"}]}}});
    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}}]}});
    for (version, shown) in [
        (
            "1.33",
            r#"apiextensions.ValidationRule{Rule:"self.nope == 1", Message:"", MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)}: compilation failed"#,
        ),
        (
            "1.34",
            r#"{"Rule":"self.nope == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed"#,
        ),
    ] {
        let why = Api::of_version(version)
            .post(DEFINITIONS, &definition)
            .await
            .refused(422);
        assert!(why.contains(shown), "{version}: {why}");
    }
}

#[tokio::test]
async fn endpoints_are_deprecated_from_their_version_on() {
    let path = "/api/v1/namespaces/default/endpoints";
    for (version, count) in [("1.32", 0), ("1.33", 1)] {
        let answer = Api::of_version(version).get(path).await;
        assert_eq!(warnings(&answer).len(), count, "{version}");
    }
}
