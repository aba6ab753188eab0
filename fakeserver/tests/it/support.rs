//! A server, and requests to it in one line each.

use std::{fmt, thread, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use fakeserver::{Controllers, FakeServer};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// A server of its own for each test.
pub(crate) struct Api {
    pub(crate) server: FakeServer,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
    /// The bytes, as far as they are text.
    pub(crate) text: String,
}

// === impl Api ===

impl Api {
    pub(crate) fn new() -> Self {
        Self {
            server: FakeServer::builder().build(),
        }
    }

    /// A server of a version of Kubernetes.
    pub(crate) fn of_version(version: &str) -> Self {
        let builder = FakeServer::builder();
        Self {
            server: builder
                .with_kubernetes_version(version.parse().unwrap())
                .build(),
        }
    }

    pub(crate) fn with(controllers: Controllers) -> Self {
        Self {
            server: FakeServer::builder().with_controllers(controllers).build(),
        }
    }

    /// Lets the controllers do what they do at once or a moment later.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_secs(5)).await;
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let response = self.server.router().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            code: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Answer {
        self.send("POST", path, &[], object.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, object: &Value) -> Answer {
        self.send("PUT", path, &[], object.to_string()).await
    }

    pub(crate) async fn merge(&self, path: &str, change: &Value) -> Answer {
        let headers = [("content-type", "application/merge-patch+json")];
        self.send("PATCH", path, &headers, change.to_string()).await
    }

    pub(crate) async fn strategic(&self, path: &str, change: &Value) -> Answer {
        let headers = [("content-type", "application/strategic-merge-patch+json")];
        self.send("PATCH", path, &headers, change.to_string()).await
    }

    pub(crate) async fn json_patch(&self, path: &str, changes: &Value) -> Answer {
        let headers = [("content-type", "application/json-patch+json")];
        self.send("PATCH", path, &headers, changes.to_string())
            .await
    }

    /// Applies a configuration in YAML, or in JSON. `path` names the manager.
    pub(crate) async fn apply(&self, path: &str, config: impl Into<String>) -> Answer {
        let headers = [("content-type", "application/apply-patch+yaml")];
        self.send("PATCH", path, &headers, config.into()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], Body::empty()).await
    }

    pub(crate) async fn delete_with(&self, path: &str, options: &Value) -> Answer {
        self.send("DELETE", path, &[], options.to_string()).await
    }

    /// The config map of a name, created.
    /// Returns the events of kubelets about a pod of the namespace `default`, the oldest first.
    pub(crate) async fn kubelet_events(&self, pod: &str) -> Vec<Value> {
        let events = "/api/v1/namespaces/default/events";
        let path = format!("{events}?fieldSelector=involvedObject.name={pod},source=kubelet");
        let mut list = self.get(&path).await.ok();
        list["items"].as_array_mut().map(std::mem::take).unwrap()
    }

    pub(crate) async fn config_map(&self, name: &str) -> Value {
        let object = json!({"metadata": {"name": name}, "data": {"k": "v"}});
        self.post(CONFIG_MAPS, &object).await.created()
    }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.code, StatusCode::OK, "{self:?}");
        self.json()
    }

    pub(crate) fn created(self) -> Value {
        assert_eq!(self.code, StatusCode::CREATED, "{self:?}");
        self.json()
    }

    /// The message of a failure, which must have this code.
    #[track_caller]
    pub(crate) fn refused(self, code: u16) -> String {
        assert_eq!(self.code.as_u16(), code, "{self:?}");
        let status = self.json();
        assert_eq!(status["kind"], "Status");
        assert_eq!(status["code"], code);
        status["message"].as_str().unwrap().to_owned()
    }

    /// Returns the text of an answer that is no Status.
    pub(crate) fn refused_plainly(self, code: u16) -> String {
        assert_eq!(self.code.as_u16(), code, "{self:?}");
        self.text
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.text)
    }
}

/// `metadata.resourceVersion`.
pub(crate) fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str().unwrap();
    version.parse().unwrap()
}

/// A pod with one container, on a node if one is named.
pub(crate) fn pod(name: &str, node: &str) -> Value {
    let mut pod = json!({
        "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 30,
            "containers": [{"name": "c", "image": "i"}],
        },
    });
    if !node.is_empty() {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

pub(crate) fn deployment(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    })
}

/// Returns the warnings that an answer comes with.
pub(crate) fn warnings(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.get_all("warning").iter();
    all.map(|warning| warning.to_str().unwrap()).collect()
}

/// Runs each of `calls` in a thread of its own, and returns their results.
pub(crate) fn at_once<T: Send>(
    calls: impl IntoIterator<Item = impl AsyncFnOnce() -> T + Send>,
) -> Vec<T> {
    thread::scope(|scope| {
        let threads = calls.into_iter().map(|call| {
            scope.spawn(move || {
                let runtime = Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(call())
            })
        });
        let threads: Vec<_> = threads.collect();
        let results = threads.into_iter().map(thread::ScopedJoinHandle::join);
        results
            .map(|result| result.expect("no client fails"))
            .collect()
    })
}

/// A runtime whose clock goes on when there is nothing else to do.
pub(crate) fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}
