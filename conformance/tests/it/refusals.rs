//! Command lines and files that the program refuses: what it says, and that it leaves everything as it was.

use std::{fs, path::Path, process::Command};

/// Command lines, and what the error says: what is wrong, and what to do.
const REFUSED: &[(&str, &[&str])] = &[
    ("sim --seeds none", &["--seeds", "invalid digit"]),
    ("sim --seeds 0", &["--seeds", "0 is not in 1.."]),
    (
        "sim --profile huge",
        &["--profile", "brief, small, medium, large"],
    ),
    ("sim --threads 0", &["--threads"]),
    (
        "sim --seeds 1 --json folder",
        &["cannot write folder", "it is no file"],
    ),
    (
        "sim --seeds 1 --json notes",
        &["cannot write notes", "--force replaces it"],
    ),
    (
        "sim --seeds 1 --json none/report",
        &["cannot write none/report", "there is no folder none"],
    ),
    (
        "sim --steer --seeds 1 --corpus notes",
        &["--corpus notes", "name a folder"],
    ),
    ("sim --seeds 1 --corpus folder", &["--steer"]),
    ("replay", &["<SEED>", "Usage"]),
    ("replay x", &["'x'", "`replay --plan FILE`"]),
    ("replay notes", &["`replay --plan notes`"]),
    ("replay --plan notes", &["notes is no plan", "line 1"]),
    (
        "replay --plan half.json",
        &["half.json is no plan", "missing field"],
    ),
    ("replay --plan nothing.json", &["cannot read nothing.json"]),
    ("replay 1 --trace none/trace", &["cannot write none/trace"]),
    ("replay 1 --shrink folder", &["cannot write folder"]),
    (
        "bugs --bug nothing",
        &["'nothing'", "there are added-ignored, "],
    ),
    (
        "score --subject nothing",
        &["no contestant is called nothing", "--list tells them"],
    ),
    ("score --columns folder", &["--markdown <FILE>"]),
    (
        "wire --server here",
        &["here: a URL is wanted, as in http://127.0.0.1:8001"],
    ),
    ("wire --server ftp://127.0.0.1", &["a URL is wanted"]),
    ("wire --server http://127.0.0.1:1 notes", &["notes"]),
    ("wire --kubeconfig notes", &["notes"]),
    (
        "corpus compare --server http://127.0.0.1:1 notes",
        &["notes, line 1, is no request"],
    ),
    (
        "corpus compare --server http://127.0.0.1:1 rubbish",
        &["cannot read rubbish"],
    ),
    ("diff --left here --right there", &["here: a URL is wanted"]),
    (
        "diff --left http://127.0.0.1:1 --right http://127.0.0.1:1",
        &["http://127.0.0.1:1 is not reached"],
    ),
    (
        "proxy --upstream here",
        &["--upstream here", "as in http://127.0.0.1:8001"],
    ),
    ("proxy", &["--upstream <URL>"]),
    (
        "survive --workload notes",
        &["there is no subject", "after `--`"],
    ),
    ("survive -- true", &["--workload <FILE>"]),
    (
        "survive --workload nothing.yaml -- true",
        &["cannot read nothing.yaml"],
    ),
    ("survive --workload notes -- true", &["notes: "]),
    (
        "survive --workload half.yaml -- true",
        &["half.yaml: step 1: it needs one of `apply`"],
    ),
    (
        "survive --workload quiet.yaml --rules half.yaml -- true",
        &["half.yaml: rule \"r\": it needs one of `always:`"],
    ),
    (
        "survive --workload quiet.yaml --crds nothing.yaml -- true",
        &["the definitions cannot be served", "nothing.yaml"],
    ),
    (
        "survive --workload quiet.yaml --report folder -- true",
        &["folder holds other files", "--force"],
    ),
    (
        "survive --workload quiet.yaml --controllers none,x -- true",
        &["--controllers"],
    ),
    (
        "survive --replay half.json",
        &["half.json is no file of a report"],
    ),
    (
        "survive --workload quiet.yaml --families x -- true",
        &["'x'", "crash"],
    ),
    ("simm", &["'sim'"]),
    ("sim --seeds 3 extra", &["'extra'", "Usage"]),
];

/// Returns the names of what is in a folder, and what is in files.
fn files(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.display().to_string(), fs::read(&path).ok()))
        .collect();
    files.sort();
    files
}

#[test]
fn an_impossible_command_fails_with_advice_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    fs::write(folder.join("notes"), "eggs, milk\n").unwrap();
    fs::write(folder.join("rubbish"), [0xff, 0xfe, 0, 1]).unwrap();
    fs::write(folder.join("half.json"), r#"{"seed": 1}"#).unwrap();
    fs::write(
        folder.join("half.yaml"),
        "steps: [{name: s}]\nrules: [{name: r}]\n",
    )
    .unwrap();
    fs::write(folder.join("quiet.yaml"), "steps: [{quiet: 1s}]\n").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    fs::write(folder.join("folder/notes"), "bread\n").unwrap();
    let before = files(folder);
    for (command_line, expected) in REFUSED {
        let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(command_line.split(' '))
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command_line}: {text}");
        assert_eq!(output.stdout, b"", "{command_line}: nothing has begun");
        for part in *expected {
            assert!(
                text.contains(part),
                "{command_line}: {part:?} is not in: {text}"
            );
        }
        assert!(files(folder) == before, "{command_line}");
    }
}
