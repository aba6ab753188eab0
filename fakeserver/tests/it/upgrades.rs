//! Servers whose version of Kubernetes changes while they run.

use axum::body::Body;
use fakeserver::{FakeServer, KubernetesVersion};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Api, CONFIG_MAPS, PODS, pod, version};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Version 1.36 is the first to serve them as `v1`.
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const FLOW_SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

fn named(version: &str) -> KubernetesVersion {
    version.parse().unwrap()
}

/// A pod with a field that 1.34 is the first to know.
fn overridden(name: &str) -> Value {
    let mut pod = pod(name, "");
    pod["spec"]["hostnameOverride"] = json!("g");
    pod
}

/// Opens a watch of `path`.
async fn watch(api: &Api, path: &str) -> Body {
    let request = Request::get(format!("{path}?watch=true&timeoutSeconds=600"));
    let request = request.body(Body::empty()).unwrap();
    let answer = api.server.router().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.into_body()
}

/// Returns the next event; `None` at the end of the watch.
async fn next(watch: &mut Body) -> Option<Value> {
    let frame = watch.frame().await?.unwrap();
    Some(serde_json::from_slice(frame.data_ref().unwrap()).unwrap())
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_server_becomes_each_version_in_both_directions() {
    let upgraded = Api::of_version("1.31");
    let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
    for version in all.iter().chain(all.iter().rev()) {
        upgraded.server.upgrade(*version);
        assert_eq!(upgraded.server.kubernetes_version(), *version);
        let fresh = Api::of_version(version.release());
        for path in [
            "/version",
            "/api/v1",
            "/apis",
            "/openapi/v2",
            "/openapi/v3",
            "/",
        ] {
            let (upgraded, fresh) = (upgraded.get(path).await, fresh.get(path).await);
            assert_eq!(upgraded.json(), fresh.json(), "{version}: {path}");
        }
    }
}

#[tokio::test]
async fn a_resource_that_is_not_served_stays_in_the_store() {
    let api = Api::of_version("1.36");
    let binding = json!({
        "metadata": {"name": "a"},
        "spec": {"policyName": "p"},
    });
    let path = format!("{POLICIES}bindings").replace("policiesbindings", "policybindings");
    let before = api.post(&path, &binding).await.created();
    let upgrade = api.server.upgrade(named("1.31"));
    assert_eq!((&*upgrade.from, &*upgrade.to), ("1.36.2", "1.31.14"));
    let unserved = "mutatingadmissionpolicybindings.admissionregistration.k8s.io";
    assert_eq!(upgrade.unread.unserved.get(unserved), Some(&1));
    assert_eq!(api.get(&path).await.code, StatusCode::NOT_FOUND);
    api.server.upgrade(named("1.36"));
    assert_eq!(api.get(&format!("{path}/a")).await.ok(), before);
}

#[tokio::test]
async fn a_field_that_is_not_known_is_shown_again_unless_it_was_written_over() {
    let api = Api::of_version("1.36");
    for name in ["a", "b"] {
        api.post(PODS, &overridden(name)).await.created();
    }
    let upgrade = api.server.upgrade(named("1.33"));
    assert_eq!(upgrade.unread.objects_with_unknown_fields, 2);
    assert_eq!(
        upgrade.unread.unknown_fields["pods default/a"],
        ["spec.hostnameOverride"]
    );
    for path in [format!("{PODS}/a"), PODS.to_owned()] {
        let text = api.get(&path).await.text;
        assert!(
            text.contains(r#""containers""#) && !text.contains(r#""hostnameOverride""#),
            "{text}"
        );
    }
    let change = json!({"metadata": {"labels": {"k": "v"}}});
    let strict = format!("{PODS}/b?fieldValidation=Strict");
    let patched = api.merge(&strict, &change).await.ok();
    assert!(patched["spec"]["hostnameOverride"].is_null(), "{patched}");
    let upgrade = api.server.upgrade(named("1.36"));
    assert!(upgrade.unread.is_empty(), "{}", upgrade.unread);
    let pods = api.get(PODS).await.ok();
    let group = |index: usize| &pods["items"][index]["spec"]["hostnameOverride"];
    assert_eq!((group(0), group(1)), (&json!("g"), &Value::Null));
    assert_eq!(pods["items"][1]["metadata"]["labels"]["k"], "v");
}

#[tokio::test]
async fn a_watch_goes_on_in_the_version_in_which_it_began() {
    let api = Api::of_version("1.33");
    let mut old = watch(&api, PODS).await;
    api.server.upgrade(named("1.36"));
    let mut new = watch(&api, PODS).await;
    api.post(PODS, &overridden("a")).await.created();
    let (old, new) = (next(&mut old).await.unwrap(), next(&mut new).await.unwrap());
    for event in [&old, &new] {
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!("ADDED"), &json!("a"))
        );
    }
    assert!(old["object"]["spec"]["hostnameOverride"].is_null());
    assert_eq!(new["object"]["spec"]["hostnameOverride"], "g");
    assert_eq!(version(&old["object"]), version(&new["object"]));
}

#[tokio::test]
async fn only_the_watches_of_what_is_not_served_end() {
    let api = Api::of_version("1.36");
    let (mut policies, mut maps) = (watch(&api, POLICIES).await, watch(&api, CONFIG_MAPS).await);
    api.server.upgrade(named("1.31"));
    assert_eq!(next(&mut policies).await, None);
    api.config_map("a").await;
    let event = next(&mut maps).await.unwrap();
    assert_eq!(event["object"]["metadata"]["name"], "a");
}

#[tokio::test]
async fn definitions_and_their_watches_outlive_an_upgrade() {
    let api = Api::of_version("1.34");
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    api.post(DEFINITIONS, &definition).await.created();
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let mut events = watch(&api, widgets).await;
    api.server.upgrade(named("1.37"));
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "odd": 1});
    api.post(widgets, &widget).await.created();
    assert_eq!(next(&mut events).await.unwrap()["object"]["odd"], 1);
}

#[tokio::test]
async fn initial_objects_are_brought_up_to_date() {
    for (from, to) in [
        ("1.31", "1.37"),
        ("1.33", "1.34"),
        ("1.37", "1.31"),
        ("1.36", "1.32"),
    ] {
        let (api, fresh) = (Api::of_version(from), Api::of_version(to));
        api.server.upgrade(named(to));
        for path in [FLOW_SCHEMAS, API_SERVICES] {
            let (upgraded, fresh) = (api.get(path).await.ok(), fresh.get(path).await.ok());
            assert_eq!(names(&upgraded), names(&fresh), "{from} to {to}: {path}");
            for (one, other) in upgraded["items"]
                .as_array()
                .unwrap()
                .iter()
                .zip(fresh["items"].as_array().unwrap())
            {
                assert_eq!(one["spec"], other["spec"], "{from} to {to}");
            }
        }
        // Roles stay, and so do rights that the version would not give.
        let (upgraded, fresh) = (api.get(ROLES).await.ok(), fresh.get(ROLES).await.ok());
        let upgraded = names(&upgraded);
        assert!(
            names(&fresh).iter().all(|name| upgraded.contains(name)),
            "{from} to {to}"
        );
    }
}

#[tokio::test]
async fn what_a_client_has_taken_over_is_left_alone() {
    let api = Api::of_version("1.33");
    let flow = format!("{FLOW_SCHEMAS}/endpoint-controller");
    let own = json!({"metadata": {"annotations": {"apf.kubernetes.io/autoupdate-spec": "false"}}});
    api.merge(&flow, &own).await.ok();
    let role = format!("{ROLES}/view");
    let own = json!({"metadata": {
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"},
        "labels": {"kubernetes.io/bootstrapping": null},
    }});
    api.merge(&role, &own).await.ok();
    let lacking = format!("{ROLES}/system:basic-user");
    api.merge(&lacking, &json!({"rules": []})).await.ok();
    api.delete(&format!("{ROLES}/system:discovery")).await.ok();
    api.server.upgrade(named("1.34"));
    assert_eq!(api.get(&flow).await.code, StatusCode::OK);
    let labels = api.get(&role).await.ok()["metadata"]["labels"].clone();
    assert!(labels["kubernetes.io/bootstrapping"].is_null(), "{labels}");
    let rules = api.get(&lacking).await.ok()["rules"].clone();
    assert!(
        !rules.as_array().unwrap().is_empty(),
        "a role has the rights that it lacked"
    );
    let created = api.get(&format!("{ROLES}/system:discovery")).await;
    assert_eq!(created.code, StatusCode::OK, "{}", created.text);
}

#[tokio::test]
async fn a_request_upgrades_the_server() {
    let api = Api::of_version("1.36");
    let control = "/_control/kubernetes-version";
    let before = api.get(control).await.ok();
    assert_eq!(before["version"], "1.36.2");
    let versions = before["versions"].as_array().unwrap();
    assert!(versions.contains(&json!("1.31.14")), "{before}");
    api.post(PODS, &overridden("a")).await.created();
    let upgrade = api.post(control, &json!({"version": "1.33"})).await.ok();
    assert_eq!(
        upgrade,
        json!({
            "from": "1.36.2", "to": "1.33.13", "unserved": {},
            "unknownFields": {"pods default/a": ["spec.hostnameOverride"]},
            "objectsWithUnknownFields": 1,
        })
    );
    assert_eq!(api.get(control).await.ok()["version"], "1.33.13");
    assert_eq!(api.get("/version").await.ok()["minor"], "33");
    for (body, why) in [
        (
            json!({"version": "1.20"}),
            "version: no version \"1.20\" of Kubernetes; there are 1.31.14",
        ),
        (json!({"release": "1.36"}), "unknown field `release`"),
        (json!({"version": 1.36}), "invalid type: floating point"),
        (json!({}), "missing field `version`"),
    ] {
        let refused = api.post(control, &body).await.refused(400);
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(api.get(control).await.ok()["version"], "1.33.13");
    assert_eq!(
        api.delete(control).await.code,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[tokio::test]
async fn servers_of_two_versions_answer_a_client_in_turn() {
    let api = Api::of_version("1.36");
    let path = format!("{PODS}/a");
    let created = api.post(PODS, &overridden("a")).await.created();
    let client = [("user-agent", "one/1.0")];
    let ask = async |method: &str, path: &str, body: &str| {
        let headers = [client[0], ("content-type", "application/merge-patch+json")];
        api.send(method, path, &headers, body.to_owned()).await
    };
    let mixed = json!({"fault": "mixed_versions", "version": "1.33", "match": {"client": "one"}});
    let installed = api.post("/_control/faults", &mixed).await.created();
    assert_eq!(installed["items"][0]["spec"], mixed);
    for turn in 0..4 {
        let expected = if turn % 2 == 0 {
            json!("g")
        } else {
            Value::Null
        };
        let read = ask("GET", &path, "").await.ok();
        assert_eq!(read["spec"]["hostnameOverride"], expected, "{turn}");
        assert_eq!(
            read["metadata"]["resourceVersion"],
            created["metadata"]["resourceVersion"]
        );
    }
    for minor in ["36", "33", "36"] {
        assert_eq!(ask("GET", "/version", "").await.ok()["minor"], minor);
    }
    // The turn of the old server, and of the new one.
    assert_eq!(ask("GET", POLICIES, "").await.code, StatusCode::NOT_FOUND);
    assert_eq!(ask("GET", POLICIES, "").await.code, StatusCode::OK);
    let groups = async || {
        let document = ask("GET", "/apis/admissionregistration.k8s.io/v1", "")
            .await
            .ok();
        document.to_string().contains("mutatingadmissionpolicies")
    };
    assert_eq!((groups().await, groups().await), (false, true));
    let definitions = async || ask("GET", "/openapi/v2", "").await.ok()["info"]["version"].clone();
    assert_eq!(
        (definitions().await, definitions().await),
        (json!("1.33"), json!("1.36"))
    );
    // Others are answered by this server alone.
    for _ in 0..3 {
        assert_eq!(api.get(&path).await.ok()["spec"]["hostnameOverride"], "g");
    }
    // The old server writes the object as it knows it.
    let change = json!({"metadata": {"labels": {"k": "v"}}}).to_string();
    let written = ask("PATCH", &path, &change).await.ok();
    assert!(written["spec"]["hostnameOverride"].is_null());
    let read = api.get(&path).await.ok();
    assert!(read["spec"]["hostnameOverride"].is_null());
    assert_eq!(read["metadata"]["labels"]["k"], "v");
    let fired = api.get("/_control/faults").await.ok()["items"][0]["fired"].clone();
    assert_eq!(fired, 7);
}

#[tokio::test]
async fn the_other_server_is_of_the_next_version_by_default() {
    let api = Api::of_version("1.33");
    api.post("/_control/faults", &json!({"fault": "mixed_versions"}))
        .await
        .created();
    // Version 1.34 is the first one that has it.
    for code in [404, 200, 404] {
        assert_eq!(api.get("/apis/resource.k8s.io/v1").await.code, code);
    }
}

#[tokio::test]
async fn a_watch_stays_with_the_server_of_its_turn() {
    let api = Api::of_version("1.33");
    // By then the gate of the field is on.
    let fault = json!({"fault": "mixed_versions", "version": "1.36"});
    api.post("/_control/faults", &fault).await.created();
    let (mut own, mut other) = (watch(&api, PODS).await, watch(&api, PODS).await);
    let pod = overridden("a");
    // The third request and the fourth one: the second of them knows the field.
    let refused = api
        .post(&format!("{PODS}?fieldValidation=Strict"), &pod)
        .await
        .refused(400);
    assert!(refused.contains("unknown field"), "{refused}");
    api.post(&format!("{PODS}?fieldValidation=Strict"), &pod)
        .await
        .created();
    let (own, other) = (
        next(&mut own).await.unwrap(),
        next(&mut other).await.unwrap(),
    );
    assert!(own["object"]["spec"]["hostnameOverride"].is_null(), "{own}");
    assert_eq!(other["object"]["spec"]["hostnameOverride"], "g");
}

#[tokio::test]
async fn a_version_that_there_is_not_is_no_parameter() {
    let api = Api::new();
    let mixed = json!({"fault": "mixed_versions", "version": "1.20"});
    let refused = api.post("/_control/faults", &mixed).await.refused(400);
    assert!(
        refused.starts_with("version: no version \"1.20\" of Kubernetes; there are 1.31.14"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_reset_goes_back_to_the_version_of_the_start() {
    let api = Api::of_version("1.34");
    api.server.upgrade(named("1.36"));
    api.post(PODS, &overridden("a")).await.created();
    api.server.reset();
    assert_eq!(api.server.kubernetes_version(), named("1.34"));
    assert_eq!(api.get(POLICIES).await.code, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_data_file_of_one_version_is_served_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    let serve = |version: &str| {
        let builder = FakeServer::builder().with_kubernetes_version(named(version));
        let server = builder.with_data_file(&file).try_build().unwrap();
        Api { server }
    };
    let first = serve("1.36");
    first.post(PODS, &overridden("a")).await.created();
    first.server.save().unwrap();
    let before = first.server.snapshot();
    assert_eq!(before.kubernetes_release(), "1.36.2");
    first.server.shutdown().await;
    drop(first);
    // An earlier version does not show the field, and does not lose it either.
    let second = serve("1.33");
    let read = second.get(&format!("{PODS}/a")).await.ok();
    assert!(read["spec"]["hostnameOverride"].is_null());
    assert_eq!(
        second
            .get(&format!("{FLOW_SCHEMAS}/endpoint-controller"))
            .await
            .code,
        StatusCode::OK
    );
    second.server.save().unwrap();
    assert_eq!(second.server.snapshot().kubernetes_release(), "1.33.13");
    second.server.shutdown().await;
    drop(second);
    // The file says that 1.36 had written it, too.
    let third = serve("1.33");
    assert!(!third.get(PODS).await.text.contains(r#""hostnameOverride""#));
    third.server.shutdown().await;
    drop(third);
    let last = serve("1.37");
    let read = last.get(&format!("{PODS}/a")).await.ok();
    assert_eq!(read["spec"]["hostnameOverride"], "g");
}
