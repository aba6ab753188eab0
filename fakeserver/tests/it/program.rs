//! The program, as a process.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio, time::Duration};

use fakeserver::faults::Fault;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStdout, Command},
    task::yield_now,
    time::timeout,
};

/// Processes get as long as a busy machine may need.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

pub(super) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fakeserver"));
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

/// Starts a server, and returns its address and the remaining lines of its output.
async fn serving(kubeconfig: &Path) -> (Child, String, Lines<BufReader<ChildStdout>>) {
    let mut child = program()
        .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"])
        .arg(kubeconfig)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let url = first.strip_prefix("listening on ").unwrap().to_owned();
    (child, url, lines)
}

pub(super) async fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    answer
}

pub(super) async fn signal(child: &Child, name: &str) {
    let pid = child.id().unwrap().to_string();
    let killed = Command::new("kill")
        .args([name, &pid])
        .status()
        .await
        .unwrap();
    assert!(killed.success());
}

#[tokio::test]
async fn the_program_prints_its_address_and_stops_at_a_signal() {
    for name in ["-INT", "-TERM"] {
        let directory = tempfile::tempdir().unwrap();
        let kubeconfig = directory.path().join("kubeconfig");
        let (mut child, url, mut lines) = serving(&kubeconfig).await;
        let command = lines.next_line().await.unwrap().unwrap();
        assert!(command.starts_with("kubectl --kubeconfig "), "{command}");
        let config = std::fs::read_to_string(&kubeconfig).unwrap();
        assert!(config.contains(&format!("server: {url}\n")), "{config}");
        let answer = get(&url, "/api/v1/namespaces/default").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        signal(&child, name).await;
        let status = timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
        assert!(status.success(), "{name}: {status}");
        assert_eq!(lines.next_line().await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_program_ends_with_its_parent_on_request() {
    let program = env!("CARGO_BIN_EXE_fakeserver");
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("own");
    let kubeconfig = folder.join("kubeconfig");
    let kubeconfig = kubeconfig.to_str().unwrap();
    let files = format!("--kubeconfig {kubeconfig} --own-folder");
    let script = format!(
        "{program} serve --listen 127.0.0.1:0 {files} --end-with-parent </dev/null & echo; wait"
    );
    let mut parent = Command::new("sh")
        .args(["-c", &script])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let listening = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(url) = line.strip_prefix("listening on ") {
                return url.to_owned();
            }
        }
        panic!("it does not listen");
    };
    let url = timeout(PATIENCE, listening).await.unwrap();
    let answer = get(&url, "/version").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(lines.next_line().await.unwrap().is_some(), "the export");
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    std::fs::write(folder.join("copy"), "of a client").unwrap();
    parent.kill().await.unwrap();
    // The output ends with the last process that could write to it.
    let end = timeout(PATIENCE, lines.next_line()).await.unwrap();
    assert_eq!(end.unwrap(), None);
    assert!(directory.path().exists());
    assert!(!folder.exists(), "it is left");
}

#[tokio::test]
async fn a_command_runs_beside_a_server_and_gives_its_status() {
    let command = r#"grep -q '^    server: http://127.0.0.1:' "$KUBECONFIG" && exit 7"#;
    let status = program().args(["run", "--", "sh", "-c", command]).status();
    let status = timeout(PATIENCE, status).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(7));
    let status = program().args(["run", "--", "true"]).status();
    assert!(timeout(PATIENCE, status).await.unwrap().unwrap().success());
}

/// Waits until a process has `count` children.
async fn has_children(process: &Child, count: usize) {
    let id = process.id().unwrap();
    let children = format!("/proc/{id}/task/{id}/children");
    while std::fs::read_to_string(&children)
        .unwrap()
        .split_whitespace()
        .count()
        < count
    {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_command_does_not_outlive_a_server_that_is_killed() {
    // The second one ignores that it is asked to end.
    for command in [
        "echo $KUBECONFIG; exec sleep 600",
        "trap '' TERM; echo $KUBECONFIG; exec sleep 600",
    ] {
        let mut child = program()
            .args(["run", "--", "sh", "-c", command])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = timeout(PATIENCE, lines.next_line()).await.unwrap();
        let kubeconfig = first.unwrap().unwrap();
        assert!(Path::new(&kubeconfig).exists(), "{kubeconfig}");
        timeout(PATIENCE, has_children(&child, 2)).await.unwrap();
        child.kill().await.unwrap();
        // The output ends with the last process that could write to it.
        let end = timeout(PATIENCE, lines.next_line()).await.unwrap();
        assert_eq!(end.unwrap(), None);
        assert!(!Path::new(&kubeconfig).exists(), "{kubeconfig}");
    }
}

#[tokio::test]
async fn errors_name_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let (_child, url, _lines) = serving(&directory.path().join("kubeconfig")).await;
    let address = url.strip_prefix("http://").unwrap();
    let taken = program().args(["serve", "--listen", address]).output();
    let taken = timeout(PATIENCE, taken).await.unwrap().unwrap();
    assert!(!taken.status.success());
    let stderr = String::from_utf8(taken.stderr).unwrap();
    assert!(
        stderr.contains("`--listen 127.0.0.1:0` takes a free port"),
        "{stderr}"
    );
    let absent = program()
        .args(["run", "--", "no-such-command-here"])
        .output();
    let absent = timeout(PATIENCE, absent).await.unwrap().unwrap();
    assert!(!absent.status.success());
    assert!(
        String::from_utf8(absent.stderr)
            .unwrap()
            .contains("no-such-command-here")
    );
}

/// Sends `body` in JSON to a server, and gives its answer.
pub(super) async fn post(url: &str, path: &str, body: &str) -> String {
    try_post(url, path, body).await.unwrap()
}

/// Does the same to a server that may end meanwhile.
pub(super) async fn try_post(url: &str, path: &str, body: &str) -> io::Result<String> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer))
        .await
        .unwrap()?;
    Ok(answer)
}

async fn serving_with(arguments: &[&str]) -> (Child, String) {
    serving_at("127.0.0.1:0", arguments).await
}

async fn serving_at(listen: &str, arguments: &[&str]) -> (Child, String) {
    let mut child = program()
        .args(["serve", "--listen", listen])
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line()).await.unwrap();
    let first = first.unwrap().expect("it says where it listens");
    let url = first.strip_prefix("listening on ").unwrap().to_owned();
    (child, url)
}

#[tokio::test]
async fn the_state_outlives_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state");
    let data = ["--data", file.to_str().unwrap()];
    let (mut child, url) = serving_with(&data).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let created = post(&url, maps, r#"{"metadata":{"name":"kept"}}"#).await;
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");

    let mut second = program();
    second.args(["serve", "--listen", "127.0.0.1:0"]).args(data);
    let second = timeout(PATIENCE, second.output()).await.unwrap().unwrap();
    let stderr = String::from_utf8(second.stderr).unwrap();
    assert!(
        !second.status.success() && stderr.contains("state is in use by another server"),
        "{stderr}"
    );
    assert!(second.stdout.is_empty(), "it never listened");

    let kept = get(&url, &format!("{maps}/kept")).await;
    signal(&child, "-TERM").await;
    assert!(
        timeout(PATIENCE, child.wait())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
    let (_child, url) = serving_with(&data).await;
    let again = get(&url, &format!("{maps}/kept")).await;
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert!(body(&again).contains("\"name\":\"kept\""), "{again}");
    assert_eq!(body(&again), body(&kept));
}

#[tokio::test]
async fn requests_are_logged_by_the_filter_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let log = fs::File::create(folder.path().join("said")).unwrap();
    let mut child = program()
        .args(["serve", "--listen", "127.0.0.1:0", "--audit-log"])
        .arg(folder.path().join("audit.log"))
        .env("RUST_LOG", "fakeserver::access=info")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line()).await.unwrap();
    let first = first.unwrap().expect("it says where it listens");
    let url = first.strip_prefix("listening on ").unwrap();
    get(url, "/api/v1/namespaces/default/pods/none").await;
    signal(&child, "-TERM").await;
    assert!(
        timeout(PATIENCE, child.wait())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
    let log = fs::read_to_string(folder.path().join("said")).unwrap();
    let expected = r#"user="system:anonymous" verb="get" resource="default/pods/none" status=404"#;
    assert!(log.contains(expected), "{log}");
    let audit = fs::read_to_string(folder.path().join("audit.log")).unwrap();
    assert!(audit.contains(r#""verb":"get""#) && audit.contains(r#""sourceIPs":["127.0.0.1"]"#));
}

#[tokio::test]
async fn faults_of_a_file_are_in_force_when_it_listens() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("faults.json");
    let text = r#"[{"fault":"server_error","code":503,"match":{"resource":"configmaps"}},{"fault":"gone"}]"#;
    std::fs::write(&file, text).unwrap();
    let faults = ["--faults", file.to_str().unwrap()];
    let (_child, url) = serving_with(&faults).await;
    let answer = get(&url, "/api/v1/configmaps").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    let answer = get(&url, "/api/v1/namespaces/default").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let installed = get(&url, "/_control/faults").await;
    assert!(installed.contains("\"server_error\""), "{installed}");
    assert!(installed.contains("\"gone\""), "{installed}");

    let text = r#"{"fault":"gone","match":{"resource":"configmap"}}"#;
    std::fs::write(&file, text).unwrap();
    let mut run = program();
    run.args(["run", "--faults", faults[1], "--", "true"]);
    let warned = timeout(PATIENCE, run.output()).await.unwrap().unwrap();
    assert!(warned.status.success());
    let stderr = String::from_utf8(warned.stderr).unwrap();
    assert!(stderr.starts_with("warning: --faults "), "{stderr}");
    assert!(
        stderr.ends_with("did you mean \"configmaps\"?\n"),
        "{stderr}"
    );

    std::fs::write(&file, r#"{"fault":"nonsense"}"#).unwrap();
    let wrong = [
        (file.to_str().unwrap(), "nonsense"),
        ("nowhere.json", "nowhere.json"),
    ];
    for (path, why) in wrong {
        let refused = program()
            .args(["serve", "--listen", "127.0.0.1:0", "--faults", path])
            .output();
        let refused = timeout(PATIENCE, refused).await.unwrap().unwrap();
        assert!(!refused.status.success());
        assert!(refused.stdout.is_empty(), "it never listened");
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            stderr.contains("--faults") && stderr.contains(why),
            "{stderr}"
        );
    }
}

#[tokio::test]
async fn manifests_are_loaded_before_it_listens() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.yaml");
    let text = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: loaded}\n";
    std::fs::write(&file, text).unwrap();
    let load = ["--load", directory.path().to_str().unwrap()];
    let (_child, url) = serving_with(&load).await;
    let answer = get(&url, "/api/v1/namespaces/default/configmaps/loaded").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    std::fs::write(&file, format!("{text}dat: {{}}\n")).unwrap();
    let mut refused = program();
    refused.args(["run"]).args(load).args(["--", "true"]);
    let refused = timeout(PATIENCE, refused.output()).await.unwrap().unwrap();
    assert!(!refused.status.success());
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(
        stderr.contains("x.yaml, document 1: ConfigMap loaded: "),
        "{stderr}"
    );
    assert!(stderr.contains("unknown field \"dat\""), "{stderr}");
}

/// Runs a command beside a server, and returns its status and what the server said.
async fn beside(options: &[&str], command: &str) -> (Option<i32>, String) {
    let run = program()
        .arg("run")
        .args(options)
        .args(["--", "sh", "-c", command])
        .output();
    let output = timeout(PATIENCE, run).await.unwrap().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

#[tokio::test]
async fn a_kubeconfig_has_working_credentials() {
    let by_tls = r#"grep -q '^    server: https://127.0.0.1:' "$KUBECONFIG" \
        && grep -q '^    certificate-authority-data: ' "$KUBECONFIG" \
        && grep -c '^    client-key-data: ' "$KUBECONFIG" | grep -q '^2$' \
        && grep -q '^- name: jane$' "$KUBECONFIG" && exit 7"#;
    let options = [
        "--tls",
        "--authorization",
        "rbac",
        "--client-certificate",
        "jane,devs",
    ];
    assert_eq!(beside(&options, by_tls).await, (Some(7), String::new()));
    let by_token = r#"grep -q '^    token: "*[0-9a-f]*"*$' "$KUBECONFIG" && exit 7"#;
    let (code, _) = beside(&["--anonymous-auth", "false"], by_token).await;
    assert_eq!(code, Some(7));
    let (code, stderr) = beside(&["--token", "jane"], "exit 7").await;
    assert_ne!(code, Some(7));
    assert!(stderr.contains("try `secret=jane,developers`"), "{stderr}");
    let (code, stderr) = beside(&["--token-auth-file", "/nonexistent"], "exit 7").await;
    assert_ne!(code, Some(7));
    assert!(
        stderr.contains("cannot read the tokens in /nonexistent"),
        "{stderr}"
    );
}

#[tokio::test]
async fn listening_to_everybody_is_warned_of() {
    let mut child = program()
        .args(["serve", "--listen", "0.0.0.0:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let warning = timeout(PATIENCE, lines.next_line()).await.unwrap();
    let warning = warning.unwrap().unwrap();
    assert!(
        warning.starts_with("warning: listening on 0.0.0.0:")
            && warning.ends_with("everybody who reaches it may read and change everything"),
        "{warning}"
    );
}

#[tokio::test]
async fn the_name_of_a_host_is_an_address_and_no_suggestions_go_to_a_pipe() {
    let (child, url) = serving_at("localhost:0", &[]).await;
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let answer = get(&url, "/readyz").await;
    assert!(answer.ends_with("ok"), "{answer}");
    signal(&child, "-TERM").await;
    let output = timeout(PATIENCE, child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

/// Runs the program to its end, and returns its status and its output.
async fn run_program(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program().args(arguments).output();
    let output = timeout(PATIENCE, output).await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[tokio::test]
async fn stages_that_cannot_be_used_are_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("stages.yaml");
    let path = file.to_str().unwrap();
    let stage =
        "apiVersion: stages/v1\nkind: Stage\nmetadata: {name: s}\nspec: {next: {ready: never}}\n";
    for (text, controllers, why) in [
        (None, "workloads", "No such file"),
        (Some(stage), "default", "needs `--controllers workloads`"),
        (Some("spec: ["), "workloads", "stages.yaml"),
        (
            Some(&*stage.replace("never", "soon")),
            "workloads",
            "\"soon\" is no duration",
        ),
    ] {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let words = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--controllers",
            controllers,
        ];
        let (code, _, stderr) = run_program(&[&words[..], &["--stages", path]].concat()).await;
        assert_eq!(code, Some(1), "{stderr}");
        assert!(
            stderr.contains("--stages") && stderr.contains(why),
            "{stderr}"
        );
    }
    std::fs::write(&file, stage).unwrap();
    let other = directory.path().join("other.yaml");
    let other = other.to_str().unwrap();
    std::fs::write(other, stage).unwrap();
    let words = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--controllers",
        "workloads",
    ];
    let files = ["--stages", path, "--stages", other];
    let (code, _, stderr) = run_program(&[&words[..], &files].concat()).await;
    assert_eq!(code, Some(1), "{stderr}");
    let why =
        format!("--stages {other}: a stage of {path} has the name \"s\" already: give another");
    assert!(stderr.contains(&why), "{stderr}");
}

#[tokio::test]
async fn options_of_pods_need_workload_controllers() {
    for flag in ["--system-pods", "--no-metrics"] {
        let (code, _, stderr) = run_program(&["serve", "--listen", "127.0.0.1:0", flag]).await;
        assert_eq!(code, Some(1), "{stderr}");
        let why = format!("{flag}: no pod runs here; add `--controllers workloads`");
        assert!(stderr.contains(&why), "{stderr}");
    }
}

#[tokio::test]
async fn faults_are_described_without_a_server() {
    let (code, list, _) = run_program(&["faults"]).await;
    assert_eq!(code, Some(0));
    let listed = list.lines().filter(|line| line.contains("  ")).count();
    assert_eq!(listed, Fault::all().count(), "{list}");
    let (code, page, _) = run_program(&["faults", "server_error"]).await;
    assert_eq!(code, Some(0));
    for part in [
        "default: 500",
        "minResourceVersion",
        "probability",
        "Example: {",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (code, json, _) = run_program(&["faults", "--json"]).await;
    assert_eq!(code, Some(0));
    let entries: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(entries.len(), Fault::all().count());
    let (_, json, _) = run_program(&["faults", "throttle", "--json"]).await;
    let entry: Value = serde_json::from_str(&json).unwrap();
    let seconds = &entry["parameterSchemas"]["retryAfterSeconds"];
    assert_eq!(
        (&seconds["type"], &seconds["default"]),
        (&json!("integer"), &json!(1))
    );
}

#[tokio::test]
async fn pages_and_completions_come_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = run_program(&["completions", shell]).await;
        assert_eq!(code, Some(0));
        assert!(script.contains("kubeconfig"), "{shell}: {script}");
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let arguments = ["man", pages.to_str().unwrap()];
    assert_eq!(
        run_program(&arguments).await,
        (Some(0), String::new(), String::new())
    );
    let page = pages.join("fakeserver-serve.1");
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .contains("\\-\\-listen")
    );
    // What is there already stays, since somebody may have written it.
    std::fs::remove_file(pages.join("fakeserver.1")).unwrap();
    std::fs::write(&page, "mine").unwrap();
    let (code, _, error) = run_program(&arguments).await;
    assert_eq!(code, Some(1));
    assert!(
        error.ends_with(": it exists; --force replaces it\n"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "mine");
    assert!(!pages.join("fakeserver.1").exists());
}

#[tokio::test]
async fn the_first_answer_has_a_cluster_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("pod.yaml");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\n\
               spec: {containers: [{name: c, image: i}], volumes: [{name: v, configMap: {name: m, defaultMode: 0644}}]}\n\
               ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: default}\n";
    fs::write(&manifest, pod).unwrap();
    let load = manifest.to_str().unwrap();
    let (_child, url) = serving_with(&["--controllers", "workloads", "--load", load]).await;
    let node = get(&url, "/api/v1/nodes/node-0").await;
    assert!(node.contains("KubeletReady"), "{node}");
    let pod = get(&url, "/api/v1/namespaces/default/pods/p").await;
    assert!(pod.contains("\"phase\":\"Running\""), "{pod}");
    assert!(pod.contains("\"defaultMode\":420"), "{pod}");
}

#[tokio::test]
async fn the_loss_of_a_kill_is_named_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = program()
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data-sync",
            "interval=3s",
            "--data",
        ])
        .arg(folder.path().join("state"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line()).await.unwrap();
    let first = first.unwrap().unwrap();
    let expected = "if this process is killed, the writes of up to 3s (--data-sync) that it has acknowledged are lost";
    assert!(
        first.starts_with("warning: --data ") && first.contains(expected),
        "{first}"
    );
}
