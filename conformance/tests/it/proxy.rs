//! The proxy over loopback: a client and an informer behind it, and each of its faults.

use std::{collections::BTreeMap, io, net::SocketAddr, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use conformance::proxy::Proxy;
use fakeserver::{
    Authorization, Certificates, FakeServer, Listener, UserInfo,
    faults::{Fault, FaultSpec},
};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use informer::{
    Scope, SharedInformer,
    http::HttpListWatch,
    reflector::{BackoffOptions, ReflectorOptions},
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ListParams, ObjectMeta, PostParams},
    client::Body,
    config::{KubeConfigOptions, Kubeconfig as Source},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::yield_now,
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A limit that no test here reaches.
const PATIENCE: Duration = Duration::from_secs(30);
/// A new cluster has four namespaces, in this order.
const WATCH: &str = "/api/v1/namespaces?watch=1";
const NAMES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// A server and a proxy in front of it, until the test ends.
pub(super) struct World {
    server: FakeServer,
    /// Serves the server.
    _upstream: DropGuard,
    proxy: Proxy,
    pub(super) address: SocketAddr,
    _stop: DropGuard,
}

pub(super) async fn within<T>(task: impl Future<Output = T>) -> T {
    timeout(PATIENCE, task)
        .await
        .expect("it does not take long")
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

fn at(address: SocketAddr) -> Config {
    Config::new(format!("http://{address}").parse().unwrap())
}

// === impl World ===

impl World {
    pub(super) async fn new() -> Self {
        let server = FakeServer::builder().build();
        let (listener, address) = listener().await;
        let stop = CancellationToken::new();
        spawn(server.serve(listener, stop.clone()));
        Self::of(server, at(address), stop.drop_guard()).await
    }

    async fn of(server: FakeServer, config: Config, upstream: DropGuard) -> Self {
        let proxy = Proxy::new(config).unwrap();
        let (listener, address) = listener().await;
        let stop = CancellationToken::new();
        let (serving, stopping) = (proxy.clone(), stop.clone());
        spawn(async move { serving.serve(Listener::new(listener), stopping).await });
        Self {
            server,
            _upstream: upstream,
            proxy,
            address,
            _stop: stop.drop_guard(),
        }
    }

    fn install(&self, spec: Value) {
        let spec = FaultSpec::from_value(spec).unwrap();
        self.proxy.install(&spec).unwrap().detach();
    }

    fn client(&self) -> Client {
        let mut config = at(self.address);
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = request.header("content-type", "application/json");
        let request = request.body(Body::from(body.into_bytes())).unwrap();
        let response = within(self.client().send(request)).await.unwrap();
        let status = response.status();
        let bytes = within(response.into_body().collect())
            .await
            .unwrap()
            .to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Watches namespaces, and returns the events, as type and name, and the end. The server ends the watch after this
    /// number of events.
    async fn watched(&self, until: usize) -> (Vec<String>, Result<String, String>) {
        let request = Request::get(WATCH).body(Body::empty()).unwrap();
        let response = within(self.client().send(request)).await.unwrap();
        let mut body = response.into_body();
        let mut text = Vec::new();
        let end = loop {
            if text.split_inclusive(|byte| *byte == b'\n').count() == until {
                self.server.disconnect();
            }
            match within(body.frame()).await {
                Some(Ok(frame)) => text.extend_from_slice(frame.data_ref().unwrap()),
                None => break Ok(()),
                Some(Err(error)) => break Err(format!("{error:?}")),
            }
        };
        let text = String::from_utf8(text).unwrap();
        let (whole, rest) = text.rsplit_once('\n').unwrap_or(("", &text));
        let events = whole.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            let kind = event["type"].as_str().unwrap();
            let name = event["object"]["metadata"]["name"].as_str();
            let name = name.or(event["object"]["reason"].as_str()).unwrap_or("-");
            format!("{kind} {name}")
        });
        (events.collect(), end.map(|()| rest.to_owned()))
    }
}

fn added(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("ADDED {name}")).collect()
}

fn map(name: &str, value: u32) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("value".to_owned(), value.to_string())].into()),
        ..ConfigMap::default()
    }
}

/// Returns the names and versions of a server's config maps.
fn stored(server: &FakeServer) -> BTreeMap<String, String> {
    let objects = server.objects("", "v1", "configmaps");
    let own = objects
        .iter()
        .filter(|object| object.namespace() == Some("default"));
    own.map(|object| (object.name().to_string(), object.revision().to_string()))
        .collect()
}

#[tokio::test]
async fn an_informer_behind_a_proxy_converges_whatever_breaks() {
    let world = World::new().await;
    let writer: Api<ConfigMap> = Api::default_namespaced(world.client());
    let parameters = PostParams::default();
    for name in ["a", "b", "c"] {
        within(writer.create(&parameters, &map(name, 0)))
            .await
            .unwrap();
    }
    let list_watch =
        HttpListWatch::<ConfigMap>::new(world.client(), Scope::Namespace("default".to_owned()));
    // There is no load to spare here.
    let backoff = BackoffOptions::default()
        .with_initial(Duration::from_millis(10))
        .with_max(Duration::from_millis(100));
    let options = ReflectorOptions::default().with_backoff(backoff);
    let informer = SharedInformer::builder(list_watch).with_options(options);
    let informer = informer.build().unwrap();
    informer.start();
    informer.wait_for_cache_sync(PATIENCE).await.unwrap();
    for spec in [
        json!({"fault": "reset_mid_line", "match": {"resource": "configmaps"}, "when": {"times": 1}}),
        json!({"fault": "expired_event", "match": {"resource": "configmaps"}, "when": {"times": 1}}),
        json!({"fault": "clean_end", "match": {"resource": "configmaps"}, "when": {"times": 2}}),
        json!({"fault": "server_error", "code": 503, "match": {"verb": "watch"}, "when": {"times": 1}}),
    ] {
        world.install(spec);
    }
    within(writer.delete("b", &DeleteParams::default()))
        .await
        .unwrap();
    within(writer.replace("a", &parameters, &map("a", 1)))
        .await
        .unwrap();
    within(writer.create(&parameters, &map("d", 0)))
        .await
        .unwrap();
    let cached = || -> BTreeMap<String, String> {
        let objects = informer.store().list();
        let objects = objects.iter();
        objects
            .map(|object| {
                (
                    object.key().name().to_owned(),
                    object.resource_version().to_string(),
                )
            })
            .collect()
    };
    within(async {
        while cached() != stored(&world.server) {
            yield_now().await;
        }
    })
    .await;
    assert_eq!(cached().into_keys().collect::<Vec<_>>(), ["a", "c", "d"]);
    assert!(world.proxy.faults().fired().contains_key("reset_mid_line"));
    // The server has no part in it.
    assert!(world.server.faults().fired().is_empty());
}

#[tokio::test]
async fn without_faults_everything_passes() {
    let world = World::new().await;
    let (events, end) = world.watched(4).await;
    assert_eq!((events, end), (added(&NAMES), Ok(String::new())));
    let api: Api<Namespace> = Api::all(world.client());
    let list = within(api.list(&ListParams::default().limit(3)))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 3);
    assert!(list.metadata.continue_.is_some());
    let (status, version) = world.send("GET", "/version", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    assert!(version["gitVersion"].is_string());
    let (status, refusal) = world
        .send("GET", "/api/v1/namespaces/none", Value::Null)
        .await;
    assert_eq!(
        (status.as_u16(), &refusal["reason"]),
        (404, &json!("NotFound"))
    );
    assert!(world.proxy.faults().firings().is_empty());
}

#[tokio::test]
async fn each_fault_of_frames_has_its_effect() {
    let [one, two, three, four] = NAMES;
    let second = json!({"nth": 2, "times": 1});
    for (fault, until, expected) in [
        ("clean_end", 9, added(&[one])),
        ("drop_event", 3, added(&[one, three, four])),
        ("duplicate_event", 5, added(&[one, two, two, three, four])),
        ("reorder_events", 4, added(&[one, three, two, four])),
    ] {
        let world = World::new().await;
        world.install(json!({"fault": fault, "when": second}));
        let (events, end) = world.watched(until).await;
        assert_eq!((events, end), (expected, Ok(String::new())), "{fault}");
        assert_eq!(world.proxy.faults().fired().get(fault), Some(&1), "{fault}");
    }
    for fault in [
        json!({"fault": "rechunk", "when": {"seed": 3}}),
        json!({"fault": "trickle", "bytes": 64, "everyMs": 1}),
        json!({"fault": "unknown_fields"}),
    ] {
        let world = World::new().await;
        world.install(fault.clone());
        let (events, end) = world.watched(4).await;
        assert_eq!((events, end), (added(&NAMES), Ok(String::new())), "{fault}");
        assert!(!world.proxy.faults().fired().is_empty(), "{fault}");
    }
    let world = World::new().await;
    world.install(json!({"fault": "expired_event", "when": second}));
    let (events, end) = world.watched(9).await;
    assert_eq!(events, ["ADDED default", "ERROR Expired"]);
    assert_eq!(end, Ok(String::new()));

    let world = World::new().await;
    world.install(json!({"fault": "reset_mid_line", "when": second}));
    let (events, end) = world.watched(9).await;
    assert_eq!(events, added(&[one]));
    assert!(end.unwrap_err().contains("ConnectionReset"));
}

/// Reads the body of a watch until this number of events is complete.
async fn read_events(stream: &mut TcpStream, count: usize) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.matches("}\n\r\n").count() == count {
            return text;
        }
        let read = within(stream.read_buf(&mut bytes)).await.unwrap();
        assert_ne!(read, 0, "{text}");
    }
}

/// Opens a connection with a watch of namespaces.
async fn watching(world: &World) -> TcpStream {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let request = format!("GET {WATCH} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_silent_watch_stays_open_and_ends_with_the_proxy() {
    let world = World::new().await;
    world.install(json!({"fault": "silence", "when": {"nth": 3}}));
    let mut stream = watching(&world).await;
    let text = read_events(&mut stream, 2).await;
    assert!(text.contains(NAMES[1]), "{text}");
    while world.proxy.faults().fired().is_empty() {
        yield_now().await;
    }
    // Further output of the server is not read.
    world.server.disconnect();
    let (status, _) = world.send("GET", "/version", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    let nothing = stream.try_read(&mut [0; 64]).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn faults_of_requests_are_answers_delays_and_failures() {
    let world = World::new().await;
    world.install(json!({"fault": "throttle", "retryAfterSeconds": 7, "when": {"times": 1}}));
    let request = Request::get("/api/v1/namespaces")
        .body(Body::empty())
        .unwrap();
    let answer = within(world.client().send(request)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.headers()["retry-after"], "7");
    // Requests outside of the API meet no faults.
    world.install(json!({"fault": "connection_refused", "match": {"verb": "list"}}));
    let (status, _) = world.send("GET", "/version", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    let request = Request::get("/api/v1/namespaces")
        .body(Body::empty())
        .unwrap();
    assert!(within(world.client().send(request)).await.is_err());
    let (status, _) = world
        .send("GET", "/api/v1/namespaces/default", Value::Null)
        .await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn bodies_arrive_slowly_by_half_or_with_more_in_them() {
    let world = World::new().await;
    let (_, whole) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
    for fault in [
        json!({"fault": "rechunk"}),
        json!({"fault": "trickle", "bytes": 500, "everyMs": 1}),
    ] {
        let world = World::new().await;
        world.install(fault.clone());
        let (status, list) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(list["items"].as_array().unwrap().len(), 4, "{fault}");
    }
    let world = World::new().await;
    world.install(json!({"fault": "unknown_fields", "match": {"verb": "list"}}));
    let (_, list) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
    assert_ne!(list["items"][0], whole["items"][0]);
    assert_eq!(list["items"][0]["spec"], whole["items"][0]["spec"]);

    let world = World::new().await;
    world.install(json!({"fault": "reset_mid_body"}));
    let request = Request::get("/api/v1/namespaces")
        .body(Body::empty())
        .unwrap();
    let answer = within(world.client().send(request)).await.unwrap();
    let error = within(answer.into_body().collect()).await.unwrap_err();
    assert!(
        format!("{error:?}").contains("ConnectionReset"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_has_been_done() {
    let world = World::new().await;
    world.install(
        json!({"fault": "lost_answer", "match": {"verb": "create"}, "when": {"times": 1}}),
    );
    let writer: Api<ConfigMap> = Api::default_namespaced(world.client());
    let parameters = PostParams::default();
    within(writer.create(&parameters, &map("a", 0)))
        .await
        .unwrap_err();
    assert_eq!(stored(&world.server).len(), 1);
    let again = within(writer.create(&parameters, &map("a", 0)))
        .await
        .unwrap_err();
    assert!(again.to_string().contains("already exists"), "{again}");
}

#[tokio::test]
async fn late_headers_come_after_the_write_and_before_the_whole_body() {
    let world = World::new().await;
    let fault =
        |delay_ms| json!({"fault": "slow_headers", "delayMs": delay_ms, "when": {"times": 1}});
    let writer: Api<ConfigMap> = Api::default_namespaced(world.client());
    let parameters = PostParams::default();
    world.install(fault(60_000));
    let late = map("a", 0);
    let written = async {
        while stored(&world.server).is_empty() {
            yield_now().await;
        }
    };
    tokio::select! {
        biased;
        answer = writer.create(&parameters, &late) => panic!("{answer:?}"),
        () = within(written) => {}
    }

    world.install(fault(100));
    let start = Instant::now();
    let list = within(writer.list(&ListParams::default())).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert_eq!(list.items.len(), 1);

    world.install(fault(100));
    let (events, end) = world.watched(4).await;
    assert_eq!((events, end), (added(&NAMES), Ok(String::new())));
    assert_eq!(world.proxy.faults().fired().get("slow_headers"), Some(&3));
}

#[tokio::test]
async fn a_server_too_old_for_streaming_lists_is_made_of_a_new_one() {
    let world = World::new().await;
    world.install(json!({"fault": "watch_list_ignored"}));
    let path = format!(
        "{WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let request = Request::get(path).body(Body::empty()).unwrap();
    drop(within(world.client().send(request)).await.unwrap());
    let requests = world.server.take_requests();
    let watch = requests
        .iter()
        .find(|request| request.facts.verb == "watch")
        .unwrap();
    assert_eq!(watch.parameter("sendInitialEvents"), None);
    assert_eq!(watch.parameter("allowWatchBookmarks"), Some("true"));
}

#[tokio::test]
async fn a_watch_that_breaks_behind_the_proxy_breaks_before_it() {
    let world = World::new().await;
    let mut stream = watching(&world).await;
    read_events(&mut stream, 4).await;
    let rule = Fault::ResetMidLine.rule();
    let _broken = world.server.faults().install(rule);
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}});
    world.server.apply(&space).unwrap();
    let mut rest = Vec::new();
    let end = within(stream.read_to_end(&mut rest)).await;
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert!(!String::from_utf8_lossy(&rest).contains("\n0\r\n"));
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_a_bad_gateway() {
    // An address without a listener.
    let (gone, address) = listener().await;
    drop(gone);
    let server = FakeServer::builder().build();
    let world = World::of(server, at(address), CancellationToken::new().drop_guard()).await;
    let (status, answer) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert_eq!(answer["kind"], "Status");
    assert_eq!(answer["code"], 502);
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.starts_with("the proxy cannot reach the upstream: "),
        "{message}"
    );
}

#[tokio::test]
async fn a_body_that_is_too_long_does_not_go_on() {
    let world = World::new().await;
    let long = json!({"data": {"k": "x".repeat(5 << 20)}});
    let path = "/api/v1/namespaces/default/configmaps";
    let (status, answer) = world.send("POST", path, long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer["reason"], "RequestEntityTooLarge");
    assert!(world.server.take_requests().is_empty());
}

#[tokio::test]
async fn faults_are_installed_listed_and_removed_from_outside() {
    let world = World::new().await;
    let path = "/_control/faults";
    let spec = json!({"fault": "forbidden", "match": {"verb": "list"}});
    let (status, installed) = world.send("POST", path, spec).await;
    assert_eq!(status, StatusCode::CREATED, "{installed}");
    let id = installed["items"][0]["id"].as_u64().unwrap();
    let (status, _) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (_, listed) = world.send("GET", path, Value::Null).await;
    assert_eq!(listed["items"][0]["id"], id);
    assert_eq!(listed["items"][0]["fired"], 1);
    assert_eq!(listed["items"][0]["spec"]["fault"], "forbidden");

    let (status, refusal) = world.send("POST", path, json!({"fault": "compact"})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let message = refusal["message"].as_str().unwrap();
    assert!(
        message.contains("\"compact\" cannot be made by a proxy"),
        "{message}"
    );
    let (status, refusal) = world
        .send("POST", path, json!({"fault": "throttle", "x": 1}))
        .await;
    assert_eq!((status.as_u16(), &refusal["code"]), (400, &json!(400)));

    let one = format!("{path}/{id}");
    let (status, _) = world.send("DELETE", &one, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = world.send("DELETE", &one, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) = world.send("GET", "/api/v1/namespaces", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        world
            .server
            .take_requests()
            .iter()
            .all(|requests| !requests.path.contains("_control"))
    );
}

#[tokio::test]
async fn both_sides_may_speak_tls_and_the_proxy_brings_the_credentials() {
    let server = FakeServer::builder()
        .with_authorization(Authorization::Rbac)
        .with_token(
            "secret",
            UserInfo::new("jane").with_groups(["system:masters"]),
        )
        .build();
    let behind = Certificates::new(["127.0.0.1"]).unwrap();
    let (tcp, address) = listener().await;
    let stop = CancellationToken::new();
    spawn(server.serve_tls(tcp, &behind, stop.clone()));
    let mut source = kubeconfig(address, &behind);
    source["users"][0]["user"]["token"] = "secret".into();
    let config = configured(source).await;
    let proxy = Proxy::new(config).unwrap();

    let front = Certificates::new(["127.0.0.1"]).unwrap();
    let (tcp, address) = listener().await;
    let serving = Listener::new(tcp).with_certificates(&front);
    let (between, until) = (proxy.clone(), stop.clone());
    spawn(async move { between.serve(serving, until).await });
    let own = configured(kubeconfig(address, &front)).await;
    let client = Client::try_from(own).unwrap();
    let spaces: Api<Namespace> = Api::all(client);
    let list = within(spaces.list(&ListParams::default())).await.unwrap();
    assert_eq!(list.items.len(), 4);
    stop.cancel();
}

fn kubeconfig(address: SocketAddr, certificates: &Certificates) -> Value {
    let authority = STANDARD.encode(certificates.authority_pem());
    let cluster =
        json!({"server": format!("https://{address}"), "certificate-authority-data": authority});
    json!({
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    })
}

pub(super) async fn configured(kubeconfig: Value) -> Config {
    let source: Source = serde_json::from_value(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(source, &options)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_websocket_goes_through() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    let request = format!(
        "GET {WATCH} HTTP/1.1\r\nHost: x\r\nOrigin: http://localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains(NAMES[3]) {
        let mut part = [0; 4_096];
        let read = within(stream.read(&mut part)).await.unwrap();
        assert_ne!(read, 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    assert!(text.starts_with("HTTP/1.1 101 "), "{text}");
    assert!(text.contains("{\"type\":\"ADDED\""), "{text}");
    // The end of one side is the end of the other.
    drop(stream);
    while world.server.stats().watchers > 0 {
        yield_now().await;
    }
}

#[tokio::test]
async fn other_forms_of_watches_pass_as_they_are() {
    let world = World::new().await;
    world.install(json!({"fault": "drop_event"}));
    let request = Request::get(WATCH)
        .header("accept", "application/vnd.kubernetes.protobuf;stream=watch")
        .body(Body::empty())
        .unwrap();
    let response = within(world.client().send(request)).await.unwrap();
    let mut body = response.into_body();
    let mut text = String::new();
    while !NAMES.iter().all(|name| text.contains(name)) {
        let frame = within(body.frame()).await.unwrap().unwrap();
        text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
    assert!(world.proxy.faults().fired().is_empty());
}

#[tokio::test]
async fn over_http_2_a_reset_ends_one_watch_and_goaway_lets_the_others_finish() {
    let world = World::new().await;
    let reset = json!({"fault": "reset_mid_line", "match": {"client": "unlucky"}});
    world.install(reset);
    let stream = TcpStream::connect(world.address).await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = within(handshake).await.unwrap();
    spawn(async move { drop(connection.await) });
    let mut watch = |client: &str| {
        let request = Request::get(format!("http://x{WATCH}")).header("user-agent", client);
        sender.send_request(request.body(Empty::<Bytes>::new()).unwrap())
    };
    let mut unlucky = within(watch("unlucky")).await.unwrap().into_body();
    let mut lucky = within(watch("lucky")).await.unwrap().into_body();
    let error = loop {
        match within(unlucky.frame()).await.unwrap() {
            Ok(_) => {}
            Err(error) => break format!("{error:?}"),
        }
    };
    assert!(error.contains("Reset("), "{error}");
    world.install(json!({"fault": "go_away", "match": {"client": "lucky"}, "when": {"times": 1}}));
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}});
    world.server.apply(&space).unwrap();
    let mut text = String::new();
    while !text.contains("\"name\":\"new\"") {
        let frame = within(lucky.frame()).await.unwrap().unwrap();
        text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
    // Requests from before GOAWAY are still answered.
    within(async { while watch("later").await.is_ok() {} }).await;
    world.server.disconnect();
    while let Some(frame) = within(lucky.frame()).await {
        assert!(frame.is_ok(), "it ends in good order: {frame:?}");
    }
}
