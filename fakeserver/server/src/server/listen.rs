//! A service over TCP, with or without TLS, and the faults that only connections have.

use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Extension, Router, middleware};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

#[cfg(feature = "tls")]
use super::certificates::Certificates;
use super::{
    activity::{self, Activity},
    audit::RemoteAddress,
    body_drain, connection_break,
    http1::{self, HEAD_MAX_BYTES, Heads, RequestStream},
    origins::PlainTcp,
    socket::Socket,
};
use crate::{
    faults::{Connection, ListenGate},
    task::TaskSet,
};

/// The time that connections have to finish their requests.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// The time limit for the headers of a request. HTTP/1.1 counts from the last answer.
const HEADER_LIMIT: Duration = Duration::from_secs(32);
/// The time for which a connection without requests is kept.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// The number of concurrent requests on one HTTP/2 connection.
const STREAMS_MAX: u32 = 100;
/// The pause of the listener when the system has no sockets left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The number of connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Serves a service over TCP: HTTP/1.1, and HTTP/2 by prior knowledge or by TLS.
///
/// Each request has its [`Connection`] among its extensions. Where the body of an answer fails by a
/// [`Breakage`](crate::faults::Breakage), the connection breaks as a real one does.
///
/// # Memory
///
/// Headers of a request may have 1 MiB. As many connections are served as are allowed; further ones wait in the system.
#[derive(Debug)]
#[must_use = "a listener accepts nothing until it serves"]
pub struct Listener {
    socket: TcpListener,
    #[cfg(feature = "tls")]
    certificates: Option<Certificates>,
    gate: ListenGate,
    connections_max: usize,
}

/// Runs the tasks that a connection needs as tasks of its listener.
#[derive(Clone)]
struct Executor(Arc<TaskSet>);

/// The service and the limits of each connection.
#[derive(Clone)]
pub(super) struct Connections {
    builder: auto::Builder<Executor>,
    pub(super) router: Router,
    #[cfg(feature = "tls")]
    certificates: Option<Certificates>,
    /// Fires when connections are to finish what they have begun.
    pub(super) ending: CancellationToken,
}

// === impl Listener ===

impl Listener {
    /// Creates a listener that accepts the connections of `socket`.
    pub fn new(socket: TcpListener) -> Self {
        Self {
            socket,
            #[cfg(feature = "tls")]
            certificates: None,
            gate: ListenGate::default(),
            connections_max: Semaphore::MAX_PERMITS,
        }
    }

    /// Serves TLS. A client with a certificate of this authority is authenticated as the user that the certificate
    /// names.
    #[cfg(feature = "tls")]
    pub fn with_certificates(mut self, certificates: &Certificates) -> Self {
        self.certificates = Some(certificates.clone());
        self
    }

    /// Refuses connections while `gate` is closed.
    pub fn with_gate(mut self, gate: ListenGate) -> Self {
        self.gate = gate;
        self
    }

    /// Limits the number of connections. By default there is no limit.
    pub fn with_connections_max(mut self, count: usize) -> Self {
        self.connections_max = count.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Serves `router` until `stop` fires. Then connections get a few seconds to finish their requests; what answers without
    /// end has to end by itself, or is cut off.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, its connections are dropped with it.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        self.serve_until(router, stop.cancelled(), || {}).await;
    }

    /// Serves `router` until `stop` completes, and calls `on_stop` before it closes connections.
    pub(super) async fn serve_until(
        self,
        router: Router,
        stop: impl Future<Output = ()>,
        on_stop: impl FnOnce(),
    ) {
        let executor = Executor(Arc::new(TaskSet::new()));
        let connections = Connections {
            builder: executor.builder(),
            router,
            #[cfg(feature = "tls")]
            certificates: self.certificates,
            ending: CancellationToken::new(),
        };
        let places = Arc::new(Semaphore::new(self.connections_max));
        // Two sets: connections are waited for first, and only then the tasks of HTTP/2 streams that they have spawned.
        let accepted = Executor(Arc::new(TaskSet::new()));
        let accepting = accept_all(self.socket, &self.gate, &places, |stream, place| {
            let connection = connections.clone().serve(stream, place);
            hyper::rt::Executor::execute(&accepted, connection);
        });
        tokio::select! {
            biased;
            () = stop => {}
            () = accepting => {}
        }
        // After accepting has ended, so that no new watch begins, and before the drain: open watches would keep their
        // connections until the limit.
        on_stop();
        // Idle connections close, HTTP/2 sends GOAWAY, and requests in flight are completed.
        connections.ending.cancel();
        if time::timeout(DRAIN_LIMIT, accepted.0.wait()).await.is_err() {
            warn!("connections closed with requests in flight");
        }
        // The rest is cut off: a client that does not read must not keep the server from ending.
        accepted.0.shutdown().await;
        executor.0.shutdown().await;
    }
}

/// Hands each connection to `serve`, in a place of its own. While the gate is closed, connections are refused.
async fn accept_all(
    mut listener: TcpListener,
    gate: &ListenGate,
    places: &Arc<Semaphore>,
    serve: impl Fn(TcpStream, OwnedSemaphorePermit),
) {
    loop {
        // Before `accept`: a connection beyond the limit waits in the backlog of the system, unaccepted, and no socket
        // is held for it.
        let place = Arc::clone(places).acquire_owned();
        let accepted = tokio::select! {
            biased;
            // Biased: once a fault has closed the gate, no connection that arrived before is accepted any more.
            () = gate.closed() => None,
            accepted = async { (place.await, listener.accept().await) } => Some(accepted),
        };
        match accepted {
            None => match reopened(listener, gate).await {
                Ok(opened) => listener = opened,
                Err(error) => return error!(%error, "the listener cannot be reopened"),
            },
            Some((Ok(place), Ok((stream, _)))) => serve(stream, place),
            Some((Ok(_), Err(error))) => {
                // The process has no file descriptors left, or the client has gone: a pause, or the loop would spin.
                warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_PAUSE).await;
            }
            Some((Err(_), _)) => return,
        }
    }
}

/// Closes the listener until the gate is open. It stays bound to its address meanwhile.
async fn reopened(listener: TcpListener, gate: &ListenGate) -> io::Result<TcpListener> {
    let address = listener.local_addr()?;
    // Closed, so that the system refuses connections; a listener that only does not accept would let them wait.
    drop(listener);
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    // Bound at once, but not listening: the address stays ours, and still refuses connections.
    socket.bind(address)?;
    gate.opened().await;
    socket.listen(BACKLOG)
}

// === impl Executor ===

impl Executor {
    /// Returns the HTTP settings of connections.
    fn builder(&self) -> auto::Builder<Self> {
        let mut builder = auto::Builder::new(self.clone());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_LIMIT)
            .max_buf_size(HEAD_MAX_BYTES as usize);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_MAX_BYTES);
        builder
    }
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        let stop = self.0.stop_token().clone();
        self.0
            .spawn(async move { stop.run_until_cancelled_owned(task).await.unwrap_or(()) });
    }
}

// === impl Connections ===

impl Connections {
    /// Serves a connection to its end. It counts towards the connection limit until then.
    async fn serve(mut self, stream: TcpStream, _place: OwnedSemaphorePermit) {
        prepare(&stream);
        let connection = Connection::over_tcp();
        if let Ok(address) = stream.peer_addr() {
            let remote = RemoteAddress(address.ip());
            self.router = self.router.layer(Extension(remote));
        }
        #[cfg(feature = "tls")]
        if let Some(certificates) = &self.certificates {
            return self.secure(certificates, stream, connection).await;
        }
        self.router = self.router.layer(Extension(PlainTcp));
        let socket = Socket::new(stream, connection.clone());
        self.serve_connection(socket, self.router.clone(), connection)
            .await;
    }

    /// Answers the requests of a connection.
    pub(super) async fn serve_connection<S>(
        &self,
        stream: S,
        router: Router,
        connection: Connection,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let activity = Activity::default();
        let heads = Heads::default();
        let stream = RequestStream::new(stream, heads.clone(), activity.clone());
        let router = router
            .layer(middleware::from_fn_with_state(
                (heads, activity.clone()),
                http1::check,
            ))
            // Around the checks: the rest of the request is drained before the response begins, and its connection counts as
            // active meanwhile.
            .layer(middleware::from_fn(body_drain::drain))
            .layer(middleware::from_fn_with_state(
                activity.clone(),
                activity::note,
            ))
            .layer(middleware::from_fn_with_state(
                connection.clone(),
                connection_break::break_on_fault,
            ));
        let served = self
            .builder
            .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(router));
        let mut served = pin!(served);
        let mut idle = pin!(activity.idle_for(IDLE_LIMIT));
        let leaving = async {
            tokio::select! {
                biased;
                () = self.ending.cancelled() => {}
                () = connection.leaving() => {}
            }
        };
        let mut leaving = pin!(leaving);
        let mut is_leaving = false;
        loop {
            tokio::select! {
                biased;
                // First: a broken connection must not write what the other branches would still send.
                () = connection.broken() => return debug!("connection reset by a fault"),
                () = &mut leaving, if !is_leaving => {
                    is_leaving = true;
                    served.as_mut().graceful_shutdown();
                }
                ended = served.as_mut() => {
                    if let Err(error) = ended {
                        debug!(error, "connection ended");
                    }
                    return;
                }
                // Last: a request that arrives with the timeout is still served.
                () = &mut idle => return debug!("idle connection closed"),
            }
        }
    }
}

/// Small frames go out at once. A socket that cannot do that still works.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "socket without nodelay");
    }
}
