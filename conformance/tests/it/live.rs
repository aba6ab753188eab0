//! Runs against an API server that other clients use, too: a fake one, treated as a real one.

use std::{
    num::NonZeroU32,
    path::Path,
    process::{Command, Output},
    thread,
    time::Duration,
};

use conformance::{
    live::RealServer,
    participants::subjects::external::Program,
    score::{self, Arena, CONTESTANTS, Cell, Contestant, EXTERNAL},
    seed::Seed,
};
use fakeserver::FakeServer;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Config,
    api::{DeleteParams, PostParams},
};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::sync::CancellationToken;

/// A server on a port of its own.
struct TestServer {
    server: FakeServer,
    url: String,
    /// Drives the server until the test ends.
    runtime: Runtime,
}

// === impl TestServer ===

impl TestServer {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = FakeServer::builder().build();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = {
            let _entered = runtime.enter();
            server.serve(listener, CancellationToken::new())
        };
        runtime.spawn(serving);
        Self {
            server,
            url,
            runtime,
        }
    }

    fn real_server(&self) -> RealServer {
        RealServer::new(Config::new(self.url.parse().unwrap()))
    }

    fn cells(
        &self,
        origins: &[&str],
        contestants: &[Contestant],
        converge_within: Duration,
    ) -> Vec<Cell> {
        let scenarios: Vec<_> = score::scenarios()
            .into_iter()
            .filter(|scenario| origins.contains(&scenario.origin))
            .collect();
        assert_eq!(scenarios.len(), origins.len());
        let subject = format!("{} subject", env!("CARGO_BIN_EXE_conformance"));
        let arena = Arena::new(Seed::new(1), 1)
            .against_server(self.real_server())
            .with_speed(NonZeroU32::new(8).unwrap())
            .with_convergence_limit(converge_within)
            .with_program(Program::new(subject));
        score::run(&scenarios, contestants, &arena, |_| {}).cells
    }
}

/// Runs each informer against a server of its own, both at the same time, and there two scenarios one after the other: the second
/// one finds the server prepared.
#[test]
fn informers_hold_behind_a_proxy_with_faults() {
    let hold = |contestant: Contestant| {
        let served = TestServer::start();
        let cells = served.cells(&["I", "F26"], &[contestant], Duration::from_mins(1));
        assert_eq!(cells.len(), 2);
        for cell in cells {
            assert!(cell.verdict.is_good(), "{cell:#?}");
        }
    };
    thread::scope(|scope| {
        for contestant in [CONTESTANTS[0], EXTERNAL] {
            scope.spawn(move || hold(contestant));
        }
    });
}

#[test]
fn known_failures_of_a_client_occur_here_too() {
    let served = TestServer::start();
    let kube_runtime = CONTESTANTS[2];
    let cells = served.cells(&["B"], &[kube_runtime], Duration::from_secs(3));
    assert_eq!(cells[0].verdict.word(), "hot loop", "{:#?}", cells[0]);
}

#[test]
fn the_objects_of_others_are_left_alone() {
    let served = TestServer::start();
    let client = {
        let _entered = served.runtime.enter();
        served.server.client_named("somebody")
    };
    let mut node = Node::default();
    node.metadata.name = Some("node-7".to_owned());
    let nodes = Api::<Node>::all(client.clone());
    let created = served
        .runtime
        .block_on(nodes.create(&PostParams::default(), &node));
    created.unwrap();
    let error = served.real_server().prepare().unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the server has a node node-7 that no run has made"),
        "{text}"
    );
    let params = DeleteParams::default();
    let deleted = nodes.delete("node-7", &params);
    served.runtime.block_on(deleted).unwrap();
    served.real_server().prepare().unwrap();
    // From now on these names belong to runs.
    let created = served
        .runtime
        .block_on(nodes.create(&PostParams::default(), &node));
    created.unwrap();
    let pods = Api::<Pod>::default_namespaced(client);
    let pod: Pod = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "pod-1"},
        "spec": {"containers": [{"name": "main", "image": "example.com/app:1"}]},
    }))
    .unwrap();
    let made = served
        .runtime
        .block_on(pods.create(&PostParams::default(), &pod));
    made.unwrap();
    served.real_server().prepare().unwrap();
    let node = served.runtime.block_on(nodes.get_opt("node-7")).unwrap();
    assert!(node.is_none());
    // In other namespaces nothing belongs to runs.
    let pod = served.runtime.block_on(pods.get_opt("pod-1")).unwrap();
    assert!(pod.is_some());
}

#[test]
fn controls_of_the_fake_server_are_refused_elsewhere() {
    let is_live = |name: &str| {
        let mut all = score::scenarios().into_iter();
        all.find(|scenario| scenario.name == name)
            .unwrap()
            .can_be_live()
    };
    for name in ["clean_end", "half-a-line", "gone-as-status", "throttle"] {
        assert!(is_live(name), "{name}");
    }
    for name in ["expire", "compact", "restart", "replica", "suspend"] {
        assert!(!is_live(name), "{name}");
    }
}

fn score(args: &[&str], kubeconfig: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command
        .args(["score", "--against", "kubeconfig"])
        .args(args);
    match kubeconfig {
        Some(path) => command.env("KUBECONFIG", path),
        None => command.env_remove("KUBECONFIG"),
    };
    command.output().unwrap()
}

#[test]
fn without_a_kubeconfig_it_is_skipped_aloud() {
    for kubeconfig in [None, Some("")] {
        let output = score(&[], kubeconfig);
        assert!(output.status.success());
        assert_eq!(output.stdout, b"SKIPPED: KUBECONFIG names no cluster\n");
    }
    let output = score(&[], Some("nowhere.yaml"));
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("nowhere.yaml"), "{text}");
    let output = score(&["--scenario", "restart"], Some("nowhere.yaml"));
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("restart is for a server of our own"),
        "{text}"
    );
}

/// Runs against the fake server's program, with TLS and the kubeconfig that it writes.
#[test]
fn a_server_that_a_kubeconfig_names_is_run_against() {
    let conformance = Path::new(env!("CARGO_BIN_EXE_conformance"));
    let fakeserver = conformance.with_file_name("fakeserver");
    if !fakeserver.exists() {
        println!("SKIPPED: the program fakeserver is not built; cargo build --workspace builds it");
        return;
    }
    let output = Command::new(fakeserver)
        .args(["run", "--tls", "--authorization", "rbac", "--"])
        .arg(conformance)
        .args(["score", "--against", "kubeconfig", "--speed", "8"])
        .args(["--subject", "informer", "--scenario", "half-a-line"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{error}");
    assert!(text.contains("half-a-line"), "{text}");
}
