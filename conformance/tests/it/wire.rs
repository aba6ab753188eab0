//! `conformance wire`: transcripts against servers by TCP and TLS, its output, its exit status, and recording.

use std::{
    fs,
    net::{SocketAddr, TcpListener as BoundListener},
    path::{Path, PathBuf},
};

use fakeserver::{
    Authorization, Certificates, FakeServer, UserInfo,
    faults::{Fault, ServerError},
};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    runtime::Runtime,
};
use tokio_util::sync::CancellationToken;

use crate::output::{ProgramOutput, conformance};

/// A fake server on a port of its own, and a folder for files.
struct TestServer {
    server: FakeServer,
    address: SocketAddr,
    folder: tempfile::TempDir,
    /// Drives the server until the test ends.
    _runtime: Runtime,
}

// === impl TestServer ===

impl TestServer {
    fn start() -> Self {
        Self::serve(|server, listener| Box::pin(server.serve(listener, CancellationToken::new())))
    }

    fn start_tls(certificates: &Certificates) -> Self {
        let certificates = certificates.clone();
        Self::serve(move |server, listener| {
            Box::pin(server.serve_tls(listener, &certificates, CancellationToken::new()))
        })
    }

    fn serve(
        serving: impl FnOnce(&FakeServer, TcpListener) -> futures::future::BoxFuture<'static, ()>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = FakeServer::builder()
            .with_authorization(Authorization::Rbac)
            .with_anonymous_auth(false)
            .with_token("secret", admin())
            .build();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = {
            let _entered = runtime.enter();
            serving(&server, listener)
        };
        runtime.spawn(serving);
        Self {
            server,
            address,
            folder: tempfile::tempdir().unwrap(),
            _runtime: runtime,
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Plays with the token that the server knows.
    fn wire(&self, args: &[&str]) -> ProgramOutput {
        let url = self.url();
        let server = ["--server", &url, "--token", "secret"];
        wire(&[&server, args].concat())
    }
}

fn wire(args: &[&str]) -> ProgramOutput {
    conformance(&[&["wire"], args].concat())
}

fn admin() -> UserInfo {
    UserInfo::new("admin").with_groups(["system:masters"])
}

fn golden(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    folder.join(name).to_str().unwrap().to_owned()
}

/// Formats a transcript of steps, each a request and the expected answer.
fn transcript(name: &str, ignore: &[&str], steps: &[(Value, Value)]) -> String {
    let steps: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(place, (request, response))| {
            let mut step = json!({"id": format!("s{}", place + 1), "request": request});
            if !response.is_null() {
                step["response"] = response.clone();
            }
            step
        })
        .collect();
    json!({"name": name, "about": "", "ignore": ignore, "steps": steps}).to_string()
}

/// Formats a case that requests the namespace `default` and expects this code.
fn asks_for_default(code: u16) -> String {
    let request = json!({"path": "/api/v1/namespaces/default"});
    let answer = json!({"status": code, "type": "application/json"});
    transcript("dropped-in", &["body"], &[(request, answer)])
}

#[test]
fn a_server_that_answers_as_recorded_is_equal() {
    let served = TestServer::start();
    served
        .wire(&[&golden("update.json"), &golden("watch-basics.json")])
        .exits(0)
        .says("(kube-apiserver v1.36.2)")
        .says("│ watch-basics ┆    15 ┆    15 ┆      0 ┆          0 │")
        .says("31 of 31 steps equal\n")
        .does_not_say("expected");
    // A second run finds the objects of the first.
    served
        .wire(&[&golden("update.json")])
        .exits(1)
        .says("update/ns: POST /api/v1/namespaces\n  .status\n    expected 201\n    got      409\n")
        .says("namespaces \\\"update\\\" already exists")
        .says("update: the server has seen this transcript before");
}

#[test]
fn a_file_that_is_dropped_in_is_played() {
    let served = TestServer::start();
    let same = served.file("same.json", &asks_for_default(200));
    let other = served.file("other.json", &asks_for_default(404));
    served.wire(&[&same]).exits(0).says("1 of 1 steps equal\n");
    served
        .wire(&[&same, &other])
        .exits(1)
        .says("\ndropped-in/s1: GET /api/v1/namespaces/default\n  .status\n    expected 404\n    got      200\n")
        .says("1 of 2 steps equal\n");
}

#[test]
fn a_transcript_that_needs_plugins_is_left_out_aloud() {
    let served = TestServer::start();
    let mut needy: Value = serde_json::from_str(&asks_for_default(200)).unwrap();
    needy["plugins"] = json!(["ServiceAccount"]);
    let needy = served.file("needy.json", &needy.to_string());
    let plain = served.file("plain.json", &asks_for_default(200));
    let left_out = "dropped-in left out: it needs a server with other admission plugins (--plugins ServiceAccount)\n";
    served
        .wire(&[&needy, &plain])
        .exits(0)
        .says("1 of 1 steps equal\n")
        .says(left_out);
    served
        .wire(&[&needy, &plain, "--plugins", "ServiceAccount"])
        .exits(0)
        .says("2 of 2 steps equal\n")
        .does_not_say("left out");
    let printed = served.wire(&[&needy, "--json", "-"]).exits(0);
    let report: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(
        report["left_out"],
        json!([{"name": "dropped-in", "plugins": ["ServiceAccount"]}])
    );
}

#[test]
fn a_server_that_is_wrong_is_found() {
    let served = TestServer::start();
    let rule = served
        .server
        .faults()
        .install(Fault::DuplicateEvent.rule().times(1));
    served
        .wire(&[&golden("watch-basics.json")])
        .exits(1)
        .says("what the watch ")
        .says("  .events.len\n    expected ")
        .says("14 of 15 steps equal\n");
    drop(rule);
    let _rule = served.server.faults().install(
        ServerError::new(StatusCode::BAD_GATEWAY)
            .rule()
            .nth(2)
            .times(1),
    );
    served
        .wire(&[&golden("update.json")])
        .exits(1)
        .says("  .status\n    expected 201\n    got      502\n");
}

#[test]
fn the_report_is_json_too() {
    let served = TestServer::start();
    let other = served.file("other.json", &asks_for_default(404));
    let printed = served.wire(&[&other, "--json", "-"]).exits(1);
    let report: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(report["good"], false);
    assert_eq!(report["equal_count"], 0);
    assert_eq!(
        report["transcripts"][0]["differ"],
        json!([{
            "step": "s1",
            "request": "GET /api/v1/namespaces/default",
            "differences": [{"path": ".status", "expected": 404, "got": 200}],
        }])
    );
    let file = served.path("report.json");
    served
        .wire(&[&other, "--json", file.to_str().unwrap()])
        .exits(1)
        .says("0 of 1 steps equal");
    let written: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(written, report);
}

#[test]
fn controls_of_the_server_are_skipped_with_a_note_or_done_by_a_command() {
    let served = TestServer::start();
    let ask = json!({"path": "/api/v1/namespaces/default"});
    let answer = json!({"status": 200, "type": "application/json"});
    let steps = [
        (ask.clone(), answer.clone()),
        (json!({"control": "rewind"}), Value::Null),
        (ask, answer),
    ];
    let file = served.file("case.json", &transcript("case", &["body"], &steps));
    served
        .wire(&[&file])
        .exits(0)
        .says("case: 1 steps not played: the server has no /_control/rewind: it answered 404")
        .says("--control-command")
        .says("1 of 2 steps equal, 1 not played\n");
    served
        .wire(&[&file, "--control-command", "true"])
        .exits(0)
        .says("2 of 2 steps equal\n");
    served
        .wire(&[&file, "--control-command", "false"])
        .exits(1)
        .says("case: 1 steps not played: false failed");
}

#[test]
fn a_scenario_is_recorded_and_its_transcript_is_equal_on_another_server() {
    let scenario = "
about: a config map comes and goes
steps:
- {id: ns, method: POST, path: /api/v1/namespaces,
   body: {apiVersion: v1, kind: Namespace, metadata: {name: my-case}}}
- {id: made, method: POST, path: /api/v1/namespaces/my-case/configmaps,
   body: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, save: {rv: metadata.resourceVersion}}
- {id: watch, open: w, path: '/api/v1/namespaces/my-case/configmaps?watch=1&resourceVersion=${rv}'}
- {method: DELETE, path: /api/v1/namespaces/my-case/configmaps/a}
- {id: seen, collect: w, events: 1}
";
    let first = TestServer::start();
    let scenario = first.file("my-case.yaml", scenario);
    let folder = first.path("recorded");
    let printed = first.wire(&[&scenario, "--record", folder.to_str().unwrap()]);
    printed.exits(0).says("my-case.json 5 steps\n");

    let file = folder.join("my-case.json");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 7, "a step a line: {text}");
    let recorded: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(recorded["server"], "kube-apiserver v1.36.2");
    assert_eq!(recorded["steps"][3]["id"], "s4");
    assert_eq!(
        recorded["steps"][4]["response"]["events"][0]["type"],
        "DELETED"
    );

    let second = TestServer::start();
    let file = file.to_str().unwrap();
    second.wire(&[file]).exits(0).says("5 of 5 steps equal\n");
    // A transcript is a scenario, too.
    let again = second.path("again");
    let third = TestServer::start();
    third
        .wire(&[file, "--record", again.to_str().unwrap()])
        .exits(0);
    assert_eq!(
        fs::read_to_string(again.join("my-case.json")).unwrap(),
        text
    );
}

#[test]
fn unanswered_steps_are_not_recorded() {
    let served = TestServer::start();
    let file = served.file("bad.yaml", "steps: [{method: 'NO METHOD', path: /version}]");
    let folder = served.path("recorded");
    served
        .wire(&[&file, "--record", folder.to_str().unwrap()])
        .exits(2)
        .complains("bad cannot be recorded: step s1 was not answered");
    assert!(!folder.join("bad.json").exists());
}

#[test]
fn a_kubeconfig_names_server_and_certificates() {
    let certificates = Certificates::new(["localhost"]).unwrap();
    let served = TestServer::start_tls(&certificates);
    let case = served.file("case.json", &asks_for_default(200));
    let client = certificates.client(&admin()).unwrap();
    let authority = served.file("ca.crt", &certificates.authority_pem());
    let certificate = served.file("client.crt", client.certificate_pem());
    let key = served.file("client.key", client.key_pem());
    let url = format!("https://{}", served.address);
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "no-such",
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": authority}}],
        "users": [{"name": "u", "user": {"client-certificate": "client.crt", "client-key": "client.key"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    });
    let kubeconfig = served.file("kubeconfig", &kubeconfig.to_string());
    wire(&["--kubeconfig", &kubeconfig, "--context", "x", &case])
        .exits(0)
        .says("1 of 1 steps equal\n");
    wire(&["--kubeconfig", &kubeconfig, &case])
        .exits(2)
        .complains("no-such");

    let with_token = ["--server", &url, "--certificate-authority", &authority];
    let token = served.file("token", "secret");
    wire(&[&with_token[..], &["--token-file", &token, &case]].concat()).exits(0);
    wire(&[&with_token[..], &["--token", "wrong", &case]].concat())
        .exits(1)
        .says("expected 200\n    got      401\n");
    let pair = ["--client-certificate", &certificate, "--client-key", &key];
    wire(&[&with_token[..], &pair, &[&case]].concat()).exits(0);
    // No authority has signed this certificate.
    wire(&["--server", &url, &case])
        .exits(2)
        .complains("is not reached");
    let unchecked = ["--server", &url, "--insecure-skip-tls-verify"];
    wire(&[&unchecked[..], &["--token", "secret", &case]].concat()).exits(0);
}

#[test]
fn a_server_that_is_not_there_or_does_not_answer_is_distinguished_from_one_that_differs() {
    let port = BoundListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", port.local_addr().unwrap());
    // The system accepts connections, and no process reads them.
    wire(&["--server", &url, "--timeout", "1"])
        .exits(2)
        .complains("is not reached: no answer within 1 s");
    drop(port);
    wire(&["--server", &url])
        .exits(2)
        .complains("is not reached: no answer: ");
}

#[test]
fn a_server_that_goes_away_is_reported() {
    let runtime = Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        drop(listener);
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        stream.write_all(answer).await.unwrap();
    });
    wire(&["--server", &url])
        .exits(2)
        .says("(of unknown version)")
        .says("admission-policies: 35 steps not played: 3 requests in a row were not answered: no answer")
        .says("0 of 37 steps equal, 35 not played\n")
        .complains("was lost: 3 requests in a row were not answered");
}

#[test]
fn a_wrong_command_line_is_reported() {
    let served = TestServer::start();
    let broken = served.file("broken.json", "{\"name\": \"x\"}");
    wire(&[]).exits(2).complains("--server <URL>");
    wire(&["--server", "http://127.0.0.1:1", "--kubeconfig", "x"])
        .exits(2)
        .complains("cannot be used with");
    wire(&["--kubeconfig", "nowhere"])
        .exits(2)
        .complains("nowhere");
    served
        .wire(&["nowhere.json"])
        .exits(2)
        .complains("cannot read nowhere.json");
    served
        .wire(&[&broken])
        .exits(2)
        .complains("is no transcript");
    served
        .wire(&["--record", "x"])
        .exits(2)
        .complains("<TRANSCRIPT>...");
}
