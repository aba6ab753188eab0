//! The program and functions in process: an operator with a seeded bug is blamed, and its correct twin is not.
//!
//! | file | contents |
//! |---|---|
//! | `main` | operators with seeded bugs, and their correct twins |
//! | `mistakes` | mistakes in workloads, told with the file and the step |
//! | `reports` | reports when room or time is short, replays, accepted findings |

mod mistakes;
mod reports;

use std::{
    collections::BTreeSet,
    env, fs,
    future::pending,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fakeserver::{Controllers, Workloads};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api, Client,
    api::{
        ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
    },
};
use serde_json::{Value, json};
use survive::{CampaignError, Check, CheckError, Family, Subject, When, Workload};
use tokio::time::sleep;
use tracefile::TraceFile;

/// The option with the number of plans of which one breaks a promise of the database's operator, if it is buggy.
const ENOUGH_PLANS: [&str; 2] = ["--plans", "4"];

/// Returns the command that runs an operator in Python, but for the program; `None` without Python.
fn operator(name: &str) -> Option<Vec<String>> {
    let question = ["-c", "import sys; print(sys.executable)"];
    let Ok(python) = Command::new("python3").args(question).output() else {
        println!("SKIPPED: there is no python3 on this machine");
        return None;
    };
    let python = String::from_utf8(python.stdout).unwrap();
    let program = subjects().join(format!("{name}.py"));
    let words = [python.trim(), "-S", "-E", "-B", program.to_str().unwrap()];
    Some(words.map(ToOwned::to_owned).to_vec())
}

fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects/python")
}

/// Returns the command that tries crashes of an operator in Python, without the operator's own.
fn crashing(operator: &str, report: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_survive"));
    command
        .args(["--families", "crash", "--crds"])
        .arg(subjects().join(operator).join("crd.yaml"))
        .arg("--workload")
        .arg(subjects().join(operator).join("survive.yaml"))
        .arg("--report")
        .arg(report);
    command
}

/// Runs plans of crashes against an operator in Python. Returns whether every promise was kept, and what was said; `None` without
/// Python.
fn crashes(name: &str, is_buggy: bool) -> Option<(bool, String)> {
    let operator = operator(name)?;
    let report = tempfile::tempdir().unwrap();
    let mut command = crashing(name, report.path());
    if is_buggy {
        command.args(ENOUGH_PLANS);
    }
    command.arg("--").args(operator);
    if is_buggy {
        command.arg("--buggy");
    }
    let output = command.output().unwrap();
    let status = output.status.code();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(matches!(status, Some(0 | 1)), "{text}");
    check_traces(report.path(), status == Some(1));
    Some((status == Some(0), text.into_owned()))
}

/// Reads the traces of a report: the reference's, and one of each failure, which has a page, too.
fn check_traces(report: &Path, has_failed: bool) {
    let read = |name: &str| {
        let text = fs::read_to_string(report.join(name)).unwrap();
        TraceFile::read(&text).unwrap()
    };
    let reference = read("reference.jsonl");
    assert!(reference.is_complete && reference.events.len() > 20);
    let entries = fs::read_dir(report).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let is_of_failure = |name: &String| {
        let parts = name.split_once('.');
        parts.is_some_and(|(stem, ending)| ending == "jsonl" && stem != "reference")
    };
    let traces = names.filter(is_of_failure);
    let traces: Vec<String> = traces.collect();
    assert_eq!(!traces.is_empty(), has_failed);
    let index = fs::read_to_string(report.join("index.html")).unwrap();
    for name in traces {
        let file = read(&name);
        assert!(!file.broken.is_empty() && file.header.replay.is_some());
        let page = name.replace("jsonl", "html");
        assert!(index.contains(&page) && report.join(page).exists());
    }
}

#[test]
fn a_bug_between_two_writes_is_found() {
    let Some((is_kept, text)) = crashes("database", true) else {
        return;
    };
    assert!(!is_kept, "{text}");
    assert!(
        text.contains("configmaps default/db-* there are 1 instead of 2"),
        "{text}"
    );
}

#[test]
fn a_correct_operator_is_not_blamed() {
    if let Some((is_kept, text)) = crashes("database", false) {
        assert!(is_kept, "{text}");
    }
}

/// Makes two config maps whose names the server completes. If it is buggy, one of an attempt before is taken for both.
async fn pair(client: Client, is_buggy: bool) -> Result<(), kube::Error> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    loop {
        let params = ListParams::default().labels("pair=1");
        let count = maps.list(&params).await.map(|list| list.items.len());
        let missing = match count {
            Ok(0) => 2,
            Ok(1) if !is_buggy => 1,
            _ => 0,
        };
        for _ in 0..missing {
            let metadata = json!({"generateName": "pair-", "labels": {"pair": "1"}});
            let map = serde_json::from_value(json!({"metadata": metadata}));
            let map = map.map_err(kube::Error::SerdeError)?;
            if maps.create(&PostParams::default(), &map).await.is_err() {
                break;
            }
        }
        sleep(Duration::from_secs(1)).await;
    }
}

fn pairs(is_buggy: bool) -> Check {
    check_pairs(Subject::function(move |client| pair(client, is_buggy)))
}

fn check_pairs(subject: Subject) -> Check {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let workload = Workload::new()
        .apply(&namespace)
        .quiet(Duration::from_secs(2))
        .rule(
            "there is a pair",
            When::Eventually,
            "configmaps.filter(c, c.metadata.name.startsWith('pair-')).size() == 2",
        );
    survive::check(subject).steps(workload)
}

/// Makes three config maps, one at a time, after a look at policies that version 1.35 does not serve. If it is buggy, it gives
/// up when they are not served.
async fn policed_maps(client: Client, is_buggy: bool) -> Result<(), kube::Error> {
    let policy = GroupVersionKind::gvk(
        "admissionregistration.k8s.io",
        "v1",
        "MutatingAdmissionPolicy",
    );
    let policies = ApiResource::from_gvk_with_plural(&policy, "mutatingadmissionpolicies");
    let policies: Api<DynamicObject> = Api::all_with(client.clone(), &policies);
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    loop {
        if policies.list(&ListParams::default()).await.is_err() && is_buggy {
            return pending().await;
        }
        let params = ListParams::default().labels("made=1");
        if let Ok(list) = maps.list(&params).await
            && list.items.len() < 3
        {
            let name = format!("made-{}", list.items.len());
            let map = json!({"metadata": {"name": name, "labels": {"made": "1"}}});
            let map = serde_json::from_value(map).map_err(kube::Error::SerdeError)?;
            drop(maps.create(&PostParams::default(), &map).await);
        }
        sleep(Duration::from_secs(1)).await;
    }
}

fn policed_maps_check(is_buggy: bool) -> Check {
    let subject = Subject::function(move |client| policed_maps(client, is_buggy));
    let workload = Workload::new().quiet(Duration::from_secs(5)).rule(
        "there are three maps",
        When::Eventually,
        "configmaps.filter(c, c.metadata.name.startsWith('made-')).size() == 3",
    );
    let check = survive::check(subject).steps(workload);
    check.families([Family::Upgrades])
}

#[test]
fn a_controller_that_outlives_upgrades_is_not_blamed() {
    policed_maps_check(false).run();
}

#[test]
#[should_panic = "there are three maps"]
fn a_controller_that_gives_up_during_an_upgrade_is_found() {
    policed_maps_check(true).run();
}

#[test]
fn a_function_is_not_blamed() {
    pairs(false).run();
}

#[test]
fn the_server_is_of_the_version_that_was_chosen() {
    let versions = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&versions);
    let subject = Subject::function(move |client: Client| {
        let seen = Arc::clone(&seen);
        async move {
            let version = client.apiserver_version().await?.git_version;
            seen.lock().unwrap().insert(version);
            pair(client, false).await
        }
    });
    let check = check_pairs(subject).families([Family::Crash]).plans(2);
    check.kubernetes_version("1.34".parse().unwrap()).run();
    assert_eq!(
        *versions.lock().unwrap(),
        BTreeSet::from(["v1.34.9".to_owned()])
    );
}

/// Is run again by the line that the test below reads.
#[test]
#[should_panic = "there is a pair"]
fn a_bug_of_a_function_is_found() {
    pairs(true).families([Family::Crash]).run();
}

#[test]
fn a_failing_test_prints_the_line_that_replays_it() {
    let failed = catch_unwind(|| pairs(true).families([Family::Crash]).run());
    let failed = failed.unwrap_err();
    let text = failed.downcast_ref::<String>().unwrap();
    let line = text.lines().last().unwrap();
    let (plan, rest) = line
        .strip_prefix("SURVIVE_PLAN='")
        .and_then(|line| line.split_once("' "))
        .unwrap();
    let name = "a_failing_test_prints_the_line_that_replays_it";
    assert_eq!(rest, format!("cargo test -p survive {name} -- --exact"));
    let again = Command::new(env::current_exe().unwrap())
        .args(["a_bug_of_a_function_is_found", "--exact", "--nocapture"])
        .env("SURVIVE_PLAN", plan)
        .output()
        .unwrap();
    let output_text = [again.stdout, again.stderr].concat();
    let output_text = String::from_utf8_lossy(&output_text);
    assert!(again.status.success(), "{output_text}");
    assert!(
        output_text.contains("1 of 1 plans break a promise"),
        "{output_text}"
    );
}

#[test]
fn a_plan_determines_a_run_to_the_byte() {
    let traces = || {
        let report = pairs(true).plans(12).report().unwrap();
        let verdicts = report.verdicts.iter();
        let all: Vec<String> = verdicts
            .map(|verdict| format!("{:?} {:?}", verdict.plan, verdict.trace))
            .collect();
        all
    };
    let first = traces();
    assert!(first.len() > 10);
    assert_eq!(first, traces());
}

const WEB: &str = "apps/v1 Deployment default/web";

/// Asks for a deployment while there is none, whatever is refused or lost.
async fn deploying(client: Client) {
    let apps: Api<Deployment> = Api::default_namespaced(client);
    let containers = json!([{"name": "web", "image": "example.com/web:1"}]);
    let web = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
        },
    });
    let params = PatchParams::apply("subject").force();
    loop {
        if let Ok(None) = apps.get_opt("web").await {
            drop(apps.patch("web", &params, &Patch::Apply(&web)).await);
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Leaves what the subject asks for to the server's controllers, and what becomes of the rest.
#[test]
fn the_controllers_of_the_server_are_not_blamed() {
    let claim = |name: &str| {
        json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        })
    };
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    });
    let quiet = Duration::from_secs(5);
    let workload = Workload::new()
        .apply(&service)
        .apply(&claim("disk"))
        .apply(&claim("spare"))
        .wait(WEB, "object.status.availableReplicas == 2")
        .quiet(quiet)
        .patch(WEB, json!({"metadata": {"annotations": {"seen": "1"}}}))
        .delete("v1 PersistentVolumeClaim default/disk")
        .quiet(quiet)
        .rule(
            "two pods are ready",
            When::Eventually,
            "pods.filter(p, p.metadata.namespace == 'default' && p.status.phase == 'Running').size() == 2",
        );
    survive::check(Subject::function(deploying))
        .controllers(Controllers::default().with_workloads(Workloads::default()))
        .steps(workload)
        .plans(30)
        .run();
}

async fn panicking(_: Client) {
    panic!("deliberately")
}

#[test]
fn panics_and_ends_of_a_function_are_reported() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let workload = Workload::new()
        .apply(&namespace)
        .quiet(Duration::from_secs(1));
    let failure = |subject| {
        let report = survive::check(subject).steps(workload.clone()).report();
        report.unwrap_err().to_string()
    };
    let text = failure(Subject::function(panicking));
    assert!(text.contains("it panicked: deliberately"), "{text}");
    let returns = Subject::function(|_| async {});
    let text = failure(returns);
    assert!(text.contains("ended by itself: it returned"), "{text}");
}

/// Makes a config map if it `is_lucky`.
async fn gambling(client: Client, is_lucky: bool) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let _ = maps.list(&ListParams::default()).await;
    if is_lucky {
        let map = serde_json::from_value(json!({"metadata": {"name": "coin"}})).unwrap();
        let _ = maps.create(&PostParams::default(), &map).await;
    }
    pending::<()>().await;
}

#[test]
fn a_difference_in_number_without_perturbation_is_a_finding() {
    let starts = AtomicUsize::new(0);
    // Each run starts it twice, the second time in the end.
    let subject = Subject::function(move |client| {
        gambling(client, starts.fetch_add(1, Ordering::Relaxed) == 2)
    });
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let workload = Workload::new()
        .apply(&namespace)
        .quiet(Duration::from_secs(1));
    let report = survive::check(subject).steps(workload).report().unwrap();
    assert!(!report.is_good());
    let found = report.reference.findings.iter().map(ToString::to_string);
    let found: Vec<String> = found.collect();
    let expected = "end state: configmaps default/coin differs in number between two runs without perturbation";
    assert_eq!(found, [expected]);
}

#[test]
fn a_subject_that_cannot_start_ends_the_run_at_once() {
    let source = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "source"}});
    let workload = Workload::new()
        .apply(&source)
        .wait("v1 ConfigMap default/copy", "true");
    let returns = Subject::function(|_| async {});
    let report = survive::check(returns).steps(workload).report();
    let Err(CheckError::Campaign(CampaignError::NoReference { timeline, .. })) = report else {
        panic!("{report:?}");
    };
    let last = timeline
        .lines()
        .rfind(|line| line.contains(" s  "))
        .unwrap();
    let seconds: f64 = last.split_whitespace().next().unwrap().parse().unwrap();
    assert!(seconds < 2.0, "{timeline}");
    assert!(
        timeline.contains("too often to be started again"),
        "{timeline}"
    );
}

#[test]
fn the_end_of_a_command_at_once_is_reported_with_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let workload = folder.path().join("survive.yaml");
    let source = "{apiVersion: v1, kind: ConfigMap, metadata: {name: source}}";
    fs::write(&workload, format!("steps: [{{apply: {source}}}]")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_survive"))
        .args(["--workload"])
        .arg(&workload)
        .arg("--report")
        .arg(folder.path().join("report"))
        .args(["--", "sh", "-c", "echo no such flag >&2; exit 7"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("ended by itself: exit status: 7"), "{text}");
    assert!(text.contains("\n  no such flag\n"), "{text}");
}

#[test]
fn traces_of_failures_are_kept_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let check = || pairs(true).families([Family::Crash]).traces(folder.path());
    let report = check().report().unwrap();
    assert_eq!(report.traces.len(), report.failed_count());
    let read = |file: &Path| TraceFile::read(&fs::read_to_string(file).unwrap()).unwrap();
    let reference = report.reference_trace.as_deref().unwrap();
    assert!(read(reference).is_complete && read(reference).broken.is_empty());
    for (place, file) in &report.traces {
        let (trace, verdict) = (read(file), &report.verdicts[*place]);
        assert!(trace.is_complete && trace.header.title == verdict.plan.to_string());
        assert_eq!(trace.broken.len(), verdict.findings.len());
        let line = trace.header.replay.unwrap();
        assert!(line.starts_with("SURVIVE_PLAN="), "{line}");
    }
    let failed = catch_unwind(|| check().run()).unwrap_err();
    let text = failed.downcast_ref::<String>().unwrap();
    let first = report.traces.values().next().unwrap().display();
    let line = format!("its trace: conformance trace {first} --html ");
    assert!(text.contains(&line), "{text}");
    // One that keeps all promises leaves none.
    pairs(false).plans(2).traces(folder.path()).run();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_check_within_a_runtime_says_what_to_do() {
    let report = pairs(false).report();
    let text = report.unwrap_err().to_string();
    assert!(text.contains("call it in a plain #[test]"), "{text}");
}

/// Returns the command that tries a script of a shell, with a workload of its own, in a folder.
fn trying(folder: &Path, workload: &str, script: &str) -> Command {
    fs::write(folder.join("survive.yaml"), workload).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_survive"));
    command
        .current_dir(folder)
        .args(["--workload", "survive.yaml"])
        .args(["--", "sh", "-c", script]);
    command
}

const ONE_MAP: &str =
    "steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: source}}}]";

#[test]
fn a_run_that_fails_keeps_the_earlier_report() {
    let Some(operator) = operator("database") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("survive-report");
    let first = crashing("database", &report)
        .args(["--plans", "1", "--"])
        .args(operator)
        .output()
        .unwrap();
    assert!(first.status.code().is_some_and(|code| code < 2));
    let read = || fs::read(report.join("report.json")).unwrap();
    let kept = read();
    let failed = trying(folder.path(), ONE_MAP, "exit 7").output().unwrap();
    assert_eq!(failed.status.code(), Some(2));
    assert_eq!(read(), kept);

    // One that another run has is refused at once.
    let locked = fs::File::open(&report).unwrap();
    locked.try_lock().unwrap();
    let refused = trying(folder.path(), ONE_MAP, "exit 7").output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("another run writes its report"), "{text}");
    assert_eq!(read(), kept);
}

/// They leave the process group, the second one without a variable and the third one without a parent, too, and outlive the shell
/// that started them.
#[cfg(target_os = "linux")]
#[test]
fn no_descendant_of_a_command_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let child = format!(
        "sh -c 'echo $$ >>{ids}; exec sleep 4321'",
        ids = ids.display()
    );
    let script = format!(
        "setsid {child} & setsid env -i {child} & (setsid env -i {child} &) & sleep 0.6; exit 7"
    );
    let output = trying(folder.path(), ONE_MAP, &script).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    let ids = fs::read_to_string(ids).unwrap();
    assert!(ids.lines().count() >= 12, "{ids}");
    for id in ids.lines() {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        assert!(!command.contains("4321"), "{id} is left");
    }
    // No check saw the parents of the third ones.
    assert!(
        text.contains("left behind were killed in the end: sleep"),
        "{text}"
    );
}

/// Tries a subject that only says that it is ready, with a rule.
fn saying_ready(rule: &str) -> (Option<i32>, String, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let map = "{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: source}}}";
    let workload = format!("{{steps: [{map}, {{quiet: 500ms}}], rules: [{rule}]}}");
    fs::write(folder.path().join("survive.yaml"), workload).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_survive"))
        .current_dir(folder.path())
        .args(["--workload", "survive.yaml"])
        .args(["--ready-output", "READY"])
        .args(["--", "sh", "-c", "echo READY; exec sleep 1234"])
        .output()
        .unwrap();
    let output_text = [output.stdout, output.stderr].concat();
    let read = |name: &str| {
        fs::read_to_string(folder.path().join("survive-report").join(name)).unwrap_or_default()
    };
    let report = serde_json::from_str(&read("report.json")).unwrap_or_default();
    let output_text = String::from_utf8_lossy(&output_text).into_owned();
    (output.status.code(), output_text, report, read("junit.xml"))
}

#[test]
fn a_campaign_without_plans_proves_nothing_and_each_process_says_that_it_is_ready() {
    let (status, output_text, report, junit) = saying_ready("");
    assert_eq!(status, Some(2), "{output_text}");
    assert!(
        output_text.contains("there was no plan to run"),
        "{output_text}"
    );
    let seconds = report["reference"]["seconds"].as_f64().unwrap();
    assert!(
        seconds < 50.0,
        "the restart in the end waited: {output_text}"
    );
    let counts = "tests=\"2\" failures=\"0\" errors=\"1\"";
    assert!(junit.contains(counts), "{junit}");
}

#[test]
fn a_promise_broken_without_perturbation_fails_everywhere() {
    let (status, output_text, _, junit) = saying_ready("{name: never, always: '1 == 2'}");
    assert_eq!(status, Some(1), "{output_text}");
    assert!(
        output_text.contains("broken without any perturbation"),
        "{output_text}"
    );
    assert!(junit.contains("failures=\"1\""), "{junit}");
    assert!(junit.contains("classname=\"survive.reference\""), "{junit}");
}

#[test]
fn mistakes_are_reported_before_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let message = |workload: &str| {
        let output = trying(folder.path(), workload, "sleep 60")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for (workload, expected) in [
        (
            "steps: [{wait: {object: v1 Databasee a, until: 'true'}}]",
            "survive.yaml: step 1: the server has no v1 Databasee",
        ),
        (
            "steps: [{wait: {object: v1 Pod a, until: 'object.'}}]",
            "survive.yaml: step 1: ",
        ),
        (
            "{steps: [{quiet: 1s}], rules: [{name: x, always: 'podz.size() == 0'}]}",
            "survive.yaml: rule \"x\": ",
        ),
    ] {
        let text = message(workload);
        assert!(text.contains(expected), "{text}");
    }
    assert!(!folder.path().join("survive-report").exists());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("survive.yaml"), ONE_MAP).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_survive"))
        .current_dir(folder.path())
        .args(["--workload", "survive.yaml", "--", "./nonexist"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    let expected = "replica 0 cannot be started: ./nonexist: No such file or directory";
    assert!(text.contains(expected), "{text}");
}

/// Asks for a resource without a definition, and writes nothing.
async fn idle(client: Client) {
    loop {
        let request = http::Request::get("/apis/example.org/v1/things").body(Vec::new());
        let _ = client.request::<Value>(request.unwrap()).await;
        sleep(Duration::from_secs(1)).await;
    }
}

#[test]
fn a_subject_that_does_nothing_is_reported() {
    let source = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "source"}});
    let workload = Workload::new().apply(&source).quiet(Duration::from_secs(1));
    let check = |subject| survive::check(subject).steps(workload.clone()).plans(1);
    let report = check(Subject::function(idle)).report().unwrap();
    let text = report.to_string();
    assert!(
        text.contains("WARNING: the subject wrote nothing"),
        "{text}"
    );
    assert!(text.contains("asked for: things.example.org;"), "{text}");

    let never = check(Subject::function(|_| pending::<()>()));
    let text = never.report().unwrap_err().to_string();
    let expected = "within 60s of its start the subject made no request";
    assert!(text.contains(expected), "{text}");
}
