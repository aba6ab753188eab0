//! A service over TCP, in the clear or by TLS, with the faults that only connections have.

use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Extension, Router, middleware};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_rustls::server::TlsStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, error, warn};

use super::{
    activity::{self, Activity},
    breaking,
    certificates::Certificates,
    socket::Socket,
    unread,
};
use crate::{
    faults::{Connection, Door},
    task::TaskSet,
};

/// How long connections have to finish their requests.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How long a client has to agree on keys.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// How long a client may take to say what it asks for, and to ask again. HTTP/1.1 counts from the last answer.
const HEADER_LIMIT: Duration = Duration::from_secs(32);
/// How long a connection is kept on which nothing is asked.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// How large the headers of a request may be.
const HEADERS_MAX_BYTES: u32 = 1 << 20;
/// How many requests one HTTP/2 connection may carry at a time.
const STREAMS_MAX: u32 = 100;
/// What a client hears who does not speak TLS.
const PLAIN_HTTP: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// How long the listener rests when the system has no sockets left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections wait to be accepted.
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
    certificates: Option<Certificates>,
    door: Door,
    connections_max: usize,
}

/// Runs the tasks that a connection needs as tasks of its listener.
#[derive(Clone)]
struct Executor(Arc<TaskSet>);

/// What each connection is served with.
#[derive(Clone)]
struct Connections {
    builder: auto::Builder<Executor>,
    router: Router,
    certificates: Option<Certificates>,
    /// Fires when connections are to finish what they have begun.
    ending: CancellationToken,
}

// === impl Listener ===

impl Listener {
    /// Accepts what comes to `socket`.
    pub fn new(socket: TcpListener) -> Self {
        Self {
            socket,
            certificates: None,
            door: Door::default(),
            connections_max: Semaphore::MAX_PERMITS,
        }
    }

    /// Speaks TLS. A client that shows a certificate of this authority is the user whom it names.
    pub fn with_certificates(mut self, certificates: &Certificates) -> Self {
        self.certificates = Some(certificates.clone());
        self
    }

    /// Refuses connections while `door` is closed.
    pub fn with_door(mut self, door: Door) -> Self {
        self.door = door;
        self
    }

    /// How many connections there may be at a time. By default there is no limit.
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

    /// Serves `router` until `stop` is over, and does `on_stop` before connections are told to end.
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
            certificates: self.certificates,
            ending: CancellationToken::new(),
        };
        let places = Arc::new(Semaphore::new(self.connections_max));
        let tracker = TaskTracker::new();
        let accepting = accept_all(self.socket, &self.door, &places, |stream, place| {
            let connection = connections.clone().serve(stream, place);
            hyper::rt::Executor::execute(&executor, tracker.track_future(connection));
        });
        tokio::select! {
            biased;
            () = stop => {}
            () = accepting => {}
        }
        on_stop();
        connections.ending.cancel();
        tracker.close();
        if time::timeout(DRAIN_LIMIT, tracker.wait()).await.is_err() {
            warn!("connections closed with requests under way");
        }
        executor.0.shutdown().await;
    }
}

/// Hands each connection to `serve`, in a place of its own. While the door is closed, nobody listens.
async fn accept_all(
    mut listener: TcpListener,
    door: &Door,
    places: &Arc<Semaphore>,
    serve: impl Fn(TcpStream, OwnedSemaphorePermit),
) {
    loop {
        let place = Arc::clone(places).acquire_owned();
        let accepted = tokio::select! {
            biased;
            () = door.closed() => None,
            accepted = async { (place.await, listener.accept().await) } => Some(accepted),
        };
        match accepted {
            None => match reopened(listener, door).await {
                Ok(opened) => listener = opened,
                Err(error) => return error!(%error, "the listener cannot be opened again"),
            },
            Some((Ok(place), Ok((stream, _)))) => serve(stream, place),
            Some((Ok(_), Err(error))) => {
                warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_PAUSE).await;
            }
            Some((Err(_), _)) => return,
        }
    }
}

/// Closes the listener until the door is open. Its address stays its own: nobody else is given it meanwhile.
async fn reopened(listener: TcpListener, door: &Door) -> io::Result<TcpListener> {
    let address = listener.local_addr()?;
    drop(listener);
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    door.opened().await;
    socket.listen(BACKLOG)
}

// === impl Executor ===

impl Executor {
    /// How connections are spoken on.
    fn builder(&self) -> auto::Builder<Self> {
        let mut builder = auto::Builder::new(self.clone());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_LIMIT)
            .max_buf_size(HEADERS_MAX_BYTES as usize);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEADERS_MAX_BYTES);
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
    /// Serves one connection to its end, and keeps its place so long.
    async fn serve(self, stream: TcpStream, _place: OwnedSemaphorePermit) {
        prepare(&stream);
        let connection = Connection::over_tcp();
        let Some(certificates) = &self.certificates else {
            let socket = Socket::new(stream, connection.clone());
            return self.converse(socket, self.router.clone(), connection).await;
        };
        let handshake = handshake(certificates, stream, connection.clone());
        let handshake = time::timeout(HANDSHAKE_LIMIT, handshake);
        let stream = match self.ending.run_until_cancelled(handshake).await {
            Some(Ok(Ok(Some(stream)))) => stream,
            Some(Ok(Err(error))) => return debug!(%error, "TLS handshake failed"),
            Some(Err(_)) => return debug!("TLS handshake took too long"),
            Some(Ok(Ok(None))) | None => return,
        };
        let (_, session) = stream.get_ref();
        let router = match certificates.peer(session.peer_certificates()) {
            Some(peer) => self.router.clone().layer(Extension(peer)),
            None => self.router.clone(),
        };
        self.converse(stream, router, connection).await;
    }

    /// Answers the requests of a connection.
    async fn converse<S>(&self, stream: S, router: Router, connection: Connection)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let activity = Activity::default();
        let router = router
            .layer(middleware::from_fn(unread::drain))
            .layer(middleware::from_fn_with_state(
                activity.clone(),
                activity::note,
            ))
            .layer(middleware::from_fn_with_state(
                connection.clone(),
                breaking::carry_out,
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
                () = &mut idle => return debug!("idle connection closed"),
            }
        }
    }
}

/// Agrees on keys with the client. One that does not speak TLS is told so, where a silent end would puzzle him.
async fn handshake(
    certificates: &Certificates,
    mut stream: TcpStream,
    connection: Connection,
) -> io::Result<Option<TlsStream<Socket>>> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    // Methods of HTTP begin with a capital letter, records of TLS with a small number.
    if first[0].is_ascii_uppercase() {
        // What is left unread when a connection is closed takes the answer with it.
        let size_bytes = stream.read(&mut [0; 4_096]).await?;
        debug!(size_bytes, "plain HTTP where TLS is spoken");
        stream.write_all(PLAIN_HTTP).await?;
        return Ok(None);
    }
    let socket = Socket::new(stream, connection);
    certificates.acceptor().accept(socket).await.map(Some)
}

/// Small frames go out at once. A socket that cannot do that still works.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "socket without nodelay");
    }
}
