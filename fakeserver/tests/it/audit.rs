//! The audit log.

use std::{
    fs,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use axum::{Json, Router, routing::post};
use fakeserver::{
    AuditLog, AuditLogError, AuditPolicy, Authorization, FakeServer, FakeServerBuilder, UserInfo,
    value::protobuf::encode_object,
};
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, PODS};

/// A log in memory.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

// === impl Lines ===

impl Lines {
    /// Returns the events since the last time.
    pub(crate) fn take(&self) -> Vec<Value> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn policy(rules: &str) -> AuditPolicy {
    AuditPolicy::parse(&format!(
        "{{apiVersion: audit.k8s.io/v1, kind: Policy, omitManagedFields: true, rules: {rules}}}"
    ))
    .unwrap()
}

fn logged(builder: FakeServerBuilder, rules: &str) -> (Api, Lines) {
    let lines = Lines::default();
    let log = AuditLog::to_writer(lines.clone(), policy(rules));
    let server = builder.with_audit_log(log).build();
    (Api { server }, lines)
}

/// The stages of events with their levels and codes.
pub(crate) fn stages(events: &[Value]) -> Vec<String> {
    let summary = |event: &Value| {
        let code = &event["responseStatus"]["code"];
        let text = |field: &str| event[field].as_str().unwrap().to_owned();
        format!(
            "{} {} {} {code}",
            text("verb"),
            text("level"),
            text("stage")
        )
    };
    events.iter().map(summary).collect()
}

#[tokio::test(start_paused = true)]
async fn a_write_is_logged_with_its_objects() {
    let (api, lines) = logged(FakeServer::builder(), "[{level: RequestResponse}]");
    let map = json!({"metadata": {"name": "web"}, "data": {"a": "b"}});
    let headers = [
        ("audit-id", "mine"),
        ("user-agent", "test/1"),
        ("content-type", "application/json"),
        ("x-forwarded-for", "10.1.2.3"),
    ];
    let created = api
        .send(
            "POST",
            &format!("{CONFIG_MAPS}?fieldManager=me"),
            &headers,
            map.to_string(),
        )
        .await
        .created();
    let events = lines.take();
    let expected = [
        "create RequestResponse RequestReceived null",
        "create RequestResponse ResponseComplete 201",
    ];
    assert_eq!(stages(&events), expected);
    assert!(events[0].get("requestObject").is_none() && events[0].get("annotations").is_none());
    let mut event = events[1].clone();
    let (received, stage_time) = (
        event["requestReceivedTimestamp"].take(),
        event["stageTimestamp"].take(),
    );
    assert!(
        received.as_str().unwrap().ends_with("000000Z") && received == stage_time,
        "{received} {stage_time}"
    );
    let mut stored = created.clone();
    stored["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields")
        .unwrap();
    assert_eq!(
        event,
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "mine",
            "stage": "ResponseComplete", "requestURI": format!("{CONFIG_MAPS}?fieldManager=me"), "verb": "create",
            "user": {"username": "system:anonymous", "groups": ["system:unauthenticated"]},
            "sourceIPs": ["10.1.2.3", "127.0.0.1"], "userAgent": "test/1",
            "objectRef": {"resource": "configmaps", "namespace": "default", "name": "web", "apiVersion": "v1"},
            "responseStatus": {"metadata": {}, "code": 201},
            "requestObject": map, "responseObject": stored,
            "requestReceivedTimestamp": null, "stageTimestamp": null,
            "annotations": {"authorization.k8s.io/decision": "allow"},
        })
    );
    api.delete(&format!("{CONFIG_MAPS}/web")).await.ok();
    let deleted = lines.take().pop().unwrap();
    assert_eq!(deleted["responseStatus"]["status"], "Success");
    assert_eq!(deleted["responseObject"]["kind"], "Status");
}

#[tokio::test]
async fn objects_in_other_forms_are_logged_as_json() {
    let (api, lines) = logged(FakeServer::builder(), "[{level: RequestResponse}]");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "b"}});
    let protobuf = [
        ("content-type", "application/vnd.kubernetes.protobuf"),
        ("accept", "application/vnd.kubernetes.protobuf"),
    ];
    let body = encode_object(&map).unwrap();
    let answer = api.send("POST", CONFIG_MAPS, &protobuf, body).await;
    assert_eq!(answer.code, 201);
    let event = lines.take().pop().unwrap();
    assert_eq!(event["objectRef"]["name"], "web");
    assert_eq!(event["requestObject"]["data"], map["data"]);
    assert_eq!(event["responseObject"]["kind"], "ConfigMap");
    assert!(event["responseObject"]["metadata"]["uid"].is_string());
}

#[tokio::test]
async fn rules_set_the_audit_level() {
    let rules = "[{level: None, verbs: [list]}, {level: Request, verbs: [create]}, \
        {level: Metadata, resources: [{resources: [configmaps]}], omitStages: [RequestReceived]}]";
    let (api, lines) = logged(FakeServer::builder(), rules);
    api.get(CONFIG_MAPS).await.ok();
    api.get("/version").await.ok();
    assert_eq!(lines.take(), Vec::<Value>::new());
    api.config_map("web").await;
    let event = lines.take().pop().unwrap();
    assert_eq!(event["requestObject"]["metadata"]["name"], "web");
    assert!(event.get("responseObject").is_none());
    api.get(&format!("{CONFIG_MAPS}/none")).await.refused(404);
    let events = lines.take();
    assert_eq!(stages(&events), ["get Metadata ResponseComplete 404"]);
    assert_eq!(
        events[0]["responseStatus"],
        json!({
            "metadata": {}, "status": "Failure", "message": "configmaps \"none\" not found", "reason": "NotFound",
            "details": {"name": "none", "kind": "configmaps"}, "code": 404,
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_logged_at_its_begin_and_end() {
    let (api, lines) = logged(FakeServer::builder(), "[{level: Metadata}]");
    let watch = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1");
    assert_eq!(api.get(&watch).await.code, 200);
    let expected = [
        "RequestReceived null",
        "ResponseStarted 200",
        "ResponseComplete 200",
    ];
    let expected = expected.map(|stage| format!("watch Metadata {stage}"));
    assert_eq!(stages(&lines.take()), expected);
}

#[tokio::test]
async fn users_and_impersonated_users_are_logged() {
    let builder = FakeServer::builder()
        .with_authorization(Authorization::Rbac)
        .with_token("admin", UserInfo::administrator())
        .with_token("jane", UserInfo::new("jane"));
    let (api, lines) = logged(
        builder,
        "[{level: Metadata, omitStages: [RequestReceived]}]",
    );
    for (headers, code) in [
        (vec![("authorization", "Bearer nobody")], 401),
        (vec![("authorization", "Bearer jane")], 403),
        (
            vec![
                ("authorization", "Bearer admin"),
                ("impersonate-user", "jane"),
            ],
            403,
        ),
        (vec![("authorization", "Bearer admin")], 200),
    ] {
        let answer = api.send("GET", CONFIG_MAPS, &headers, "").await;
        assert_eq!(answer.code, code);
    }
    let events = lines.take();
    let summaries: Vec<Value> = events
        .iter()
        .map(|event| {
            let decision = &event["annotations"]["authorization.k8s.io/decision"];
            let code = &event["responseStatus"]["code"];
            json!([
                event["user"]["username"],
                event["impersonatedUser"]["username"],
                decision,
                code
            ])
        })
        .collect();
    assert_eq!(
        json!(summaries),
        json!([
            [null, null, null, 401],
            ["jane", null, "forbid", 403],
            ["kubernetes-admin", "jane", "forbid", 403],
            ["kubernetes-admin", null, "allow", 200],
        ])
    );
}

#[tokio::test]
async fn a_log_file_is_continued_and_other_files_are_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.log");
    for _ in 0..2 {
        let log = AuditLog::to_file(&file, AuditPolicy::metadata()).unwrap();
        let server = FakeServer::builder().with_audit_log(log).build();
        Api { server }.get(CONFIG_MAPS).await.ok();
    }
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 4);
    let notes = folder.path().join("notes");
    fs::write(&notes, "mine").unwrap();
    let error = AuditLog::to_file(&notes, AuditPolicy::metadata()).unwrap_err();
    assert!(matches!(error, AuditLogError::NoAuditLog { .. }), "{error}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
    let error = AuditLog::to_file(folder.path(), AuditPolicy::metadata()).unwrap_err();
    assert!(matches!(error, AuditLogError::Unusable { .. }), "{error}");
}

const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

/// Returns a webhook of config maps at a path of the one service that there is.
fn webhook(name: &str, path: &str) -> Value {
    json!({
        "name": name, "failurePolicy": "Ignore", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "default", "name": "hooks", "path": path}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    })
}

/// Returns the annotations of the last event about a resource.
fn annotations(events: &[Value], resource: &str) -> Value {
    let mut of = events
        .iter()
        .filter(|event| event["objectRef"]["resource"] == resource);
    of.next_back().unwrap()["annotations"].clone()
}

#[tokio::test(start_paused = true)]
async fn webhooks_annotate_events() {
    let rules = "[{level: Metadata, namespaces: [other]}, {level: Request}]";
    let (api, lines) = logged(FakeServer::builder(), rules);
    let answer = |Json(review): Json<Value>| async move {
        // The patch adds `data.k = "<"`.
        let patch = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEvayIsInZhbHVlIjoiPCJ9XQ==";
        Json(
            json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {
                "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch,
                "auditAnnotations": {"why": "because", "not valid": "x"},
            }}),
        )
    };
    let router = Router::new().route("/patch", post(answer));
    api.server.serve_webhooks("hooks.default.svc", router);
    let mutating = [
        webhook("gone.example.com", "/gone"),
        webhook("patch.example.com", "/patch"),
    ];
    for (kind, webhooks) in [
        ("mutating", json!(mutating)),
        ("validating", json!([mutating[0]])),
    ] {
        let configuration = json!({"metadata": {"name": kind}, "webhooks": webhooks});
        let path = format!("{ADMISSION}/{kind}webhookconfigurations");
        api.post(&path, &configuration).await.created();
    }
    let namespace = json!({"metadata": {"name": "other"}});
    api.post("/api/v1/namespaces", &namespace).await.created();
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "y"}});
    api.post(CONFIG_MAPS, &map).await.created();
    let mutation = |webhook: &str, mutated: bool| {
        format!(
            "{{\"configuration\":\"mutating\",\"webhook\":\"{webhook}\",\"mutated\":{mutated}}}"
        )
    };
    let mut expected = json!({
        "authorization.k8s.io/decision": "allow",
        "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0": "gone.example.com",
        "failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "gone.example.com",
        "mutation.webhook.admission.k8s.io/round_0_index_0": mutation("gone.example.com", false),
        "mutation.webhook.admission.k8s.io/round_0_index_1": mutation("patch.example.com", true),
        "patch.example.com/why": "because",
        "patch.webhook.admission.k8s.io/round_0_index_1":
            "{\"configuration\":\"mutating\",\"webhook\":\"patch.example.com\",\"patch\":[{\"op\":\"add\",\
             \"path\":\"/data/k\",\"value\":\"\\u003c\"}],\"patchType\":\"JSONPatch\"}",
    });
    assert_eq!(annotations(&lines.take(), "configmaps"), expected);
    api.post(&CONFIG_MAPS.replace("default", "other"), &map)
        .await
        .created();
    expected
        .as_object_mut()
        .unwrap()
        .remove("patch.webhook.admission.k8s.io/round_0_index_1");
    assert_eq!(annotations(&lines.take(), "configmaps"), expected);
}

#[tokio::test]
async fn policies_annotate_events() {
    let (api, lines) = logged(FakeServer::builder(), "[{level: Metadata}]");
    let policy = json!({"metadata": {"name": "p.example.com"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"],
        }]},
        "validations": [{"expression": "true"}, {"expression": "false", "message": "a < b"}],
        "auditAnnotations": [
            {"key": "name", "valueExpression": "string(params.metadata.name)"},
            {"key": "none", "valueExpression": "null"},
        ],
    }});
    api.post(&format!("{ADMISSION}/validatingadmissionpolicies"), &policy)
        .await
        .created();
    for name in ["a", "b"] {
        api.post(CONFIG_MAPS, &json!({"metadata": {"name": name}}))
            .await
            .created();
        let binding = json!({"metadata": {"name": name}, "spec": {
            "policyName": "p.example.com", "validationActions": ["Warn", "Audit"],
            "paramRef": {"name": name, "namespace": "default", "parameterNotFoundAction": "Deny"},
        }});
        api.post(
            &format!("{ADMISSION}/validatingadmissionpolicybindings"),
            &binding,
        )
        .await
        .created();
    }
    let secret = json!({"metadata": {"name": "s"}});
    api.post("/api/v1/namespaces/default/secrets", &secret)
        .await
        .created();
    let failure = "[{\"message\":\"a \\u003c b\",\"policy\":\"p.example.com\",\"binding\":\"a\",\
                   \"expressionIndex\":1,\"validationActions\":[\"Warn\",\"Audit\"]}]";
    assert_eq!(
        annotations(&lines.take(), "secrets"),
        json!({
            "authorization.k8s.io/decision": "allow",
            "p.example.com/name": "a, b",
            "validation.policy.admission.k8s.io/validation_failure": failure,
        })
    );
}

#[tokio::test]
async fn pod_security_annotates_events() {
    let (api, lines) = logged(FakeServer::builder(), "[{level: Metadata}]");
    let pod = json!({"metadata": {"name": "p"}, "spec": {"hostNetwork": true, "containers": [
        {"name": "c", "image": "i"},
    ]}});
    api.post(PODS, &pod).await.created();
    let key = "pod-security.kubernetes.io/enforce-policy";
    assert_eq!(annotations(&lines.take(), "pods")[key], "privileged:latest");
    let label = |mode: &str| format!("pod-security.kubernetes.io/{mode}");
    let labels = json!({label("enforce"): "baseline", label("audit"): "baseline", label("audit-version"): "v1.30"});
    let namespace = json!({"metadata": {"name": "strict", "labels": labels}});
    api.post("/api/v1/namespaces", &namespace).await.created();
    api.post(&PODS.replace("default", "strict"), &pod)
        .await
        .refused(403);
    let annotations_of_pods = annotations(&lines.take(), "pods");
    assert_eq!(annotations_of_pods[key], "baseline:latest");
    assert_eq!(
        annotations_of_pods["pod-security.kubernetes.io/audit-violations"],
        "would violate PodSecurity \"baseline:v1.30\": host namespaces (hostNetwork=true)"
    );
}
