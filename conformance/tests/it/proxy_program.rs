//! The proxy as a program.

use std::process::Stdio;

use fakeserver::value::yaml;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, api::ListParams};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use super::proxy::{World, configured, within};

/// The program in front of a server, with its output line by line.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

// === impl Program ===

impl Program {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .arg("proxy")
            .args(["--listen", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn line(&mut self) -> String {
        within(self.lines.next_line())
            .await
            .unwrap()
            .expect("a line")
    }

    /// Sends a signal and returns the exit status.
    async fn end(&mut self, signal: Signal) -> Option<i32> {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
        within(self.child.wait()).await.unwrap().code()
    }
}

#[tokio::test]
async fn the_program_reports_where_it_is_what_fires_and_what_has_fired() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (faults, config) = (
        folder.path().join("faults.json"),
        folder.path().join("config"),
    );
    let throttle = json!([
        {"fault": "throttle", "match": {"verb": "list"}, "when": {"times": 2}},
        {"fault": "latency", "requestMs": 1, "match": {"verb": "get"}},
    ]);
    std::fs::write(&faults, throttle.to_string()).unwrap();
    let upstream = format!("http://{}", world.address);
    let mut program = Program::start(&[
        "--upstream",
        &upstream,
        "--faults",
        faults.to_str().unwrap(),
        "--write-kubeconfig",
        config.to_str().unwrap(),
    ]);
    let listening = program.line().await;
    let url = listening
        .strip_prefix("listening on ")
        .expect("where it is");
    let command = program.line().await;
    assert!(
        command.ends_with(" --context fakeserver-proxy get nodes"),
        "{command}"
    );
    assert_eq!(program.line().await, "2 faults in force");
    let file = config;
    let written: Value = yaml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["clusters"][0]["cluster"]["server"], url);

    let mut config = configured(written).await;
    config.default_retry = false;
    let spaces: Api<Namespace> = Api::all(Client::try_from(config).unwrap());
    for _ in 0..2 {
        within(spaces.list(&ListParams::default()))
            .await
            .unwrap_err();
        let line = program.line().await;
        assert!(line.ends_with(" list namespaces at 0"), "{line}");
        assert!(line.contains(" s  throttle "), "{line}");
    }
    assert_eq!(
        within(spaces.list(&ListParams::default()))
            .await
            .unwrap()
            .items
            .len(),
        4
    );

    assert_eq!(program.end(Signal::INT).await, Some(0));
    let mut table = String::new();
    while let Some(line) = within(program.lines.next_line()).await.unwrap() {
        table.push_str(&line);
    }
    assert!(table.contains("throttle") && table.contains('2'), "{table}");
    assert!(!table.contains("latency"), "{table}");
    assert!(!file.exists(), "the proxy has created it");
}

#[tokio::test]
async fn the_program_says_what_is_wrong_and_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let compact = file("compact.json", r#"{"fault": "compact"}"#);
    let unknown = file(
        "unknown.json",
        r#"[{"fault": "silence"}, {"fault": "latency", "x": 1}]"#,
    );
    let broken = file("broken.json", "[");
    let upstream = ["--upstream", "http://127.0.0.1:1"];
    for (args, expected) in [
        (vec![], "required"),
        (vec!["--upstream", "nowhere"], "a URL is wanted"),
        (vec!["--kubeconfig", "nowhere.yaml"], "nowhere.yaml"),
        (
            [&upstream[..], &["--faults", &compact]].concat(),
            "\"compact\" cannot be made by a proxy",
        ),
        (
            [&upstream[..], &["--faults", &unknown]].concat(),
            "unknown.json: [1].x: ",
        ),
        (
            [&upstream[..], &["--faults", &broken]].concat(),
            "broken.json: no JSON: EOF",
        ),
        (
            [&upstream[..], &["--listen", "192.0.2.1:1"]].concat(),
            "cannot listen on 192.0.2.1:1",
        ),
        (
            [
                &upstream[..],
                &[
                    "--write-kubeconfig",
                    "/no/such/config",
                    "--listen",
                    "127.0.0.1:0",
                ],
            ]
            .concat(),
            "cannot write the kubeconfig /no/such/config",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
        let output = within(command.arg("proxy").args(&args).output())
            .await
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

#[tokio::test]
async fn the_program_adds_itself_to_the_kubeconfig_that_it_reads() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let mine = format!(
        "kind: Config # mine\nclusters:\n- name: a\n  cluster: {{server: 'http://{}'}}\ncontexts:\n\
         - name: a\n  context: {{cluster: a, user: a}}\nusers: [{{name: a}}]\ncurrent-context: a\n",
        world.address
    );
    std::fs::write(&file, &mine).unwrap();
    let path = file.to_str().unwrap();
    let options = [
        "--kubeconfig",
        path,
        "--write-kubeconfig",
        path,
        "--use-context",
    ];
    let read = || -> Value { yaml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap() };
    for signal in [Signal::KILL, Signal::INT] {
        // The second one must not stand in front of the first, which is dead.
        let mut program = Program::start(&options);
        let listening = program.line().await;
        let config = read();
        assert_eq!(config["current-context"], "fakeserver-proxy");
        let contexts = config["contexts"].as_array().unwrap();
        assert_eq!(contexts.len(), 2, "{config}");
        let spaces: Api<Namespace> = Api::all(Client::try_from(configured(config).await).unwrap());
        let list = within(spaces.list(&ListParams::default())).await.unwrap();
        assert_eq!(list.items.len(), 4, "{listening}");
        program.end(signal).await;
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);

    std::fs::write(&file, mine.replace("name: a", "name: fakeserver-proxy")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let command = command
        .arg("proxy")
        .args(["--upstream", "http://127.0.0.1:1"]);
    let output = within(command.args(["--write-kubeconfig", path]).output());
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"", "it does not listen");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("; --write-context gives ours another name"),
        "{text}"
    );
}
