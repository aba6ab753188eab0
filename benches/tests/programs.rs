//! The benchmarks with small parameters, so that they cannot rot. Durations are not looked at.

use std::{fs, path::Path, process::Command};

use benches::seeded::{Mistake, SeededSet};
use fakeserver_check::{CheckOptions, Finding, ManifestSet, Severity, check};

const SIDES: [&str; 12] = [
    "informer typed, paged list",
    "informer typed, streaming list",
    "informer typed, one thread, paged list",
    "informer typed, one thread, streaming list",
    "informer without managedFields, paged list",
    "informer without managedFields, streaming list",
    "informer compact, paged list",
    "informer compact, streaming list",
    "informer metadata only, paged list",
    "informer metadata only, streaming list",
    "kube-runtime reflector, paged list",
    "kube-runtime reflector, streaming list",
];

#[test]
fn sync_runs_every_side_and_checks_its_answer() {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["sync", "--pods", "20,60", "--rounds", "1", "--results"])
        .arg(results.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stderr}");
    let csv = fs::read_to_string(results.path().join("sync.csv")).unwrap();
    let svg = fs::read_to_string(results.path().join("sync.svg")).unwrap();
    for side in SIDES {
        assert!(stdout.contains(side), "{side} is missing in\n{stdout}");
        assert_eq!(csv.matches(side).count(), 2, "{side} in\n{csv}");
        assert!(svg.contains(side), "{side} is missing in the plot");
    }
}

#[test]
fn sync_runs_the_sides_that_are_asked_for() {
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args([
            "sync",
            "--pods",
            "5",
            "--rounds",
            "1",
            "--sides",
            "typed-paged",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let ran = SIDES.iter().filter(|side| stdout.contains(*side));
    assert_eq!(ran.collect::<Vec<_>>(), [&"informer typed, paged list"]);
}

/// A stand-in for the program of client-go: it syncs nothing.
#[test]
#[cfg(unix)]
fn a_peer_that_holds_something_else_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let peer = folder.path().join("peer");
    let measured = r#"{"sync":{"secs":1,"nanos":0},"cpu":{"secs":1,"nanos":0},"resident_bytes":1,"peak_bytes":1,"heap_bytes":1,"answer":{"objects":0,"digest":""}}"#;
    fs::write(&peer, format!("#!/bin/sh\necho '{measured}'\n")).unwrap();
    fs::set_permissions(&peer, fs::Permissions::from_mode(0o700)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_benches"));
        command.args([
            "sync",
            "--pods",
            "5",
            "--rounds",
            "1",
            "--sides",
            "client-go",
        ]);
        let output = command.args(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let stderr = run(&["--client-go", peer.to_str().unwrap()]);
    assert!(
        stderr.contains("client-go: the cache differs from the server"),
        "{stderr}"
    );
    let stderr = run(&[]);
    assert!(
        stderr.contains("--client-go PROGRAM, see scripts/peers.sh"),
        "{stderr}"
    );
    let stderr = run(&["--client-go", folder.path().to_str().unwrap()]);
    assert!(
        stderr.contains("there is no such file; scripts/peers.sh builds"),
        "{stderr}"
    );
}

#[test]
fn workloads_waits_for_all_pods() {
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["workloads", "--deployments", "3", "--replicas", "2"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("3 deployments of 2 pods"), "{stdout}");
}

#[test]
fn server_asks_what_it_built() {
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["server", "--servers", "3"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("of 3"));
}

/// The program `fakeserver` stands beside the benches if everything is built, and not if only they are.
fn build_fakeserver() {
    let benches = Path::new(env!("CARGO_BIN_EXE_benches"));
    if benches.with_file_name("fakeserver").is_file() {
        return;
    }
    let target = benches.ancestors().nth(2).unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--locked", "-p", "fakeserver", "--target-dir"])
        .arg(target)
        .status();
    assert!(built.unwrap().success());
}

/// Measures some parts in a small cluster, and expects these figures.
fn check_figures(parts: &str, expected: &[&str]) {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["figures", "--only", parts, "--pods", "60", "--curve", "5"])
        .args(["--largest", "60", "--rounds", "1", "--operations", "40"])
        .args(["--watchers", "3", "--churn-minutes", "0", "--results"])
        .arg(results.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let csv = fs::read_to_string(results.path().join("figures.csv")).unwrap();
    for what in expected {
        assert!(csv.contains(what), "{what} is missing in\n{csv}");
    }
}

#[test]
fn a_relist_of_each_side_is_measured() {
    let relist = "relist of 60 unchanged pods, informer compact, streaming list";
    check_figures("relist", &[relist]);
}

#[test]
fn figures_measures_parts_in_a_small_cluster() {
    build_fakeserver();
    check_figures(
        "sync,encodings,updates,reads,latency,server,forms,memory",
        &[
            "sync of 60 pods, compact: resident a pod",
            "updates to 3 handlers on one core, typed",
            "lookup of 30 pods among 60 by an index",
            "slowest read (p99.9) while a relist of 60 is applied",
            "server commit to handler over TCP, p99",
            "process start to first answer",
            "list of 60 pods over loopback",
            "events to 3 watchers",
            "creates over 8 connections",
            "sync of 60 pods in protobuf, typed: processor time, of that in JSON",
            "list of 60 pods as a table: memory meanwhile",
            "60 pods after 0 min of 1000 writes/s, resident, compressed",
        ],
    );
}

#[test]
fn curves_measures_every_count() {
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["curves", "--watchers", "1,3", "--handlers", "1,2"])
        .args(["--operations", "20", "--results"])
        .arg(results.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let read = |name: &str| fs::read_to_string(results.path().join(name)).unwrap();
    let (watchers, handlers) = (read("watchers.csv"), read("handlers.csv"));
    for count in [1, 3] {
        assert!(watchers.contains(&format!("\n{count},\"fake server\",")));
    }
    for side in [
        "informer typed",
        "informer without managedFields",
        "informer compact, handlers take keys",
        "kube-runtime reflector, one stream",
        "kube-runtime shared reflector",
    ] {
        assert_eq!(handlers.matches(side).count(), 2, "{side} in\n{handlers}");
        assert!(read("handlers.svg").contains(side));
    }
}

#[test]
fn results_that_exist_are_replaced_on_request_only() {
    for (command, name) in [
        ("sync", "sync.svg"),
        ("figures", "figures.csv"),
        ("curves", "handlers.csv"),
    ] {
        let results = tempfile::tempdir().unwrap();
        let file = results.path().join(name);
        fs::write(&file, "kept").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_benches"))
            .args([command, "--results"])
            .arg(results.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{stderr}");
        assert!(stderr.contains("--force replaces it"), "{stderr}");
        assert_eq!(output.stdout, b"", "nothing was measured");
        assert_eq!(fs::read(&file).unwrap(), b"kept");
    }
}

#[test]
fn manifests_have_to_say_where_the_program_is() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("benches");
    fs::copy(env!("CARGO_BIN_EXE_benches"), &alone).unwrap();
    let output = Command::new(alone)
        .args([
            "manifests",
            "--objects",
            "100",
            "--each",
            "1",
            "--rounds",
            "1",
        ])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("build it with: cargo build"), "{stderr}");
}

#[test]
fn every_seeded_mistake_is_found_and_nothing_else() {
    let seeded = SeededSet::new(7, 400, 3);
    assert_eq!(seeded.mistakes.len(), 3 * Mistake::ALL.len());
    let mut manifests = ManifestSet::default();
    for (name, text) in &seeded.files {
        manifests.add(name, text.clone().into_bytes());
    }
    assert_eq!(manifests.len(), 400);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let options = CheckOptions::new([]);
    let report = runtime.block_on(check(&manifests, &options, &|_, _| {}));
    for mistake in &seeded.mistakes {
        let of_file = |finding: &&Finding| *finding.file == *mistake.file;
        let found: Vec<&Finding> = report.findings.iter().filter(of_file).collect();
        assert!(!found.is_empty(), "{mistake:?}");
        assert!(
            found
                .iter()
                .all(|finding| finding.severity() == Severity::Error),
            "{found:?}"
        );
    }
    let others = report.findings.iter().filter(|finding| {
        let mut mistakes = seeded.mistakes.iter();
        !mistakes.any(|mistake| *mistake.file == *finding.file)
    });
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&Finding>::new());
}
