//! A server in process, to which objects are sent one after another, without sockets.

use std::convert::Infallible;

use axum::{Router, body::Body};
use bytes::Bytes;
use fakeserver_server::{Controllers, FakeServer};
use fakeserver_value::user::UserInfo;
use fakeserver_versions::KubernetesVersion;
use http::{HeaderMap, Request, Response, header};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value};
use tower::Service as _;

/// The name of the client, which is the manager of the fields that it sets.
const CLIENT: &str = "fakeserver-check";

/// A server and its only client, an administrator.
#[derive(Debug)]
pub(crate) struct Session {
    router: Router,
    /// Its tasks end with it.
    _server: FakeServer,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) warnings: Vec<String>,
    body: Bytes,
}

// === impl Session ===

impl Session {
    /// Starts a server of a version, as it is in a new cluster that allows privileged containers. Nothing changes in it by
    /// itself: no controller works.
    pub(crate) fn new(kubernetes: KubernetesVersion) -> Self {
        let server = FakeServer::builder()
            .with_kubernetes_version(kubernetes)
            .with_controllers(Controllers::none())
            .with_privileged_containers(true)
            .with_requests_kept(0)
            .build();
        Self {
            router: server.router_as(UserInfo::administrator()),
            _server: server,
        }
    }

    /// Creates an object in a collection, or pretends to.
    pub(crate) async fn create(&mut self, path: &str, object: &Value, is_dry: bool) -> Answer {
        let dry = if is_dry { "&dryRun=All" } else { "" };
        let uri = format!("{path}?fieldManager={CLIENT}&fieldValidation=Warn{dry}");
        self.send("POST", &uri, "application/json", object).await
    }

    /// Replaces an object.
    pub(crate) async fn replace(&mut self, path: &str, object: &Value) -> Answer {
        let uri = format!("{path}?fieldManager={CLIENT}&fieldValidation=Warn");
        self.send("PUT", &uri, "application/json", object).await
    }

    /// Applies an object by forced server-side apply, or pretends to.
    pub(crate) async fn apply(&mut self, path: &str, object: &Value, is_dry: bool) -> Answer {
        let dry = if is_dry { "&dryRun=All" } else { "" };
        let uri = format!("{path}?fieldManager={CLIENT}&fieldValidation=Warn&force=true{dry}");
        let media_type = "application/apply-patch+yaml";
        self.send("PATCH", &uri, media_type, object).await
    }

    /// Deletes an object.
    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        let uri = format!("{path}?gracePeriodSeconds=0");
        self.send(
            "DELETE",
            &uri,
            "application/json",
            &Value::Object(Map::new()),
        )
        .await
    }

    async fn send(&mut self, method: &str, uri: &str, media_type: &str, object: &Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::CONTENT_TYPE, media_type)
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, CLIENT)
            .body(Body::from(object.to_string()));
        let request = request.expect("a path has no reserved characters");
        let answered: Result<Response<Body>, Infallible> = self.router.call(request).await;
        let Ok(response) = answered;
        let (head, body) = response.into_parts();
        let body = body.collect().await;
        Answer {
            code: head.status.as_u16(),
            warnings: warnings(&head.headers),
            body: body.map_or_else(|_| Bytes::new(), http_body_util::Collected::to_bytes),
        }
    }
}

// === impl Answer ===

impl Answer {
    /// Returns whether the server took the object.
    pub(crate) fn is_success(&self) -> bool {
        self.code < 300
    }

    /// Returns the object, or the status of an error; null if it is no JSON.
    pub(crate) fn object(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Returns the texts of the headers `Warning`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::WARNING).iter();
    let texts = values.filter_map(|value| {
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let quoted = text.strip_prefix("299 - \"")?.strip_suffix('"')?;
        Some(unescaped(quoted))
    });
    texts.collect()
}

/// Returns a text without the backslashes that stand before quotes and backslashes.
fn unescaped(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        text.extend(if letter == '\\' {
            letters.next()
        } else {
            Some(letter)
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_read_as_they_were_written() {
        let texts = [r#"unknown field "spec.a""#, r"a \ b", "ü"].map(str::to_owned);
        let mut headers = HeaderMap::new();
        for value in fakeserver_value::status::warning_headers(&texts) {
            headers.append(header::WARNING, value);
        }
        assert_eq!(warnings(&headers), texts);
    }
}
