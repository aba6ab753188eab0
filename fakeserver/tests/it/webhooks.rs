//! Admission webhooks: their selection, their requests, and the effect of their answers. They answer in process, under
//! the names of services.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Json, Router, routing::post};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod};

pub(crate) const MUTATING: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const HOST: &str = "hooks.default.svc";

/// A webhook that remembers what it was asked.
#[derive(Clone, Default)]
pub(crate) struct RecordingWebhook(Arc<Mutex<Vec<Value>>>);

impl RecordingWebhook {
    /// Answers at `path` of the one service that there is with what `answer` makes of the request of a review.
    fn router(
        &self,
        router: Router,
        path: &str,
        answer: impl Fn(&Value) -> Value + Clone + Send + Sync + 'static,
    ) -> Router {
        let recorder = self.clone();
        let path_of_it = path.to_owned();
        router.route(
            path,
            post(move |Json(review): Json<Value>| async move {
                let request = &review["request"];
                let mut response = answer(request);
                response["uid"] = request["uid"].clone();
                let mut seen = request.clone();
                seen["path"] = json!(path_of_it);
                recorder.0.lock().unwrap().push(seen);
                Json(json!({
                    "kind": "AdmissionReview",
                    "apiVersion": review["apiVersion"],
                    "response": response,
                }))
            }),
        )
    }

    pub(crate) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn paths(&self) -> Vec<String> {
        let recorder = self.take();
        let paths = recorder
            .iter()
            .map(|request| request["path"].as_str().unwrap());
        paths.map(str::to_owned).collect()
    }
}

fn allowed() -> Value {
    json!({"allowed": true})
}

pub(crate) fn patched(operations: &Value) -> Value {
    json!({
        "allowed": true,
        "patchType": "JSONPatch",
        "patch": STANDARD.encode(operations.to_string()),
    })
}

/// A webhook for all operations on `resources`, at the path of its first name.
fn webhook(name: &str, resources: &[&str]) -> Value {
    let path = name.split('.').next().unwrap();
    json!({
        "name": name,
        "clientConfig": {"service": {"namespace": "default", "name": "hooks", "path": format!("/{path}")}},
        "rules": [{
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": resources,
        }],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// The names of the config maps that clients have made.
fn config_maps(api: &Api) -> Vec<String> {
    let objects = api.server.objects("", "v1", "configmaps");
    let own = objects
        .iter()
        .filter(|object| object.namespace() == Some("default"));
    own.map(|object| object.name().to_owned()).collect()
}

async fn configure(api: &Api, path: &str, name: &str, webhooks: &[Value]) -> Value {
    let configuration = json!({"metadata": {"name": name}, "webhooks": webhooks});
    api.post(path, &configuration).await.created()
}

/// Configures one webhook for all operations on `resources`. The configuration has the first part of its name.
pub(crate) async fn configure_one(api: &Api, path: &str, name: &str, resources: &[&str]) {
    let first = name.split('.').next().unwrap();
    configure(api, path, first, &[webhook(name, resources)]).await;
}

/// A server whose webhooks are all answered at `path`.
pub(crate) fn serving(
    path: &str,
    answer: impl Fn(&Value) -> Value + Clone + Send + Sync + 'static,
) -> (Api, RecordingWebhook) {
    let (api, recorder) = (Api::new(), RecordingWebhook::default());
    let router = recorder.router(Router::new(), path, answer);
    api.server.serve_webhooks(HOST, router);
    (api, recorder)
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v"}})
}

#[tokio::test(start_paused = true)]
async fn configurations_have_defaults_and_are_validated() {
    let api = Api::new();
    let made = configure(&api, MUTATING, "m", &[webhook("a.b.c", &["pods"])]).await;
    let made = &made["webhooks"][0];
    for (field, value) in [
        ("failurePolicy", json!("Fail")),
        ("matchPolicy", json!("Equivalent")),
        ("timeoutSeconds", json!(10)),
        ("reinvocationPolicy", json!("Never")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    assert_eq!(made["rules"][0]["scope"], "*");
    assert_eq!(made["clientConfig"]["service"]["port"], 443);

    let mut wrong = webhook("short", &["*/*", "pods"]);
    wrong["clientConfig"] = json!({"url": "http://example.com/x?y"});
    wrong["sideEffects"] = json!("Some");
    wrong["timeoutSeconds"] = json!(31);
    wrong["admissionReviewVersions"] = json!(["v2"]);
    wrong["matchConditions"] = json!([{"name": "c", "expression": "1 +"}]);
    let configuration = json!({"metadata": {"name": "v"}, "webhooks": [wrong]});
    let message = api.post(VALIDATING, &configuration).await.refused(422);
    for part in [
        "webhooks[0].name: Invalid value: \"short\": should be a domain with at least three segments separated by dots",
        "webhooks[0].rules[0].resources: Invalid value: [\"*/*\",\"pods\"]: if '*/*' is present, must not specify other \
         resources",
        "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
        "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: \
         https://host[/path]",
        "webhooks[0].clientConfig.url: Invalid value: \"y\": query parameters are not permitted in the URL",
        "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1",
        "webhooks[0].matchConditions[0].expression: Invalid value: \"1 +\": compilation failed",
    ] {
        assert!(message.contains(part), "{part}\n{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_denial_is_passed_on_word_for_word() {
    let (api, _) = serving("/deny", |request| {
        match request["object"]["data"]["k"].as_str() {
            Some("plain") => json!({"allowed": false}),
            Some("reason") => json!({"allowed": false, "status": {"reason": "Because"}}),
            Some("full") => json!({
                "allowed": false,
                "warnings": ["said too late"],
                "status": {
                    "code": 403, "reason": "Forbidden", "message": "not this one",
                    "details": {"causes": [{"field": "data", "message": "no"}]},
                },
            }),
            _ => json!({"allowed": true, "warnings": ["mind the gap", "mind the gap"]}),
        }
    });
    configure_one(&api, VALIDATING, "deny.example.com", &["configmaps"]).await;

    let deny = |k: &str| json!({"metadata": {"name": "x"}, "data": {"k": k}});
    let denied = "admission webhook \"deny.example.com\" denied the request";
    let message = api.post(CONFIG_MAPS, &deny("plain")).await.refused(400);
    assert_eq!(message, format!("{denied} without explanation"));
    let answer = api.post(CONFIG_MAPS, &deny("reason")).await;
    assert_eq!(answer.json()["reason"], "Because");
    assert_eq!(answer.refused(400), format!("{denied}: Because"));
    let answer = api.post(CONFIG_MAPS, &deny("full")).await;
    assert_eq!(answer.json()["details"]["causes"][0]["field"], "data");
    assert_eq!(answer.refused(403), format!("{denied}: not this one"));
    assert_eq!(config_maps(&api), [""; 0]);

    let answer = api.post(CONFIG_MAPS, &deny("well")).await;
    let warnings: Vec<_> = answer.headers.get_all("warning").iter().collect();
    assert_eq!(warnings, ["299 - \"mind the gap\""]);
    answer.created();
}

/// A server whose webhook is asked about every write.
pub(crate) async fn seen() -> (Api, RecordingWebhook) {
    let (api, recorder) = serving("/see", |_| allowed());
    configure_one(&api, VALIDATING, "see.example.com", &["*/*"]).await;
    (api, recorder)
}

#[tokio::test(start_paused = true)]
async fn a_review_describes_a_creation() {
    let (api, recorder) = seen().await;
    let path = format!("{CONFIG_MAPS}?fieldManager=me");
    let generated = json!({"metadata": {"generateName": "g-"}, "data": {"k": "v"}});
    let made = api.post(&path, &generated).await.created();
    let [create] = recorder.take().try_into().unwrap();
    assert_eq!(create["operation"], "CREATE");
    assert_eq!(
        create["object"]["metadata"],
        {
            let mut metadata = made["metadata"].clone();
            metadata.as_object_mut().unwrap().remove("resourceVersion");
            metadata
        },
        "what is validated is what is stored"
    );
    assert_eq!(create["name"], made["metadata"]["name"]);
    assert_eq!(create["namespace"], "default");
    assert!(create["oldObject"].is_null() && create["subResource"].is_null());
    assert_eq!(
        create["kind"],
        json!({"group": "", "version": "v1", "kind": "ConfigMap"})
    );
    assert_eq!(
        create["requestResource"],
        json!({"group": "", "version": "v1", "resource": "configmaps"})
    );
    assert_eq!(
        create["options"],
        json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"})
    );
    assert_eq!(create["dryRun"], false);
    assert!(
        create["userInfo"]["groups"]
            .as_array()
            .is_some_and(|groups| !groups.is_empty())
    );
}

#[tokio::test(start_paused = true)]
async fn a_review_has_the_object_before_and_after() {
    let (api, recorder) = seen().await;
    let object = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    api.post(CONFIG_MAPS, &object).await.created();
    recorder.take();
    let path = format!("{CONFIG_MAPS}/a");
    api.merge(&path, &json!({"data": {"k": "w"}})).await.ok();
    let [update] = recorder.take().try_into().unwrap();
    assert_eq!(update["operation"], "UPDATE");
    assert_eq!(update["oldObject"]["data"]["k"], "v");
    assert_eq!(update["object"]["data"]["k"], "w");
    assert_eq!(update["options"]["kind"], "UpdateOptions");

    api.delete_with(&path, &json!({"propagationPolicy": "Background"}))
        .await
        .ok();
    let [delete] = recorder.take().try_into().unwrap();
    assert_eq!(delete["operation"], "DELETE");
    assert!(delete["object"].is_null());
    assert_eq!(delete["oldObject"]["data"]["k"], "w");
    assert_eq!(delete["options"]["propagationPolicy"], "Background");
}

#[tokio::test(start_paused = true)]
async fn a_review_names_the_subresource() {
    let (api, recorder) = seen().await;
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let scale = format!("{DEPLOYMENTS}/d/scale");
    recorder.take();
    api.merge(&scale, &json!({"spec": {"replicas": 3}}))
        .await
        .ok();
    let [scale] = recorder.take().try_into().unwrap();
    assert_eq!(scale["subResource"], "scale");
    assert_eq!(scale["kind"]["kind"], "Scale");
    assert_eq!(scale["resource"]["resource"], "deployments");
    assert_eq!(scale["object"]["spec"]["replicas"], 3);

    api.post(PODS, &pod("p", "")).await.created();
    recorder.take();
    let eviction = json!({"metadata": {"name": "p"}});
    api.post(&format!("{PODS}/p/eviction"), &eviction)
        .await
        .created();
    let [eviction] = recorder.take().try_into().unwrap();
    assert_eq!(eviction["subResource"], "eviction");
    assert_eq!(
        eviction["operation"], "CREATE",
        "and no deletion is asked about"
    );
}

#[tokio::test(start_paused = true)]
async fn a_namespace_is_reviewed_in_itself() {
    let (api, recorder) = seen().await;
    api.post("/api/v1/namespaces", &json!({"metadata": {"name": "n"}}))
        .await
        .created();
    let [namespace] = recorder.take().try_into().unwrap();
    assert_eq!(namespace["namespace"], "n", "a namespace is in itself");
}

#[tokio::test(start_paused = true)]
async fn webhook_configurations_are_not_reviewed() {
    let (api, recorder) = serving("/deny", |_| json!({"allowed": false}));
    configure_one(&api, VALIDATING, "deny.example.com", &["*/*"]).await;
    configure(&api, MUTATING, "m", &[]).await;
    assert_eq!(recorder.paths(), [""; 0]);
    api.post(CONFIG_MAPS, &config_map("x")).await.refused(400);
    api.delete(&format!("{VALIDATING}/deny")).await.ok();
    api.post(CONFIG_MAPS, &config_map("x")).await.created();
}

#[tokio::test(start_paused = true)]
async fn mutating_webhooks_run_in_order_and_some_are_reinvoked() {
    let api = Api::new();
    let recorder = RecordingWebhook::default();
    let label = |name: &str| {
        let path = format!("/metadata/labels/{name}");
        let name = name.to_owned();
        move |request: &Value| {
            if request["object"]["metadata"]["labels"][&name].is_null() {
                patched(&json!([{"op": "add", "path": path, "value": "yes"}]))
            } else {
                allowed()
            }
        }
    };
    let router = recorder.router(Router::new(), "/one", label("one"));
    let router = recorder.router(router, "/two", label("two"));
    let router = recorder.router(router, "/see", |_| allowed());
    api.server.serve_webhooks(HOST, router);
    let mut again = webhook("one.example.com", &["configmaps"]);
    again["reinvocationPolicy"] = json!("IfNeeded");
    configure_one(&api, MUTATING, "two.example.com", &["configmaps"]).await;
    configure(&api, MUTATING, "a", &[again]).await;
    configure_one(&api, VALIDATING, "see.example.com", &["configmaps"]).await;

    let object = json!({"metadata": {"name": "x", "labels": {"own": "yes"}}});
    let made = api.post(CONFIG_MAPS, &object).await.created();
    let labels = json!({"own": "yes", "one": "yes", "two": "yes"});
    assert_eq!(made["metadata"]["labels"], labels);
    let seen = recorder.take();
    let paths: Vec<&str> = seen
        .iter()
        .map(|request| request["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/one", "/two", "/one", "/see"]);
    assert_eq!(seen[3]["object"]["metadata"]["labels"], labels);
    // Fields that webhooks have written have no owner.
    let managed = made["metadata"]["managedFields"].to_string();
    assert!(
        managed.contains("f:own") && !managed.contains("f:one"),
        "{managed}"
    );
}

#[tokio::test(start_paused = true)]
async fn changes_by_webhooks_are_validated_and_defaulted() {
    let (api, _) = serving("/change", |request| match request["name"].as_str() {
        Some("broken") => patched(&json!([{"op": "remove", "path": "/nothing"}])),
        Some("misfit") => patched(&json!([{"op": "replace", "path": "/spec", "value": 1}])),
        Some("invalid") => {
            patched(&json!([{"op": "replace", "path": "/spec/containers", "value": []}]))
        }
        _ => patched(&json!([{
            "op": "add", "path": "/spec/containers/-", "value": {"name": "added", "image": "i"},
        }])),
    });
    configure_one(&api, MUTATING, "change.example.com", &["pods"]).await;
    api.post(PODS, &pod("broken", "")).await.refused(500);
    api.post(PODS, &pod("misfit", "")).await.refused(500);
    let message = api.post(PODS, &pod("invalid", "")).await.refused(422);
    assert_eq!(
        message,
        "Pod \"invalid\" is invalid: spec.containers: Required value"
    );
    let made = api.post(PODS, &pod("p", "")).await.created();
    assert_eq!(made["spec"]["containers"][1]["name"], "added");
    assert_eq!(
        made["spec"]["containers"][1]["terminationMessagePolicy"],
        "File"
    );
    let message = api.delete(&format!("{PODS}/p")).await.refused(500);
    assert_eq!(
        message,
        "Internal error occurred: admission webhook \"change.example.com\" attempted to modify the object, which is not \
         supported for this operation"
    );
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_gives_no_answer_fails_the_write_or_not() {
    let api = Api::new();
    let router = Router::new()
        .route("/slow", post(std::future::pending::<&'static str>))
        .route("/text", post(|| async { "no JSON" }))
        .route("/uid", post(|| async {
            Json(json!({
                "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "x", "allowed": true},
            }))
        }));
    api.server.serve_webhooks(HOST, router);
    for (path, why) in [
        (
            "slow",
            "failed to call webhook: Post \"https://hooks.default.svc:443/slow?timeout=3s\": context deadline exceeded",
        ),
        (
            "text",
            "failed to call webhook: couldn't get version/kind; json parse error: invalid character 'o' in literal null \
             (expecting 'u')",
        ),
        (
            "gone",
            "failed to call webhook: the server could not find the requested resource",
        ),
    ] {
        let name = format!("{path}.example.com");
        let mut broken = webhook(&name, &["configmaps"]);
        broken["timeoutSeconds"] = json!(3);
        configure(&api, VALIDATING, path, &[broken.clone()]).await;
        let message = api.post(CONFIG_MAPS, &config_map(path)).await.refused(500);
        let failed = format!("Internal error occurred: failed calling webhook \"{name}\": ");
        assert_eq!(message, format!("{failed}{why}"));
        broken["failurePolicy"] = json!("Ignore");
        let path_of_it = format!("{VALIDATING}/{path}");
        api.merge(&path_of_it, &json!({"webhooks": [broken]}))
            .await
            .ok();
        api.post(CONFIG_MAPS, &config_map(path)).await.created();
        api.delete(&path_of_it).await.ok();
    }
    configure_one(&api, VALIDATING, "uid.example.com", &["configmaps"]).await;
    let message = api.post(CONFIG_MAPS, &config_map("u")).await.refused(500);
    assert!(
        message.contains("received invalid webhook response: expected response.uid=\""),
        "{message}"
    );

    let mut elsewhere = webhook("else.example.com", &["secrets"]);
    elsewhere["clientConfig"]["service"]["name"] = json!("other");
    configure(&api, VALIDATING, "else", &[elsewhere]).await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let message = api
        .post(secrets, &json!({"metadata": {"name": "s"}}))
        .await
        .refused(500);
    assert!(
        message.contains("no route to service default/other"),
        "{message}"
    );
}

/// A server with webhooks that each ask about some writes only.
async fn selective() -> (Api, RecordingWebhook) {
    let api = Api::new();
    let recorder = RecordingWebhook::default();
    let mut router = Router::new();
    for path in ["/exact", "/other", "/object", "/space", "/cel", "/cluster"] {
        router = recorder.router(router, path, |_| allowed());
    }
    api.server.serve_webhooks(HOST, router);
    let all = |name: &str| webhook(&format!("{name}.example.com"), &["*"]);
    let mut exact = all("exact");
    exact["matchPolicy"] = json!("Exact");
    exact["rules"][0]["apiVersions"] = json!(["v1"]);
    exact["rules"][0]["operations"] = json!(["CREATE"]);
    let mut other = webhook("other.example.com", &["horizontalpodautoscalers"]);
    other["rules"][0]["apiVersions"] = json!(["v1"]);
    let mut object = all("object");
    object["objectSelector"] = json!({"matchLabels": {"watched": "yes"}});
    let mut space = all("space");
    space["namespaceSelector"] = json!({"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]},
    ]});
    let mut cel = all("cel");
    cel["matchConditions"] = json!([
        {"name": "name", "expression": "request.operation == 'DELETE' || object.metadata.name.startsWith('c')"},
        {"name": "data", "expression": "request.resource.resource == 'configmaps'"},
    ]);
    let mut cluster = all("cluster");
    cluster["rules"][0]["scope"] = json!("Cluster");
    configure(
        &api,
        VALIDATING,
        "v",
        &[exact, other, object, space, cel, cluster],
    )
    .await;
    (api, recorder)
}

#[tokio::test(start_paused = true)]
async fn operations_and_conditions_select_webhooks() {
    let (api, recorder) = selective().await;
    api.post(CONFIG_MAPS, &config_map("a")).await.created();
    assert_eq!(recorder.paths(), ["/exact"]);
    api.post(CONFIG_MAPS, &config_map("c")).await.created();
    let mut paths = recorder.paths();
    paths.sort();
    assert_eq!(paths, ["/cel", "/exact"]);
}

#[tokio::test(start_paused = true)]
async fn selectors_select_webhooks() {
    let (api, recorder) = selective().await;
    api.post(CONFIG_MAPS, &config_map("a")).await.created();
    recorder.take();
    api.merge(
        &format!("{CONFIG_MAPS}/a"),
        &json!({"metadata": {"labels": {"watched": "yes"}}}),
    )
    .await
    .ok();
    assert_eq!(recorder.paths(), ["/object"]);
    api.merge(
        &format!("{CONFIG_MAPS}/a"),
        &json!({"metadata": {"labels": null}}),
    )
    .await
    .ok();
    assert_eq!(recorder.paths(), ["/object"], "what it was counts also");
    let there = "/api/v1/namespaces/kube-system/configmaps";
    api.post(there, &config_map("a")).await.created();
    assert_eq!(recorder.paths(), ["/exact", "/space"]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_of_another_version_gets_the_object_in_it() {
    let (api, recorder) = selective().await;
    let autoscaler = json!({
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}},
    });
    api.post(
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
        &autoscaler,
    )
    .await
    .created();
    let [seen] = recorder.take().try_into().unwrap();
    assert_eq!(seen["path"], "/other");
    assert_eq!(seen["resource"]["version"], "v1");
    assert_eq!(seen["requestResource"]["version"], "v2");
    assert_eq!(seen["object"]["apiVersion"], "autoscaling/v1");
}

#[tokio::test(start_paused = true)]
async fn the_scope_of_a_rule_selects_webhooks() {
    let (api, recorder) = selective().await;
    api.post("/api/v1/namespaces", &json!({"metadata": {"name": "n"}}))
        .await
        .created();
    assert_eq!(recorder.paths(), ["/exact", "/space", "/cluster"]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_asks_only_those_without_side_effects_and_writes_nothing() {
    let (api, recorder) = serving("/see", |_| allowed());
    configure_one(&api, VALIDATING, "see.example.com", &["configmaps"]).await;
    let path = format!("{CONFIG_MAPS}?dryRun=All");
    api.post(&path, &config_map("x")).await.created();
    let [review] = recorder.take().try_into().unwrap();
    assert_eq!(review["dryRun"], true);
    assert_eq!(review["options"]["dryRun"], json!(["All"]));
    assert_eq!(config_maps(&api), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_overtaken_is_tried_again_or_conflicts() {
    let api = Api::new();
    let recorder = RecordingWebhook::default();
    let slow = recorder.clone();
    let router = Router::new().route(
        "/slow",
        post(move |Json(review): Json<Value>| {
            let slow = slow.clone();
            async move {
                slow.0.lock().unwrap().push(review["request"].clone());
                // The write that sets `one` alone is answered first.
                let data = &review["request"]["object"]["data"];
                let is_first = !data["one"].is_null() && data["other"].is_null();
                let seconds = if is_first { 1 } else { 2 };
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                let uid = &review["request"]["uid"];
                Json(json!({
                    "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
                    "response": {"uid": uid, "allowed": true},
                }))
            }
        }),
    );
    api.server.serve_webhooks(HOST, router);
    let made = api.config_map("x").await;
    configure_one(&api, VALIDATING, "slow.example.com", &["configmaps"]).await;
    let path = format!("{CONFIG_MAPS}/x");
    let put = {
        let mut object = made.clone();
        object["data"]["k"] = json!("put");
        object
    };
    let (one, other) = (
        json!({"data": {"one": "1"}}),
        json!({"data": {"other": "1"}}),
    );
    let (one, other, put) = tokio::join!(
        api.merge(&path, &one),
        api.merge(&path, &other),
        api.put(&path, &put)
    );
    one.ok();
    let data = other.ok()["data"].clone();
    assert_eq!(
        data,
        json!({"k": "v", "one": "1", "other": "1"}),
        "a patch begins anew"
    );
    let message = put.refused(409);
    assert!(
        message.contains("the object has been modified"),
        "{message}"
    );
    let stored = api.get(&path).await.ok();
    assert_eq!(stored["data"], data);
    // Each question is about what the one who asks has found.
    let recorder = recorder.take();
    let last = recorder.last().unwrap();
    assert_eq!(last["object"]["data"], data);
    assert_eq!(last["oldObject"]["data"], json!({"k": "v", "one": "1"}));
}

#[tokio::test(start_paused = true)]
async fn each_object_of_a_collection_is_reviewed() {
    let (api, recorder) = serving("/keep", |request| {
        let is_kept = request["oldObject"]["metadata"]["name"] == "b";
        json!({"allowed": !is_kept})
    });
    for name in ["a", "b", "c"] {
        api.config_map(name).await;
    }
    let mut keep = webhook("keep.example.com", &["configmaps"]);
    keep["rules"][0]["operations"] = json!(["DELETE"]);
    configure(&api, VALIDATING, "v", &[keep]).await;
    api.delete(CONFIG_MAPS).await.refused(400);
    assert_eq!(
        config_maps(&api),
        ["b", "c"],
        "what went before the denial is gone"
    );
    assert!(
        recorder
            .take()
            .iter()
            .all(|request| request["name"].is_null())
    );
}

#[tokio::test(start_paused = true)]
async fn a_webhook_does_not_move_an_object_to_another_namespace() {
    let moved = json!([{"op": "add", "path": "/metadata/namespace", "value": "kube-system"}]);
    let (api, _) = serving("/move", move |_| patched(&moved));
    configure_one(&api, MUTATING, "move.example.com", &["configmaps"]).await;
    let message = api.post(CONFIG_MAPS, &config_map("x")).await.refused(400);
    assert_eq!(
        message,
        "the namespace of the provided object does not match the namespace sent on the request"
    );
    api.get(&format!("{CONFIG_MAPS}/x")).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn access_reviews_are_reviewed() {
    let (api, recorder) = serving("/deny", |_| json!({"allowed": false}));
    configure_one(
        &api,
        VALIDATING,
        "deny.example.com",
        &["selfsubjectaccessreviews"],
    )
    .await;
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}}});
    api.post(path, &review).await.refused(400);
    assert_eq!(recorder.paths(), ["/deny"]);
}
