//! Admission reviews, compared with those that a real server sent for the same requests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{Json, Router, routing::post};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver::{AdmissionPlugins, FakeServer, UserInfo};
use http::Uri;
use serde_json::{Value, json};

use crate::support::{Answer, Api};

const REVIEWS: &str = include_str!("../data/admission-reviews.json");
const HOST: &str = "hooks.default.svc";
const TOKEN: &str = "secret";
/// The client that the recorded requests came from.
const AGENT: &str = "Python-urllib/3.11";

const CORE: &str = "/api/v1/namespaces/rec";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/rec/deployments";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// The reviews that a server has sent, each with the address that it sent it to.
type SentReviews = Arc<Mutex<Vec<(String, Value)>>>;

#[tokio::test(start_paused = true)]
async fn webhooks_receive_the_reviews_of_a_real_server() {
    let plugins = AdmissionPlugins::default().with_enabled(["ServiceAccount"]);
    let builder = FakeServer::builder().with_admission(plugins);
    let server = builder.with_token(TOKEN, user()).build();
    let api = Api { server };
    prepare(&api).await;
    let sent = SentReviews::default();
    api.server.serve_webhooks(HOST, router(&sent));
    for (kind, path) in [("Mutating", "mutate"), ("Validating", "validate")] {
        let plural = format!("{}webhookconfigurations", kind.to_lowercase());
        let configuration = json!({"metadata": {"name": path}, "webhooks": [webhook(path)]});
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        api.post(&path, &configuration).await.created();
    }
    repeat_requests(&api).await;

    let recorded: Value = serde_json::from_str(REVIEWS).unwrap();
    let recorded = recorded["reviews"].as_array().unwrap();
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    let (mut expected_names, mut names) = (Placeholders::default(), Placeholders::default());
    let mut different = Vec::new();
    for (index, (recorded, (path, review))) in recorded.iter().zip(&sent).enumerate() {
        let mut expected = recorded["review"].clone();
        let mut review = review.clone();
        expected_names.put_into(&mut expected);
        names.put_into(&mut review);
        let place = format!("{index} {}: review", recorded["webhook"]);
        different.extend(differences(&place, &expected, &review));
        different.extend(differences(&place, &recorded["path"], &json!(path)));
    }
    assert!(different.is_empty(), "\n{}", different.join("\n"));
    assert_eq!(sent.len(), recorded.len());
}

fn user() -> UserInfo {
    UserInfo::new("admin")
        .with_uid("admin-uid")
        .with_groups(["system:masters"])
}

/// Makes what was there before the recording began.
async fn prepare(api: &Api) {
    let namespace = json!({"metadata": {"name": "rec"}});
    api.post("/api/v1/namespaces", &namespace).await.created();
    let range = json!({
        "metadata": {"name": "l"},
        "spec": {"limits": [{
            "type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"},
        }]},
    });
    let ranges = format!("{CORE}/limitranges");
    api.post(&ranges, &range).await.created();
    let accounts = "/api/v1/namespaces/rec/serviceaccounts";
    let account = json!({"metadata": {"name": "default"}});
    api.post(accounts, &account).await.created();
    let class = json!({
        "metadata": {
            "name": "std",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "example.org/std",
    });
    api.post("/apis/storage.k8s.io/v1/storageclasses", &class)
        .await
        .created();
    let definition = json!({
        "metadata": {"name": "widgets.rec.example.org"},
        "spec": {
            "group": "rec.example.org",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
                    },
                }},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    api.post(definitions, &definition).await.created();
    api.settle().await;
}

/// Answers reviews at `/mutate` and `/validate`: new objects without annotations get one.
fn router(sent: &SentReviews) -> Router {
    let sent = Arc::clone(sent);
    let handler = move |uri: Uri, Json(review): Json<Value>| async move {
        let request = &review["request"];
        let (uid, object) = (&request["uid"], &request["object"]);
        let mut response = json!({"uid": uid, "allowed": true});
        if uri.path() == "/mutate"
            && request["subResource"].is_null()
            && object.is_object()
            && object["metadata"]["annotations"].is_null()
        {
            let patch = json!([
                {"op": "add", "path": "/metadata/annotations", "value": {"seen": "1"}},
            ]);
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(STANDARD.encode(patch.to_string()));
        }
        let answer = json!({
            "kind": "AdmissionReview",
            "apiVersion": review["apiVersion"],
            "response": response,
        });
        let path = uri.path_and_query().unwrap().to_string();
        sent.lock().unwrap().push((path, review));
        Json(answer)
    };
    let (mutate, validate) = (handler.clone(), handler);
    Router::new()
        .route("/mutate", post(mutate))
        .route("/validate", post(validate))
}

fn webhook(path: &str) -> Value {
    json!({
        "name": format!("{path}.example.org"),
        "clientConfig": {"service": {"namespace": "default", "name": "hooks", "path": format!("/{path}")}},
        "rules": [{
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"],
        }],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// Sends the requests that the recorded reviews are about.
async fn repeat_requests(api: &Api) {
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let claim = json!({
        "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    });
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let deployment = crate::support::deployment("d");
    let widget = json!({
        "apiVersion": "rec.example.org/v1", "kind": "Widget",
        "metadata": {"generateName": "w-"},
        "spec": {"a": "d"},
    });
    let labels = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"x": "y"}},
    });
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let eviction = json!({"metadata": {"name": "p"}});
    let core = |path: &str| format!("{CORE}/{path}");
    let requests = [
        ("POST", core("pods"), JSON, pod("p")),
        ("POST", core("pods?dryRun=All"), JSON, pod("q")),
        (
            "PATCH",
            core("pods/p"),
            MERGE,
            json!({"metadata": {"labels": {"a": "b"}}}),
        ),
        ("POST", core("persistentvolumeclaims"), JSON, claim),
        ("POST", core("services"), JSON, service),
        ("POST", DEPLOYMENTS.to_owned(), JSON, deployment),
        (
            "PATCH",
            format!("{DEPLOYMENTS}/d/scale"),
            MERGE,
            json!({"spec": {"replicas": 3}}),
        ),
        (
            "PATCH",
            format!("{DEPLOYMENTS}/d?fieldManager=me"),
            APPLY,
            labels,
        ),
        (
            "POST",
            "/apis/rec.example.org/v1/namespaces/rec/widgets".to_owned(),
            JSON,
            widget,
        ),
        ("POST", core("pods/p/binding"), JSON, binding),
        ("POST", core("pods/p/eviction"), JSON, eviction),
        ("DELETE", core("services/s"), JSON, Value::Null),
        ("DELETE", core("persistentvolumeclaims"), JSON, Value::Null),
    ];
    for (method, path, content_type, body) in requests {
        let answer = send(api, method, &path, content_type, &body).await;
        assert!(answer.code.is_success(), "{method} {path}: {answer:?}");
    }
}

async fn send(api: &Api, method: &str, path: &str, content_type: &str, body: &Value) -> Answer {
    let token = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", token.as_str()),
        ("user-agent", AGENT),
        ("content-type", content_type),
    ];
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    api.send(method, path, &headers, body).await
}

/// Placeholders of values that differ between runs: equal values have equal ones.
#[derive(Default)]
struct Placeholders(BTreeMap<(&'static str, String), usize>);

impl Placeholders {
    fn put_into(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.put_into(item)),
            Value::Object(members) => {
                let mut fields: Vec<_> = members.iter_mut().collect();
                fields.sort_by_key(|(name, _)| name.as_str());
                for (name, value) in fields {
                    match (kind_of(name, value), value) {
                        (Some(kind), Value::String(text)) => *text = self.name(kind, text),
                        (Some(kind), Value::Array(all)) => {
                            all[0] = json!(self.name(kind, all[0].as_str().unwrap()));
                        }
                        (_, value) => self.put_into(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, kind: &'static str, text: &str) -> String {
        if kind == "time" {
            return "<time>".to_owned();
        }
        let next = self.0.keys().filter(|(other, _)| *other == kind).count();
        let number = *self.0.entry((kind, text.to_owned())).or_insert(next);
        format!("<{kind} {number}>")
    }
}

/// Names what the field holds, if it differs between runs.
fn kind_of(field: &str, value: &Value) -> Option<&'static str> {
    match field {
        // Not that of the user.
        "uid" if value != "admin-uid" => Some("uid"),
        "resourceVersion" => Some("version"),
        "creationTimestamp" | "time" => Some("time"),
        "clusterIP" | "clusterIPs" => Some("address"),
        "name" if value.as_str().is_some_and(is_generated) => Some("name"),
        _ => None,
    }
}

/// Returns whether the server has generated a name: that of the custom resource, or that of a volume with a token.
fn is_generated(name: &str) -> bool {
    name.starts_with("w-") || name.starts_with("kube-api-access-")
}

/// Tells where `found` is not what was expected.
fn differences(path: &str, expected: &Value, found: &Value) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let mut fields: Vec<_> = expected.keys().chain(found.keys()).collect();
            fields.sort();
            fields.dedup();
            let each = fields.into_iter().flat_map(|field| {
                let path = format!("{path}.{field}");
                match (expected.get(field), found.get(field)) {
                    (Some(expected), Some(found)) => differences(&path, expected, found),
                    (expected, found) => {
                        let text = |side: Option<&Value>| {
                            side.map_or("nothing".to_owned(), Value::to_string)
                        };
                        vec![format!(
                            "{path}: expected {}, found {}",
                            text(expected),
                            text(found)
                        )]
                    }
                }
            });
            each.collect()
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let each = expected.iter().zip(found).enumerate();
            each.flat_map(|(index, (expected, found))| {
                differences(&format!("{path}[{index}]"), expected, found)
            })
            .collect()
        }
        _ if expected == found => Vec::new(),
        _ => vec![format!("{path}: expected {expected}, found {found}")],
    }
}
