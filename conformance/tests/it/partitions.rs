//! Partitions of campaigns as processes of their own, and as the pods of a Job: merged, they are one process's campaign.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use fakeserver::{Controllers, FakeServer, Workloads, value::yaml::yaml_to_json};
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use serde_json::Value;
use tokio::time::{Duration, sleep};

/// The page with the manifest.
const PAGE: &str = include_str!("../../docs/campaigns.md");

fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command
        .args(line.split_whitespace())
        .env_remove("JOB_COMPLETION_INDEX")
        .env_remove("CONFORMANCE_PARTITIONS");
    command
}

fn conformance(line: &str) -> Output {
    command(line).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Reads a report without the figures of real time and the stamp.
fn report(file: &Path) -> Value {
    let mut report: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let fields = report.as_object_mut().unwrap();
    fields.remove("seconds");
    fields.remove("campaign");
    report
}

/// The files of `count` partitions of a command, and of one process that runs all.
struct Campaign {
    _folder: tempfile::TempDir,
    path: PathBuf,
    parts: Vec<PathBuf>,
}

// === impl Campaign ===

impl Campaign {
    fn run(line: &str, count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let run = |line: &str| {
            let output = conformance(line);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{line}: {}",
                text(&output.stderr)
            );
        };
        run(&format!(
            "{line} --json {}",
            path.join("whole.json").display()
        ));
        let parts: Vec<PathBuf> = (0..count)
            .map(|it| path.join(format!("{it}.json")))
            .collect();
        for (index, file) in parts.iter().enumerate() {
            run(&format!(
                "{line} --partition {index}/{count} --json {}",
                file.display()
            ));
        }
        Self {
            _folder: folder,
            path,
            parts,
        }
    }

    /// Merges these parts.
    fn merge(&self, parts: &[&PathBuf], flags: &str) -> Output {
        let mut command = command(&format!("merge {flags}"));
        command
            .args(parts)
            .current_dir(&self.path)
            .output()
            .unwrap()
    }

    /// Merges all parts, the last one first, and checks that the report is the whole one.
    fn check(&self) -> String {
        let parts: Vec<&PathBuf> = self.parts.iter().rev().collect();
        let merged = self.merge(&parts, "--json merged.json");
        let text = text(&merged.stdout);
        assert_eq!(merged.status.code(), Some(0), "{text}");
        assert!(
            text.lines()
                .all(|line| !line.starts_with('│') || line.chars().count() <= 100),
            "{text}"
        );
        let [merged, whole] = ["merged.json", "whole.json"].map(|it| report(&self.path.join(it)));
        assert_eq!(merged, whole);
        text
    }
}

#[test]
fn seeds_of_partitions_are_those_of_one_process() {
    let campaign = Campaign::run("sim --seed 5 --seeds 11 --profile small", 3);
    let text = campaign.check();
    assert!(text.starts_with("sim, 3 partitions\n"), "{text}");
    assert!(text.ends_with("every check held\n"), "{text}");
    let counts = campaign
        .parts
        .iter()
        .map(|it| report(it)["summary"]["run_count"].clone());
    assert_eq!(counts.collect::<Vec<_>>(), [4, 4, 3]);

    let parts: Vec<&PathBuf> = campaign.parts.iter().collect();
    let [first, second, third] = parts[..] else {
        panic!("{parts:?}");
    };
    let refused = |parts: &[&PathBuf], flags: &str, code: i32| {
        let output = campaign.merge(parts, flags);
        assert_eq!(output.status.code(), Some(code), "{parts:?} {flags}");
        self::text(&output.stderr)
    };
    let missing = refused(&[first, third], "", 2);
    assert!(
        missing.starts_with("missing: 1 of 3 partitions"),
        "{missing}"
    );
    let twice = refused(&[first, second, third, second], "", 2);
    assert!(twice.contains("is partition 1/3 once more"), "{twice}");
    let uncovered = refused(&parts, "--require-coverage", 3);
    assert!(uncovered.starts_with("not covered: "), "{uncovered}");
    let read = refused(&parts, "--force --json 1.json", 2);
    assert!(read.contains("is read, and cannot be written to"), "{read}");
    fs::write(campaign.path.join("notes"), "notes").unwrap();
    let foreign = refused(&parts, "--json notes", 2);
    assert!(foreign.contains("--force replaces it"), "{foreign}");
    assert_eq!(fs::read(campaign.path.join("notes")).unwrap(), b"notes");

    // One of the reports is of a partition that failed.
    let failing = fs::read_to_string(second)
        .unwrap()
        .replace("\"good\": true", "\"good\": false");
    fs::write(second, failing).unwrap();
    let output = campaign.merge(&[first, second], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(self::text(&output.stdout).contains("partition 1/3 failed: "));
    assert!(self::text(&output.stderr).starts_with("missing: 2 of 3"));
}

#[test]
fn bugs_of_partitions_are_those_of_one_process() {
    let bugs = "--bug modified-ignored --bug deleted-ignored --bug added-ignored";
    let text = Campaign::run(&format!("bugs --seeds 20 {bugs}"), 2).check();
    assert!(text.ends_with("all 3 bugs were caught\n"), "{text}");
}

#[test]
fn scenarios_of_partitions_are_those_of_one_process() {
    let line = "score --subject informer --subject broken-deaf --scenario half-a-line --scenario A --scenario C";
    let text = Campaign::run(line, 2).check();
    assert!(
        text.ends_with("every cell that has to hold holds\n"),
        "{text}"
    );
}

#[test]
fn steered_partitions_make_one_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let line = "sim --steer --seed 5 --seeds 24 --profile small";
    for index in 0..2 {
        let (json, corpus) = (
            file(&format!("{index}.json")),
            file(&format!("corpus-{index}")),
        );
        let line = format!("{line} --partition {index}/2 --json {json} --corpus {corpus}");
        assert_eq!(conformance(&line).status.code(), Some(0));
    }
    let (all, corpus) = (file("all.json"), file("corpus"));
    let line = format!(
        "merge {} {} --json {all} --corpus {corpus}",
        file("0.json"),
        file("1.json")
    );
    let output = conformance(&line);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let names = |folder: &str| {
        let entries = fs::read_dir(file(folder)).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let merged = names("corpus");
    let parts = [names("corpus-0"), names("corpus-1")].concat();
    assert!(
        !merged.is_empty() && merged.len() <= parts.len(),
        "{merged:?}"
    );
    assert!(merged.iter().all(|name| parts.contains(name)), "{merged:?}");
    let report = report(Path::new(&all));
    assert_eq!(report["summary"]["run_count"], 24);
    assert_eq!(report["steered"]["corpus_size"], merged.len());
    // Its files begin the next search.
    let next = conformance(&format!(
        "sim --steer --seed 9 --seeds {} --profile small --corpus {corpus}",
        merged.len()
    ));
    let want = format!(" {} kept;", merged.len());
    assert!(text(&next.stdout).contains(&want), "{}", text(&next.stdout));
}

/// Returns the plans of a report of `survive`, sorted.
fn plans(folder: &Path) -> Vec<String> {
    let report = report(&folder.join("report.json"));
    let runs = report["runs"].as_array().unwrap().iter();
    let mut plans: Vec<String> = runs.map(|run| run["plan"].to_string()).collect();
    plans.sort();
    plans
}

#[test]
fn plans_of_partitions_are_those_of_one_process() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3 on this machine");
        return;
    }
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("survive/subjects/python");
    let folder = tempfile::tempdir().unwrap();
    let survive = |name: &str, flags: &str| {
        let report = folder.path().join(name);
        let line = format!(
            "survive --families crash --crds database/crd.yaml --workload database/survive.yaml {flags} --report {}",
            report.display()
        );
        let mut command = command(&line);
        let command = command.current_dir(&subjects);
        let output = command
            .args(["--", "python3", "-S", "-E", "-B", "database.py", "--buggy"])
            .output();
        let output = output.unwrap();
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 1)), "{}", text(&output.stderr));
        report
    };
    let whole = plans(&survive("whole", ""));
    let parts =
        [0, 1].map(|index| survive(&format!("part-{index}"), &format!("--partition {index}/2")));
    let mut of_parts = parts.each_ref().map(|part| plans(part)).concat();
    of_parts.sort();
    assert_eq!(of_parts, whole);
    let merged = command("merge").args(&parts).output().unwrap();
    let text = text(&merged.stdout);
    assert_eq!(merged.status.code(), Some(1), "{text}");
    let count = whole.len();
    assert!(
        text.ends_with(&format!(" of {count} plans break a promise\n")),
        "{text}"
    );
}

#[test]
fn partitions_that_cannot_be_are_refused() {
    for (line, want) in [
        ("sim --partition 0/0", "0/0 is no partition: N"),
        (
            "sim --partition 5/3",
            "5/3 is no partition: K is one of 0 to 2",
        ),
        ("bugs --partition x", "write K/N"),
        (
            "score --partition 0/1000000",
            "1000000 partitions are too many",
        ),
        ("sim --partition 0/2", "give all partitions the same --seed"),
        ("merge none.json", "cannot read none.json"),
        (
            "merge Cargo.toml",
            "Cargo.toml: it is no report of conformance",
        ),
    ] {
        let output = conformance(line);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(want), "{line}: {error}");
        assert_eq!(text(&output.stdout), "", "{line}");
    }
    let output = command("sim --seed 1")
        .env("CONFORMANCE_PARTITIONS", "2")
        .output()
        .unwrap();
    assert!(
        text(&output.stderr).contains("JOB_COMPLETION_INDEX is not"),
        "{output:?}"
    );
}

/// Returns the first document of YAML of the page that contains `kind`.
fn manifest(kind: &str) -> String {
    let blocks = PAGE
        .split("```yaml\n")
        .skip(1)
        .filter_map(|it| it.split("```").next());
    let documents = blocks.flat_map(|block| block.split("---\n"));
    let mut documents = documents.filter(|it| it.contains(&format!("kind: {kind}\n")));
    documents.next().expect("the page has it").to_owned()
}

/// Returns the words and the variables of a pod's container, with the values that the kubelet would give.
fn process(pod: &Pod) -> (Vec<String>, BTreeMap<String, String>) {
    let container = &pod.spec.as_ref().unwrap().containers[0];
    let variables = container.env.iter().flatten().map(|variable| {
        let of_label = || {
            let source = variable.value_from.as_ref()?.field_ref.as_ref()?;
            let label = source.field_path.split('\'').nth(1)?;
            pod.metadata.labels.as_ref()?.get(label).cloned()
        };
        let value = variable.value.clone().or_else(of_label);
        (variable.name.clone(), value.expect("it has a value"))
    });
    let variables: BTreeMap<String, String> = variables.collect();
    let words = container.args.iter().flatten().map(|word| {
        let mut word = word.clone();
        for (name, value) in &variables {
            word = word.replace(&format!("$({name})"), value);
        }
        word
    });
    (words.collect(), variables)
}

/// The pods of the fake server run no containers: each is a process here, with the container's words and variables.
#[tokio::test(start_paused = true)]
async fn the_pods_of_the_job_on_the_page_run_its_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let workloads = Workloads::default().with_pod_run(Duration::from_hours(1));
    let controllers = Controllers::default().with_workloads(workloads);
    let server = FakeServer::builder().with_controllers(controllers).build();
    let client = server.client();
    let json = yaml_to_json(manifest("Job").as_bytes()).unwrap();
    let job: Job = serde_json::from_slice(&json).unwrap();
    let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
    jobs.create(&PostParams::default(), &job).await.unwrap();
    sleep(Duration::from_secs(5)).await;
    let pods: Api<Pod> = Api::namespaced(client, "default");
    let pods = pods.list(&ListParams::default()).await.unwrap().items;
    let count = job.spec.unwrap().completions.unwrap();
    assert_eq!(pods.len(), usize::try_from(count).unwrap());
    let mut reports = Vec::new();
    for pod in &pods {
        let (words, variables) = process(pod);
        // Fewer seeds than the page has; the volume is a folder.
        let place = folder.path().display().to_string();
        let line = words
            .join(" ")
            .replace("/reports", &place)
            .replace("100000", "8");
        let line = line.replace("--minutes 30", "");
        let output = command(&line).envs(&variables).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{line}: {}",
            text(&output.stderr)
        );
        reports.push(line.split(' ').next_back().unwrap().to_owned());
    }
    let merged = command("merge").args(&reports).output().unwrap();
    let text = text(&merged.stdout);
    assert_eq!(merged.status.code(), Some(0), "{text}");
    assert!(
        text.starts_with(&format!("sim, {count} partitions\n")),
        "{text}"
    );
    assert!(
        text.contains("│ seeds                      ┆     8 │"),
        "{text}"
    );
    server.shutdown().await;
}
