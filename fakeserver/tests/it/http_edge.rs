//! HTTP/1.1 as Go's server takes it, byte by byte.

use std::{net::SocketAddr, time::Duration};

use fakeserver::FakeServer;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::CONFIG_MAPS;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

struct TestServer {
    server: FakeServer,
    address: SocketAddr,
    _stop: DropGuard,
}

impl TestServer {
    async fn start() -> Self {
        let server = FakeServer::builder().build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
        tokio::spawn(server.serve(listener, stop.clone()));
        Self {
            server,
            address,
            _stop: stop.drop_guard(),
        }
    }

    /// Sends `text`, closes this half of the connection if `closes`, and returns all that is answered.
    async fn exchange(&self, text: &str, closes: bool) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        if closes {
            stream.shutdown().await.unwrap();
        }
        let mut bytes = Vec::new();
        let read = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
        read.expect("the connection ends").unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Sends a request with these lines behind `Host`, and returns its answer.
    async fn ask(&self, line: &str, headers: &str) -> String {
        let text = format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n");
        self.exchange(&text, false).await
    }
}

#[track_caller]
fn starts(answer: &str, start: &str) {
    assert!(answer.starts_with(start), "{start:?}: {answer}");
}

#[tokio::test]
async fn a_host_is_required_once_and_well_formed() {
    let server = TestServer::start().await;
    for (hosts, why) in [
        ("", "missing required Host header"),
        ("Host: a\r\nHost: b\r\n", "too many Host headers"),
        ("Host: a\r\nHost: a\r\n", "too many Host headers"),
        ("Host: a/b\r\n", "malformed Host header"),
        ("Host: a b\r\n", "malformed Host header"),
        ("Host: a@b\r\n", "malformed Host header"),
    ] {
        let request = format!("GET /version HTTP/1.1\r\n{hosts}\r\n");
        let answer = server.exchange(&request, false).await;
        starts(&answer, &format!("HTTP/1.1 400 Bad Request: {why}\r\n"));
        assert!(
            answer.ends_with(&format!("\r\n\r\n400 Bad Request: {why}")),
            "{answer}"
        );
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
    for hosts in ["Host:\r\n", "Host: [::1]:80\r\n", "Host: a_b~c:1\r\n"] {
        let request = format!("GET /version HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
        starts(
            &server.exchange(&request, false).await,
            "HTTP/1.1 200 OK\r\n",
        );
    }
    let old = "GET /version HTTP/1.0\r\n\r\n";
    starts(&server.exchange(old, false).await, "HTTP/1.0 200 OK\r\n");
    let socket = "GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    starts(
        &server.exchange(socket, false).await,
        "HTTP/1.1 400 Bad Request: missing required Host header\r\n",
    );
}

#[tokio::test]
async fn a_client_that_has_sent_all_gets_its_answer() {
    let server = TestServer::start().await;
    let get = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = server.exchange(get, true).await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
    assert!(answer.ends_with('}'), "{answer}");
    let object = json!({"metadata": {"name": "a"}}).to_string();
    let length = object.len();
    let post = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{object}"
    );
    starts(
        &server.exchange(&post, true).await,
        "HTTP/1.1 201 Created\r\n",
    );
    let object = json!({"metadata": {"name": "b"}}).to_string();
    let post = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{object}\r\n0\r\n\r\n{get}{get}",
        object.len()
    );
    // Requests behind it are answered, too.
    let answer = server.exchange(&post, true).await;
    starts(&answer, "HTTP/1.1 201 Created\r\n");
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 2, "{answer}");
    // A watch ends with its client, after the events that there are.
    let watch = "GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = server.exchange(watch, true).await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
    assert_eq!(server.server.stats().watchers, 0);
    // A request that breaks off has no answer of success.
    let broken = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{}}");
    let answer = server.exchange(&broken, true).await;
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
}

#[tokio::test]
async fn a_head_has_any_number_of_headers_up_to_a_mebibyte() {
    let server = TestServer::start().await;
    for count in [99, 101, 150, 1_000, 20_000] {
        let headers: Vec<_> = (0..count).map(|at| format!("X-{at}: {at}\r\n")).collect();
        let headers = headers.concat() + "Accept: application/yaml\r\n";
        let answer = server.ask("GET /api/v1/namespaces/default", &headers).await;
        starts(&answer, "HTTP/1.1 200 OK\r\n");
        // The last one still counts.
        assert!(
            answer.contains("content-type: application/yaml"),
            "{answer}"
        );
    }
    let headers = format!("X: {}\r\n", "x".repeat(1 << 20));
    let answer = server.ask("GET /version", &headers).await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
    let headers = format!("X: {}\r\n", "x".repeat((1 << 20) + 5_000));
    let answer = server.ask("GET /version", &headers).await;
    starts(&answer, "HTTP/1.1 431 Request Header Fields Too Large\r\n");
    let headers = "a:\r\n".repeat(100_000);
    let answer = server.ask("GET /version", &headers).await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
    // The library has room for 24,576 names.
    let headers: Vec<_> = (0..30_000).map(|at| format!("X-{at}:\r\n")).collect();
    let answer = server.ask("GET /version", &headers.concat()).await;
    starts(&answer, "HTTP/1.1 431 Request Header Fields Too Large\r\n");
}

#[tokio::test]
async fn a_query_is_as_long_as_a_head_may_be() {
    let server = TestServer::start().await;
    for (name, value) in [("a", "v7"), ("b", "other")] {
        let mut object = json!({"metadata": {"name": name, "labels": {"k": value}}});
        object["apiVersion"] = json!("v1");
        object["kind"] = json!("ConfigMap");
        object["metadata"]["namespace"] = json!("default");
        server.server.apply(&object).unwrap();
    }
    let values: Vec<String> = (0..12_000).map(|at| format!("v{at}")).collect();
    let selector = format!("k%20in%20({})", values.join(","));
    assert!(selector.len() > 65_534);
    let answer = server
        .ask(&format!("GET {CONFIG_MAPS}?labelSelector={selector}"), "")
        .await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
    assert!(answer.contains("\"name\":\"a\""), "{answer}");
    assert!(!answer.contains("\"name\":\"b\""), "{answer}");
    // A watch by a long query is one.
    let long = "x".repeat(70_000);
    let watch = format!(
        "GET {CONFIG_MAPS}?x={long}&watch=1&labelSelector=k%3Dv7 HTTP/1.1\r\nHost: x\r\n\r\n"
    );
    let answer = server.exchange(&watch, true).await;
    assert_eq!(answer.matches("\"type\":\"ADDED\"").count(), 1, "{answer}");
    for size in [70_000, 200_000, 900_000] {
        let query = "x".repeat(size);
        let answer = server.ask(&format!("GET /version?{query}"), "").await;
        starts(&answer, "HTTP/1.1 200 OK\r\n");
    }
    // Nothing is passed on without its query.
    let proxied = format!("GET /api/v1/nodes/n/proxy/pods?{long}");
    let answer = server.ask(&proxied, "").await;
    starts(&answer, "HTTP/1.1 414 URI Too Long\r\n");
    // On one connection, before and after others.
    let plain = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    let text = format!("{plain}GET /version?{long} HTTP/1.1\r\nHost: x\r\n\r\n{plain}");
    let answer = server.exchange(&text, true).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{answer}");
}

#[tokio::test]
async fn an_unknown_expectation_fails() {
    let server = TestServer::start().await;
    let expect = "Expect: nonsense\r\nContent-Length: 2\r\n";
    let answer = server.ask(&format!("POST {CONFIG_MAPS}"), expect).await;
    starts(&answer, "HTTP/1.1 417 Expectation Failed\r\n");
    assert!(answer.contains("content-length: 0\r\n"), "{answer}");
    let expect = "Expect: nonsense\r\n";
    let answer = server.ask("GET /version", expect).await;
    starts(&answer, "HTTP/1.1 417 Expectation Failed\r\n");
    for expect in ["Expect:\r\n", "Expect: 100-Continue\r\n"] {
        let answer = server.ask("GET /version", expect).await;
        starts(&answer, "HTTP/1.1 200 OK\r\n");
    }
}

#[tokio::test]
async fn encodings_other_than_chunked_are_not_implemented() {
    let server = TestServer::start().await;
    for encoding in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    ] {
        let answer = server.ask(&format!("POST {CONFIG_MAPS}"), encoding).await;
        starts(&answer, "HTTP/1.1 501 Not Implemented\r\n");
        assert!(
            answer.ends_with("\r\n\r\nUnsupported transfer encoding"),
            "{answer}"
        );
    }
    let old = "GET /version HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n";
    starts(&server.exchange(old, false).await, "HTTP/1.0 200 OK\r\n");
    let answer = server
        .ask("GET /version", "Transfer-Encoding: Chunked\r\n\r\n0\r\n")
        .await;
    starts(&answer, "HTTP/1.1 200 OK\r\n");
}

#[tokio::test]
async fn there_are_no_tunnels() {
    let server = TestServer::start().await;
    for target in ["127.0.0.1:80", "x:443"] {
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = server.exchange(&request, true).await;
        starts(&answer, "HTTP/1.1 404 Not Found\r\n");
        assert!(answer.ends_with("404 page not found\n"), "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_at_once() {
    let server = TestServer::start().await;
    for text in [
        "\u{16}\u{3}\u{1}",
        "GET /version\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
    ] {
        let answer = server.exchange(text, false).await;
        starts(&answer, "HTTP/1.1 400 Bad Request\r\n");
    }
}

#[tokio::test]
async fn a_server_without_tls_answers_no_page_of_the_web() {
    let server = TestServer::start().await;
    let before = server.server.revision();
    let own = server.address;
    let object = json!({"metadata": {"name": "a"}}).to_string();
    let length = object.len();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let watch = "GET /api/v1/secrets?watch=1";
    let post = format!("POST {CONFIG_MAPS}");
    for (line, host, headers) in [
        // A name that another site has bound to this address.
        ("POST /_control/reset", "evil.example", ""),
        (
            "POST /_control/disconnect",
            "evil.example",
            "Origin: http://evil.example\r\n",
        ),
        ("GET /_control/snapshot", "evil.example:80", ""),
        ("GET /api/v1/secrets", "evil.example", ""),
        // A page of another site.
        (
            "POST /_control/reset",
            "127.0.0.1",
            "Origin: http://evil.example\r\n",
        ),
        (&post, "127.0.0.1", "Origin: http://evil.example\r\n"),
        (&post, "127.0.0.1", "Origin: null\r\n"),
        (
            &post,
            "127.0.0.1",
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
        ),
        (watch, "127.0.0.1", "Origin: http://evil.example\r\n"),
    ] {
        let upgrade = if line == watch {
            upgrade
        } else {
            "Connection: close\r\n"
        };
        let (body, length) = if line == post {
            (&*object, length)
        } else {
            ("", 0)
        };
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\n{headers}{upgrade}Content-Length: {length}\r\n\r\n{body}"
        );
        let answer = server.exchange(&request, true).await;
        starts(&answer, "HTTP/1.1 403 Forbidden\r\n");
    }
    assert_eq!(server.server.revision(), before);
    for headers in [
        String::new(),
        format!("Origin: http://{own}\r\n"),
        "Origin: http://localhost:3000\r\n".to_owned(),
    ] {
        let request = format!("GET /version HTTP/1.1\r\nHost: {own}\r\n{headers}\r\n");
        let answer = server.exchange(&request, true).await;
        starts(&answer, "HTTP/1.1 200 OK\r\n");
    }
    // Control is for the server's own pages only.
    let request = format!(
        "POST /_control/compact HTTP/1.1\r\nHost: {own}\r\nOrigin: http://localhost:3000\r\n\r\n"
    );
    let answer = server.exchange(&request, true).await;
    starts(&answer, "HTTP/1.1 403 Forbidden\r\n");
}
