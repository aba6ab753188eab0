//! Headers, control, sockets and shutdown, independent of the API behind them.

use std::{net::SocketAddr, time::Duration};

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::*;
use crate::Controllers;

async fn send(server: &FakeServer, method: Method, path: &str) -> (http::response::Parts, Vec<u8>) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap();
    let response = server.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts, body.collect().await.unwrap().to_bytes().into())
}

#[tokio::test]
async fn every_answer_has_the_headers_of_the_api() {
    let server = FakeServer::builder().build();
    let (first, body) = send(&server, Method::GET, "/nosuchroot").await;
    let (second, _) = send(&server, Method::GET, "/nosuchroot").await;
    assert_eq!(first.status, StatusCode::NOT_FOUND);
    assert_eq!(body, b"404 page not found\n");
    assert_eq!(first.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(first.headers["x-content-type-options"], "nosniff");
    assert_eq!(first.headers["cache-control"], "no-cache, private");
    for header in [
        "x-kubernetes-pf-flowschema-uid",
        "x-kubernetes-pf-prioritylevel-uid",
    ] {
        assert_eq!(first.headers[header], second.headers[header]);
    }
    assert_ne!(first.headers["audit-id"], second.headers["audit-id"]);

    let request = Request::get("/x")
        .header("Audit-Id", "mine")
        .body(Body::empty());
    let answer = server.router().oneshot(request.unwrap()).await.unwrap();
    assert_eq!(answer.headers()["audit-id"], "mine");
}

#[tokio::test]
async fn the_control_routes_equal_the_methods() {
    let server = FakeServer::builder().build();
    for action in ["compact", "expire", "disconnect", "reset"] {
        let path = format!("/_control/{action}");
        assert_eq!(
            send(&server, Method::POST, &path).await.0.status,
            StatusCode::NO_CONTENT
        );
        let refused = send(&server, Method::GET, &path).await.0.status;
        assert_eq!(refused, StatusCode::METHOD_NOT_ALLOWED);
    }
    let unknown = send(&server, Method::POST, "/_control/nothing")
        .await
        .0
        .status;
    assert_eq!(unknown, StatusCode::NOT_FOUND);
    let (parts, body) = send(&server, Method::GET, "/_control/stats").await;
    assert_eq!(parts.headers["content-type"], "application/json");
    let stats: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(stats["revision"], server.revision());
    assert_eq!(stats["watchers"], 0);
    assert!(stats["requests"].is_object());
}

#[test]
fn a_server_is_built_without_a_runtime_and_from_its_seed_alone() {
    let namespaces = |seed| -> Vec<String> {
        let server = FakeServer::builder().with_seed(seed).build();
        let objects = server.objects("", "v1", "namespaces");
        objects
            .iter()
            .map(|object| format!("{} {}", object.name(), object.uid()))
            .collect()
    };
    assert_eq!(namespaces(7), namespaces(7));
    assert_ne!(namespaces(7), namespaces(8));
    let names: Vec<String> = namespaces(0);
    assert!(
        names[0].starts_with("default "),
        "in the order of a list: {names:?}"
    );
    assert_eq!(names.len(), 4);
}

#[test]
fn history_has_expired_changes() {
    let server = FakeServer::builder().build();
    server.expire();
    let history = server.history("", "v1", "namespaces", 0);
    let revisions: Vec<u64> = history.iter().map(|change| change.revision()).collect();
    let now = server.revision();
    assert_eq!(revisions, [now - 3, now - 2, now - 1, now]);
    assert_eq!(server.history("", "v1", "namespaces", now - 1).len(), 1);
    assert_eq!(server.history("", "v1", "pods", 0).len(), 0);
}

async fn connect(
    server: &FakeServer,
    stop: &CancellationToken,
) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
    let serving = tokio::spawn(server.serve(listener, stop.clone()));
    (address, serving)
}

#[tokio::test]
async fn it_answers_over_tcp_until_it_is_stopped() {
    let server = FakeServer::builder().build();
    let stop = CancellationToken::new();
    let (address, serving) = connect(&server, &stop).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket
        .write_all(b"GET /nosuchroot HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = vec![0; 4_096];
    let length = socket.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).to_lowercase();
    assert!(answer.starts_with("http/1.1 404 not found\r\n"), "{answer}");
    assert!(answer.contains("\r\ndate: "), "{answer}");

    // An idle connection does not hold it up.
    stop.cancel();
    timeout(Duration::from_secs(3), serving)
        .await
        .expect("it stops soon")
        .unwrap();
    assert_eq!(
        socket.read(&mut [0; 16]).await.unwrap(),
        0,
        "the connection is closed"
    );
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn shutting_the_server_down_stops_serving() {
    let server = FakeServer::builder().build();
    let (_, serving) = connect(&server, &CancellationToken::new()).await;
    tokio::task::yield_now().await;
    server.shutdown().await;
    timeout(Duration::from_secs(3), serving)
        .await
        .expect("it stops soon")
        .unwrap();
}

#[cfg(feature = "client")]
#[tokio::test(start_paused = true)]
async fn a_kube_client_reads_and_watches_without_sockets() {
    use futures::TryStreamExt;
    use k8s_openapi::api::core::v1::Namespace;
    use kube::api::{Api, ListParams, WatchEvent, WatchParams};

    let server = FakeServer::builder().build();
    let namespaces: Api<Namespace> = Api::all(server.client());
    let list = namespaces
        .list(&ListParams::default().limit(3))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 3);
    assert_eq!(list.metadata.remaining_item_count, Some(1));
    let metadata = namespaces.get_metadata("default").await.unwrap();
    assert_eq!(metadata.metadata.name.as_deref(), Some("default"));

    let parameters = WatchParams::default().timeout(200);
    let mut events = Box::pin(namespaces.watch(&parameters, "0").await.unwrap());
    for expected in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        match events.try_next().await.unwrap() {
            Some(WatchEvent::Added(namespace)) => {
                assert_eq!(namespace.metadata.name.as_deref(), Some(expected));
            }
            other => panic!("no ADDED: {other:?}"),
        }
    }
    assert!(matches!(
        events.try_next().await.unwrap(),
        Some(WatchEvent::Bookmark(_))
    ));
    assert_eq!(server.stats().watchers, 1);
    drop(events);
    assert_eq!(server.stats().watchers, 0);
}

#[cfg(feature = "client")]
#[tokio::test(start_paused = true)]
async fn a_named_client_says_its_name() {
    use crate::faults::{Filter, ServerError};
    use k8s_openapi::api::core::v1::Namespace;
    use kube::api::Api;

    let server = FakeServer::builder().build();
    let broken = Filter::any().client("workload");
    let rule = ServerError::new(StatusCode::INTERNAL_SERVER_ERROR)
        .rule()
        .matching(broken);
    let _guard = server.faults().install(rule);
    let get = async |client: kube::Client| Api::<Namespace>::all(client).get("default").await;
    assert!(get(server.client_named("workload")).await.is_err());
    assert!(get(server.client_named("informer")).await.is_ok());
    assert!(get(server.client()).await.is_ok());
}

/// Opens a watch on namespaces over a socket of its own, and reads up to the first event.
async fn watch_over_tcp(address: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = b"GET /api/v1/namespaces?watch=1&resourceVersion=4 HTTP/1.1\r\nHost: x\r\n\r\n";
    socket.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"}\n\r\n") {
        let read = socket.read_buf(&mut answer).await.unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(
        answer.contains("\r\ntransfer-encoding: chunked\r\n"),
        "{answer}"
    );
    assert!(answer.contains("{\"type\":\"ADDED\""), "{answer}");
    socket
}

#[tokio::test]
async fn a_watch_over_tcp_is_over_when_its_client_has_left() {
    let server = FakeServer::builder().build();
    let stop = CancellationToken::new();
    let (address, _) = connect(&server, &stop).await;
    let socket = watch_over_tcp(address).await;
    assert_eq!(server.stats().watchers, 1);
    drop(socket);
    let gone = async {
        while server.stats().watchers > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(5), gone)
        .await
        .expect("the connection's end is noticed");
    stop.cancel();
}

#[tokio::test]
async fn stopping_ends_watches_cleanly() {
    let server = FakeServer::builder().build();
    let stop = CancellationToken::new();
    let (address, serving) = connect(&server, &stop).await;
    let mut socket = watch_over_tcp(address).await;
    stop.cancel();
    let mut rest = Vec::new();
    let closed = timeout(Duration::from_secs(5), socket.read_to_end(&mut rest));
    closed.await.expect("the connection is closed").unwrap();
    assert_eq!(rest, b"0\r\n\r\n", "with the last chunk, not in the middle");
    serving.await.unwrap();
    assert_eq!(server.stats().watchers, 0);
}

#[test]
fn a_replica_follows_to_the_given_revision() {
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    let build = || FakeServer::builder().with_controllers(Controllers::none());
    let (leader, replica) = (build().build(), build().build());
    let initial_revision = leader.revision();
    leader.apply(&node("a")).unwrap();
    let first = leader.revision();
    leader.apply(&node("b")).unwrap();
    leader.delete(&node("a")).unwrap();
    assert_eq!(replica.follow(&leader, initial_revision), initial_revision);
    assert_eq!(replica.follow(&leader, first), first);
    let names = |server: &FakeServer| -> Vec<String> {
        let nodes = server.objects("", "v1", "nodes");
        nodes.iter().map(|node| node.name().to_owned()).collect()
    };
    assert_eq!(names(&replica), ["a"]);
    assert_eq!(replica.follow(&leader, u64::MAX), leader.revision());
    assert_eq!(names(&replica), ["b"]);
    // Its objects are those of the leader, to the byte, and so is its history.
    assert_eq!(
        replica.objects("", "v1", "nodes")[0].json(),
        leader.objects("", "v1", "nodes")[0].json()
    );
    assert_eq!(replica.history("", "v1", "nodes", 0).len(), 3);
    // No change is taken twice, and a server with another history is not followed.
    assert_eq!(replica.follow(&leader, u64::MAX), leader.revision());
    let restarted = build().with_snapshot(leader.snapshot()).build();
    restarted.apply(&node("c")).unwrap();
    let fresh = build().build();
    assert_eq!(fresh.follow(&restarted, u64::MAX), initial_revision);
    assert_eq!(replica.follow(&restarted, u64::MAX), restarted.revision());
}

#[test]
fn servers_may_share_faults() {
    let first = FakeServer::builder().build();
    let second = FakeServer::builder().with_faults(first.faults()).build();
    let guard = first.faults().install(crate::faults::Fault::Hang.rule());
    let facts = crate::faults::RequestFacts::default();
    second.faults().on_request(&facts);
    assert_eq!(first.faults().fired().get("hang"), Some(&1));
    drop(guard);
    second.faults().on_request(&facts);
    assert_eq!(first.faults().fired().get("hang"), Some(&1));
}

#[cfg(feature = "tls")]
#[tokio::test(start_paused = true)]
async fn a_connection_outlives_its_certificate() {
    let server = FakeServer::builder().build();
    let now = server.server.backend().clock.now();
    let not_after = now + Duration::from_mins(1);
    let jane = Arc::new(UserInfo::new("jane").authenticated());
    let router = server
        .router()
        .layer(Extension(Peer::Certificate(jane, not_after)));
    let version = async || {
        let request = Request::get("/version").body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap().status()
    };
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(version().await, StatusCode::OK);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(version().await, StatusCode::UNAUTHORIZED);
}
