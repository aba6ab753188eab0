//! Connections with containers: commands, attachments, forwarded ports and proxies.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use bytes::Bytes;
use fakeserver::{
    AuditLog, AuditPolicy, Authorization, Controllers, ExecOutput, FakeServer, FakeServerBuilder,
    UserInfo, Workloads,
};
use futures::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Empty};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};
use tokio_util::sync::CancellationToken;

use crate::{
    audit::{Lines, stages},
    support::{Api, PODS, pod},
};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const V4: &str = "v4.channel.k8s.io";
const V5: &str = "v5.channel.k8s.io";
const LIMIT: Duration = Duration::from_secs(20);

/// A server over TCP with the pod `p`, which runs. It is served until the test ends.
struct StreamServer {
    api: Api,
    address: SocketAddr,
    stop: CancellationToken,
}

/// The messages of a connection: bytes by channel.
type ChannelMessages = BTreeMap<u8, Vec<u8>>;

fn builder() -> FakeServerBuilder {
    let workloads = Workloads::default()
        .with_pod_start(Duration::ZERO)
        .with_pod_stop(Duration::ZERO);
    let controllers = Controllers::default()
        .with_service_accounts(true)
        .with_workloads(workloads);
    FakeServer::builder().with_controllers(controllers)
}

/// Serves on an address of this machine until `stop` fires.
async fn listen(server: &FakeServer, stop: &CancellationToken) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
    tokio::spawn(server.serve(listener, stop.clone()));
    address
}

// === impl StreamServer ===

impl StreamServer {
    async fn new() -> Self {
        Self::of(builder()).await
    }

    async fn of(builder: FakeServerBuilder) -> Self {
        let stop = CancellationToken::new();
        let api = Api {
            server: builder.build(),
        };
        let address = listen(&api.server, &stop).await;
        let served = Self { api, address, stop };
        let mut web = pod("p", "");
        web["metadata"]["labels"] = json!({"app": "web"});
        web["spec"]["containers"][0]["env"] = json!([{"name": "MODE", "value": "test"}]);
        served.api.config_map("settings").await;
        web["spec"]["containers"][0]["volumeMounts"] =
            json!([{"name": "settings", "mountPath": "/etc/settings"}]);
        web["spec"]["volumes"] = json!([{"name": "settings", "configMap": {"name": "settings"}}]);
        served.api.post(PODS, &web).await.created();
        served
            .until(async || served.phase("p").await == "Running")
            .await;
        served
    }

    async fn phase(&self, name: &str) -> Value {
        let pod = self.api.get(&format!("{PODS}/{name}")).await.ok();
        pod["status"]["phase"].clone()
    }

    async fn until(&self, mut condition: impl AsyncFnMut() -> bool) {
        let polling = async {
            while !condition().await {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LIMIT, polling).await.expect("it comes to be so");
    }

    async fn open(
        &self,
        path: &str,
        protocol: &str,
    ) -> Result<WebSocketStream<TcpStream>, (u16, String)> {
        let url = format!("ws://{}{path}", self.address);
        let mut request = url.into_client_request().unwrap();
        if !protocol.is_empty() {
            let headers = request.headers_mut();
            headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        match client_async(request, stream).await {
            Ok((socket, answer)) => {
                let spoken = answer.headers().get("sec-websocket-protocol");
                let spoken = spoken.map_or("", |spoken| spoken.to_str().unwrap());
                assert_eq!(spoken, protocol);
                Ok(socket)
            }
            Err(Error::Http(answer)) => {
                let (parts, body) = answer.into_parts();
                let body = String::from_utf8(body.unwrap_or_default()).unwrap();
                Err((parts.status.as_u16(), body))
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Opens a connection with a container of `p`.
    async fn exec(&self, query: &str, protocol: &str) -> WebSocketStream<TcpStream> {
        let path = format!("{PODS}/p/exec?stdout=1&stderr=1&{query}");
        self.open(&path, protocol).await.unwrap()
    }

    /// Runs a command, and returns its outputs and its status.
    async fn run(&self, query: &str) -> (String, String, Value) {
        let mut socket = self.exec(query, V5).await;
        let messages = hear(&mut socket).await;
        let text = |channel| String::from_utf8(messages[&channel].clone()).unwrap();
        let status = serde_json::from_slice(&messages[&3]).unwrap();
        let stderr = messages.contains_key(&2).then(|| text(2));
        (text(1), stderr.unwrap_or_default(), status)
    }
}

impl Drop for StreamServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Hears a connection to its end.
async fn hear(socket: &mut WebSocketStream<TcpStream>) -> ChannelMessages {
    let mut messages = ChannelMessages::new();
    let hearing = async {
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Binary(bytes) => {
                    let (channel, bytes) = bytes.split_first().unwrap();
                    messages.entry(*channel).or_default().extend(bytes);
                }
                Message::Close(_) => break,
                other => panic!("{other:?}"),
            }
        }
    };
    timeout(LIMIT, hearing).await.expect("it ends");
    messages
}

/// Waits for a message of a channel with this text.
async fn expect(socket: &mut WebSocketStream<TcpStream>, channel: u8, text: &str) {
    let mut received = Vec::new();
    let hearing = async {
        while received != text.as_bytes() {
            let message = socket.next().await.unwrap().unwrap().into_data();
            assert_eq!(message[0], channel, "{message:?}");
            received.extend_from_slice(&message[1..]);
        }
    };
    let messages = timeout(LIMIT, hearing).await;
    assert!(messages.is_ok(), "no {text:?} but {received:?}");
}

async fn say(socket: &mut WebSocketStream<TcpStream>, channel: u8, text: &str) {
    let bytes = [&[channel], text.as_bytes()].concat();
    socket.send(Message::binary(bytes)).await.unwrap();
}

fn success() -> Value {
    json!({"metadata": {}, "status": "Success"})
}

#[tokio::test]
async fn commands_run_with_the_variables_and_files_of_their_container() {
    let served = StreamServer::new().await;
    let (stdout, stderr, status) = served.run("command=sh&command=-c&command=echo+$MODE").await;
    assert_eq!((&*stdout, &*stderr, status), ("test\n", "", success()));
    let (stdout, ..) = served.run("command=cat&command=/etc/settings/k").await;
    assert_eq!(stdout, "v");
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    let (stdout, ..) = served
        .run(&format!("command=cat&command={account}/namespace"))
        .await;
    assert_eq!(stdout, "default");
    let (token, ..) = served
        .run(&format!("command=cat&command={account}/token"))
        .await;
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token},
    });
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let review = served.api.post(reviews, &review).await.created();
    let user = &review["status"]["user"];
    assert_eq!(user["username"], "system:serviceaccount:default:default");
}

#[tokio::test]
async fn a_failing_command_reports_its_exit_code() {
    let served = StreamServer::new().await;
    let (stdout, stderr, status) = served.run("command=date&command=foo").await;
    assert_eq!((&*stdout, &*stderr), ("", "date: invalid date 'foo'\n"));
    assert_eq!(
        status,
        json!({
            "metadata": {},
            "status": "Failure",
            "message": "command terminated with non-zero exit code: error executing command [date foo], exit code 1",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": "1"}]},
        })
    );
    let (_, stderr, status) = served.run("command=nginx").await;
    assert!(stderr.contains("executable file not found in $PATH"));
    assert_eq!(status["details"]["causes"][0]["message"], "127");
    // Old protocols have a text, and nothing if all is well.
    let mut socket = served.exec("command=false", "").await;
    let messages = hear(&mut socket).await;
    let text = String::from_utf8_lossy(&messages[&3]);
    assert!(text.ends_with("error executing command [false], exit code 1"));
    let mut socket = served.exec("command=true", "channel.k8s.io").await;
    assert_eq!(
        hear(&mut socket).await,
        ChannelMessages::from([(1, Vec::new())])
    );
}

#[tokio::test]
async fn a_command_reads_the_input_of_its_client() {
    let served = StreamServer::new().await;
    let mut socket = served.exec("command=cat&stdin=1", V5).await;
    say(&mut socket, 0, "foo").await;
    expect(&mut socket, 1, "foo").await;
    say(&mut socket, 4, "{\"Width\":80,\"Height\":25}").await;
    say(&mut socket, 255, "\0").await;
    assert_eq!(
        hear(&mut socket).await[&3],
        success().to_string().as_bytes()
    );
    // Without standard input it is at its end.
    let mut socket = served.exec("command=cat", V4).await;
    assert_eq!(
        hear(&mut socket).await[&3],
        success().to_string().as_bytes()
    );
    // A shell reads commands.
    let mut socket = served.exec("command=sh&stdin=1", V4).await;
    say(&mut socket, 0, "echo a; ech").await;
    say(&mut socket, 0, "o b\nexit 3\n").await;
    let messages = hear(&mut socket).await;
    assert_eq!(messages[&1], b"a\nb\n");
    let status: Value = serde_json::from_slice(&messages[&3]).unwrap();
    assert_eq!(status["details"]["causes"][0]["message"], "3");
}

#[tokio::test]
async fn a_terminal_echoes_typed_text() {
    let served = StreamServer::new().await;
    let mut socket = served.exec("command=sh&stdin=1&tty=1", V5).await;
    expect(&mut socket, 1, "# ").await;
    say(&mut socket, 0, "ecx\x7fho hi\r").await;
    expect(&mut socket, 1, "ecx\x08 \x08ho hi\r\nhi\r\n# ").await;
    say(&mut socket, 0, "sleep infinity\r").await;
    expect(&mut socket, 1, "sleep infinity\r\n").await;
    say(&mut socket, 0, "\x03").await;
    let status: Value = serde_json::from_slice(&hear(&mut socket).await[&3]).unwrap();
    assert_eq!(status["details"]["causes"][0]["message"], "130");
}

#[tokio::test]
async fn bytes_may_be_text_in_base64() {
    let served = StreamServer::new().await;
    let mut socket = served
        .exec("command=cat&stdin=1", "v4.base64.channel.k8s.io")
        .await;
    socket.send(Message::text("0Zm9v")).await.unwrap();
    let mut next = async || socket.next().await.unwrap().unwrap();
    assert_eq!(next().await, Message::text("1"));
    assert_eq!(next().await, Message::text("1Zm9v"));
}

#[tokio::test]
async fn an_attached_client_sees_output_until_the_container_ends() {
    let served = StreamServer::new().await;
    let path = format!("{PODS}/p/attach?stdout=1");
    let mut socket = served.open(&path, V5).await.unwrap();
    let running = served.exec("command=sleep&command=infinity", V5).await;
    served
        .api
        .server
        .write_log("default", "p", "c", "hello")
        .unwrap();
    expect(&mut socket, 1, "hello\n").await;
    served.api.delete(&format!("{PODS}/p")).await.ok();
    let messages = hear(&mut socket).await;
    assert!(messages[&1].starts_with(b"container c ended with exit code"));
    assert_eq!(messages[&3], success().to_string().as_bytes());
    // A command ends with its container.
    let mut socket = running;
    let status: Value = serde_json::from_slice(&hear(&mut socket).await[&3]).unwrap();
    assert_eq!(status["details"]["causes"][0]["message"], "137");
}

#[tokio::test]
async fn a_command_that_reads_nothing_is_interrupted_all_the_same() {
    let served = StreamServer::new().await;
    let sleep = "stdin=1&tty=1&command=sleep&command=infinity";
    let mut socket = served.exec(sleep, V5).await;
    for _ in 0..200 {
        let typed = Bytes::from_static(b"\0typed ahead");
        socket.send(Message::Binary(typed)).await.unwrap();
    }
    let interrupt = Bytes::from_static(b"\0\x03");
    socket.send(Message::Binary(interrupt)).await.unwrap();
    let messages = timeout(LIMIT, hear(&mut socket)).await.unwrap();
    let status: Value = serde_json::from_slice(&messages[&3]).unwrap();
    assert_eq!(status["details"]["causes"][0]["message"], "130");
}

#[tokio::test]
async fn sessions_end_with_the_server() {
    let served = StreamServer::new().await;
    let mut socket = served.exec("command=sleep&command=infinity", V5).await;
    served.api.server.shutdown().await;
    assert!(!hear(&mut socket).await.contains_key(&3));
}

#[tokio::test]
async fn functions_of_the_user_answer_first() {
    let builder = builder().with_exec(|request| {
        assert_eq!((&*request.namespace, &*request.container), ("default", "c"));
        match &*request.command[0] {
            "psql" => Some(ExecOutput::new("1 row\n").with_exit_code(2)),
            _ => None,
        }
    });
    let served = StreamServer::of(builder).await;
    let (stdout, _, status) = served.run("command=psql&command=-c").await;
    assert_eq!(stdout, "1 row\n");
    assert_eq!(status["details"]["causes"][0]["message"], "2");
    assert_eq!(served.run("command=echo").await.0, "\n");
}

#[tokio::test]
async fn invalid_sessions_are_rejected() {
    let served = StreamServer::new().await;
    let exec = format!("{PODS}/p/exec?command=true");
    // In process no connection can be upgraded, and neither can one that does not want to be.
    let refused = served.api.get(&exec).await.refused(400);
    assert_eq!(refused, "Upgrade request required");
    let spdy = [("connection", "upgrade"), ("upgrade", "SPDY/3.1")];
    let answer = served.api.send("POST", &exec, &spdy, "").await;
    let refused = answer.refused(400);
    assert!(refused.contains("kubectl before 1.31"), "{refused}");
    let (code, _) = served.open(&exec, "x").await.unwrap_err();
    assert_eq!(code, 403);
    let other = format!("{PODS}/p/exec?command=true&container=x");
    let (code, body) = served.open(&other, V4).await.unwrap_err();
    assert_eq!(code, 400);
    assert!(
        body.contains("container x is not valid for pod p"),
        "{body}"
    );
    // A pod that waits has no container yet: an old protocol says so in place of the stream.
    let mut waiting = pod("q", "node-0");
    waiting["spec"]["schedulingGates"] = json!([]);
    served.api.post(PODS, &waiting).await.created();
    served
        .until(async || served.phase("q").await == "Running")
        .await;
    let status = json!({"status": {"containerStatuses": []}});
    served
        .api
        .merge(&format!("{PODS}/q/status"), &status)
        .await
        .ok();
    let exec = format!("{PODS}/q/exec?command=true");
    let (code, body) = served.open(&exec, V4).await.unwrap_err();
    assert_eq!((code, &*body), (500, "container not found (\"c\")"));
    let mut socket = served.open(&exec, V5).await.unwrap();
    let status: Value = serde_json::from_slice(&hear(&mut socket).await[&3]).unwrap();
    assert_eq!(
        status["message"],
        "Internal error occurred: unable to upgrade connection: container not found (\"c\")"
    );
}

#[tokio::test]
async fn a_reader_cannot_begin_a_session() {
    let everybody = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "everybody"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"}],
    });
    let builder = builder()
        .with_authorization(Authorization::Rbac)
        .with_object(&everybody)
        .with_token("secret", UserInfo::new("reader"));
    let served = StreamServer::of(builder).await;
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": "default"},
        "rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "reader", "namespace": "default"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    });
    for object in [&role, &binding] {
        served.api.server.apply(object).unwrap();
    }
    let url = format!("ws://{}{PODS}/p/exec?command=true", served.address);
    let mut request = url.into_client_request().unwrap();
    let headers = request.headers_mut();
    headers.insert("authorization", "Bearer secret".parse().unwrap());
    let stream = TcpStream::connect(served.address).await.unwrap();
    let Err(Error::Http(answer)) = client_async(request, stream).await else {
        panic!("it should be refused");
    };
    assert_eq!(answer.status(), 403);
    let body = answer.into_body().unwrap();
    let body = String::from_utf8_lossy(&body);
    assert!(
        body.contains("cannot create resource \\\"pods/exec\\\""),
        "{body}"
    );
}

/// A process that stands for pods: it answers each connection with what it sends, in upper case.
async fn shouting(stop: &CancellationToken) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = stop.clone();
    let serving = async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                let text = buffer[..count].to_ascii_uppercase();
                stream.write_all(&text).await.unwrap();
            }
        }
    };
    #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
    tokio::spawn(async move { stop.run_until_cancelled(serving).await });
    address
}

async fn served_for(address: SocketAddr) -> StreamServer {
    let backend = format!("app=web={address}").parse().unwrap();
    StreamServer::of(builder().with_pod_backend(backend)).await
}

#[tokio::test]
async fn forwarded_ports_reach_the_process_that_stands_for_a_pod() {
    let stop = CancellationToken::new();
    let _stopping = stop.clone().drop_guard();
    let served = served_for(shouting(&stop).await).await;
    for protocol in ["", V4] {
        let path = format!("{PODS}/p/portforward?ports=80&ports=443");
        let mut socket = served.open(&path, protocol).await.unwrap();
        for (channel, port) in [(0, "P\0"), (1, "P\0")] {
            expect(&mut socket, channel, port).await;
        }
        let mut next = async || socket.next().await.unwrap().unwrap();
        assert_eq!(next().await, Message::binary(vec![2, 0xbb, 1]));
        assert_eq!(next().await, Message::binary(vec![3, 0xbb, 1]));
        say(&mut socket, 0, "hello").await;
        expect(&mut socket, 0, "HELLO").await;
    }
    let path = format!("{PODS}/p/portforward");
    let (code, body) = served.open(&path, V4).await.unwrap_err();
    assert_eq!(
        (code, &*body),
        (400, "query parameter \"port\" is required")
    );
    let (code, body) = served
        .open(&format!("{path}?ports=web"), V4)
        .await
        .unwrap_err();
    assert_eq!(code, 400);
    assert!(body.contains("cannot convert to []int32"), "{body}");
}

#[tokio::test]
async fn a_pod_for_which_no_process_stands_refuses_connections() {
    let served = StreamServer::new().await;
    let path = format!("{PODS}/p/portforward?ports=80");
    let mut socket = served.open(&path, V4).await.unwrap();
    let messages = hear(&mut socket).await;
    let error = String::from_utf8_lossy(&messages[&1][2..]);
    assert!(error.starts_with("error forwarding port 80 to pod p, uid "));
    assert!(error.contains("--pod-backend"), "{error}");
    assert_eq!(messages[&0], b"P\0");
}

/// The bytes of kubectl 1.33 for one connection, as it cuts them: a stream of errors, which it ends, one of data, a ping, and data.
const KUBECTL_1_33: [&[u8]; 8] = [
    &[0x80, 3, 0, 1, 0, 0, 0, 0x3d, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    b"\x78\xf9\xe3\xc6\xa7\xc2\x02\x25\x3a\x70\x3a\x2b\x29\x4a\x4d\xcc\x85\x16\x25\xac\xa9\xa0\x80\x86\x14\xcb\
      \x45\xa0\x24\xcc\x64\x61\xc0\xc0\xc0\xc0\x59\x04\x89\xc4\x4c\x50\xe2\x66\x34\x00\x00\x00\x00\xff\xff",
    &[0, 0, 0, 1, 1, 0, 0, 0],
    &[0x80, 3, 0, 1, 0, 0, 0, 0x18, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0],
    b"\xc2\xaa\x15\x54\x0a\x25\x12\xd2\x09\x00\x00\x00\xff\xff",
    PING,
    &[0, 0, 0, 3, 0, 0, 0, 5],
    b"hello",
];
const PING: &[u8] = &[0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1];

#[tokio::test]
async fn ports_are_forwarded_by_streams_of_spdy_within_messages() {
    let stop = CancellationToken::new();
    let _stopping = stop.clone().drop_guard();
    let served = served_for(shouting(&stop).await).await;
    let protocol = "SPDY/3.1+portforward.k8s.io";
    let path = format!("{PODS}/p/portforward");
    let mut socket = served.open(&path, protocol).await.unwrap();
    for bytes in KUBECTL_1_33 {
        let part = Message::binary(Bytes::from_static(bytes));
        socket.send(part).await.unwrap();
    }
    let mut frames = Vec::new();
    let hearing = async {
        while frames.len() < 4 {
            frames.push(socket.next().await.unwrap().unwrap().into_data());
        }
    };
    timeout(LIMIT, hearing).await.expect("frames come");
    // Both streams are accepted, the ping is answered, and the pod's answer is data of the second one.
    assert_eq!(frames[0][..12], [0x80, 3, 0, 2, 0, 0, 0, 20, 0, 0, 0, 1]);
    assert_eq!(frames[1][..12], [0x80, 3, 0, 2, 0, 0, 0, 18, 0, 0, 0, 3]);
    assert_eq!(frames[2], PING);
    assert_eq!(
        frames[3],
        [&[0, 0, 0, 3, 0, 0, 0, 5], &b"HELLO"[..]].concat()
    );
    socket.close(None).await.unwrap();
}

/// Creates the service `web`, and waits until it has the pod.
async fn with_service(served: &StreamServer) {
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]},
    });
    served.api.post(SERVICES, &service).await.created();
    let endpoints = "/api/v1/namespaces/default/endpoints/web";
    served
        .until(async || {
            let found = served.api.get(endpoints).await;
            found.code == 200 && !found.json()["subsets"].is_null()
        })
        .await;
}

#[tokio::test]
async fn proxies_of_pods_and_services_reach_the_process() {
    let stop = CancellationToken::new();
    let _stopping = stop.clone().drop_guard();
    // Another server stands for the pod: it answers HTTP.
    let behind = FakeServer::builder().build();
    let served = served_for(listen(&behind, &stop).await).await;
    with_service(&served).await;
    for place in [
        format!("{PODS}/p/proxy"),
        format!("{PODS}/p:8080/proxy"),
        format!("{PODS}/http:p:8080/proxy"),
        format!("{SERVICES}/web/proxy"),
        format!("{SERVICES}/web:80/proxy"),
        format!("{SERVICES}/web:http/proxy"),
    ] {
        let answer = served
            .api
            .get(&format!("{place}/api/v1/namespaces/default?x=1"))
            .await;
        assert_eq!(answer.ok()["metadata"]["name"], "default", "{place}");
        let moved = served.api.get(&format!("{place}?x=1")).await;
        assert_eq!(moved.code, 301);
        assert_eq!(moved.headers["location"], format!("{place}/?x=1"));
        let missing = served.api.get(&format!("{place}/nothing")).await;
        assert_eq!(missing.code, 404);
    }
    let map = json!({"metadata": {"name": "m"}});
    let maps = format!("{PODS}/p/proxy/api/v1/namespaces/default/configmaps");
    served.api.post(&maps, &map).await.created();
    let created = behind.objects("", "v1", "configmaps");
    assert!(created.iter().any(|map| map.name() == "m"));
    for (path, code, why) in [
        (
            format!("{SERVICES}/web:81/proxy/"),
            503,
            "no service port 81 found for service \"web\"",
        ),
        (
            format!("{SERVICES}/none/proxy/"),
            404,
            "services \"none\" not found",
        ),
        (
            format!("{PODS}/none/proxy/"),
            404,
            "pods \"none\" not found",
        ),
        (
            format!("{PODS}/a:b:c:d/proxy/"),
            400,
            "invalid pod request \"a:b:c:d\"",
        ),
    ] {
        assert_eq!(served.api.get(&path).await.refused(code), why);
    }
    stop.cancel();
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let url = format!("http://{}{PODS}/p/proxy/", served.address);
    served
        .until(async || {
            let answer = client.get(url.parse().unwrap()).await.unwrap();
            let is_gone = answer.status() == 503;
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            is_gone && String::from_utf8_lossy(&body).contains("error trying to reach service: ")
        })
        .await;
}

#[tokio::test]
async fn a_session_is_logged_as_a_switch_of_protocols_until_its_end() {
    let lines = Lines::default();
    let policy =
        "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [
        {level: Request, resources: [{resources: [pods/exec, pods/portforward]}]}, {level: None}]}";
    let log = AuditLog::to_writer(lines.clone(), AuditPolicy::parse(policy).unwrap());
    let served = StreamServer::of(builder().with_audit_log(log)).await;
    lines.take();
    let logged = |verb: &str, stage: &str, code: u16| format!("{verb} Request {stage} {code}");
    let mut socket = served.exec("command=cat&stdin=1", V5).await;
    let started = [logged("get", "ResponseStarted", 101)];
    assert_eq!(stages(&lines.take()), started);
    socket.close(None).await.unwrap();
    let mut events = Vec::new();
    let mut has_ended = async || {
        events.extend(stages(&lines.take()));
        !events.is_empty()
    };
    served.until(&mut has_ended).await;
    assert_eq!(events, [logged("get", "ResponseComplete", 101)]);

    let forward = format!("{PODS}/p/portforward?ports=80");
    let _forward = served.open(&forward, V4).await.unwrap();
    assert_eq!(stages(&lines.take()), started);
    // One that is refused is as before.
    let refused = served
        .open(&format!("{PODS}/none/exec?command=id"), V5)
        .await;
    assert_eq!(refused.unwrap_err().0, 404);
    assert!(stages(&lines.take()).contains(&logged("get", "ResponseComplete", 404)));
}
