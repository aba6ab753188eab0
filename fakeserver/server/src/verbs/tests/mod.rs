//! The verbs through the router, on the paused clock.

mod version;
mod reads;
mod watches;
mod faults;
mod fault_streams;
mod fault_views;
mod streams;
mod features;

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use fakeserver_value::resource::GroupResource;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tower::ServiceExt;

use crate::{FakeServer, store::ObjectKey};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An answer, read to its end.
#[derive(Debug)]
struct Answer {
    code: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

fn config_map(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::namespaced(GroupResource::new("", "configmaps"), namespace, name)
}

/// Writes a config map with the label `app`, and returns its version.
fn put(server: &FakeServer, namespace: &str, name: &str, app: &str) -> u64 {
    let object = json!({
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": app}},
        "data": {"app": app},
    });
    let stored: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.put(&config_map(namespace, name), object)));
    let Ok(stored) = stored;
    stored.revision()
}

fn delete(server: &FakeServer, namespace: &str, name: &str) {
    let deleted: Result<_, Infallible> = server
        .backend()
        .storage
        .transact(|tx| Ok(tx.delete(&config_map(namespace, name))));
    let Ok(deleted) = deleted;
    deleted.expect("it was there");
}

/// A server with config maps of these names in the namespace `default`.
fn with_config_maps(names: &[&str]) -> FakeServer {
    let server = FakeServer::builder().build();
    for name in names {
        put(&server, "default", name, "x");
    }
    server
}

async fn open(server: &FakeServer, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    server.router().oneshot(request).await.unwrap()
}

async fn get_with(server: &FakeServer, path: &str, headers: &[(&str, &str)]) -> Answer {
    let (parts, body) = open(server, path, headers).await.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Answer {
        code: parts.status,
        headers: parts.headers,
        text: String::from_utf8(bytes.into()).unwrap(),
    }
}

async fn get(server: &FakeServer, path: &str) -> Answer {
    get_with(server, path, &[]).await
}

/// The names of the items of a list.
fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items is never null");
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The events of a stream until it ends or `seconds` have passed: `ADDED a`, or the code of an error. And how it stands.
async fn events(body: &mut Body, seconds: u64) -> (Vec<String>, &'static str) {
    let mut events = Vec::new();
    let end = timeout(Duration::from_secs(seconds), async {
        loop {
            match body.frame().await {
                None => return "ended",
                Some(Err(_)) => return "broken",
                Some(Ok(frame)) => {
                    let Ok(event) = serde_json::from_slice::<Value>(&frame.into_data().unwrap())
                    else {
                        events.push("half a line".to_owned());
                        continue;
                    };
                    let object = &event["object"];
                    let what = object["metadata"]["name"]
                        .as_str()
                        .map(str::to_owned)
                        .or_else(|| Some(object["code"].as_u64()?.to_string()))
                        .unwrap_or_default();
                    events.push(format!("{} {what}", event["type"].as_str().unwrap()));
                }
            }
        }
    });
    let end = end.await.unwrap_or("open");
    (events, end)
}

async fn watch(server: &FakeServer, parameters: &str) -> Body {
    let path = format!("{CONFIG_MAPS}?watch=true&{parameters}");
    let response = open(server, &path, &[]).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "application/json");
    response.into_body()
}

/// Returns the duration of `work` on the paused clock, in seconds.
async fn seconds<T>(work: impl Future<Output = T>) -> (T, u64) {
    let start = Instant::now();
    let done = work.await;
    (done, start.elapsed().as_secs())
}
