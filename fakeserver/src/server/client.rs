//! Clients without sockets.

use http::{HeaderValue, Request, header};
use kube::client::Body;
use tower::ServiceExt;

use super::FakeServer;

// === impl FakeServer ===

impl FakeServer {
    /// A client of this server, without sockets, with the default namespace `default`.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.router(), "default")
    }

    /// A [client](Self::client) that says on each request that it is `name`: the manager of the fields that it writes,
    /// and what fault rules know it by.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or if `name` cannot stand in a header.
    pub fn client_named(&self, name: &str) -> kube::Client {
        let agent = HeaderValue::from_str(name).expect("a client's name is printable ASCII");
        let named = self
            .router()
            .map_request(move |mut request: Request<Body>| {
                request
                    .headers_mut()
                    .insert(header::USER_AGENT, agent.clone());
                request.map(axum::body::Body::new)
            });
        kube::Client::new(named, "default")
    }
}
