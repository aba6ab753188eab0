//! API services that name a service: requests are forwarded to another server.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Body, extract::Request};
use fakeserver::{Authorization, Certificates, Controllers, FakeServer, UserInfo, Workloads};
use http::HeaderMap;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{
    sockets::SocketServer,
    support::{Api, warnings},
};

const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const AGGREGATED: (&str, &str) = (
    "accept",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
);
/// The time that anything over sockets may take.
const LIMIT: Duration = Duration::from_mins(1);

fn definition(group: &str) -> Value {
    json!({
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
                }}},
                "subresources": {"status": {}},
            }],
        },
    })
}

fn api_service(group: &str, service: &str) -> Value {
    json!({
        "metadata": {"name": format!("v1.{group}")},
        "spec": {
            "group": group, "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10,
            "service": {"namespace": "default", "name": service}, "insecureSkipTLSVerify": true,
        },
    })
}

fn service(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 443}]}})
}

pub(crate) fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": 1},
    })
}

/// A server that has the widgets of `group`.
pub(crate) async fn widgets_of(group: &str) -> Api {
    let api = Api::new();
    api.post(DEFINITIONS, &definition(group)).await.created();
    api
}

/// A server that forwards requests for `example.com` to the router of another one, in process.
async fn front_of(backend: Router) -> Api {
    let api = Api::new();
    api.server.serve_webhooks("widgets.default.svc", backend);
    api.post(SERVICES, &service("widgets")).await.created();
    let own = api_service("example.com", "widgets");
    api.post(API_SERVICES, &own).await.created();
    api.settle().await;
    api
}

fn base64_of(text: &str) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text)
}

async fn condition(api: &Api, group: &str) -> Value {
    let path = format!("{API_SERVICES}/v1.{group}");
    let service = api.get(&path).await.ok();
    service["status"]["conditions"][0].clone()
}

fn group_names(list: &Value) -> Vec<&str> {
    let groups = list["groups"].as_array().unwrap().iter();
    groups
        .map(|group| group["name"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn requests_for_the_group_are_answered_by_the_service() {
    let backend = widgets_of("example.com").await;
    let front = front_of(backend.server.router()).await;
    let found = condition(&front, "example.com").await;
    assert_eq!(found["type"], "Available");
    assert_eq!(found["status"], "True");
    assert_eq!(found["reason"], "Passed");
    assert_eq!(found["message"], "all checks passed");

    let made = front.post(WIDGETS, &widget("w")).await.created();
    let stored = backend.get(&format!("{WIDGETS}/w")).await.ok();
    assert_eq!(made, stored);
    let listed = front.get(&format!("{WIDGETS}?limit=1")).await.ok();
    assert_eq!(listed["items"][0], stored);
    let merged = front
        .merge(&format!("{WIDGETS}/w"), &json!({"spec": {"size": 2}}))
        .await
        .ok();
    assert_eq!(merged["spec"]["size"], 2);
    let bad = json!({"spec": {"size": "x"}});
    let bad = front.merge(&format!("{WIDGETS}/w"), &bad).await;
    assert!(bad.refused(422).contains("spec.size"));
    let escaped = front.get("/apis/example%2Ecom/v1/widgets/").await.ok();
    assert_eq!(escaped["kind"], "WidgetList");
    let missing = front.get(&format!("{WIDGETS}/other")).await.refused(404);
    assert_eq!(missing, "widgets.example.com \"other\" not found");
    front.delete(&format!("{WIDGETS}/w")).await.ok();
    assert_eq!(backend.get(&format!("{WIDGETS}/w")).await.code, 404);

    // Without the API service the group is unknown again.
    front
        .delete(&format!("{API_SERVICES}/v1.example.com"))
        .await
        .ok();
    let text = front.get(WIDGETS).await.refused_plainly(404);
    assert_eq!(text, "404 page not found\n");
}

#[tokio::test(start_paused = true)]
async fn a_watch_streams_through() {
    let backend = widgets_of("example.com").await;
    let front = front_of(backend.server.router()).await;
    let request = Request::get(format!("{WIDGETS}?watch=1"))
        .body(Body::empty())
        .unwrap();
    let response = front.server.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    for name in ["a", "b"] {
        backend.post(WIDGETS, &widget(name)).await.created();
        let frame = body.frame().await.unwrap().unwrap();
        let event: Value = serde_json::from_slice(frame.data_ref().unwrap()).unwrap();
        assert_eq!(event["type"], "ADDED");
        assert_eq!(event["object"]["metadata"]["name"], name);
    }
    backend.server.disconnect();
    assert!(body.frame().await.is_none(), "it ends as it does there");
}

#[tokio::test(start_paused = true)]
async fn discovery_has_the_group_in_its_place() {
    let backend = widgets_of("example.com").await;
    let front = front_of(backend.server.router()).await;
    let other = json!({
        "metadata": {"name": "v2.example.com"},
        "spec": {
            "group": "example.com", "version": "v2", "groupPriorityMinimum": 1, "versionPriority": 20,
            "service": {"namespace": "default", "name": "nowhere"},
        },
    });
    front.post(API_SERVICES, &other).await.created();
    front
        .post(DEFINITIONS, &definition("a.org"))
        .await
        .created();
    front.settle().await;

    let list = front.get("/apis").await.ok();
    let names = group_names(&list);
    let builtin = Api::new().get("/apis").await.ok();
    assert_eq!(names[..names.len() - 2], group_names(&builtin));
    assert_eq!(names[names.len() - 2..], ["example.com", "a.org"]);
    let group = front.get("/apis/example.com").await.ok();
    assert_eq!(group["preferredVersion"]["version"], "v2");
    let versions = json!([
        {"groupVersion": "example.com/v2", "version": "v2"},
        {"groupVersion": "example.com/v1", "version": "v1"},
    ]);
    assert_eq!(group["versions"], versions);

    let all = front.send("GET", "/apis", &[AGGREGATED], "").await.ok();
    let find = |document: &Value, name: &str| {
        let items = document["items"].as_array().unwrap().iter();
        let mut found = items.filter(|item| item["metadata"]["name"] == name);
        found.next().unwrap().clone()
    };
    let merged = find(&all, "example.com");
    let original = backend.send("GET", "/apis", &[AGGREGATED], "").await.ok();
    let v2 = json!({"version": "v2", "resources": [], "freshness": "Stale"});
    let v1 = find(&original, "example.com")["versions"][0].clone();
    assert_eq!(merged["versions"], json!([v2, v1]));
    let one = front.get("/apis/example.com/v1").await.ok();
    assert_eq!(one["resources"][0]["name"], "widgets");

    front
        .delete(&format!("{API_SERVICES}/v2.example.com"))
        .await
        .ok();
    let group = front.get("/apis/example.com").await.ok();
    assert_eq!(group["preferredVersion"]["version"], "v1");
}

#[tokio::test(start_paused = true)]
async fn openapi_has_the_documents_of_the_group() {
    let backend = widgets_of("example.com").await;
    let front = front_of(backend.server.router()).await;
    let index = front.get("/openapi/v3").await.ok();
    let original = backend.get("/openapi/v3").await.ok();
    let entry = &index["paths"]["apis/example.com/v1"];
    assert!(entry["serverRelativeURL"].is_string());
    assert_eq!(*entry, original["paths"]["apis/example.com/v1"]);
    assert!(index["paths"]["apis/apps/v1"].is_object());
    let url = entry["serverRelativeURL"].as_str().unwrap();
    let document = front.get(url).await.ok();
    assert!(document["paths"]["/apis/example.com/v1/widgets"].is_object());

    let v2 = front.get("/openapi/v2").await.ok();
    let own = backend.get("/openapi/v2").await.ok();
    let path = "/apis/example.com/v1/namespaces/{namespace}/widgets";
    assert!(v2["paths"][path].is_object());
    assert_eq!(v2["paths"][path], own["paths"][path]);
    let name = "com.example.v1.Widget";
    assert_eq!(v2["definitions"][name], own["definitions"][name]);
    assert_eq!(
        v2["definitions"].as_object().unwrap().len(),
        own["definitions"].as_object().unwrap().len()
    );
    let again = front.get("/openapi/v2").await;
    let etag = again.headers["etag"].to_str().unwrap();
    let headers = [("if-none-match", etag)];
    let unchanged = front.send("GET", "/openapi/v2", &headers, "").await;
    assert_eq!(unchanged.code, 304);

    front
        .delete(&format!("{API_SERVICES}/v1.example.com"))
        .await
        .ok();
    let index = front.get("/openapi/v3").await.ok();
    assert!(index["paths"].get("apis/example.com/v1").is_none());
    let v2 = front.get("/openapi/v2").await.ok();
    assert!(v2["paths"].get(path).is_none());
    assert_eq!(front.get(url).await.code, 404);
}

/// The targets and headers of requests.
type SeenRequests = Arc<Mutex<Vec<(String, HeaderMap)>>>;

/// A server without resources that keeps the headers of the requests that it answers.
fn recording() -> (Router, SeenRequests) {
    let seen = SeenRequests::default();
    let kept = Arc::clone(&seen);
    let router = Router::new().fallback(move |request: Request| {
        let seen = (request.uri().to_string(), request.headers().clone());
        kept.lock().unwrap().push(seen);
        async {
            let headers = [
                ("content-type", "application/json"),
                ("x-kubernetes-pf-flowschema-uid", "theirs"),
                ("x-own", "kept"),
            ];
            (headers, r#"{"kind":"APIResourceList","resources":[]}"#)
        }
    });
    (router, seen)
}

/// A server with rules and the user `jane`, which forwards requests for `example.com` to `router`.
async fn front_with_rules(router: Router) -> Api {
    let jane = UserInfo::new("jane")
        .with_uid("7")
        .with_groups(["dev", "ops"])
        .with_extra("example.com/team", "blue");
    let server = FakeServer::builder()
        .with_token("secret", jane)
        .with_authorization(Authorization::Rbac)
        .build();
    server.serve_webhooks("widgets.default.svc", router);
    let as_admin = server.router_as(UserInfo::administrator());
    for (path, object) in [
        (SERVICES, service("widgets")),
        (API_SERVICES, api_service("example.com", "widgets")),
    ] {
        let request = Request::post(path).body(Body::from(object.to_string()));
        let answer = as_admin.clone().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.status(), 201);
    }
    let front = Api { server };
    front.settle().await;
    front
}

/// Lets the group `dev` list widgets.
fn allow(front: &Api) {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "widgets"},
        "rules": [{"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list"]}],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "widgets"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "widgets"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "dev"}],
    });
    front.server.apply(&role).unwrap();
    front.server.apply(&binding).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_other_server_receives_the_user() {
    let (router, seen) = recording();
    let front = front_with_rules(router).await;
    let headers = [
        ("authorization", "Bearer secret"),
        ("x-remote-user", "system:admin"),
        ("x-remote-group", "system:masters"),
        ("x-remote-extra-a", "b"),
        ("x-other", "kept"),
        ("accept", "application/json"),
        ("connection", "x-hop"),
        ("x-hop", "1"),
    ];
    let path = format!("{WIDGETS}?limit=5&labelSelector=a%3Db");
    // Rights are those of this server: jane may not read widgets yet.
    let before = seen.lock().unwrap().len();
    let denied = front.send("GET", &path, &headers, "").await.refused(403);
    assert!(
        denied.starts_with("widgets.example.com is forbidden"),
        "{denied}"
    );
    assert_eq!(seen.lock().unwrap().len(), before);
    allow(&front);
    let answer = front.send("GET", &path, &headers, "").await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.headers["x-own"], "kept");
    assert_ne!(answer.headers["x-kubernetes-pf-flowschema-uid"], "theirs");
    let (uri, headers) = seen.lock().unwrap().last().unwrap().clone();
    assert_eq!(uri, path);
    let all = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values
            .map(|value| value.to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(all("x-remote-user"), ["jane"]);
    assert_eq!(all("x-remote-uid"), ["7"]);
    assert_eq!(
        all("x-remote-group"),
        ["dev", "ops", "system:authenticated"]
    );
    assert_eq!(all("x-remote-extra-example.com%2fteam"), ["blue"]);
    assert_eq!(all("x-other"), ["kept"]);
    assert_eq!(
        all("audit-id"),
        [answer.headers["audit-id"].to_str().unwrap()]
    );
    for gone in ["authorization", "x-remote-extra-a", "x-hop", "connection"] {
        assert!(all(gone).is_empty(), "{gone}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_condition_has_the_reason_of_an_unreachable_api() {
    let api = Api::new();
    let own = api_service("example.com", "widgets");
    api.post(API_SERVICES, &own).await.created();
    let refused = |api: Api| async move {
        let text = api.get(WIDGETS).await.refused_plainly(503);
        assert_eq!(text, "service unavailable\n");
        api
    };
    let reason = async |api: &Api, reason: &str, message: &str| {
        api.settle().await;
        let found = condition(api, "example.com").await;
        assert_eq!(found["status"], "False");
        assert_eq!(found["reason"], reason);
        assert_eq!(found["message"], message);
    };
    let api = refused(api).await;
    let message = "service/widgets in \"default\" is not present";
    reason(&api, "ServiceNotFound", message).await;
    let api = refused(api).await;

    let mut other = service("widgets");
    other["spec"]["ports"][0]["port"] = json!(80);
    let made = api.post(SERVICES, &other).await.created();
    let message = "service/widgets in \"default\" is not listening on port 443";
    reason(&api, "ServicePortError", message).await;
    let mut right = made.clone();
    right["spec"]["ports"] = json!([{"port": 443, "name": "https"}]);
    api.put(&format!("{SERVICES}/widgets"), &right).await.ok();
    let message = "cannot find endpointslices for service/widgets in \"default\"";
    reason(&api, "EndpointsNotFound", message).await;

    let endpoints = "/api/v1/namespaces/default/endpoints";
    let unready = json!({
        "metadata": {"name": "widgets"},
        "subsets": [{
            "notReadyAddresses": [{"ip": "10.0.0.1"}],
            "ports": [{"name": "https", "port": 6443}],
        }],
    });
    api.post(endpoints, &unready).await.created();
    let message = "endpointslices for service/widgets in \"default\" have no addresses with port name \"https\"";
    reason(&api, "MissingEndpoints", message).await;
    let transition = condition(&api, "example.com").await["lastTransitionTime"].clone();
    let first = api
        .get(&format!("{API_SERVICES}/v1.example.com"))
        .await
        .ok();
    assert_eq!(
        transition, first["metadata"]["creationTimestamp"],
        "it was never true"
    );
    refused(api).await;
}

#[tokio::test(start_paused = true)]
async fn an_api_service_that_a_user_makes_for_this_server_is_available() {
    let api = Api::new();
    let mut local = api_service("example.com", "widgets");
    local["spec"] = json!({
        "group": "example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 10,
    });
    api.post(API_SERVICES, &local).await.created();
    api.settle().await;
    let found = condition(&api, "example.com").await;
    assert_eq!(found["reason"], "Local");
    assert_eq!(found["status"], "True");
    assert_eq!(api.get(WIDGETS).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_service_takes_over_a_group_of_this_server_but_not_that_of_api_services() {
    let (router, seen) = recording();
    let front = front_of(router).await;
    let path = format!("{API_SERVICES}/v1.batch");
    let spec = json!({"spec": {
        "service": {"namespace": "default", "name": "widgets", "port": 443},
        "insecureSkipTLSVerify": true,
    }});
    front.merge(&path, &spec).await.ok();
    front.settle().await;
    seen.lock().unwrap().clear();
    front.get("/apis/batch/v1/jobs").await.ok();
    assert_eq!(seen.lock().unwrap()[0].0, "/apis/batch/v1/jobs");
    let order = front.get("/apis").await.ok();
    let builtin = Api::new().get("/apis").await.ok();
    assert_eq!(
        group_names(&order)[..group_names(&builtin).len()],
        group_names(&builtin)
    );

    let mut own = api_service("apiregistration.k8s.io", "widgets");
    own["spec"]["groupPriorityMinimum"] = json!(20000);
    front.post(API_SERVICES, &own).await.created();
    front.settle().await;
    let list = front.get(API_SERVICES).await.ok();
    assert!(list["items"].as_array().unwrap().len() > 10);
    // The way back.
    front
        .merge(
            &path,
            &json!({"spec": {"service": null, "insecureSkipTLSVerify": null}}),
        )
        .await
        .ok();
    front.settle().await;
    let jobs = front.get("/apis/batch/v1/jobs").await.ok();
    assert_eq!(jobs["kind"], "JobList");
    assert_eq!(
        front.get(&path).await.ok()["status"]["conditions"][0]["reason"],
        "Local"
    );
}

#[tokio::test(start_paused = true)]
async fn a_restart_with_its_data_forwards_at_once() {
    let backend = widgets_of("example.com").await;
    let front = front_of(backend.server.router()).await;
    let server = FakeServer::builder()
        .with_snapshot(front.server.snapshot())
        .build();
    server.serve_webhooks("widgets.default.svc", backend.server.router());
    let again = Api { server };
    again.post(WIDGETS, &widget("w")).await.created();
    again.server.reset();
    assert_eq!(
        again.get(WIDGETS).await.ok()["items"][0]["metadata"]["name"],
        "w"
    );
}

/// A server that is served until it is stopped.
pub(crate) struct RunningServer {
    address: SocketAddr,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

// === impl RunningServer ===

impl RunningServer {
    /// Serves at an address; at any free one if its port is 0.
    async fn at(server: &FakeServer, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
        let serving = tokio::spawn(server.serve(listener, stop.clone()));
        Self {
            address,
            stop,
            serving,
        }
    }

    pub(crate) async fn somewhere(server: &FakeServer) -> Self {
        Self::at(server, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        timeout(LIMIT, self.serving).await.unwrap().unwrap();
    }
}

/// Lets a server forward the requests for a group to a service of that name, which is at `url`.
pub(crate) async fn forward(front: &Api, group: &str, name: &str, url: &str) {
    let host = format!("{name}.default.svc");
    front.server.redirect_webhooks(&host, url.parse().unwrap());
    front.post(SERVICES, &service(name)).await.created();
    front
        .post(API_SERVICES, &api_service(group, name))
        .await
        .created();
}

/// Waits until the condition of the API has this reason; returns its message.
pub(crate) async fn until(api: &Api, group: &str, reason: &str) -> String {
    let path = format!("{API_SERVICES}/v1.{group}");
    let watch = format!("{API_SERVICES}?watch=1&fieldSelector=metadata.name=v1.{group}");
    let looking = async {
        let request = Request::get(watch).body(Body::empty()).unwrap();
        let mut body = api
            .server
            .router()
            .oneshot(request)
            .await
            .unwrap()
            .into_body();
        loop {
            let service = api.get(&path).await.ok();
            let found = &service["status"]["conditions"][0];
            if found["reason"] == reason {
                return found["message"].as_str().unwrap().to_owned();
            }
            body.frame().await.unwrap().unwrap();
        }
    };
    timeout(LIMIT, looking).await.unwrap()
}

#[tokio::test]
async fn a_service_that_stops_is_unavailable_until_it_is_back() {
    let backend = widgets_of("example.com").await;
    let running = RunningServer::somewhere(&backend.server).await;
    let address = running.address;
    let front = Api::new();
    forward(&front, "example.com", "widgets", &running.url()).await;
    until(&front, "example.com", "Passed").await;
    front.post(WIDGETS, &widget("w")).await.created();

    running.end().await;
    // Before it is noticed.
    let text = front.get(WIDGETS).await.refused_plainly(503);
    let expected =
        format!("error trying to reach service: dial tcp {address}: connect: connection refused\n");
    assert_eq!(text, expected);
    // A change of the service lets it be checked again.
    let change = json!({"metadata": {"labels": {"checked": "again"}}});
    front
        .merge(&format!("{SERVICES}/widgets"), &change)
        .await
        .ok();
    let message = until(&front, "example.com", "FailedDiscoveryCheck").await;
    let url = format!("http://{address}/apis/example.com/v1");
    let expected = format!(
        "failing or missing response from {url}: Get \"{url}\": dial tcp {address}: connect: connection refused"
    );
    assert_eq!(message, expected);
    let text = front.get(WIDGETS).await.refused_plainly(503);
    assert_eq!(text, "service unavailable\n");
    let all = front.send("GET", "/apis", &[AGGREGATED], "").await.ok();
    let items = all["items"].as_array().unwrap();
    let stale = items
        .iter()
        .find(|item| item["metadata"]["name"] == "example.com")
        .unwrap();
    assert_eq!(stale["versions"][0]["freshness"], "Stale");
    assert_eq!(
        stale["versions"][0]["resources"][0]["resource"], "widgets",
        "as it was"
    );

    let back = RunningServer::at(&backend.server, address).await;
    until(&front, "example.com", "Passed").await;
    let list = front.get(WIDGETS).await.ok();
    assert_eq!(list["items"][0]["metadata"]["name"], "w");
    back.end().await;
}

#[tokio::test]
async fn two_groups_are_found_by_a_client_that_discovers_them() {
    let front = Api::new();
    let served = SocketServer::of(front.server.clone()).await;
    let mut running = Vec::new();
    for (group, name) in [("one.org", "one"), ("two.org", "two")] {
        let backend = widgets_of(group).await;
        running.push(RunningServer::somewhere(&backend.server).await);
        forward(&front, group, name, &running.last().unwrap().url()).await;
    }
    let hung = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", hung.local_addr().unwrap());
    forward(&front, "hung.org", "hung", &url).await;
    for group in ["one.org", "two.org"] {
        // The one that does not answer holds up nobody.
        until(&front, group, "Passed").await;
    }
    let config = kube::Config::new(format!("http://{}", served.address).parse().unwrap());
    let client = kube::Client::try_from(config).unwrap();
    let found = kube::Discovery::new(client.clone())
        .filter(&["one.org", "two.org"])
        .run_aggregated()
        .await
        .unwrap();
    for group in ["one.org", "two.org"] {
        let found = found.get(group).unwrap();
        let (resource, _) = found.recommended_kind("Widget").unwrap();
        let api: kube::Api<kube::api::DynamicObject> =
            kube::Api::namespaced_with(client.clone(), "default", &resource);
        let object = kube::api::DynamicObject::new(group, &resource);
        api.create(&kube::api::PostParams::default(), &object)
            .await
            .unwrap();
        let path = format!("/apis/{group}/v1/namespaces/default/widgets/{group}");
        assert_eq!(front.get(&path).await.code, 200);
    }
    assert_eq!(condition(&front, "hung.org").await, Value::Null);
    for running in running {
        running.end().await;
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_ends_on_the_other_side() {
    let backend = widgets_of("example.com").await;
    let running = RunningServer::somewhere(&backend.server).await;
    let front = Api::new();
    forward(&front, "example.com", "widgets", &running.url()).await;
    until(&front, "example.com", "Passed").await;
    let open = async || {
        let request = Request::get(format!(
            "{WIDGETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        ))
        .body(Body::empty())
        .unwrap();
        let answer = front.server.router().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body()
    };
    let before = backend.server.stats().watchers;
    let watch = open().await;
    assert_eq!(backend.server.stats().watchers, before + 1);
    // The client leaves.
    drop(watch);
    let leaving = async {
        while backend.server.stats().watchers > before {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, leaving).await.unwrap();
    // The other server leaves without a word.
    let mut watch = open().await;
    running.stop.cancel();
    running.serving.abort();
    let reading = async { while let Some(Ok(_)) = watch.frame().await {} };
    timeout(LIMIT, reading).await.unwrap();
}

#[tokio::test]
async fn a_process_that_stands_for_pods_is_reached() {
    let backend = widgets_of("example.com").await;
    let running = RunningServer::somewhere(&backend.server).await;
    let stands = format!("app=widgets={}", running.address);
    let front = Api {
        server: FakeServer::builder()
            .with_controllers(Controllers::default().with_workloads(Workloads::default()))
            .with_pod_backend(stands.parse().unwrap())
            .build(),
    };
    let mut pod = crate::support::pod("w", "");
    pod["metadata"]["labels"] = json!({"app": "widgets"});
    pod["spec"].as_object_mut().unwrap().remove("nodeName");
    front.post(crate::support::PODS, &pod).await.created();
    let mut own = service("widgets");
    own["spec"]["selector"] = json!({"app": "widgets"});
    front.post(SERVICES, &own).await.created();
    let made = front
        .post(API_SERVICES, &api_service("example.com", "widgets"))
        .await;
    assert!(warnings(&made).is_empty());
    until(&front, "example.com", "Passed").await;
    front.post(WIDGETS, &widget("w")).await.created();
    running.end().await;
}

#[tokio::test]
async fn an_external_name_is_reached_by_tls_at_the_port_of_the_api_service() {
    let backend = widgets_of("example.com").await;
    let right = Certificates::new(["widgets.default.svc"]).unwrap();
    let other = Certificates::new(["other.default.svc"]).unwrap();
    let stop = CancellationToken::new();
    let _stopping = stop.clone().drop_guard();
    let mut ports = Vec::new();
    for certificates in [&right, &other] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ports.push(listener.local_addr().unwrap().port());
        let serving = backend
            .server
            .serve_tls(listener, certificates, stop.clone());
        #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
        tokio::spawn(serving);
    }
    let front = Api::new();
    let external = json!({
        "metadata": {"name": "widgets"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    });
    front.post(SERVICES, &external).await.created();
    let mut own = api_service("example.com", "widgets");
    own["spec"]["service"]["port"] = json!(ports[0]);
    front.post(API_SERVICES, &own).await.created();
    until(&front, "example.com", "Passed").await;
    front.post(WIDGETS, &widget("w")).await.created();

    // The check does not look at the certificate, as that of a real server; requests do.
    let path = format!("{API_SERVICES}/v1.example.com");
    for (port, trusted, problem) in [
        (ports[0], &right, ""),
        (ports[0], &other, "certificate signed by unknown authority"),
        (
            ports[1],
            &other,
            "certificate is not valid for widgets.default.svc",
        ),
    ] {
        let spec = json!({"spec": {
            "service": {"port": port},
            "insecureSkipTLSVerify": null,
            "caBundle": base64_of(&trusted.authority_pem()),
        }});
        front.merge(&path, &spec).await.ok();
        until(&front, "example.com", "Passed").await;
        let answer = front.get(WIDGETS).await;
        if problem.is_empty() {
            assert_eq!(answer.code, 200, "{answer:?}");
            continue;
        }
        let expected = format!(
            "error trying to reach service: tls: failed to verify certificate: x509: {problem}\n"
        );
        assert_eq!(answer.refused_plainly(503), expected);
    }
}
