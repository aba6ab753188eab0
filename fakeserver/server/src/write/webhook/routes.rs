//! Routes of calls: to the address that a configuration names, or to a replacement.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{Router, body::Body};
use bytes::Bytes;
use fakeserver_kinds::client_config::ClientConfig;
use fakeserver_value::json::parse_value;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;
use tokio::time::timeout;
use tower::ServiceExt;

use super::{
    WebhookError,
    call::Call,
    connection::{self, Address},
};

/// The size limit of an answer.
const ANSWER_MAX_BYTES: usize = 16 * 1024 * 1024;
/// The number of requests of one call, redirected ones included: Go's limit.
const REQUESTS_MAX: usize = 10;

/// Calls webhooks.
#[derive(Default)]
pub struct Webhooks {
    /// By host, or by host and port.
    routes: Mutex<BTreeMap<String, Route>>,
}

/// The route of a host's calls.
#[derive(Clone, Debug)]
pub enum Route {
    InProcess(Router),
    /// To another scheme, host and port.
    To(Uri),
}

/// The answer of a webhook.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

// === impl Webhooks ===

impl Webhooks {
    /// Routes calls to `host`, such as `hooks.default.svc` or `example.com:8443`, to `router`.
    pub fn serve(&self, host: &str, router: Router) {
        self.lock()
            .insert(host.to_owned(), Route::InProcess(router));
    }

    /// Routes calls to `host` to the scheme, host and port of `to`.
    pub fn redirect(&self, host: &str, to: Uri) {
        self.lock().insert(host.to_owned(), Route::To(to));
    }

    /// Posts `question`, and parses the response as a JSON object.
    ///
    /// # Errors
    ///
    /// There was no response within `limit`, or it is invalid. The caller applies the failure policy.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the webhook may have received the question; its answer is lost.
    pub async fn ask(
        &self,
        config: &ClientConfig,
        limit: Duration,
        question: &Value,
    ) -> Result<Value, WebhookError> {
        let url = config.url(limit.as_secs());
        let body = Bytes::from(question.to_string());
        // One limit for all redirects, as Go's client has one context.
        let answer = timeout(limit, self.post(config, &url, body)).await;
        let answer =
            answer.map_err(|_| WebhookError::post(&url, "context deadline exceeded"))??;
        read(&answer)
    }

    /// Posts `body` to `url`, and follows redirects as Go's client does.
    async fn post(
        &self,
        config: &ClientConfig,
        url: &str,
        body: Bytes,
    ) -> Result<Answer, WebhookError> {
        let mut call = Call {
            url: url.to_owned(),
            method: Method::POST,
            body,
        };
        for _ in 0..REQUESTS_MAX {
            let failed = |problem| WebhookError::post(&call.url, problem);
            let answer = self.send(config, &call).await.map_err(failed)?;
            match call.redirected(&answer).map_err(failed)? {
                Some(next) => call = next,
                None => return Ok(answer),
            }
        }
        let problem = format!("stopped after {REQUESTS_MAX} redirects");
        Err(WebhookError::post(&call.url, problem))
    }

    /// Sends one request, and reads its answer.
    async fn send(&self, config: &ClientConfig, call: &Call) -> Result<Answer, String> {
        let uri: Uri = call
            .url
            .parse()
            .map_err(|error: http::uri::InvalidUri| error.to_string())?;
        let to = match self.route(&uri) {
            Some(Route::InProcess(router)) => return answer_in_process(router, call).await,
            Some(Route::To(to)) => to,
            None => match config.service() {
                Some(service) if uri.host() == Some(&*service.host()) => {
                    return Err(format!(
                        "no route to service {0}/{1}: this server runs no services; say where it is by `--webhook-service \
                         {0}/{1}=URL`, or by `redirect_webhooks` in process",
                        service.namespace, service.name
                    ));
                }
                _ => uri.clone(),
            },
        };
        let address = Address::new(&uri, &to);
        connection::send(&address, &config.ca_bundle, call).await
    }

    fn route(&self, uri: &Uri) -> Option<Route> {
        let authority = uri.authority()?;
        self.route_to(authority.host(), authority.port_u16())
    }

    /// Returns the route to a port of a host, if one was configured for it or for the host.
    pub fn route_to(&self, host: &str, port: Option<u16>) -> Option<Route> {
        let routes = self.lock();
        let of_port = port.and_then(|port| routes.get(&format!("{host}:{port}")));
        // The more specific route wins.
        of_port.or_else(|| routes.get(host)).cloned()
    }

    /// The table is valid at every step.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.lock().keys().cloned().collect();
        f.debug_struct("Webhooks").field("hosts", &hosts).finish()
    }
}

async fn answer_in_process(router: Router, call: &Call) -> Result<Answer, String> {
    let request = call.request(&call.url)?.map(Body::from);
    let Ok(response) = router.oneshot(request).await;
    collect(response).await
}

/// Reads an answer to its end.
pub(super) async fn collect<B>(response: http::Response<B>) -> Result<Answer, String>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_MAX_BYTES).collect().await;
    let body = body.map_err(|error| error.to_string())?;
    Ok(Answer {
        code: parts.status,
        headers: parts.headers,
        body: body.to_bytes(),
    })
}

fn read(answer: &Answer) -> Result<Value, WebhookError> {
    let object = parse_value(&answer.body);
    if answer.code != StatusCode::OK {
        // A Status is returned with its own message.
        if let Ok(status) = &object
            && status["kind"] == "Status"
            && let Some(message) = status["message"].as_str()
        {
            return Err(WebhookError::Refused(message.to_owned()));
        }
        let kind = answer.headers.get(header::CONTENT_TYPE);
        let is_text = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/"));
        let text = std::str::from_utf8(&answer.body).ok().filter(|_| is_text);
        return Err(WebhookError::of_code(answer.code, text));
    }
    let object = object.map_err(|why| {
        WebhookError::Unreadable(format!(
            "couldn't get version/kind; json parse error: {why}"
        ))
    })?;
    let has_text = |field: &str| object[field].as_str().is_some_and(|text| !text.is_empty());
    for (field, name) in [("kind", "Kind"), ("apiVersion", "apiVersion")] {
        if !has_text(field) {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(WebhookError::Unreadable(format!(
                "Object '{name}' is missing in '{}'",
                body.trim_end()
            )));
        }
    }
    Ok(object)
}
