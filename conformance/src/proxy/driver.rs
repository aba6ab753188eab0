//! The proxy as a service: applies the rules to each request, forwards it upstream, and returns the answer.

use std::{
    fmt::{self, Debug, Formatter},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ::support::request_facts::facts;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use fakeserver::{
    Listener,
    faults::{
        Action, Answer, Connection, Disposition, FaultSpec, Faults, RequestFacts, Rewrite,
        RuleGuard,
    },
};
use http::{HeaderMap, StatusCode, header, request::Parts};
use http_body_util::{BodyExt, Limited};
use kube::Config;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    ProxyError, control,
    pieces::Pieces,
    request,
    stream::{Judge, ProxiedBody},
    support,
    upgrade::{self, JoinedConnections},
    upstream::Upstream,
};

/// The size limit of a request's body. A server takes 3 MiB.
const BODY_MAX_BYTES: usize = 4 << 20;
/// The size limit of an answer that is rewritten.
const REWRITTEN_MAX_BYTES: usize = 64 << 20;
/// The time limit for a client to send the body.
const BODY_LIMIT: Duration = Duration::from_mins(1);

/// A reverse proxy. Clones are handles of the same.
#[derive(Clone)]
pub struct Proxy {
    shared: Arc<Shared>,
}

impl Debug for Proxy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("faults", &self.shared.faults)
            .finish_non_exhaustive()
    }
}

struct Shared {
    upstream: Upstream,
    faults: Faults,
    revision: Arc<AtomicU64>,
    /// Fires when the answers that are under way have to end; then another one stands here.
    streams: Mutex<CancellationToken>,
    joined: JoinedConnections,
}

// === impl Proxy ===

impl Proxy {
    /// In front of the server that `upstream` names, with its credentials if it has some; else with those of each client.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Upstream`]: it cannot be used in this form.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn new(upstream: Config) -> Result<Self, ProxyError> {
        Ok(Self {
            shared: Arc::new(Shared {
                upstream: Upstream::new(upstream)?,
                faults: Faults::default(),
                revision: Arc::default(),
                streams: Mutex::default(),
                joined: JoinedConnections::default(),
            }),
        })
    }

    /// The rules in force, and their firings. To put another one in force, [`install`](Self::install) checks it first.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Puts a fault in force, behind those that are already.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Unsupported`]: only a server can make it.
    pub fn install(&self, spec: &FaultSpec) -> Result<RuleGuard, ProxyError> {
        support::check(spec)?;
        Ok(self.shared.faults.install_spec(spec))
    }

    /// Ends all open answers cleanly, for all clients.
    pub fn disconnect(&self) {
        self.end_streams();
    }

    /// The proxy as a service. Connections come to harm only where it is [served](Self::serve).
    pub fn router(&self) -> Router {
        Router::new().fallback(handle).with_state(self.clone())
    }

    /// Serves what comes to `listener` until `stop` fires. Then watches end, and other answers have a few seconds.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, its connections are dropped with it.
    pub async fn serve(&self, listener: Listener, stop: CancellationToken) {
        let listener = listener.with_gate(self.shared.faults.listen_gate());
        let ending = async {
            stop.cancelled().await;
            self.end_streams();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = ending => {}
            () = listener.serve(self.router(), stop.clone()) => {}
        }
    }

    /// Ends every answer that is under way.
    fn end_streams(&self) {
        let mut streams = self
            .shared
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let ending = std::mem::take(&mut *streams);
        drop(streams);
        ending.cancel();
    }

    /// Fires when answers of now have to end.
    fn stop_token(&self) -> CancellationToken {
        let streams = self
            .shared
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        streams.clone()
    }

    /// Applies rules to a request; returns an answer, if the request does not reach the upstream.
    async fn disposition(
        &self,
        facts: &RequestFacts,
        connection: &Connection,
    ) -> Result<Disposition, Response> {
        let verdict = self.shared.faults.on_request(facts);
        debug_assert!(support::can_do(&verdict), "{verdict:?} is not done");
        let disposition = verdict.carry_out(connection).await?;
        if disposition.action == Some(Action::Disconnect) {
            self.end_streams();
        }
        Ok(disposition)
    }

    /// Answers a request.
    async fn answer(&self, parts: Parts, body: Body) -> Response {
        let connection = parts.extensions.get::<Connection>().cloned();
        let connection = connection.unwrap_or_default();
        let revision = self.shared.revision.load(Ordering::Relaxed);
        let facts = facts(&parts, revision);
        let disposition = match &facts {
            None => Disposition::default(),
            Some(facts) => match self.disposition(facts, &connection).await {
                Ok(disposition) => disposition,
                Err(answer) => return answer,
            },
        };
        let forwarding = self.forward(parts, body, facts, &disposition, connection);
        let response = forwarding.await;
        disposition.delay_head().await;
        response
    }

    /// Forwards a request to the upstream, and applies the faults of its answer's body.
    async fn forward(
        &self,
        mut parts: Parts,
        body: Body,
        facts: Option<RequestFacts>,
        disposition: &Disposition,
        connection: Connection,
    ) -> Response {
        if disposition.ignores_watch_list {
            parts.uri = request::without_watch_list(&parts.uri);
        }
        let body = match read(body).await {
            Ok(body) => body,
            Err(answer) => return answer.into_response(),
        };
        let upstream = &self.shared.upstream;
        let stop = self.stop_token();
        if upgrade::is_asked(&parts.headers) {
            let joining = upgrade::join(upstream, &self.shared.joined, stop, parts, body);
            return joining.await.unwrap_or_else(Answer::into_response);
        }
        let (head, body) = match upstream.forward(parts, body).await {
            Ok(response) => response.into_parts(),
            Err(answer) => return answer.into_response(),
        };
        if let Some(replacement) = &disposition.replacement {
            // The upstream serves the request to its end, and its answer is dropped.
            let _ = timeout(BODY_LIMIT, body.collect()).await;
            return replacement.response(&connection);
        }
        let watch = facts.filter(|facts| facts.verb == "watch");
        if let Some(watch) = watch.filter(|_| has_json(&head.headers)) {
            let judge = Judge {
                faults: self.shared.faults.clone(),
                revision: Arc::clone(&self.shared.revision),
            };
            let passage = ProxiedBody::of(body, connection, stop);
            let passage = passage.judged(judge, watch);
            return Response::from_parts(head, passage.into_body());
        }
        let passage = ProxiedBody::of(body, connection, stop);
        match (disposition.body, disposition.rewrite) {
            (Some(fault), _) => {
                let length = head.headers.get(header::CONTENT_LENGTH);
                let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
                let passage = passage.cut(Pieces::new(fault, length));
                Response::from_parts(head, passage.into_body())
            }
            (None, Some(rewrite)) if head.status.is_success() && has_json(&head.headers) => {
                rewritten(head, passage.into_body(), rewrite).await
            }
            _ => Response::from_parts(head, passage.into_body()),
        }
    }
}

/// The answer with what is added to its objects.
async fn rewritten(mut head: http::response::Parts, body: Body, rewrite: Rewrite) -> Response {
    let Ok(body) = Limited::new(body, REWRITTEN_MAX_BYTES).collect().await else {
        let why = "the proxy has not the whole answer that it is to change";
        return Answer::status(StatusCode::BAD_GATEWAY, Some("BadGateway"), why).into_response();
    };
    head.headers.remove(header::CONTENT_LENGTH);
    let body = rewrite.body(body.to_bytes());
    Response::from_parts(head, Body::from(body))
}

async fn handle(State(proxy): State<Proxy>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match parts.uri.path().strip_prefix("/_control/") {
        Some(action) => control::handle(&proxy, &parts.method, action, body).await,
        None => proxy.answer(parts, body).await,
    }
}

/// Reads the body of a request.
async fn read(body: Body) -> Result<Bytes, Answer> {
    match timeout(BODY_LIMIT, Limited::new(body, BODY_MAX_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(Answer::status(
            StatusCode::PAYLOAD_TOO_LARGE,
            Some("RequestEntityTooLarge"),
            &format!("the proxy takes bodies of {BODY_MAX_BYTES} bytes at most, sent to their end"),
        )),
        Err(_) => Err(Answer::status(
            StatusCode::REQUEST_TIMEOUT,
            Some("Timeout"),
            "the body of the request has not come to its end",
        )),
    }
}

/// Returns whether a body is JSON, of a watch one event a line.
fn has_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    is_json && !headers.contains_key(header::CONTENT_ENCODING)
}
