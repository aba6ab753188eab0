//! The way between an informer's client and the server: counts requests, and records everything that crosses it.
//!
//! It changes nothing but the sizes of chunks and the timeouts of watches, with one exception: if requests come without end at one moment of
//! simulated time, it stops answering, so that the run can end and report it.

mod wire_form;
mod observe;
mod tap;
mod route;
mod body;
mod line;

use std::{
    io,
    num::{NonZero, NonZeroU32},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use fakeserver::faults::SeveredConnection;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, header};
use http_body::Body as HttpBody;
use kube::client::Body;
use tower::{Service, ServiceExt};

use self::observe::Exchange;
pub use self::{
    body::ObservedBody,
    route::{Leader, Route},
    tap::Tap,
};
pub(crate) use self::{
    line::{ClientLine, ExchangePart},
    route::Connection,
};
use crate::{
    interleave::{Seam, Yields},
    trace::{Recorder, RequestKind},
};

/// The maximal number of requests of an informer within one second of simulated time, pages of lists included.
const REQUESTS_A_SECOND_MAX: u32 = 200;

/// Numbers the requests of a run.
#[derive(Clone, Debug, Default)]
pub struct RequestNumbers(Arc<AtomicUsize>);

/// One informer's way to the server, as the service under a `kube::Client`.
#[derive(Clone, Debug)]
pub struct Transport {
    route: Route,
    line: Arc<Line>,
}

/// The state that all requests of one informer share.
#[derive(Debug)]
struct Line {
    informer: usize,
    user_agent: HeaderValue,
    numbers: RequestNumbers,
    recorder: Recorder,
    yields: Yields,
    /// The limit of chunks of bodies in bytes, if there is one.
    chunk_max: Option<NonZero<usize>>,
    /// The divisor of the timeouts of watches.
    watch_speed: NonZeroU32,
    /// True if the client may ask for protobuf.
    has_protobuf: bool,
    /// True if the last list that began was at exactly a version: no mirror asks so, but an informer that compares its cache.
    compares: AtomicBool,
    meter: Mutex<Meter>,
}

/// Counts requests by the second.
#[derive(Debug, Default)]
struct Meter {
    second: u64,
    request_count: u32,
}

// === impl Transport ===

impl Transport {
    /// Creates the way of an informer along `route`, with this user agent.
    pub fn new(
        route: Route,
        informer: usize,
        user_agent: &str,
        numbers: RequestNumbers,
        recorder: Recorder,
    ) -> Self {
        Self {
            route,
            line: Arc::new(Line {
                informer,
                user_agent: HeaderValue::from_str(user_agent).expect("an informer's name"),
                numbers,
                recorder,
                yields: Yields::default(),
                chunk_max: None,
                watch_speed: NonZeroU32::MIN,
                has_protobuf: false,
                compares: AtomicBool::new(false),
                meter: Mutex::default(),
            }),
        }
    }

    setters! {
        /// Yields wherever something crosses.
        with_yields(yields: Yields) |this| this.line_mut().yields = yields;
        /// Cuts bodies into chunks of at most this number of bytes.
        with_chunk_max(bytes: Option<NonZero<usize>>) |this| this.line_mut().chunk_max = bytes;
        /// Divides the timeouts of watches by this number. A server may end a watch at any time.
        with_watch_speed(factor: NonZeroU32) |this| this.line_mut().watch_speed = factor;
        /// Lets the client ask for protobuf, which is struck from its requests otherwise.
        with_protobuf(has_protobuf: bool) |this| this.line_mut().has_protobuf = has_protobuf;
    }

    fn line_mut(&mut self) -> &mut Line {
        Arc::get_mut(&mut self.line).expect("it is being made, and has no other handle")
    }

    /// Creates a client that goes this way.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime: kube starts its connection task here.
    pub fn into_client(self) -> kube::Client {
        kube::Client::new(self, "default")
    }

    /// Sends a request on. It counts from this call on, whenever the answer is polled.
    fn exchange<B>(
        &self,
        mut request: Request<B>,
    ) -> BoxFuture<'static, io::Result<Response<ObservedBody>>>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let line = Arc::clone(&self.line);
        let headers = request.headers_mut();
        headers.insert(header::USER_AGENT, line.user_agent.clone());
        if !line.has_protobuf {
            observe::refuse_protobuf(headers);
        }
        let mut exchange = Exchange::begin(&line, request.method(), request.uri());
        if let Some(sooner) = observe::with_sooner_end(request.uri(), line.watch_speed) {
            *request.uri_mut() = sooner;
        }
        let route = self.route.clone();
        Box::pin(async move {
            if line.is_too_much() || line.recorder.is_tripped() {
                return std::future::pending().await;
            }
            line.yields.pass(Seam::Request).await;
            let connected = route.connect(exchange.wants_latest());
            let (router, connection) = connected.inspect_err(|error| exchange.failed(error))?;
            let answered = tokio::select! {
                biased;
                // A broken connection delivers nothing more.
                error = connection.broken() => Err(error),
                Ok(response) = router.oneshot(request) => arrived(response),
            };
            let response = answered.inspect_err(|error| exchange.failed(error))?;
            line.yields.pass(Seam::Request).await;
            exchange.answered(response.status(), response.headers());
            let (yields, chunk_max) = (line.yields.clone(), line.chunk_max);
            Ok(response.map(|body| {
                ObservedBody::new(body, exchange, connection, yields).with_chunk_max(chunk_max)
            }))
        })
    }
}

impl Service<Request<Body>> for Transport {
    type Response = Response<ObservedBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.exchange(request)
    }
}

/// Returns the answer, unless a fault severs the transport.
pub(crate) fn arrived<B>(response: Response<B>) -> io::Result<Response<B>> {
    match response.extensions().get() {
        Some(SeveredConnection(kind)) => Err(io::Error::from(*kind)),
        None => Ok(response),
    }
}

// === impl Line ===

impl Line {
    /// Returns true for a page of a list at exactly a version.
    fn is_comparison(&self, kind: &RequestKind, query: &str) -> bool {
        match kind {
            RequestKind::Watch { .. } => false,
            RequestKind::List {
                is_continued: true, ..
            } => self.compares.load(Ordering::Relaxed),
            RequestKind::List { .. } => {
                let compares = observe::is_at_version(query);
                self.compares.store(compares, Ordering::Relaxed);
                compares
            }
        }
    }

    /// Counts a request, and reports the limit.
    fn is_too_much(&self) -> bool {
        let second = self.recorder.elapsed().as_secs();
        let mut meter = self.meter.lock().expect("no holder panics");
        if meter.second != second {
            *meter = Meter {
                second,
                request_count: 0,
            };
        }
        meter.request_count += 1;
        let is_too_much = meter.request_count > REQUESTS_A_SECOND_MAX;
        drop(meter);
        if is_too_much {
            let informer = self.informer;
            let limit = Duration::from_secs(1);
            self.recorder.trip(format!(
                "informer {informer} sent more than {REQUESTS_A_SECOND_MAX} requests within {limit:?}"
            ));
        }
        is_too_much
    }
}

// === impl RequestNumbers ===

impl RequestNumbers {
    pub(crate) fn next(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
