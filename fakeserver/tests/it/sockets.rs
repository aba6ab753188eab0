//! Raw connections: `WebSockets`, limits of connections, and rejections of HTTP itself.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use fakeserver::{FakeServer, UserInfo};
use futures::{SinkExt, StreamExt};
use http::{Request, Version};
use http_body_util::{BodyExt, Empty};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Error, Message, client::IntoClientRequest, handshake::client::Response,
        protocol::frame::coding::CloseCode,
    },
};
use tokio_util::sync::CancellationToken;

use crate::{
    aggregation::{RunningServer, WIDGETS, forward, until, widget, widgets_of},
    support::Api,
};

const NAMESPACES: &str = "/api/v1/namespaces?watch=1&fieldSelector=metadata.name=default";

/// A server that is served until the test ends.
pub(crate) struct SocketServer {
    pub(crate) server: FakeServer,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
}

// === impl SocketServer ===

impl SocketServer {
    async fn new() -> Self {
        Self::of(FakeServer::builder().build()).await
    }

    pub(crate) async fn of(server: FakeServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
        tokio::spawn(server.serve(listener, stop.clone()));
        Self {
            server,
            address,
            stop,
        }
    }

    fn request(&self, path: &str, headers: &[(&'static str, &str)]) -> Request<()> {
        let url = format!("ws://{}{path}", self.address);
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        request
    }

    pub(crate) async fn open(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(WebSocketStream<TcpStream>, Response), Error> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        client_async(self.request(path, headers), stream).await
    }

    /// The code of the answer to a request that does not become a WebSocket.
    pub(crate) async fn refused(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> (u16, String) {
        match self.open(path, headers).await {
            Err(Error::Http(answer)) => {
                let (parts, body) = answer.into_parts();
                let body = String::from_utf8(body.unwrap_or_default()).unwrap();
                (parts.status.as_u16(), body)
            }
            other => panic!("it should be refused: {other:?}"),
        }
    }

    /// Returns the answer to these bytes until the server closes the connection.
    async fn exchange(&self, sent: &[u8]) -> String {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(sent).await.unwrap();
        let mut answer = Vec::new();
        // No limit: the paused clock would go to it before the server has begun. A connection that is reset is closed too.
        let _ = socket.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for SocketServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The next event of a watch.
async fn event(socket: &mut WebSocketStream<TcpStream>) -> Value {
    let message = timeout(Duration::from_secs(20), socket.next()).await;
    let message = message.expect("an event comes").unwrap().unwrap();
    let text = message.to_text().unwrap();
    assert!(message.is_text() && text.ends_with("}\n"), "{text}");
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_watch_as_a_websocket_has_a_message_for_each_event() {
    let served = SocketServer::new().await;
    let origin = [("origin", "http://localhost")];
    let (mut socket, answer) = served.open(NAMESPACES, &origin).await.unwrap();
    assert_eq!(answer.status(), 101);
    assert!(!answer.headers().contains_key("audit-id"));
    assert!(!answer.headers().contains_key("sec-websocket-protocol"));
    let first = event(&mut socket).await;
    assert_eq!(first["type"], "ADDED");
    assert_eq!(first["object"]["kind"], "Namespace");
    assert_eq!(served.server.stats().watchers, 1);

    // What a client says is not heard, and pings are answered.
    socket.send(Message::text("anything")).await.unwrap();
    socket
        .send(Message::Ping(b"ping".as_slice().into()))
        .await
        .unwrap();
    let pong = timeout(Duration::from_secs(20), socket.next()).await;
    let pong = pong.expect("a ping is answered").unwrap().unwrap();
    assert_eq!(pong, Message::Pong(b"ping".as_slice().into()));

    served.server.disconnect();
    let end = timeout(Duration::from_secs(20), socket.next()).await;
    match end.expect("the end is told").unwrap().unwrap() {
        Message::Close(Some(close)) => assert_eq!(close.code, CloseCode::Normal),
        other => panic!("no end: {other:?}"),
    }
}

#[tokio::test]
async fn an_expired_version_is_reported_by_a_message() {
    let served = SocketServer::new().await;
    served.server.expire();
    let origin = [("origin", "http://localhost")];
    let path = "/api/v1/namespaces?watch=1&resourceVersion=2";
    let (mut socket, _) = served.open(path, &origin).await.unwrap();
    let frame = event(&mut socket).await;
    assert_eq!(frame["type"], "ERROR");
    assert_eq!(frame["object"]["code"], 410);
    let end = timeout(Duration::from_secs(20), socket.next()).await;
    assert!(
        matches!(end, Ok(Some(Ok(Message::Close(Some(_)))))),
        "{end:?}"
    );
}

#[tokio::test]
async fn protobuf_comes_in_binary_messages() {
    let served = SocketServer::new().await;
    let headers = [
        ("origin", "http://localhost"),
        ("accept", "application/vnd.kubernetes.protobuf"),
        ("sec-websocket-protocol", "base64.binary.k8s.io"),
    ];
    let (mut socket, answer) = served.open(NAMESPACES, &headers).await.unwrap();
    assert_eq!(
        answer.headers()["sec-websocket-protocol"],
        "base64.binary.k8s.io"
    );
    let message = timeout(Duration::from_secs(20), socket.next()).await;
    let message = message.expect("an event comes").unwrap().unwrap();
    // Field 1 of an event is its type; no length stands before it.
    assert!(message.is_binary());
    assert_eq!(&message.into_data()[..7], b"\x0a\x05ADDED");
}

#[tokio::test]
async fn a_browser_brings_its_token_among_the_protocols() {
    let guarded = FakeServer::builder()
        .with_token("token", UserInfo::new("jane"))
        .with_anonymous_auth(false)
        .build();
    let served = SocketServer::of(guarded).await;
    let with = |protocols: &'static str| {
        [
            ("origin", "http://localhost"),
            ("sec-websocket-protocol", protocols),
        ]
    };
    let right = "base64url.bearer.authorization.k8s.io.dG9rZW4, base64.binary.k8s.io";
    let (mut socket, answer) = served.open(NAMESPACES, &with(right)).await.unwrap();
    // A token is no protocol that is spoken.
    let spoken = &answer.headers()["sec-websocket-protocol"];
    assert_eq!(spoken, "base64.binary.k8s.io");
    assert_eq!(event(&mut socket).await["type"], "ADDED");
    for wrong in [
        "base64.binary.k8s.io",
        "base64url.bearer.authorization.k8s.io.d3Jvbmc, base64.binary.k8s.io",
        "base64url.bearer.authorization.k8s.io.?, base64.binary.k8s.io",
        // Nothing is left that could be spoken.
        "base64url.bearer.authorization.k8s.io.dG9rZW4",
    ] {
        let (code, _) = served.refused(NAMESPACES, &with(wrong)).await;
        assert_eq!(code, 401, "{wrong}");
    }
}

#[tokio::test]
async fn a_watch_of_another_server_is_a_websocket_through_this_one() {
    let backend = widgets_of("example.com").await;
    let running = RunningServer::somewhere(&backend.server).await;
    let front = Api {
        server: FakeServer::builder()
            .with_token("token", UserInfo::new("jane"))
            .build(),
    };
    let served = SocketServer::of(front.server.clone()).await;
    forward(&front, "example.com", "widgets", &running.url()).await;
    until(&front, "example.com", "Passed").await;
    let token = "base64url.bearer.authorization.k8s.io.dG9rZW4, base64.binary.k8s.io";
    for (protocols, chosen) in [("", None), (token, Some("base64.binary.k8s.io"))] {
        let mut headers = vec![("origin", "http://localhost")];
        if !protocols.is_empty() {
            headers.push(("sec-websocket-protocol", protocols));
        }
        let path = format!("{WIDGETS}?watch=1");
        let (mut socket, answer) = served.open(&path, &headers).await.unwrap();
        assert_eq!(answer.status(), 101);
        let protocol = answer.headers().get("sec-websocket-protocol");
        assert_eq!(protocol.map(|it| it.to_str().unwrap()), chosen);
        let name = if chosen.is_some() { "a" } else { "b" };
        front.post(WIDGETS, &widget(name)).await.created();
        let frame = loop {
            let frame = event(&mut socket).await;
            if frame["object"]["metadata"]["name"] == name {
                break frame;
            }
        };
        assert_eq!(frame["type"], "ADDED");
        backend.server.disconnect();
        let end = timeout(Duration::from_secs(20), socket.next()).await;
        assert!(matches!(end, Ok(Some(Ok(Message::Close(_))))), "{end:?}");
    }
    // A refusal of the other server comes as it is.
    let (code, _) = served.refused(&format!("{WIDGETS}?watch=1"), &[]).await;
    assert_eq!(code, 403, "it wants to know the origin");
    running.end().await;
}

#[tokio::test]
async fn invalid_websocket_requests_are_rejected() {
    let served = SocketServer::new().await;
    let origin = ("origin", "http://localhost");
    assert_eq!(served.refused(NAMESPACES, &[]).await.0, 403, "from nowhere");
    let old = served
        .refused(NAMESPACES, &[origin, ("sec-websocket-version", "8")])
        .await;
    assert_eq!(old, (400, "missing or bad WebSocket Version".to_owned()));
    let two = [origin, ("sec-websocket-protocol", "a, b")];
    assert_eq!(
        served.refused(NAMESPACES, &two).await.0,
        400,
        "two to choose from"
    );
    // Parameters are refused as they are of any watch.
    let path = format!("{NAMESPACES}&sendInitialEvents=true");
    let (code, body) = served.refused(&path, &[origin]).await;
    assert_eq!(code, 422);
    assert!(body.contains("\"kind\":\"Status\""), "{body}");
    // A request that is no watch ignores the upgrade.
    assert_eq!(served.refused("/api/v1/namespaces", &[origin]).await.0, 200);
    assert_eq!(served.server.stats().watchers, 0);
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_watch() {
    let served = SocketServer::new().await;
    let origin = [("origin", "http://localhost")];
    let (socket, _) = served.open(NAMESPACES, &origin).await.unwrap();
    assert_eq!(served.server.stats().watchers, 1);
    drop(socket);
    let gone = async {
        while served.server.stats().watchers > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), gone)
        .await
        .expect("it is noticed");
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_disconnected() {
    let served = SocketServer::new().await;
    for sent in [
        "",
        "GET /api HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        // It could become HTTP/2.
        "PRI * HTT",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let start = Instant::now();
        let answer = served.exchange(sent.as_bytes()).await;
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
        let waited = start.elapsed();
        assert!(waited <= Duration::from_mins(3), "{sent:?}: {waited:?}");
        assert!(waited >= Duration::from_secs(30), "{sent:?}: {waited:?}");
    }
}

#[tokio::test]
async fn headers_have_a_limit_of_a_megabyte() {
    let served = SocketServer::new().await;
    let request = |bytes: usize| {
        let value = "x".repeat(bytes);
        format!("GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: {value}\r\n\r\n")
    };
    let answer = served.exchange(request(100 << 10).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let mut socket = TcpStream::connect(served.address).await.unwrap();
    // The server may close the connection before it has read everything.
    let _ = socket.write_all(request(2 << 20).as_bytes()).await;
    let mut answer = vec![0; 512];
    let read = timeout(Duration::from_secs(20), socket.read(&mut answer)).await;
    let read = read.expect("it is refused").unwrap_or_default();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
}

#[tokio::test]
async fn a_body_with_an_excessive_length_is_not_read() {
    let served = SocketServer::new().await;
    let head = "POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n";
    let mut socket = TcpStream::connect(served.address).await.unwrap();
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4_096];
    let read = timeout(Duration::from_secs(20), socket.read(&mut answer)).await;
    let read = read.expect("it is refused at once").unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(
        answer.contains("Request entity too large: limit is 3145728"),
        "{answer}"
    );
    assert_eq!(served.server.history("", "v1", "namespaces", 0).len(), 4);
}

#[tokio::test]
async fn a_client_that_writes_all_before_it_reads_gets_its_answer_and_keeps_its_connection() {
    let served = SocketServer::new().await;
    let mut socket = TcpStream::connect(served.address).await.unwrap();
    for (path, bytes, expected) in [
        ("/nothing/here", 2 << 20, "404 "),
        ("/api/v1/namespaces", 4 << 20, "413 "),
        ("/version", 0, "200 "),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n");
        let head = if bytes == 0 {
            head.replace("POST", "GET")
        } else {
            head
        };
        let body = vec![b'x'; bytes];
        let answer = timeout(Duration::from_secs(20), async {
            socket.write_all(head.as_bytes()).await.unwrap();
            socket.write_all(&body).await.unwrap();
            let mut answer = vec![0; 4_096];
            let read = socket.read(&mut answer).await.unwrap();
            String::from_utf8_lossy(&answer[..read]).into_owned()
        });
        let answer = answer.await.expect("nobody waits for the other");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected}")),
            "{answer}"
        );
        assert!(
            !answer.to_lowercase().contains("connection: close"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn http_2_carries_requests_and_watches_side_by_side() {
    let served = SocketServer::new().await;
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let get = async |path: &str| {
        let url = format!("http://{}{path}", served.address);
        let request = Request::get(url).body(Empty::new()).unwrap();
        client.request(request).await.unwrap()
    };
    let watch = get(NAMESPACES).await;
    assert_eq!(watch.version(), Version::HTTP_2);
    assert_eq!(watch.headers()["content-type"], "application/json");
    assert!(!watch.headers().contains_key("transfer-encoding"));
    let mut watch = watch.into_body();
    let first = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(first.starts_with(b"{\"type\":\"ADDED\""));

    // The watch continues during other requests.
    let list = get("/api/v1/namespaces").await;
    assert_eq!(
        (list.status().as_u16(), list.version()),
        (200, Version::HTTP_2)
    );
    list.into_body().collect().await.unwrap();
    assert_eq!(get("/nosuch").await.status(), 404);
    assert_eq!(served.server.stats().watchers, 1);
    served.server.disconnect();
    let rest = timeout(Duration::from_secs(20), watch.collect()).await;
    rest.expect("it ends").expect("cleanly");
}
