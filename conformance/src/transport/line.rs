//! The way of a participant's client to the server.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body::{Body as HttpBody, Frame};
use kube::client::Body;
use tower::{Service, ServiceExt};

use super::{Connection, RequestNumbers, Route, arrived};
use crate::{
    interleave::{Seam, Yields},
    trace::{Ending, Observation, Recorder},
};

/// The way of a client, as the service under its `kube::Client`.
#[derive(Clone)]
pub(crate) struct ClientLine {
    route: Route,
    user_agent: HeaderValue,
    numbers: RequestNumbers,
    yields: Yields,
    recorder: Recorder,
    record: Record,
}

/// A part of an exchange that crosses a line.
pub(crate) enum ExchangePart<'a> {
    /// The request, by its address.
    Asks(&'a Uri),
    /// The headers of the answer, by its status.
    Answers(u16),
    /// The end of the request, or of its answer.
    Ends(Ending),
}

/// Returns the observation of a part of the exchange of this number.
type Record = Arc<dyn Fn(usize, ExchangePart<'_>) -> Observation + Send + Sync>;

/// The body of an answer. One that is dropped before its end was abandoned by the client.
pub(crate) struct LineBody {
    body: axum::body::Body,
    connection: Arc<Connection>,
    open: Open,
}

/// A request that has not ended.
struct Open {
    recorder: Recorder,
    record: Record,
    request: usize,
    has_ended: bool,
}

// === impl ClientLine ===

impl ClientLine {
    /// Creates the way of a client of this name along `route`. `record` makes the observations of what crosses it.
    pub(crate) fn new(
        client: &str,
        route: Route,
        yields: Yields,
        recorder: Recorder,
        record: impl Fn(usize, ExchangePart<'_>) -> Observation + Send + Sync + 'static,
    ) -> Self {
        Self {
            route,
            user_agent: HeaderValue::from_str(client).expect("a client's name"),
            numbers: RequestNumbers::default(),
            yields,
            recorder,
            record: Arc::new(record),
        }
    }

    /// Creates a client that goes this way.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime: kube starts its connection task here.
    pub(crate) fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'static, io::Result<Response<LineBody>>> {
        let user_agent = self.user_agent.clone();
        request.headers_mut().insert(header::USER_AGENT, user_agent);
        let mut open = self.open(request.uri());
        let line = self.clone();
        Box::pin(async move {
            if line.recorder.is_tripped() {
                return std::future::pending().await;
            }
            line.yields.pass(Seam::Request).await;
            let connected = line.route.connect(true);
            let (router, connection) = connected.inspect_err(|_| open.end(Ending::Broken))?;
            let answered = tokio::select! {
                biased;
                // A broken connection delivers nothing more.
                error = connection.broken() => Err(error),
                Ok(response) = router.oneshot(request) => arrived(response),
            };
            let response = answered.inspect_err(|_| open.end(Ending::Broken))?;
            line.yields.pass(Seam::Request).await;
            open.crosses(ExchangePart::Answers(response.status().as_u16()));
            Ok(response.map(|body| LineBody {
                body,
                connection,
                open,
            }))
        })
    }

    /// Records a request.
    fn open(&self, uri: &Uri) -> Open {
        let open = Open {
            recorder: self.recorder.clone(),
            record: self.record.clone(),
            request: self.numbers.next(),
            has_ended: false,
        };
        open.crosses(ExchangePart::Asks(uri));
        open
    }
}

impl Service<Request<Body>> for ClientLine {
    type Response = Response<LineBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.send(request)
    }
}

// === impl LineBody ===

impl HttpBody for LineBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(error) = self.connection.poll_broken(cx) {
            self.open.end(Ending::Broken);
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.open.end(Ending::Broken),
            None => self.open.end(Ending::Clean),
        }
        Poll::Ready(frame)
    }
}

// === impl Open ===

impl Open {
    fn end(&mut self, ending: Ending) {
        if !self.has_ended {
            self.has_ended = true;
            self.crosses(ExchangePart::Ends(ending));
        }
    }

    fn crosses(&self, crossing: ExchangePart<'_>) {
        self.recorder.record((self.record)(self.request, crossing));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end(Ending::Dropped);
    }
}
