//! Tests without a client: objects put in, requests read back, answers replaced.

use axum::body::Body;
use fakeserver::{
    BuildError, FakeServer, ObjectError,
    faults::{Answer, Fault, Filter},
};
use http::StatusCode;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Pod},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{CustomResourceExt, core::discovery::ApiResource};
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, PODS, version};

fn api(server: FakeServer) -> Api {
    Api { server }
}

fn named(kind: &str, name: &str) -> Value {
    json!({"kind": kind, "apiVersion": "v1", "metadata": {"name": name}})
}

fn running() -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "name": "p", "namespace": "team",
            "uid": "11111111-2222-4333-8444-555555555555",
            "creationTimestamp": "2020-02-02T02:02:02Z",
            "resourceVersion": "987",
            "deletionTimestamp": "2021-02-02T02:02:02Z",
        },
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"},
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    })
}

/// A custom resource as kube describes it.
struct Widget;

impl CustomResourceExt for Widget {
    fn crd() -> CustomResourceDefinition {
        serde_json::from_value(json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {
                            "size": {"type": "integer", "default": 3},
                        }}},
                    }},
                }],
            },
        }))
        .unwrap()
    }

    fn crd_name() -> &'static str {
        "widgets.example.com"
    }

    fn api_resource() -> ApiResource {
        unreachable!("nobody asks")
    }

    fn shortnames() -> &'static [&'static str] {
        &[]
    }
}

#[tokio::test]
async fn a_server_begins_with_objects_of_any_kind() {
    let widget = json!({
        "kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}, "spec": {},
    });
    let config: ConfigMap = serde_json::from_value(named("ConfigMap", "c")).unwrap();
    let api = api(FakeServer::builder()
        .with_crd::<Widget>()
        .with_objects([running(), widget])
        .with_object(&config)
        .build());
    let widget = "/apis/example.com/v1/namespaces/default/widgets/w";
    assert_eq!(api.get(widget).await.ok()["spec"], json!({"size": 3}));
    api.get(&format!("{CONFIG_MAPS}/c")).await.ok();
    api.get("/api/v1/namespaces/team").await.ok();

    let pod = api.get("/api/v1/namespaces/team/pods/p").await.ok();
    assert_eq!(pod["spec"]["restartPolicy"], "Always", "it is completed");
    assert_eq!(pod["status"]["phase"], "Running");
    let metadata = &pod["metadata"];
    assert_eq!(metadata["uid"], "11111111-2222-4333-8444-555555555555");
    assert_eq!(metadata["creationTimestamp"], "2020-02-02T02:02:02Z");
    assert!(version(&pod) <= api.server.revision());
    assert_eq!(metadata.get("deletionTimestamp"), None);
    assert_eq!(metadata["managedFields"][0]["manager"], "fakeserver");
}

#[tokio::test]
async fn a_later_object_replaces_an_earlier_one() {
    let mut first = running();
    first["metadata"]["labels"] = json!({"a": "1"});
    let mut second = running();
    second["status"] = json!({"phase": "Failed"});
    let lease = json!({
        "kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "l"}, "spec": {},
    });
    let api = api(FakeServer::builder()
        .with_objects([&first, &second])
        .with_objects([&lease, &lease])
        .with_object(&named("Namespace", "default"))
        .build());
    let pod = api.get("/api/v1/namespaces/team/pods/p").await.ok();
    assert_eq!(pod["status"]["phase"], "Failed");
    assert_eq!(pod["metadata"].get("labels"), None);
}

#[tokio::test]
async fn resetting_brings_the_objects_back() {
    let server = FakeServer::builder().with_object(&running()).build();
    let revision = server.revision();
    let api = api(server);
    api.delete("/api/v1/namespaces/team/pods/p?gracePeriodSeconds=0")
        .await
        .ok();
    api.config_map("other").await;
    api.send("POST", "/_control/reset", &[], Body::empty())
        .await;
    api.get("/api/v1/namespaces/team/pods/p").await.ok();
    api.get(&format!("{CONFIG_MAPS}/other")).await.refused(404);
    assert_eq!(api.server.revision(), revision);
}

#[tokio::test]
async fn a_server_is_not_built_with_invalid_objects() {
    let mut unknown_field = running();
    unknown_field["spec"]["containres"] = json!([]);
    let mut invalid = running();
    invalid["metadata"]["labels"] = json!({"a b": "c"});
    let mut wrong_type = running();
    wrong_type["spec"]["hostNetwork"] = json!("yes");
    for (object, expected) in [
        (
            unknown_field,
            "Pod team/p: Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field \"spec.containres\"",
        ),
        (
            invalid,
            "Pod team/p: Pod \"p\" is invalid: metadata.labels: Invalid value: \"a b\"",
        ),
        (
            wrong_type,
            "Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            json!({"kind": "Pod", "apiVersion": "v1"}),
            "Pod: metadata.name: Required value",
        ),
        (
            json!({"apiVersion": "v1", "metadata": {"name": "x"}}),
            "object without a kind x: kind: Required value",
        ),
        (
            json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "w"}}),
            "Widget w: no matches for kind \"Widget\" in version \"example.com/v1\": a custom resource needs",
        ),
    ] {
        let refused = FakeServer::builder().with_object(&object).try_build();
        let Err(BuildError::Object(error)) = refused else {
            panic!("taken: {object}");
        };
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn applying_changes_only_the_given_fields() {
    let api = Api::new();
    let pod: Pod = serde_json::from_value(running()).unwrap();
    let first = api.server.apply(&pod).unwrap();
    assert_eq!(first.status.unwrap().phase.as_deref(), Some("Running"));
    assert_ne!(first.metadata.uid, pod.metadata.uid, "it was not there");
    let path = "/api/v1/namespaces/team/pods/p";
    let label = json!({"metadata": {"labels": {"theirs": "1"}}});
    api.merge(path, &label).await.ok();

    // An object that was read can be applied again, from any version.
    let mut next: Pod = api.server.get(Some("team"), "p").unwrap().unwrap();
    let revision = api.server.revision();
    next.status.as_mut().unwrap().phase = Some("Succeeded".into());
    next.metadata.resource_version = Some("1".into());
    let applied = api.server.apply(&next).unwrap();
    assert!(api.server.revision() > revision);
    assert_eq!(applied.metadata.labels.unwrap()["theirs"], "1");
    let pod = api.get(path).await.ok();
    assert_eq!(pod["status"]["phase"], "Succeeded");
    assert_eq!(pod["metadata"]["labels"]["theirs"], "1");

    let again = api.server.revision();
    api.server.apply(&next).unwrap();
    assert_eq!(api.server.revision(), again, "nothing new is no write");
}

#[tokio::test]
async fn a_failed_apply_changes_nothing() {
    let api = Api::new();
    let before = api.server.revision();
    let mut unknown = named("ConfigMap", "c");
    unknown["dat"] = json!({"k": "v"});
    let error = api.server.apply(&unknown).unwrap_err();
    assert!(
        error.to_string().contains("unknown field \"dat\""),
        "{error}"
    );
    let error = api.server.apply(&named("ConfigMap", "No")).unwrap_err();
    assert!(error.is_invalid(), "{error}");
    let error = api.server.delete(&named("ConfigMap", "c")).unwrap_err();
    assert!(error.is_not_found() && !error.is_invalid(), "{error}");
    assert!(matches!(
        error,
        ObjectError::Refused {
            code: StatusCode::NOT_FOUND,
            ..
        }
    ));
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn an_object_is_read_and_deleted_by_its_type() {
    let api = Api::new();
    api.config_map("c").await;
    let found: ConfigMap = api.server.get(Some("default"), "c").unwrap().unwrap();
    assert_eq!(found.data.unwrap()["k"], "v");
    api.server.delete(&named("ConfigMap", "c")).unwrap();
    assert!(
        api.server
            .get::<ConfigMap>(Some("default"), "c")
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn the_log_has_requests_and_answers() {
    let api = api(FakeServer::builder().with_request_bodies().build());
    let headers = [("user-agent", "ctl/1.0 (x)")];
    let path = format!("{PODS}?labelSelector=a%3Db&limit=5");
    api.send("GET", &path, &headers, Body::empty()).await.ok();
    let object = named("ConfigMap", "c");
    api.post(CONFIG_MAPS, &object).await.created();
    api.get("/apis/no.such/v1/things/x/status").await;
    api.get("/version").await;
    api.server.apply(&object).unwrap();
    api.send("GET", "/_control/stats", &[], Body::empty()).await;

    let log = api.server.requests();
    let logged: Vec<_> = log
        .iter()
        .map(|r| {
            (
                r.number,
                r.facts.verb,
                r.facts.resource.as_str(),
                r.code.unwrap().as_u16(),
            )
        })
        .collect();
    let expected = [
        (0, "list", "pods", 200),
        (1, "create", "configmaps", 201),
        (2, "get", "things", 404),
        (3, "", "", 200),
    ];
    assert_eq!(logged, expected);
    assert_eq!(log[0].user_agent, "ctl/1.0 (x)");
    assert_eq!(log[0].facts.client, "ctl");
    assert_eq!(log[0].facts.namespace.as_deref(), Some("default"));
    assert_eq!(log[0].parameter("labelSelector"), Some("a=b"));
    assert_eq!(log[0].parameter("watch"), None);
    assert_eq!(log[1].body, object.to_string());
    assert!(
        !format!("{:?}", log[1]).contains("ConfigMap"),
        "no contents in logs"
    );
    assert_eq!(log[2].facts.subresource.as_deref(), Some("status"));
    assert_eq!(log[3].path, "/version");
    assert_eq!(api.server.take_requests().len(), 4);
    assert_eq!(api.server.requests(), []);
}

#[tokio::test]
async fn the_log_is_bounded_and_counts_dropped_entries() {
    let api = api(FakeServer::builder().with_requests_kept(2).build());
    for name in ["a", "b", "c"] {
        api.post(CONFIG_MAPS, &named("ConfigMap", name))
            .await
            .created();
    }
    let log = api.server.requests();
    assert_eq!(log.iter().map(|r| r.number).collect::<Vec<_>>(), [1, 2]);
    assert!(
        log.iter().all(|r| r.body.is_empty()),
        "bodies are kept on request only"
    );
    assert_eq!(api.server.stats().requests_forgotten, 1);
    api.server.reset();
    assert_eq!(api.server.stats().requests_forgotten, 0);
    assert_eq!(api.server.requests(), []);
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_is_in_the_log_without_an_answer() {
    let api = Api::new();
    let _guard = api.server.faults().install(Fault::Hang.rule());
    let get = tokio::time::timeout(std::time::Duration::from_secs(1), api.get(PODS));
    assert!(get.await.is_err());
    assert_eq!(api.server.requests()[0].code, None);
}

#[tokio::test]
async fn a_hook_answers_instead_of_the_server_as_long_as_its_guard_lives() {
    let api = Api::new();
    let creates = Filter::any().verb("create").resource("configmaps");
    let guard = api.server.on_request(creates, |request| {
        let answer = || Answer::status(StatusCode::IM_A_TEAPOT, None, "short and stout");
        (request.client == "curious").then(answer)
    });
    let object = named("ConfigMap", "c").to_string();
    let curious = [("user-agent", "curious/1")];
    let refused = api
        .send("POST", CONFIG_MAPS, &curious, object.clone())
        .await;
    assert_eq!(refused.refused(418), "short and stout");
    api.send("GET", CONFIG_MAPS, &curious, Body::empty())
        .await
        .ok();
    api.send("POST", CONFIG_MAPS, &[], object).await.created();
    assert_eq!(api.server.faults().fired()["hook"], 1);
    assert_eq!(api.server.requests()[0].code, Some(StatusCode::IM_A_TEAPOT));
    drop(guard);
    let object = named("ConfigMap", "d").to_string();
    api.send("POST", CONFIG_MAPS, &curious, object)
        .await
        .created();
}
