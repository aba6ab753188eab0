//! `fakeserver check` and `fakeserver diff`, as a process.

use std::{fs, path::Path, process::Stdio};

use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, time::timeout};

use crate::program::{PATIENCE, program};

const GOOD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const BAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: B}\n";
const ENDPOINTS: &str = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n";

/// The status of a process, and what it printed.
struct Exit {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder with an input.
async fn run(folder: &Path, arguments: &[&str], input: &str) -> Exit {
    let mut child = program()
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read it may have ended.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = timeout(PATIENCE, child.wait_with_output()).await;
    let output = output.unwrap().unwrap();
    Exit {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[tokio::test]
async fn the_status_of_a_check_says_what_was_found() {
    let files = [
        ("good.yaml", GOOD),
        ("bad.yaml", BAD),
        ("old.yaml", ENDPOINTS),
        ("broken.yaml", "a: [\n"),
    ];
    let folder = folder(&files);
    for (arguments, code) in [
        (&["check", "good.yaml"][..], 0),
        (&["check", "bad.yaml"], 1),
        (&["check", "broken.yaml", "good.yaml"], 1),
        (&["check", "old.yaml"], 0),
        (&["check", "--warnings-as-errors", "old.yaml"], 1),
        (&["check", "none.yaml", "good.yaml"], 2),
        (&["check"], 2),
        (&["check", "--kubernetes-version", "1.9", "good.yaml"], 2),
        (
            &["check", "--kubernetes-version", "1.37..1.34", "good.yaml"],
            2,
        ),
    ] {
        let exit = run(folder.path(), arguments, "").await;
        assert_eq!(
            exit.code, code,
            "{arguments:?}: {}{}",
            exit.stdout, exit.stderr
        );
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_the_rest_is_checked() {
    let folder = folder(&[("bad.yaml", BAD)]);
    let exit = run(folder.path(), &["check", "none.yaml", "bad.yaml"], "").await;
    assert!(
        exit.stderr.starts_with("error: cannot read none.yaml: "),
        "{}",
        exit.stderr
    );
    assert!(
        exit.stdout
            .contains("3:18  error    ConfigMap B: metadata.name: Invalid value: \"B\""),
        "{}",
        exit.stdout
    );
}

#[tokio::test]
async fn the_standard_input_is_checked_against_a_range_of_versions() {
    let folder = folder(&[]);
    let arguments = [
        "check",
        "--kubernetes-version",
        "1.31..1.33",
        "--kubernetes-version",
        "latest",
        "-o",
        "json",
        "-",
    ];
    let text = "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: a}\nspec: {priorityLevelConfiguration: {name: exempt}}\n";
    let exit = run(folder.path(), &arguments, text).await;
    assert_eq!(exit.code, 1, "{}", exit.stderr);
    let report: Value = serde_json::from_str(&exit.stdout).unwrap();
    assert_eq!(
        report["versions"],
        serde_json::json!(["1.31", "1.32", "1.33", "1.37"])
    );
    let removed = &report["findings"].as_array().unwrap()[0];
    assert_eq!(removed["rule"], "removed-api");
    assert_eq!(
        removed["versions"],
        serde_json::json!(["1.32", "1.33", "1.37"])
    );
    assert_eq!(
        (&removed["file"], &removed["line"]),
        (&"stdin".into(), &1.into())
    );
}

#[tokio::test]
async fn reports_have_the_form_that_is_asked_for() {
    let folder = folder(&[("bad.yaml", BAD)]);
    for (form, beginning) in [
        ("text", "bad.yaml\n"),
        ("json", "{\n"),
        ("junit", "<?xml "),
        ("sarif", "{\n  \"$schema\""),
    ] {
        let exit = run(folder.path(), &["check", "-o", form, "bad.yaml"], "").await;
        assert!(
            exit.stdout.starts_with(beginning),
            "{form}: {}",
            exit.stdout
        );
        assert_eq!(exit.stderr, "", "{form}");
    }
}

#[tokio::test]
async fn the_status_of_a_diff_is_that_of_diff() {
    let files = [
        ("old.yaml", GOOD),
        (
            "same.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
        ),
        (
            "new.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n",
        ),
        ("bad.yaml", BAD),
    ];
    let folder = folder(&files);
    for (arguments, code) in [
        (&["diff", "old.yaml", "same.yaml"][..], 0),
        (&["diff", "old.yaml", "new.yaml"], 1),
        (&["diff", "old.yaml", "bad.yaml"], 2),
        (&["diff", "old.yaml", "none.yaml"], 2),
        (&["diff", "-", "-"], 2),
        (&["diff", "old.yaml"], 2),
    ] {
        let exit = run(folder.path(), arguments, "").await;
        assert_eq!(
            exit.code, code,
            "{arguments:?}: {}{}",
            exit.stdout, exit.stderr
        );
    }
    let exit = run(folder.path(), &["diff", "-", "new.yaml"], GOOD).await;
    assert_eq!(exit.code, 1, "{}", exit.stderr);
    assert!(
        exit.stdout.contains("--- stdin\n+++ new.yaml\n"),
        "{}",
        exit.stdout
    );
}
