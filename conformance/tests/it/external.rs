//! Processes under test, over TCP and in real time: a short scenario, sped up.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    num::NonZeroU32,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use conformance::{
    participants::subjects::external::Program,
    score::{self, Arena, Cell, Column, EXTERNAL, Verdict},
    seed::Seed,
};

/// A scenario with some of everything for pods and config maps, and a stream that ends within a line.
const SHORT: &str = "I";

/// Programs, their verdicts, and texts in the findings.
const BREACHES: [(&str, Verdict, &[&str]); 11] = [
    (
        "echo no library >&2; exit 3",
        Verdict::Died,
        &["ended with status 3 after line 0", "`no library`"],
    ),
    (
        "kill -9 $$",
        Verdict::Died,
        &["signal: 9", "expected it to go on"],
    ),
    (
        "echo garbage; cat >&2",
        Verdict::Misspoke,
        &[
            "`echo garbage; cat >&2` line 1 of its output is `garbage`",
            r#"expected one as {"say":"hello"}"#,
        ],
    ),
    (
        r#"echo '{"say":"hello"}'; echo '{"say":"added","object":{"key":"a","uid":"u","resourceVersion":"x"}}'; cat >&2"#,
        Verdict::Misspoke,
        &[
            "line 2 of its output",
            r#"resourceVersion "x" is no number"#,
        ],
    ),
    (
        // One of two answers has no question.
        r#"printf '{"say":"hello"}\n{"say":"cache","objects":[]}\n{"say":"cache","objects":[]}\n'; cat >&2"#,
        Verdict::Misspoke,
        &["of its output says what the cache holds"],
    ),
    (
        r#"echo '{"say":"hello"}'; yes '{"say":"synced"}'"#,
        Verdict::Misspoke,
        &["line 10001", "within a second"],
    ),
    (
        "head -c 5000000 /dev/zero; cat >&2",
        Verdict::Misspoke,
        &["line 1", "at most 4194304 bytes"],
    ),
    (
        "exec >&-; cat >&2",
        Verdict::Misspoke,
        &["closed its output after line 0, and goes on"],
    ),
    (
        "cat >&2",
        Verdict::Hung,
        &[r#"has not said {"say":"hello"} within 8s of its start"#],
    ),
    (
        r#"echo '{"say":"synced"}'; cat >&2"#,
        Verdict::Misspoke,
        &["line 1 of its output", "it has not said hello before"],
    ),
    (
        r#"echo '{"say":"hello"}'; cat >&2"#,
        Verdict::Hung,
        &[r#"line 2 of its input, {"do":"cache"}, within 8s"#],
    ),
];

/// Runs `program` in a scenario.
fn cell(program: Program, scenario: &str, converge_within: Duration) -> Cell {
    let scenarios: Vec<_> = score::scenarios()
        .into_iter()
        .filter(|found| found.origin == scenario)
        .collect();
    let arena = Arena::new(Seed::new(1), 1)
        .over_tcp()
        .with_speed(NonZeroU32::new(8).unwrap())
        .with_convergence_limit(converge_within)
        .with_program(program);
    let board = score::run(&scenarios, &[EXTERNAL], &arena, |_| {});
    assert_eq!(board.cells.len(), 1);
    board.cells[0].clone()
}

/// Runs with limits that are short, but longer than a busy machine takes to start a shell.
fn short_cell(command: &str) -> Cell {
    let program = Program::new(command).with_answer_limit(Duration::from_secs(8));
    cell(program, SHORT, Duration::from_mins(1))
}

/// Asserts a good verdict; on a slow machine the process may start after the fault.
fn assert_good(command: &str) {
    let cell = cell(Program::new(command), SHORT, Duration::from_mins(1));
    assert!(cell.verdict.is_good(), "{cell:#?}");
}

fn subject() -> String {
    format!("{} subject", env!("CARGO_BIN_EXE_conformance"))
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("external")
        .join(name)
}

#[test]
fn a_process_that_speaks_the_protocol_is_put_under_test() {
    assert_good(&subject());
}

#[test]
fn another_library_is_distinguished_by_what_it_fails_at() {
    let kube_runtime = format!("{} --library kube-runtime", subject());
    assert_good(&kube_runtime);
    // It does not notice HTTP 410 as the answer to a watch.
    let cell = cell(Program::new(kube_runtime), "C", Duration::from_secs(3));
    assert_eq!(cell.verdict, Verdict::Stale, "{cell:#?}");
}

#[test]
fn an_error_names_the_breach_of_the_protocol() {
    thread::scope(|scope| {
        let cells = BREACHES.map(|case| (case, scope.spawn(move || short_cell(case.0))));
        for ((command, verdict, message), cell) in cells {
            let cell = cell.join().unwrap();
            assert_eq!(cell.verdict, verdict, "{command}: {cell:#?}");
            for part in message {
                assert!(
                    cell.text.contains(part),
                    "{command}: {part} in {}",
                    cell.text
                );
            }
        }
    });
}

#[test]
fn a_process_that_goes_on_after_its_input_is_killed() {
    let program = Program::new(format!("{}; sleep 1000", subject()));
    let program = program.with_ending_limit(Duration::from_secs(2));
    let cell = cell(program, SHORT, Duration::from_mins(1));
    assert_eq!(cell.verdict, Verdict::Hung, "{cell:#?}");
    let message = "has not ended within 2s of the end of its input; it was killed";
    assert!(cell.text.contains(message), "{cell:#?}");
}

/// Descendants of a process end with it: a reader of their output reaches the end.
#[test]
fn descendants_of_a_process_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reading = Command::new("timeout")
        .arg("60")
        .arg("cat")
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = pipe.display();
    let cell = short_cell(&format!(
        "(echo started; exec sleep 1000) > {pipe} & echo garbage; wait"
    ));
    assert_eq!(cell.verdict, Verdict::Misspoke, "{cell:#?}");
    let read = reading.wait_with_output().unwrap();
    assert!(read.status.success(), "somebody still holds the pipe");
    assert!(read.stdout.starts_with(b"started\n"));
}

/// A killed harness drops nothing: a guard of its own ends the processes then.
#[test]
fn processes_end_with_a_harness_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let pipe_path = pipe.display();
    // A process with input is guarded.
    let command = format!(
        "echo '{{\"say\":\"hello\"}}'; read -r _; (echo started; exec sleep 1000) > {pipe_path} & cat >&2; sleep 1000"
    );
    let mut harness = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["score", "--against", "tcp", "--subject", "external"])
        .args(["--scenario", "half-a-line", "--command", &command])
        .args(["--answer-within", "1000"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut reading = Command::new("timeout")
        .arg("60")
        .arg("cat")
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reading.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    harness.kill().unwrap();
    harness.wait().unwrap();
    assert_eq!(line, "started\n");
    lines.read_to_string(&mut line).unwrap();
    let read = reading.wait().unwrap();
    assert!(read.success(), "somebody still holds the pipe");
}

#[test]
fn the_example_in_python_is_put_under_test() {
    let python = ["python3", "-c", "import json, http.client"];
    if !is_there(&python) {
        println!("SKIPPED: there is no python3 on this machine");
        return;
    }
    assert_good(&format!("python3 {}", example("minimal.py").display()));
}

#[test]
fn the_library_in_python_is_put_under_test() {
    let installed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/interop/python/bin/python");
    let pythons = [installed.display().to_string(), "python3".to_owned()];
    let python = pythons
        .iter()
        .find(|python| is_there(&[python, "-c", "import kubernetes.informer"]));
    let Some(python) = python else {
        println!(
            "SKIPPED: no python3 has PyPI's kubernetes; scripts/interop/run.sh python installs it"
        );
        return;
    };
    // It skips states in notifications, and has no pages: only its cache counts.
    let cell = cell(
        Program::new(format!("{python} {}", example("informer.py").display())),
        SHORT,
        Duration::from_mins(1),
    );
    let failed = [
        Verdict::Died,
        Verdict::Misspoke,
        Verdict::Hung,
        Verdict::Stale,
    ];
    assert!(!failed.contains(&cell.verdict), "{cell:#?}");
}

/// Links to the programs of these names, without any others.
fn only(programs: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for program in programs {
        let found = env::split_paths(&env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|path| path.exists());
        symlink(found.unwrap(), folder.path().join(program)).unwrap();
    }
    folder
}

#[test]
fn columns_whose_language_is_not_there_are_skipped_with_a_word() {
    let programs = only(&["bash", "dirname"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/columns.sh");
    let output = Command::new("bash")
        .arg(script)
        .env_clear()
        .env("PATH", programs.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for name in ["client-go", "client-node", "kr8s", "fabric8"] {
        let skipped = format!("columns: {name}: SKIPPED, there is no ");
        assert!(text.contains(&skipped), "{skipped} in {text}");
    }
}

#[test]
fn a_column_is_recorded_with_what_the_process_says_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("informer.json");
    let record = || {
        Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(["score", "--against", "tcp", "--subject", "external"])
            .args(["--scenario", "half-a-line", "--speed", "8"])
            .args(["--command", &subject(), "--record"])
            .arg(&file)
            .output()
            .unwrap()
    };
    // It replaces its own file, and no other one.
    for _ in 0..2 {
        let output = record();
        assert!(output.status.success(), "{output:#?}");
    }
    let column = Column::parse(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(column.circumstances.library, "informer");
    let cells: Vec<_> = column.cells.iter().map(|cell| &*cell.scenario).collect();
    assert_eq!(cells, ["half-a-line"]);
    fs::write(&file, "mine").unwrap();
    assert_eq!(record().status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

fn is_there(command: &[&str]) -> bool {
    let output = Command::new(command[0]).args(&command[1..]).output();
    output.is_ok_and(|output| output.status.success())
}
