//! The connection of a function to its tap, without sockets. What is cut is never answered.

use std::{
    future::pending,
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body};
use fakeserver::faults::SeveredConnection;
use futures::{StreamExt, future::BoxFuture, stream};
use http::{HeaderValue, Request, Response, header};
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

/// The name of the subject's client, by which the server knows whose fields are whose.
const USER_AGENT: HeaderValue = HeaderValue::from_static("subject");

/// The connection of one call of a function. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Connection(Arc<State>);

#[derive(Debug)]
struct State {
    router: Router,
    /// The time that a request takes: a loop without waits does not stop the clock.
    latency: Duration,
    is_cut: CancellationToken,
    is_held: watch::Sender<bool>,
}

// === impl Connection ===

impl Connection {
    pub(super) fn new(router: Router, latency: Duration) -> Self {
        Self(Arc::new(State {
            router,
            latency,
            is_cut: CancellationToken::new(),
            is_held: watch::Sender::new(false),
        }))
    }

    pub(super) fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// Stops answering: tasks that a dead process has left behind do no harm, and an error
    /// would let those without waits try again for ever.
    pub(super) fn cut(&self) {
        self.0.is_cut.cancel();
    }

    /// Holds what goes both ways, or lets it go on.
    pub(super) fn hold(&self, is_held: bool) {
        self.0.is_held.send_replace(is_held);
    }

    async fn exchange(
        self,
        mut request: Request<kube::client::Body>,
    ) -> io::Result<Response<Body>> {
        request.headers_mut().insert(header::USER_AGENT, USER_AGENT);
        let exchange = async {
            self.passed().await;
            sleep(self.0.latency).await;
            let answer = self.0.router.clone().oneshot(request.map(Body::new));
            let Ok(response) = answer.await;
            self.passed().await;
            match response.extensions().get() {
                Some(SeveredConnection(kind)) => Err(io::Error::from(*kind)),
                None => Ok(response),
            }
        };
        let response = self.unless_cut(exchange).await?;
        Ok(response.map(|body| self.guarded(body)))
    }

    fn guarded(&self, body: Body) -> Body {
        let frames = body.into_data_stream();
        let guarded = stream::unfold((self.clone(), frames), async |(line, mut frames)| {
            let next = async {
                let next = frames.next().await;
                line.passed().await;
                next
            };
            let next = line.unless_cut(next).await?;
            Some((next, (line, frames)))
        });
        Body::from_stream(guarded)
    }

    /// Waits until nothing is held.
    async fn passed(&self) {
        let mut is_held = self.0.is_held.subscribe();
        let _ = is_held.wait_for(|is_held| !is_held).await;
    }

    async fn unless_cut<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            () = self.0.is_cut.cancelled() => {}
            done = work => return done,
        }
        pending().await
    }
}

impl Service<Request<kube::client::Body>> for Connection {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}
