//! A listener for one informer: what it asks over TCP takes its way, and is recorded on it.

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
    faults::{Connection, Door},
};
use http::header;
use http_body_util::BodyExt;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::Transport;

/// A listener on this machine, behind which a [`Transport`] is. Dropping it ends it and breaks its connections.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

// === impl Tap ===

impl Tap {
    /// A listener on a free port, where nobody listens while `door` is closed.
    ///
    /// # Errors
    ///
    /// The system gives no port; trying again may help.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime that does I/O.
    pub fn open(transport: Transport, door: Door) -> io::Result<Self> {
        let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let listener = Listener::new(TcpListener::from_std(socket)?).with_door(door);
        let router = Router::new().fallback(pass).with_state(transport);
        let mut tasks = JoinSet::new();
        // It ends with its owner, and not in good order.
        tasks.spawn(listener.serve(router, CancellationToken::new()));
        Ok(Self {
            address,
            _tasks: tasks,
        })
    }

    /// A client of it, as its users make one.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn client(&self) -> kube::Client {
        let url = self.url().parse().expect("an address makes a URL");
        let client = kube::Client::try_from(kube::Config::new(url));
        client.expect("a URL without TLS is all that a client needs")
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The answer of what is behind; a connection that breaks there breaks here, too.
async fn pass(State(transport): State<Transport>, request: Request) -> Response {
    let connection = request.extensions().get::<Connection>().cloned();
    let Ok(response) = transport.exchange(request).await else {
        connection.unwrap_or_default().reset();
        return Response::default();
    };
    // A body whose length is known is not asked for its end, and that would be taken for one that was given up.
    let mut response = response.map(|body| Body::from_stream(body.into_data_stream()));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}
