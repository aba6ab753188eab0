//! The API over TCP, in the clear or by TLS.

use std::{future::Future, io, sync::Arc, time::Duration};

use axum::{Extension, Router, middleware};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time,
};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    activity::{self, Activity},
    certificates::Certificates,
    router, unread,
};
use crate::{state::Server, task::TaskSet};

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

/// Runs the tasks that a connection needs as tasks of its server.
#[derive(Clone)]
struct Executor(Arc<TaskSet>);

/// What each connection is served with.
#[derive(Clone)]
struct Connections {
    builder: auto::Builder<Executor>,
    router: Router,
    certificates: Option<Certificates>,
    /// Fires when no more handshakes are waited for.
    ending: CancellationToken,
}

// === impl Executor ===

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
    /// Serves one connection to its end. It is finished when `watcher` says so.
    async fn serve(self, stream: TcpStream, watcher: Watcher) {
        prepare(&stream);
        let Some(certificates) = &self.certificates else {
            return converse(&self.builder, stream, self.router, watcher).await;
        };
        let handshake = time::timeout(HANDSHAKE_LIMIT, handshake(certificates, stream));
        let stream = match self.ending.run_until_cancelled(handshake).await {
            Some(Ok(Ok(Some(stream)))) => stream,
            Some(Ok(Err(error))) => return debug!(%error, "TLS handshake failed"),
            Some(Err(_)) => return debug!("TLS handshake took too long"),
            Some(Ok(Ok(None))) | None => return,
        };
        let (_, session) = stream.get_ref();
        let router = match certificates.peer(session.peer_certificates()) {
            Some(peer) => self.router.layer(Extension(peer)),
            None => self.router,
        };
        converse(&self.builder, stream, router, watcher).await;
    }
}

/// Agrees on keys with the client. One that does not speak TLS is told so, where a silent end would puzzle him.
async fn handshake(
    certificates: &Certificates,
    mut stream: TcpStream,
) -> io::Result<Option<TlsStream<TcpStream>>> {
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
    certificates.acceptor().accept(stream).await.map(Some)
}

/// Answers the requests of a connection.
async fn converse<S>(builder: &auto::Builder<Executor>, stream: S, router: Router, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Activity::default();
    let noting = middleware::from_fn_with_state(activity.clone(), activity::note);
    let draining = middleware::from_fn(unread::drain);
    let service = TowerToHyperService::new(router.layer(draining).layer(noting));
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    tokio::select! {
        biased;
        ended = watcher.watch(connection) => if let Err(error) = ended {
            debug!(error, "connection ended");
        },
        () = activity.idle_for(IDLE_LIMIT) => debug!("idle connection closed"),
    }
}

/// Accepts connections until `stop` fires or the server is shut down, and then lets them finish.
pub(super) async fn serve(
    server: Arc<Server>,
    listener: TcpListener,
    certificates: Option<Certificates>,
    stop: CancellationToken,
) {
    let executor = Executor(Arc::new(TaskSet::new()));
    let mut builder = auto::Builder::new(executor.clone());
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
    let connections = Connections {
        builder,
        router: router::router(Arc::clone(&server)),
        certificates,
        ending: CancellationToken::new(),
    };
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = server.tasks.stop_token().cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = connections.clone().serve(stream, graceful.watcher());
                hyper::rt::Executor::execute(&executor, connection);
            }
            Err(error) => {
                warn!(%error, "connection not accepted");
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.ending.cancel();
    // A watch would keep its connection for an hour.
    server.core.watchers.disconnect();
    if time::timeout(DRAIN_LIMIT, graceful.shutdown())
        .await
        .is_err()
    {
        warn!("connections closed with requests under way");
    }
    executor.0.shutdown().await;
}

/// Small frames go out at once. A socket that cannot do that still works.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "socket without nodelay");
    }
}
