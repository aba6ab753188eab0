//! Faults of connections, as a client reads them from its socket.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    time::Duration,
};

use axum::{Extension, Router, body::Body, routing::get};
use bytes::Bytes;
use fakeserver::{
    Certificates, FakeServer, Listener,
    faults::{Connection, Fault, FaultSpec, Filter, ListenGate, SlowHeaders},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, client::conn::http2::SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, yield_now},
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::CONFIG_MAPS;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
const WATCH: &str = "/api/v1/namespaces?watch=1";
/// The versions after 4 are those of a cluster that has just begun.
const ONE_EVENT: &str = "/api/v1/namespaces?watch=1&resourceVersion=4";

/// A service that is served until the test ends.
struct TestServer {
    address: SocketAddr,
    _stop: DropGuard,
}

/// A connection of HTTP/2.
struct Http2 {
    sender: SendRequest<Empty<Bytes>>,
    connection: JoinHandle<hyper::Result<()>>,
}

#[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
fn spawn<F>(task: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(task)
}

async fn within<T>(task: impl Future<Output = T>) -> T {
    timeout(PATIENCE, task)
        .await
        .expect("it does not take long")
}

// === impl TestServer ===

impl TestServer {
    async fn by<F>(serve: impl FnOnce(TcpListener, CancellationToken) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        spawn(serve(listener, stop.clone()));
        Self {
            address,
            _stop: stop.drop_guard(),
        }
    }

    async fn of(server: &FakeServer) -> Self {
        Self::by(|listener, stop| server.serve(listener, stop)).await
    }

    /// A service that does something to the connection, and answers with a part, and in the end with another.
    async fn doing(act: fn(&Connection), end: CancellationToken) -> Self {
        let answer = move |Extension(connection): Extension<Connection>| {
            act(&connection);
            let end = end.clone();
            let rest = async move {
                end.cancelled().await;
                Ok("rest\n")
            };
            let first = stream::iter([Ok::<_, io::Error>("first\n")]);
            async { Body::from_stream(first.chain(stream::once(rest))) }
        };
        let router = Router::new().route("/", get(answer));
        Self::by(|listener, stop| Listener::new(listener).serve(router, stop)).await
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        within(TcpStream::connect(self.address)).await
    }

    /// A connection on which `path` was asked for by HTTP/1.1.
    async fn request(&self, path: &str) -> TcpStream {
        let mut stream = self.connect().await.unwrap();
        ask(&mut stream, path).await;
        stream
    }

    async fn http2(&self) -> Http2 {
        let stream = TokioIo::new(self.connect().await.unwrap());
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (sender, connection) = within(handshake).await.unwrap();
        Http2 {
            sender,
            connection: spawn(connection),
        }
    }
}

async fn ask(stream: &mut (impl AsyncWrite + Unpin), path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// All that comes, and how it ends.
async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> (String, Result<(), ErrorKind>) {
    let mut bytes = Vec::new();
    let end = within(stream.read_to_end(&mut bytes)).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (text, end.map(drop).map_err(|error| error.kind()))
}

/// Reads up to `end`.
async fn read_until(stream: &mut (impl AsyncRead + Unpin), end: &str) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains(end) {
            return text;
        }
        let read = within(stream.read_buf(&mut bytes)).await.unwrap();
        assert_ne!(read, 0, "{text}");
    }
}

// === impl Http2 ===

impl Http2 {
    fn get(&mut self, path: &str) -> BoxFuture<'static, hyper::Result<Response<Incoming>>> {
        let request = Request::get(format!("http://x{path}"));
        let answer = self
            .sender
            .send_request(request.body(Empty::new()).unwrap());
        within(answer).boxed()
    }
}

/// The parts of a body, and how it ends.
async fn parts(body: &mut Incoming) -> (Vec<u8>, Result<(), String>) {
    let mut bytes = Vec::new();
    while let Some(frame) = within(body.frame()).await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().unwrap()),
            Err(error) => return (bytes, Err(format!("{error:?}"))),
        }
    }
    (bytes, Ok(()))
}

#[tokio::test]
async fn a_reset_in_the_middle_of_a_line_is_rst_after_half_of_it() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let mut whole = on_tcp.request(ONE_EVENT).await;
    let first = read_until(&mut whole, "}\n\r\n").await;
    let line = first.lines().find(|line| line.starts_with('{')).unwrap();

    let rule = Fault::ResetMidLine.rule().times(1);
    let _guard = server.faults().install(rule);
    let mut broken = on_tcp.request(ONE_EVENT).await;
    let (text, end) = read_all(&mut broken).await;
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    let (_, body) = text.split_once("\r\n\r\n").expect("the headers have come");
    // The length of the chunk, the half of a line, and the end of the chunk.
    let half = body.lines().nth(1).unwrap();
    assert_eq!(half, &line[..half.len()]);
    assert_eq!(half.len(), line.len().div_ceil(2));
    // The other connection continues.
    server
        .apply(&serde_json::json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"},
        }))
        .unwrap();
    assert!(
        read_until(&mut whole, "}\n\r\n")
            .await
            .contains("\"ADDED\"")
    );
}

#[tokio::test]
async fn a_watch_that_ends_cleanly_is_not_reset() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let rule = Fault::CleanEnd.rule().nth(2).times(1);
    let _guard = server.faults().install(rule);
    let mut stream = on_tcp.request(WATCH).await;
    let text = read_until(&mut stream, "0\r\n\r\n").await;
    assert_eq!(text.matches("{\"type\":\"ADDED\"").count(), 1, "{text}");
    // The connection serves the next request.
    ask(&mut stream, "/version").await;
    let answer = read_until(&mut stream, "}").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[tokio::test]
async fn a_reset_over_tls_is_rst_without_a_goodbye() {
    let server = FakeServer::builder().build();
    let certificates = Certificates::new(["localhost"]).unwrap();
    let on_tcp =
        TestServer::by(|listener, stop| server.serve_tls(listener, &certificates, stop)).await;
    let _guard = server.faults().install(Fault::ResetMidLine.rule());
    let stream = on_tcp.connect().await.unwrap();
    let config = crate::tls::trusting(&certificates, None);
    let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
    let name = "localhost".try_into().unwrap();
    let mut stream = within(connector.connect(name, stream)).await.unwrap();
    ask(&mut stream, WATCH).await;
    let (text, end) = read_all(&mut stream).await;
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert!(text.contains("{\"type\":\"ADDED\""), "{text}");
    assert!(!text.contains("}\n"), "{text}");
}

#[tokio::test]
async fn a_reset_in_http_2_ends_one_stream_and_leaves_the_connection() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let rule = Fault::ResetMidLine.rule().times(1);
    let _guard = server.faults().install(rule);
    let mut http2 = on_tcp.http2().await;
    let mut broken = http2.get(WATCH).await.unwrap().into_body();
    let (bytes, end) = parts(&mut broken).await;
    assert!(bytes.starts_with(b"{\"type\":\"ADDED\""));
    assert!(!bytes.ends_with(b"\n"));
    let error = end.expect_err("the stream is reset");
    assert!(
        error.contains("Reset(StreamId(1), INTERNAL_ERROR, Remote)"),
        "{error}"
    );
    // The same connection serves another watch.
    let mut next = http2.get(WATCH).await.unwrap().into_body();
    let frame = within(next.frame()).await.unwrap().unwrap();
    assert!(frame.data_ref().unwrap().ends_with(b"}\n"));
}

#[tokio::test]
async fn a_silent_watch_makes_its_connection_half_open() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let rule = Fault::Silence.rule().nth(2).times(1);
    let _guard = server.faults().install(rule);
    let mut http2 = on_tcp.http2().await;
    let mut silent = http2.get(WATCH).await.unwrap().into_body();
    let first = within(silent.frame()).await.unwrap().unwrap();
    assert!(first.data_ref().unwrap().ends_with(b"}\n"));
    while server.faults().fired().is_empty() {
        yield_now().await;
    }
    // Nothing that is asked on it is answered any more; elsewhere it is.
    let mut unheard = http2.get("/version");
    let mut other = on_tcp.request("/version").await;
    assert!(
        read_until(&mut other, "}")
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!((&mut unheard).now_or_never().is_none());
    assert!(silent.frame().now_or_never().is_none());
    assert!(!http2.connection.is_finished());
    assert_eq!(server.stats().watchers, 1);

    // That its client gives it up is noticed.
    http2.connection.abort();
    drop((silent, unheard, http2));
    let gone = async {
        while server.stats().watchers > 0 {
            yield_now().await;
        }
    };
    within(gone).await;
}

#[tokio::test]
async fn a_websocket_is_reset_too() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let rule = Fault::ResetMidLine.rule().nth(2);
    let _guard = server.faults().install(rule);
    let mut stream = on_tcp.connect().await.unwrap();
    let request = format!(
        "GET {WATCH} HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let (text, end) = read_all(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 101 "), "{text}");
    assert!(text.contains("{\"type\":\"ADDED\""), "{text}");
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[tokio::test]
async fn a_client_that_receives_goaway_finishes_and_reconnects() {
    let end = CancellationToken::new();
    let on_tcp = TestServer::doing(Connection::go_away, end.clone()).await;
    // HTTP/2 signals it by GOAWAY.
    let mut http2 = on_tcp.http2().await;
    let mut answer = http2.get("/").await.unwrap().into_body();
    let first = within(answer.frame()).await.unwrap().unwrap();
    assert_eq!(first.data_ref().unwrap(), "first\n");
    // What it asks before that has come to it is answered.
    within(async { while http2.get("/").await.is_ok() {} }).await;
    // HTTP/1.1 signals it by the end of the connection.
    let mut http1 = on_tcp.request("/").await;
    read_until(&mut http1, "first\n\r\n").await;
    end.cancel();
    assert_eq!(parts(&mut answer).await, (b"rest\n".to_vec(), Ok(())));
    within(http2.connection).await.unwrap().unwrap();
    let (text, closed) = read_all(&mut http1).await;
    assert!(text.ends_with("0\r\n\r\n"), "{text}");
    assert_eq!(closed, Ok(()));
    // There is another connection for those who come again.
    let mut again = on_tcp.request("/").await;
    read_until(&mut again, "rest\n\r\n").await;
}

#[tokio::test]
async fn a_connection_that_breaks_takes_all_streams_along() {
    let on_tcp = TestServer::doing(Connection::reset, CancellationToken::new()).await;
    let mut http2 = on_tcp.http2().await;
    assert!(http2.get("/").await.is_err());
    assert!(within(http2.connection).await.unwrap().is_err());
    let mut http1 = on_tcp.request("/").await;
    let (text, end) = read_all(&mut http1).await;
    assert_eq!((text.as_str(), end), ("", Err(ErrorKind::ConnectionReset)));
}

/// Waits until connections are refused.
async fn refused(on_tcp: &TestServer) {
    within(async {
        while !matches!(on_tcp.connect().await, Err(error) if error.kind() == ErrorKind::ConnectionRefused)
        {
            yield_now().await;
        }
    })
    .await;
}

/// Waits until connections are accepted, and gives one.
async fn accepted(on_tcp: &TestServer) -> TcpStream {
    within(async {
        loop {
            match on_tcp.connect().await {
                Ok(stream) => return stream,
                Err(_) => yield_now().await,
            }
        }
    })
    .await
}

#[tokio::test]
async fn late_headers_leave_a_client_waiting_after_its_write() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let rule = SlowHeaders { delay_ms: 60_000 }.rule();
    let _guard = server.faults().install(rule);
    let count = || server.objects("", "v1", "namespaces").len();
    let before = count();
    let mut stream = on_tcp.connect().await.unwrap();
    let body = r#"{"metadata":{"name":"late"}}"#;
    let request = format!(
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let written = async {
        while count() == before {
            yield_now().await;
        }
    };
    within(written).await;
    assert!(stream.read_u8().now_or_never().is_none());
}

#[tokio::test]
async fn late_headers_come_at_last_with_http_1_and_2() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let delay = Duration::from_millis(100);
    let _guard = server
        .faults()
        .install(SlowHeaders { delay_ms: 100 }.rule());
    let path = "/api/v1/namespaces/default";

    let start = Instant::now();
    let mut stream = on_tcp.request(path).await;
    let answer = read_until(&mut stream, "}\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(start.elapsed() >= delay);

    let mut http2 = on_tcp.http2().await;
    let start = Instant::now();
    let answer = http2.get(path).await.unwrap();
    assert!(start.elapsed() >= delay);
    assert_eq!(answer.status(), 200);
    let (bytes, end) = parts(&mut answer.into_body()).await;
    assert!(bytes.ends_with(b"}\n"));
    assert_eq!(end, Ok(()));
    assert_eq!(server.faults().fired().get("slow_headers"), Some(&2));
}

#[tokio::test]
async fn a_closed_gate_refuses_connections_and_keeps_open_ones() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let mut inside = on_tcp.request("/version").await;
    read_until(&mut inside, "}").await;
    let gate = server.faults().listen_gate();
    assert!(!gate.is_closed());
    gate.close_for(Duration::from_hours(1));
    // A shorter time does not shorten it.
    gate.close_for(Duration::ZERO);
    assert!(gate.is_closed());
    refused(&on_tcp).await;
    ask(&mut inside, "/version").await;
    read_until(&mut inside, "}").await;

    gate.open();
    let mut stream = accepted(&on_tcp).await;
    ask(&mut stream, CONFIG_MAPS).await;
    assert!(
        read_until(&mut stream, "}\n")
            .await
            .starts_with("HTTP/1.1 200")
    );
    // It can be closed again, for a time that ends by itself.
    gate.close_for(Duration::from_millis(50));
    refused(&on_tcp).await;
    accepted(&on_tcp).await;
    assert!(!gate.is_closed());
}

#[tokio::test]
async fn a_fault_closes_the_gate_for_its_time() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let text =
        r#"{"fault":"connection_refused","closedMs":3600000,"match":{"resource":"configmaps"}}"#;
    let specs = FaultSpec::read(text.as_bytes()).unwrap();
    let _guard = server.faults().install_spec(&specs[0]);
    let mut other = on_tcp.request("/version").await;
    read_until(&mut other, "}").await;
    assert!(!server.faults().listen_gate().is_closed());
    let mut waiting = on_tcp.request(CONFIG_MAPS).await;
    let (text, end) = read_all(&mut waiting).await;
    assert_eq!((text.as_str(), end), ("", Err(ErrorKind::ConnectionReset)));
    refused(&on_tcp).await;
    // An open connection continues.
    ask(&mut other, "/version").await;
    read_until(&mut other, "}").await;
    server.faults().listen_gate().open();
    accepted(&on_tcp).await;
}

#[tokio::test]
async fn a_server_behind_a_closed_gate_can_be_stopped() {
    let server = FakeServer::builder().build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = spawn(server.serve(listener, stop.clone()));
    server.faults().listen_gate().close_for(Duration::MAX);
    while TcpStream::connect(address).await.is_ok() {
        yield_now().await;
    }
    stop.cancel();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let on_tcp = TestServer::by(|listener, stop| {
        let router = Router::new().route("/", get(|| async { "hello" }));
        let listener = Listener::new(listener)
            .with_gate(ListenGate::default())
            .with_connections_max(1);
        listener.serve(router, stop)
    })
    .await;
    let mut first = on_tcp.request("/").await;
    read_until(&mut first, "hello").await;
    let mut second = on_tcp.request("/").await;
    ask(&mut first, "/").await;
    read_until(&mut first, "hello").await;
    assert!(second.read_u8().now_or_never().is_none());
    drop(first);
    read_until(&mut second, "hello").await;
}

#[tokio::test]
async fn unmatched_connections_are_untouched() {
    let server = FakeServer::builder().build();
    let on_tcp = TestServer::of(&server).await;
    let pods = Filter::any().resource("pods");
    let _reset = server
        .faults()
        .install(Fault::ResetMidLine.rule().matching(pods.clone()));
    let _silence = server
        .faults()
        .install(Fault::Silence.rule().matching(pods));
    let mut stream = on_tcp.request(WATCH).await;
    read_until(&mut stream, "}\n\r\n").await;
    server.disconnect();
    assert!(
        read_until(&mut stream, "0\r\n\r\n")
            .await
            .ends_with("0\r\n\r\n")
    );
    assert!(server.faults().fired().is_empty());
}
