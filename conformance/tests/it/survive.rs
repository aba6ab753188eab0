//! The command `survive`: an operator with a seeded bug is blamed, and its correct twin is not.

use std::{path::Path, process::Command};

/// Runs plans of crashes against an operator in Python. Returns whether every promise was kept, and what was said; `None` without
/// Python.
fn crashes(operator: &str, is_buggy: bool) -> Option<(bool, String)> {
    let question = ["-c", "import sys; print(sys.executable)"];
    let Ok(python) = Command::new("python3").args(question).output() else {
        println!("SKIPPED: there is no python3 on this machine");
        return None;
    };
    let python = String::from_utf8(python.stdout).unwrap();
    let report = tempfile::tempdir().unwrap();
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("survive/subjects/python");
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command
        .args(["survive", "--families", "crash", "--crds"])
        .arg(subjects.join(operator).join("crd.yaml"))
        .arg("--workload")
        .arg(subjects.join(operator).join("survive.yaml"))
        .arg("--report")
        .arg(report.path())
        .args(["--", python.trim(), "-S", "-E", "-B"])
        .arg(subjects.join(format!("{operator}.py")));
    if is_buggy {
        command.arg("--buggy");
    }
    let output = command.output().unwrap();
    let status = output.status.code();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(matches!(status, Some(0 | 1)), "{text}");
    Some((status == Some(0), text.into_owned()))
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
