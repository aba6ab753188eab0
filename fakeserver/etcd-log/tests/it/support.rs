//! A server, and requests to it in one line each.

use axum::body::{Body, BodyDataStream};
use fakeserver_etcd_log::EtcdOptions;
use fakeserver_server::{Clock, FakeServer};
use futures::StreamExt as _;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt as _;

use super::{PATIENCE, etcd::Etcd};

/// A server of an etcd.
pub(crate) struct Api {
    pub(crate) server: FakeServer,
}

pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

/// The events of a watch.
pub(crate) struct Watch {
    body: BodyDataStream,
    /// The bytes of events that are not whole yet.
    bytes: Vec<u8>,
}

// === impl Api ===

impl Api {
    pub(crate) async fn of(etcd: &Etcd) -> Self {
        Self::with(EtcdOptions::new([etcd.url()])).await
    }

    pub(crate) async fn with(options: EtcdOptions) -> Self {
        let builder = FakeServer::builder().with_clock(Clock::wall());
        // etcd may have no leader yet.
        let built = async {
            loop {
                match builder.clone().with_etcd(options.clone()).try_build() {
                    Ok(server) => return server,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        let server = timeout(PATIENCE, built).await.unwrap();
        Self { server }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "application/json", Body::empty())
            .await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "application/json", Body::empty())
            .await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Answer {
        self.send("POST", path, "application/json", object.to_string().into())
            .await
    }

    pub(crate) async fn put(&self, path: &str, object: &Value) -> Answer {
        self.send("PUT", path, "application/json", object.to_string().into())
            .await
    }

    pub(crate) async fn merge(&self, path: &str, change: &Value) -> Answer {
        let kind = "application/merge-patch+json";
        self.send("PATCH", path, kind, change.to_string().into())
            .await
    }

    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = self.server.router().oneshot(request).await.unwrap();
        Watch {
            body: response.into_body().into_data_stream(),
            bytes: Vec::new(),
        }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: Body) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(body)
            .unwrap();
        let response = self.server.router().oneshot(request);
        let response = timeout(PATIENCE, response).await.unwrap().unwrap();
        let code = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        Answer {
            code,
            // Paths that are not served have a text.
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
        }
    }
}

// === impl Watch ===

impl Watch {
    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return serde_json::from_slice(&line).unwrap();
            }
            let more = timeout(PATIENCE, self.body.next()).await.unwrap();
            self.bytes.extend(more.expect("the watch goes on").unwrap());
        }
    }

    /// Returns the versions of the next events.
    pub(crate) async fn versions(&mut self, count: usize) -> Vec<u64> {
        let mut versions = Vec::new();
        while versions.len() < count {
            versions.push(version(&self.next().await["object"]));
        }
        versions
    }
}

pub(crate) fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version
        .unwrap_or_else(|| panic!("{object}"))
        .parse()
        .unwrap()
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"key": "value"}})
}
