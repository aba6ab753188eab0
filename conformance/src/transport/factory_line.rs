//! The way of a factory's informers to the server.

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

use super::{RequestNumbers, Route, arrived, route::Connection};
use crate::{
    interleave::{Seam, Yields},
    trace::{Ending, FactoryEvent, FactoryRequest, Observation, Recorder},
};

/// The way of all informers of a factory, as the service under their `kube::Client`.
#[derive(Clone, Debug)]
pub struct FactoryLine {
    route: Route,
    user_agent: HeaderValue,
    numbers: RequestNumbers,
    yields: Yields,
    recorder: Recorder,
}

/// The body of an answer. One that is dropped before its end was abandoned by the client.
#[derive(Debug)]
pub struct FactoryBody {
    body: axum::body::Body,
    connection: Arc<Connection>,
    open: Open,
}

/// A request that has not ended.
#[derive(Debug)]
struct Open {
    recorder: Recorder,
    request: usize,
    has_ended: bool,
}

/// Returns the path and the selectors of a request, and its kind.
fn list_of(uri: &Uri) -> (String, FactoryRequest) {
    let (mut list, mut kind) = (uri.path().to_owned(), FactoryRequest::List);
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match &*name {
            "labelSelector" | "fieldSelector" => {
                list.push(' ');
                list.push_str(&value);
            }
            "watch" => kind = FactoryRequest::Watch,
            "continue" => kind = FactoryRequest::Page,
            _ => {}
        }
    }
    (list, kind)
}

// === impl FactoryLine ===

impl FactoryLine {
    /// Creates the way of a client of this name along `route`.
    pub fn new(client: &str, route: Route, yields: Yields, recorder: Recorder) -> Self {
        Self {
            route,
            user_agent: HeaderValue::from_str(client).expect("a client's name"),
            numbers: RequestNumbers::default(),
            yields,
            recorder,
        }
    }

    /// Creates a client that goes this way.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime: kube starts its connection task here.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'static, io::Result<Response<FactoryBody>>> {
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
            open.record(FactoryEvent::Answers {
                request: open.request,
                status: response.status().as_u16(),
            });
            Ok(response.map(|body| FactoryBody {
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
            request: self.numbers.next(),
            has_ended: false,
        };
        let (list, kind) = list_of(uri);
        open.record(FactoryEvent::Asks {
            request: open.request,
            list: list.into(),
            kind,
        });
        open
    }
}

impl Service<Request<Body>> for FactoryLine {
    type Response = Response<FactoryBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.send(request)
    }
}

// === impl FactoryBody ===

impl HttpBody for FactoryBody {
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
            self.record(FactoryEvent::Ends {
                request: self.request,
                ending,
            });
        }
    }

    fn record(&self, event: FactoryEvent) {
        self.recorder.record(Observation::Factory(event));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end(Ending::Dropped);
    }
}
