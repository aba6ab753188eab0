//! Arbitrary requests to the fake server. It panics if the server breaks a promise, or panics itself.

use axum::body::Body;
use fakeserver::FakeServer;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

thread_local! {
    static SERVER: ServerTarget = ServerTarget::new();
}

/// Sends a request; see `ServerTarget::request`.
pub fn request(data: &[u8]) {
    SERVER.with(|server| server.request(data));
}

/// Patches an object; see `ServerTarget::patch`.
pub fn patch(data: &[u8]) {
    SERVER.with(|server| server.patch(data));
}

/// Sends a request, and returns the growth of `clock` in the meantime.
pub fn time(data: &[u8], clock: fn() -> u64) -> u64 {
    SERVER.with(|server| {
        let before = clock();
        server.request(data);
        clock() - before
    })
}

/// A server that is asked on a clock that stands still.
#[derive(Debug)]
struct ServerTarget {
    runtime: Runtime,
    server: FakeServer,
}

/// Returns a definition with lists of each type, a pattern and a rule.
fn widgets() -> Value {
    let texts =
        json!({"type": "array", "maxItems": 100_000, "items": {"type": "string", "maxLength": 10}});
    let with = |fields: Value| {
        let mut list = texts.clone();
        let fields = fields.as_object().into_iter().flatten();
        fields.for_each(|(name, value)| list[name] = value.clone());
        list
    };
    let pattern = json!({"type": "string", "pattern": "^(a|aa)+$"});
    let map = json!({
        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
    });
    let rule = json!([{"rule": "self.all(item, item != '')"}]);
    let spec = json!({"type": "object", "properties": {
        "set": with(json!({"x-kubernetes-list-type": "set"})),
        "map": with(map),
        "pattern": pattern,
        "patterns": with(json!({"items": pattern})),
        "checked": with(json!({"x-kubernetes-validations": rule})),
    }});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.e.com"},
        "spec": {
            "group": "e.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

/// The objects that are patched.
const OBJECTS: [&str; 4] = [
    "/api/v1/namespaces/default/configmaps/c",
    "/api/v1/namespaces/default/pods/p",
    "/apis/apps/v1/namespaces/default/deployments/d",
    "/api/v1/namespaces/default/services/s",
];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

// === impl ServerTarget ===

impl ServerTarget {
    /// A server with an object of each type that is patched.
    fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime needs no more than memory");
        let containers = json!([{"name": "c", "image": "i"}]);
        let labels = json!({"a": "b"});
        let server = FakeServer::builder()
            .with_requests_kept(0)
            .with_object(&json!({
                "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": {"k": "v"},
            }))
            .with_object(&json!({
                "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "labels": labels},
                "spec": {"containers": containers, "tolerations": [{"key": "k", "operator": "Exists"}]},
            }))
            .with_object(&json!({
                "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d", "labels": labels},
                "spec": {
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
                },
            }))
            .with_object(&json!({
                "kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"},
                "spec": {"ports": [{"name": "p", "port": 80}], "selector": labels},
            }))
            .with_object(&widgets())
            .build();
        Self { runtime, server }
    }

    /// Sends what `data` describes: `METHOD TARGET`, headers, an empty line, and the body.
    fn request(&self, data: &[u8]) {
        let mut rest = data;
        let Some(mut request) = first_line(next_line(&mut rest)) else {
            return;
        };
        while let Some((name, value)) = header(next_line(&mut rest)) {
            request.headers_mut().insert(name, value);
        }
        *request.body_mut() = Body::from(rest.to_vec());
        // What is written stays until the server is reset, so that a failure does not depend on what came before.
        let before = self.server.revision();
        self.send(request);
        if self.server.revision() != before {
            self.server.reset();
        }
    }

    /// Patches one of a few objects. The first byte says which, and how.
    fn patch(&self, data: &[u8]) {
        let Some((choice, patch)) = data.split_first() else {
            return;
        };
        let object = OBJECTS[usize::from(choice % 4)];
        let subresource = if choice & 0x40 == 0 { "" } else { "/status" };
        let force = if choice & 0x30 == 0x30 {
            "&force=true"
        } else {
            ""
        };
        let target = format!("{object}{subresource}?dryRun=All&fieldManager=m{force}");
        let request = Request::patch(target)
            .header(header::CONTENT_TYPE, PATCHES[usize::from(choice >> 4 & 3)])
            .body(Body::from(patch.to_vec()));
        self.send(request.expect("it is made of valid parts"));
    }

    fn send(&self, request: Request<Body>) {
        let is_api = !request.uri().path().starts_with("/_control/");
        let router = self.server.router();
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                answer = router.oneshot(request) => {
                    let answer = answer.unwrap_or_else(|never| match never {});
                    check(answer, is_api).await;
                }
                // Some requests wait: for a version that is to come, or for events.
                () = tokio::task::yield_now() => {}
            }
        });
    }
}

/// Checks that a failure of the API is reported by a Status.
async fn check(answer: Response<Body>, is_api: bool) {
    let code = answer.status();
    if !is_api || code.is_success() {
        return;
    }
    let is_text = |value: &HeaderValue| value.as_bytes().starts_with(b"text/plain");
    if answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(is_text)
    {
        return;
    }
    let is_json = |value: &HeaderValue| value == "application/json";
    if !answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(is_json)
    {
        return;
    }
    let body = answer.into_body().collect().await.expect("it is in memory");
    let status: Value = serde_json::from_slice(&body.to_bytes()).expect("a failure is JSON");
    assert_eq!(status["kind"], "Status", "{status}");
    assert_eq!(status["code"], code.as_u16(), "{status}");
    assert!(
        code != StatusCode::INTERNAL_SERVER_ERROR || status["reason"] != "",
        "{status}"
    );
}

fn next_line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (line, left) = match end {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (*rest, &rest[rest.len()..]),
    };
    *rest = left;
    line
}

fn first_line(line: &[u8]) -> Option<Request<Body>> {
    let line = std::str::from_utf8(line).ok()?;
    let (method, target) = line.split_once(' ')?;
    let method = Method::from_bytes(method.as_bytes()).ok()?;
    Request::builder()
        .method(method)
        .uri(target)
        .body(Body::empty())
        .ok()
}

fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_bytes(&line[..colon]).ok()?;
    let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
    Some((name, value))
}
