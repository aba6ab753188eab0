//! The way from copies, each with a clock of its own, to the one server: slow, broken, and cut at times.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body};
use bytes::Bytes;
use fakeserver::FakeServer;
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::Client;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};
use tower::ServiceExt;

use super::oracle::Oracle;

/// The longest that a write is under way: less than lies between the renew deadline and the end of a lease.
const SLOWEST: u64 = 3_000;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Result<Response<Body>, BoxError>;

/// A request of a copy, and where its answer goes.
struct SentRequest {
    copy: u32,
    link: Link,
    request: Request<kube::client::Body>,
    reply: oneshot::Sender<Answer>,
}

/// The state of the connection of one copy.
#[derive(Clone, Default)]
pub(super) struct Link(Arc<AtomicU8>);

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum LinkState {
    Up,
    /// Requests fail at once.
    Refused,
    /// Requests are not answered.
    Silent,
}

/// The network, on the side of the server.
pub(super) struct Network {
    router: Router,
    oracle: Oracle,
    random: ChaCha8Rng,
    sender: mpsc::UnboundedSender<SentRequest>,
    receiver: mpsc::UnboundedReceiver<SentRequest>,
    under_way: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// The number of messages that were passed on.
    pub(super) passed: Arc<AtomicU64>,
    /// True while requests fail at random.
    pub(super) is_faulty: bool,
}

/// The fate of one request.
struct RequestFate {
    delay: Duration,
    /// True if the server fails before it does anything.
    is_refused: bool,
    /// True if the answer is lost.
    is_lost: bool,
}

// === impl Link ===

impl Link {
    pub(super) fn set(&self, state: LinkState) {
        self.0.store(state as u8, Ordering::Relaxed);
    }

    pub(super) fn state(&self) -> LinkState {
        match self.0.load(Ordering::Relaxed) {
            0 => LinkState::Up,
            1 => LinkState::Refused,
            _ => LinkState::Silent,
        }
    }
}

// === impl Network ===

impl Network {
    pub(super) fn new(server: &FakeServer, oracle: Oracle, seed: u64) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            router: server.router(),
            oracle,
            random: ChaCha8Rng::seed_from_u64(seed),
            sender,
            receiver,
            under_way: FuturesUnordered::new(),
            passed: Arc::default(),
            is_faulty: true,
        }
    }

    /// Returns a client of a copy, to be made in its runtime.
    pub(super) fn client(&self, copy: u32, link: &Link) -> impl FnOnce() -> Client + use<> {
        let (sender, link) = (self.sender.clone(), link.clone());
        move || {
            let service = tower::service_fn(move |request: Request<kube::client::Body>| {
                let (reply, answer) = oneshot::channel();
                let sent = SentRequest {
                    copy,
                    link: link.clone(),
                    request,
                    reply,
                };
                let is_sent = sender.send(sent).is_ok();
                async move {
                    assert!(is_sent, "the network outlives the copies");
                    answer.await.unwrap_or_else(|_| Err("cut off".into()))
                }
            });
            Client::new(service, "default")
        }
    }

    /// Carries on with what can be carried on with now, in the runtime of the server.
    pub(super) fn carry(&mut self) {
        while let Ok(sent) = self.receiver.try_recv() {
            self.passed.fetch_add(1, Ordering::Relaxed);
            let fate = self.fate(sent.request.method());
            let serving = serve(
                self.router.clone(),
                self.oracle.clone(),
                sent,
                fate,
                Arc::clone(&self.passed),
            );
            self.under_way.push(Box::pin(serving));
        }
        while let Some(Some(())) = self.under_way.next().now_or_never() {}
    }

    fn fate(&mut self, method: &Method) -> RequestFate {
        let random = &mut self.random;
        let mut one_of = |count: u32| random.random_range(0..count) == 0;
        let is_write = *method != Method::GET;
        let (is_slow, is_refused, is_lost) = (one_of(12), one_of(30), one_of(30));
        let slowest = match (self.is_faulty, is_slow && is_write) {
            (true, true) => SLOWEST,
            _ => 60,
        };
        RequestFate {
            delay: Duration::from_millis(random.random_range(0..slowest)),
            is_refused: self.is_faulty && is_refused,
            is_lost: self.is_faulty && is_lost,
        }
    }
}

/// Brings a request to the server, and the answer back. The copy may have given it up meanwhile.
async fn serve(
    router: Router,
    oracle: Oracle,
    sent: SentRequest,
    fate: RequestFate,
    passed: Arc<AtomicU64>,
) {
    let SentRequest {
        copy,
        link,
        request,
        mut reply,
    } = sent;
    sleep(fate.delay).await;
    // A silent connection lets the client wait, and loses what was under way: writes do not arrive that late.
    let is_cut = link.state() != LinkState::Up;
    while link.state() == LinkState::Silent && !reply.is_closed() {
        sleep(Duration::from_millis(200)).await;
    }
    let fail = |reply: oneshot::Sender<Answer>, why: &str| {
        passed.fetch_add(1, Ordering::Relaxed);
        // It may not wait any more.
        drop(reply.send(Err(why.into())));
    };
    if is_cut {
        return fail(reply, "no connection");
    }
    if fate.is_refused {
        return fail(reply, "reset");
    }
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    note_write(&oracle, copy, &parts, &body);
    let is_watch = parts
        .uri
        .query()
        .is_some_and(|query| query.contains("watch=true"));
    let request = Request::from_parts(parts, Body::from(body));
    // A write is carried out, whether or not the copy still waits; a read need not be.
    let answer = tokio::select! {
        answer = router.oneshot(request) => answer.expect("a router is infallible"),
        () = reply.closed(), if is_watch => return,
    };
    if fate.is_lost && !is_watch {
        return fail(reply, "the answer was lost");
    }
    let (parts, body) = answer.into_parts();
    passed.fetch_add(1, Ordering::Relaxed);
    if !is_watch || parts.status != StatusCode::OK {
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        let body = Body::from(body.unwrap_or_default());
        return drop(reply.send(Ok(Response::from_parts(parts, body))));
    }
    let (frames, rest) = mpsc::unbounded_channel();
    let stream = futures::stream::unfold(rest, |mut rest: mpsc::UnboundedReceiver<_>| async {
        Some((rest.recv().await?, rest))
    });
    let response = Response::from_parts(parts, Body::from_stream(stream));
    if reply.send(Ok(response)).is_ok() {
        stream_frames(body, &link, &frames, &passed).await;
    }
}

/// Brings the frames of a watch, until the connection breaks.
async fn stream_frames(
    mut body: Body,
    link: &Link,
    frames: &mpsc::UnboundedSender<Result<Bytes, BoxError>>,
    passed: &AtomicU64,
) {
    let broken = async {
        while link.state() == LinkState::Up {
            sleep(Duration::from_millis(300)).await;
        }
    };
    tokio::pin!(broken);
    loop {
        let frame = tokio::select! {
            biased;
            () = frames.closed() => return,
            () = &mut broken => {
                drop(frames.send(Err("the connection broke".into())));
                passed.fetch_add(1, Ordering::Relaxed);
                return;
            }
            frame = body.frame() => frame,
        };
        let Some(Ok(frame)) = frame else { return };
        if let Ok(bytes) = frame.into_data() {
            passed.fetch_add(1, Ordering::Relaxed);
            drop(frames.send(Ok(bytes)));
        }
    }
}

/// Tells the oracle of a write to an object, which says its uid.
fn note_write(oracle: &Oracle, copy: u32, parts: &http::request::Parts, body: &Bytes) {
    let is_patch = parts.method == Method::PATCH && parts.uri.path().contains("/configmaps/");
    if !is_patch {
        return;
    }
    let patch: Value = serde_json::from_slice(body).expect("a patch is JSON");
    let uid = patch["metadata"]["uid"]
        .as_str()
        .expect("a patch says the uid");
    oracle.write(uid, copy);
}
