//! The way of a candidate in an election to the server.
//!
//! Requests that were sent are carried out even if the candidate gives them up: a slow write may take effect late.

use std::{
    future::ready,
    io,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use axum::{Router, body::Body as AnswerBody};
use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture};
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use super::{Candidacy, ElectionEvent, LeaseState, lease_log::LeaseLog};
use crate::{
    interleave::{Seam, Yields},
    task::TaskSet,
    trace::Recorder,
    transport::{RequestNumbers, Route, arrived},
};

type Answer = io::Result<Response<Bytes>>;

/// The parts that the candidates of a run share.
#[derive(Clone, Debug)]
pub(super) struct CandidateContext {
    numbers: RequestNumbers,
    recorder: Recorder,
    log: LeaseLog,
    /// The requests under way.
    sent: Arc<Mutex<TaskSet>>,
}

/// One candidate's way to the server, as the service under a `kube::Client`, until its process dies.
#[derive(Clone, Debug)]
pub(super) struct CandidateLine {
    ways: CandidateContext,
    candidacy: Candidacy,
    user_agent: HeaderValue,
    route: Route,
    yields: Yields,
    severed: CancellationToken,
}

/// A request without an answer so far.
#[derive(Debug)]
struct Pending {
    recorder: Recorder,
    candidacy: Candidacy,
    request: usize,
    is_answered: bool,
}

// === impl CandidateContext ===

impl CandidateContext {
    /// Creates ways that record in `recorder`, and changes of the lease in `log`.
    pub(super) fn new(recorder: Recorder, log: LeaseLog) -> Self {
        Self {
            numbers: RequestNumbers::default(),
            recorder,
            log,
            sent: Arc::default(),
        }
    }

    /// Creates the way of a candidacy along `route`.
    pub(super) fn open(&self, candidacy: Candidacy, route: Route, yields: Yields) -> CandidateLine {
        CandidateLine {
            ways: self.clone(),
            candidacy,
            user_agent: HeaderValue::from_str(&candidacy.name()).expect("a candidate's name"),
            route,
            yields,
            severed: CancellationToken::new(),
        }
    }

    /// Ends all requests under way.
    pub(super) fn close(&self) {
        self.sent.lock().expect("no holder panics").abort();
    }
}

// === impl CandidateLine ===

impl CandidateLine {
    /// Creates a client that goes this way.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime: kube starts its connection task here.
    pub(super) fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// Lets the process at this end die: it receives no answer any more, and sends nothing.
    pub(super) fn sever(&self) {
        self.severed.cancel();
    }

    /// Sends a request. It is carried out from this call on, however long its answer is waited for.
    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'static, io::Result<Response<AnswerBody>>> {
        if self.severed.is_cancelled() {
            let error = io::Error::from(io::ErrorKind::ConnectionReset);
            return Box::pin(ready(Err(error)));
        }
        let user_agent = self.user_agent.clone();
        request.headers_mut().insert(header::USER_AGENT, user_agent);
        if request.uri().path().contains("/leasecandidates") {
            return Box::pin(self.clone().pass_on(request));
        }
        let pending = Pending::begin(self, request.method().as_str());
        let (answer, answered) = oneshot::channel();
        let line = self.clone();
        self.carry_out(async move {
            // The candidate may have given up.
            let _ = answer.send(line.deliver(request).await);
        });
        let (severed, yields) = (self.severed.clone(), self.yields.clone());
        Box::pin(async move {
            let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
            let answered = tokio::select! {
                biased;
                () = severed.cancelled() => Err(reset()),
                answered = answered => answered.unwrap_or_else(|_| Err(reset())),
            };
            yields.pass(Seam::Request).await;
            let response = answered?;
            pending.answered(&response);
            Ok(response.map(AnswerBody::from))
        })
    }

    /// Passes on a request that is not about the lease, with its answer as it comes: it may be a watch.
    async fn pass_on(self, request: Request<Body>) -> io::Result<Response<AnswerBody>> {
        let opened = async {
            self.yields.pass(Seam::Request).await;
            let (router, connection) = self.route.connect(true)?;
            let answered = tokio::select! {
                biased;
                error = connection.broken() => Err(error),
                Ok(response) = router.oneshot(request) => arrived(response),
            };
            Ok((answered?, connection))
        };
        let opened = tokio::select! {
            biased;
            () = self.severed.cancelled() => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            opened = opened => opened,
        };
        let (response, connection): (Response<AnswerBody>, _) = opened?;
        let severed = self.severed.clone();
        let is_over = async move {
            tokio::select! {
                biased;
                () = severed.cancelled() => {}
                _ = connection.broken() => {}
            }
        };
        Ok(response.map(|body| {
            let parts = body.into_data_stream().take_until(Box::pin(is_over));
            AnswerBody::from_stream(parts)
        }))
    }

    fn carry_out(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut sent = self.ways.sent.lock().expect("no holder panics");
        sent.forget_ended();
        sent.spawn(task);
    }

    async fn deliver(self, request: Request<Body>) -> Answer {
        if self.ways.recorder.is_tripped() {
            return std::future::pending().await;
        }
        self.yields.pass(Seam::Request).await;
        let (router, connection) = self.route.connect(true)?;
        let answered = tokio::select! {
            biased;
            // The server at the other end is gone.
            error = connection.broken() => Err(error),
            answered = carried_out(router, request) => answered,
        };
        self.ways.log.note();
        answered
    }
}

impl Service<Request<Body>> for CandidateLine {
    type Response = Response<AnswerBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.send(request)
    }
}

/// Returns the whole answer to a request.
async fn carried_out(router: Router, request: Request<Body>) -> Answer {
    let Ok(response) = router.oneshot(request).await;
    let (head, body) = arrived(response)?.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

// === impl Pending ===

impl Pending {
    /// Records a request.
    fn begin(line: &CandidateLine, method: &str) -> Self {
        let pending = Self {
            recorder: line.ways.recorder.clone(),
            candidacy: line.candidacy,
            request: line.ways.numbers.next(),
            is_answered: false,
        };
        pending.record(ElectionEvent::Asks {
            candidacy: pending.candidacy,
            request: pending.request,
            method: method.to_owned(),
        });
        pending
    }

    fn answered(mut self, response: &Response<Bytes>) {
        self.is_answered = true;
        let object = serde_json::from_slice(response.body());
        self.record(ElectionEvent::Answered {
            candidacy: self.candidacy,
            request: self.request,
            status: Some(response.status().as_u16()),
            lease: object.ok().as_ref().and_then(LeaseState::of),
        });
    }

    fn record(&self, event: ElectionEvent) {
        self.recorder.record(event);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.is_answered {
            self.record(ElectionEvent::Answered {
                candidacy: self.candidacy,
                request: self.request,
                status: None,
                lease: None,
            });
        }
    }
}
