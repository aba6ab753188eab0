//! A TCP listener for one informer, in front of its transport.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use fakeserver::{
    Listener,
    faults::{Connection, ListenGate},
};
use http::header;
use http_body_util::BodyExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Transport;
use crate::task::TaskSet;

/// A listener on this machine in front of a [`Transport`]. Dropping it ends it and breaks its connections.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    _serving: TaskSet,
}

// === impl Tap ===

impl Tap {
    /// Listens on a free port, which refuses connections while `gate` is closed.
    ///
    /// # Errors
    ///
    /// The system gives no port; trying again may help.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime that does I/O.
    pub fn open(transport: Transport, gate: ListenGate) -> io::Result<Self> {
        let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let listener = Listener::new(TcpListener::from_std(socket)?).with_gate(gate);
        let router = Router::new().fallback(pass).with_state(transport);
        // The tap drops it, so that connections break.
        let serving = TaskSet::of(listener.serve(router, CancellationToken::new()));
        Ok(Self {
            address,
            _serving: serving,
        })
    }

    /// Creates a client of it, as users do.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn client(&self) -> kube::Client {
        let url = self.url().parse().expect("an address makes a URL");
        let client = kube::Client::try_from(kube::Config::new(url));
        client.expect("a URL without TLS is all that a client needs")
    }

    /// Returns the URL of the listener.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Passes a request on. A connection that breaks behind the transport breaks here, too.
async fn pass(State(transport): State<Transport>, request: Request) -> Response {
    let connection = request.extensions().get::<Connection>().cloned();
    let Ok(response) = transport.exchange(request).await else {
        connection.unwrap_or_default().reset();
        return Response::default();
    };
    // A body of known length is not polled to its end, which would count as abandoned.
    let mut response = response.map(|body| Body::from_stream(body.into_data_stream()));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}
