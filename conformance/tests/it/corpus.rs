//! Corpora: recorded answers, `conformance corpus` and `conformance diff`.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use conformance::{
    corpus::{Corpus, Line, Session, normalised},
    golden::{Endpoint, differences},
};
use fakeserver::{Clock, FakeServer, KubernetesVersion};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::sync::CancellationToken;

use crate::output::conformance;

/// A fake server on a port of its own.
struct TestServer {
    server: FakeServer,
    address: SocketAddr,
    runtime: Runtime,
}

// === impl TestServer ===

impl TestServer {
    fn start(seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        // Times of the default clock's first second are those of requests, which are not replaced in answers.
        let builder = FakeServer::builder().with_clock(Clock::wall());
        let server = builder.with_seed(seed).build();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = {
            let _entered = runtime.enter();
            server.serve(listener, CancellationToken::new())
        };
        runtime.spawn(serving);
        Self {
            server,
            address,
            runtime,
        }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Creates an object as a client does.
    fn create(&self, path: &str, object: &Value) {
        let session = Session::new(Endpoint::in_process(&self.server));
        let request = conformance::corpus::Request::new("POST", path)
            .with_body(conformance::corpus::Body::Json(object.to_string()));
        let answer = self.runtime.block_on(session.ask(&request)).unwrap();
        assert_eq!(answer["status"], 201, "{answer}");
    }
}

fn quick() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/corpus");
    folder.join("quick.jsonl.xz")
}

#[tokio::test(start_paused = true)]
async fn every_request_of_the_quick_corpus_is_answered_as_recorded() {
    check_recorded(KubernetesVersion::DEFAULT, &quick()).await;
}

#[tokio::test(start_paused = true)]
async fn every_request_about_details_is_answered_as_recorded() {
    let file = quick().with_file_name("details.jsonl.xz");
    check_recorded(KubernetesVersion::DEFAULT, &file).await;
}

#[tokio::test(start_paused = true)]
async fn servers_of_other_versions_answer_as_recorded_from_these() {
    for version in ["1.33", "1.34", "1.35"] {
        let file = quick().with_file_name(format!("{version}.jsonl.xz"));
        check_recorded(version.parse().unwrap(), &file).await;
    }
}

/// Plays a corpus of at least 200 requests against a server of a version, in process.
async fn check_recorded(version: KubernetesVersion, file: &Path) {
    let server = FakeServer::builder()
        .with_kubernetes_version(version)
        .build();
    // Its clock begins at the time that requests have in them, which is not replaced in answers.
    tokio::time::advance(Duration::from_hours(1)).await;
    let mut session = Session::new(Endpoint::in_process(&server));
    let corpus = Corpus::read(file).unwrap();
    assert!(corpus.case_count() >= 200, "{}", corpus.case_count());
    let mut is_stale = false;
    let mut report = Vec::new();
    for (place, line) in corpus.lines.iter().enumerate() {
        let (case, answer) = match line {
            Line::SetUp(set_up) => {
                session.set_up(set_up).await.unwrap();
                is_stale = true;
                continue;
            }
            Line::Case { case, answer } => (case, answer),
        };
        if std::mem::take(&mut is_stale) {
            session.refresh().await.unwrap();
        }
        let want: Value = serde_json::from_str(answer.get()).unwrap();
        let got = normalised(&session.ask(&case.request).await.unwrap());
        for difference in differences(&want, &got).iter().take(3) {
            let number = place + 1;
            report.push(format!(
                "{version}, line {number}, {}: {difference}",
                case.kind
            ));
        }
    }
    server.shutdown().await;
    assert!(report.is_empty(), "{}", report.join("\n"));
}

#[test]
fn a_recorded_corpus_is_equal_on_another_server_and_differs_on_a_changed_one() {
    let (first, second, third) = (
        TestServer::start(1),
        TestServer::start(2),
        TestServer::start(3),
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.jsonl.xz");
    let file = file.to_str().unwrap();
    let record = |args: &[&str]| {
        let url = first.url();
        let args = [
            &["corpus", "record", "--server", &url, "--output", file][..],
            args,
        ];
        conformance(&args.concat())
    };
    let some = [
        "--seed",
        "4",
        "--requests",
        "60",
        "--kind",
        "pod,configmap,box",
    ];
    record(&some).exits(0).says("mine.jsonl.xz 60 requests\n");
    let bytes = fs::read(file).unwrap();
    record(&some)
        .exits(2)
        .complains("it exists; --force replaces it");
    record(&[&some[..], &["--force"]].concat()).exits(0);
    assert!(fs::read(file).unwrap() == bytes, "a seed gives one corpus");

    let compare = |served: &TestServer, args: &[&str]| {
        let url = served.url();
        let args = [&["corpus", "compare", "--server", &url, file][..], args];
        conformance(&args.concat())
    };
    compare(&second, &[])
        .exits(0)
        .says("60 of 60 answers equal (100.0 %)");
    compare(&second, &["--kind", "box"])
        .exits(0)
        .says("20 of 20 answers equal");
    compare(&second, &["--kind", "bogus"])
        .exits(2)
        .complains("no request of the files");

    let existing = json!({"metadata": {"name": "sample-pod", "labels": {"other": "one"}},
        "spec": {"containers": [{"name": "a", "image": "b"}]}});
    let namespace = json!({"metadata": {"name": "conformance"}});
    third.create("/api/v1/namespaces", &namespace);
    third.create("/api/v1/namespaces/conformance/pods", &existing);
    let printed = compare(&third, &["--group", "--show", "1"]).exits(1);
    let line = printed
        .out
        .lines()
        .find(|line| line.contains("mine.jsonl.xz:"))
        .unwrap();
    let number = line.split(':').nth(1).unwrap().to_owned();
    printed
        .says("first path that differs")
        .says("expected")
        .says("┆ pod ");
    compare(&third, &["--line", &number])
        .exits(1)
        .says("0 of 1 answers equal");
    let printed = compare(&third, &["--json", "-", "--kind", "configmap,pod"]).exits(1);
    let report: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(report["good"], false);
    assert_eq!(report["kinds"]["configmap"]["equal_count"], 20);
    let differ = report["differ"].as_array().unwrap();
    assert_eq!(report["all"]["request_count"], 40);
    assert_eq!(report["all"]["equal_count"], 40 - differ.len());
}

#[test]
fn two_servers_are_compared_and_what_differs_is_shrunk() {
    let (left, right) = (TestServer::start(1), TestServer::start(2));
    let (left_url, right_url) = (left.url(), right.url());
    let servers = [
        "diff", "--left", &left_url, "--right", &right_url, "--seed", "3",
    ];
    let diff = |args: &[&str]| conformance(&[&servers[..], args].concat());
    diff(&["--requests", "150"])
        .exits(0)
        .says("seed  3\n")
        .says("150 of 150 answers equal\n");

    let limits = json!({"metadata": {"name": "limits"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}});
    right.create("/api/v1/namespaces/conformance/limitranges", &limits);
    let printed = diff(&["--requests", "30", "--kind", "pod", "--show", "1"]);
    let printed = printed
        .exits(1)
        .says("┆ pod ")
        .says("    left  ")
        .says("    right ");
    let replay = printed
        .out
        .lines()
        .find_map(|line| line.strip_prefix("  replay: conformance "));
    let replay: Vec<&str> = replay.unwrap().split(' ').collect();
    let again = conformance(&replay).exits(1).says("0 of 1 answers equal\n");
    let request = |out: &str| {
        out.lines()
            .find(|line| line.starts_with("request "))
            .unwrap()
            .to_owned()
    };
    assert_eq!(request(&again.out), request(&printed.out));
    let report = conformance(&[&replay[..], &["--json", "-"]].concat()).exits(1);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let body = report["shown"][0]["body"].as_str().unwrap();
    let whole = conformance(&[&replay[..], &["--no-shrink", "--json", "-"]].concat());
    let whole: Value = serde_json::from_str(&whole.out).unwrap();
    let whole = whole["shown"][0]["body"].as_str().unwrap();
    assert!(body.len() * 2 < whole.len(), "{body}\n{whole}");
}

#[test]
fn a_corpus_is_compared_with_the_differences_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &[Value]| {
        let file = folder.path().join(name);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        fs::write(&file, lines.join("\n")).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let read = |path: &str, status: u16| {
        let answer = json!({"status": status, "type": "text/plain; charset=utf-8", "warnings": [], "body": "ok"});
        json!({"cat": "read", "kind": "health", "method": "GET", "path": path, "answer": answer})
    };
    let map = json!({"method": "POST", "path": "/api/v1/none", "name": "a", "key": "map", "body": {}, "setup": true});
    let corpus = write(
        "a.jsonl",
        &[map, read("/livez", 200), read("/healthz", 500)],
    );
    let mut other = read("/healthz", 200);
    other["line"] = json!(2);
    let refused = json!({"setup_refused": "map", "answer": {}});
    let differences = write("1.35.jsonl", &[refused, other.clone()]);
    let compare = |differences: &str, more: &[&str]| {
        let args = ["corpus", "compare", "--differences", differences, &corpus];
        conformance(&[&args[..], more].concat())
    };
    let version = ["--kubernetes-version", "1.35"];
    compare(&differences, &version)
        .exits(0)
        .says("kube-apiserver v1.35.6")
        .says("2 of 2 answers equal");
    conformance(&["corpus", "compare", &corpus, version[0], version[1]])
        .exits(1)
        .says("1 of 2 answers equal");

    other["line"] = json!(1);
    compare(&write("1.jsonl", &[other.clone()]), &version)
        .exits(2)
        .complains("has another request 1 than the corpus: GET /healthz instead of GET /livez");
    other["line"] = json!(3);
    compare(&write("3.jsonl", &[other]), &version)
        .exits(2)
        .complains("has an answer to request 3, but the corpus has 2 requests");
    compare(&differences, &["--kubernetes-version", "1.3"])
        .exits(2)
        .complains("there are 1.31.14");
    compare(&differences, &[&corpus, "--kubernetes-version", "1.35"])
        .exits(2)
        .complains("name one file");
}

#[test]
fn a_comparison_that_cannot_run_is_reported() {
    let served = TestServer::start(1);
    let url = served.url();
    let nowhere = "http://127.0.0.1:1";
    conformance(&["diff", "--left", &url, "--right", nowhere])
        .exits(2)
        .complains("http://127.0.0.1:1 is not reached");
    conformance(&["diff", "--left", &url])
        .exits(2)
        .complains("--right <URL>");
    conformance(&["diff", "--left", &url, "--right", &url, "--kind", "bogus"])
        .exits(2)
        .complains("no kind is called bogus; there are ");
    conformance(&["corpus", "compare", "--server", &url, "nowhere.jsonl"])
        .exits(2)
        .complains("cannot read nowhere.jsonl");
    conformance(&["corpus", "compare", "--server", &url])
        .exits(2)
        .complains("<FILE>...");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.jsonl");
    fs::write(&file, "{}\n").unwrap();
    conformance(&[
        "corpus",
        "compare",
        "--server",
        &url,
        file.to_str().unwrap(),
    ])
    .exits(2)
    .complains("bad.jsonl, line 1, is no request of a corpus: missing field `method`");
}
