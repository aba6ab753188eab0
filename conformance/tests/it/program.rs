//! The command line: its output and its exit status.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Output, Stdio},
};

use conformance::{plan::PlannedFault, seed::Seed, sim::Plan};
use fakeserver::faults::Fault;

fn conformance(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_few_seeds_end_in_a_table() {
    let brief = stdout(&conformance(&["--seeds", "6", "--seed", "11"]));
    let rows = brief.lines().filter(|line| line.starts_with('│')).count();
    assert_eq!(rows, 6, "{brief}");
    let output = conformance(&["--seeds", "6", "--seed", "11", "--verbose"]);
    let text = stdout(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("seeds 11 to 16, medium\n"), "{text}");
    for row in [
        "seeds",
        "faults that had an effect",
        "relists",
        "slowest convergence",
        "requests per fault",
    ] {
        assert!(text.contains(row), "{row} in {text}");
    }
    assert!(text.ends_with("every check held\n"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn the_same_seeds_give_the_same_figures() {
    let run = || {
        timeless(&conformance(&[
            "sim",
            "--seeds",
            "5",
            "--seed",
            "2",
            "--verbose",
        ]))
    };
    assert_eq!(run(), run());
}

/// Returns the lines that do not tell of real time.
fn timeless(output: &Output) -> Vec<String> {
    let text = stdout(output);
    let lines = text.lines();
    lines
        .filter(|line| !line.contains("time taken") && !line.contains("a second"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn steered_runs_are_the_same_on_any_number_of_threads_and_begin_with_those_of_earlier_ones() {
    let place = tempfile::tempdir().unwrap();
    let run = |threads: &str, corpus: &str| {
        let corpus = place.path().join(corpus);
        let args = "sim --steer --seeds 24 --seed 5 --profile small --threads";
        let mut args: Vec<&str> = args.split(' ').collect();
        args.extend([threads, "--corpus", corpus.to_str().unwrap()]);
        conformance(&args)
    };
    let first = run("1", "one");
    assert!(first.status.success(), "{}", stdout(&first));
    assert_eq!(timeless(&first), timeless(&run("3", "two")));
    let names = |corpus: &str| {
        let entries = std::fs::read_dir(place.path().join(corpus)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let kept = names("one");
    assert_eq!(kept, names("two"));
    let again = stdout(&run("2", "one"));
    let want = format!(" {} kept;", kept.len());
    assert!(again.contains(&want), "{want} in {again}");
}

#[test]
fn missing_coverage_fails_if_it_is_required() {
    let line = "sim --seeds 1 --seed 1 --profile small --require-coverage";
    let args: Vec<&str> = line.split(' ').collect();
    let output = conformance(&args);
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("not covered: "), "{errors}");
    let output = conformance(&["sim", "--corpus", "anywhere"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_seed_is_replayed() {
    let output = conformance(&["replay", "11"]);
    assert!(output.status.success());
    assert!(stdout(&output).ends_with("every check held\n"));
}

#[test]
fn a_brief_plan_is_run_in_threads_as_often_as_requested() {
    let text = stdout(&conformance(&[
        "sim",
        "--seeds",
        "2",
        "--seed",
        "1",
        "--workers",
        "2",
        "--load",
        "1",
    ]));
    assert!(text.starts_with("seeds 1 to 2, brief\n"), "{text}");
    assert!(text.ends_with("every check held\n"), "{text}");
    let text = stdout(&conformance(&[
        "replay",
        "1",
        "--workers",
        "2",
        "--tries",
        "3",
    ]));
    assert!(text.contains("failed in 0 of 3 tries"), "{text}");
    assert!(text.ends_with("every check held\n"), "{text}");
    for wrong in [
        ["--profile", "small", "--workers", "2"].as_slice(),
        &["--load", "2"],
    ] {
        let output = conformance(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_profile_gives_other_runs() {
    let text = stdout(&conformance(&["replay", "11", "--profile", "small"]));
    assert!(
        text.starts_with("2 informers, 16 operations, 3 faults"),
        "{text}"
    );
    let text = stdout(&conformance(&[
        "--seeds",
        "2",
        "--seed",
        "4",
        "--profile",
        "small",
    ]));
    assert!(text.starts_with("seeds 4 to 5, small\n"), "{text}");
}

#[test]
fn a_run_is_reported_line_by_line() {
    let text = stdout(&conformance(&["replay", "11", "--timeline"]));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].ends_with("time  actor         version  event"),
        "{text}"
    );
    assert!(
        lines.iter().any(|line| line.contains("informer 0")),
        "{text}"
    );
    assert!(!text.contains("first broken"), "{text}");
}

#[test]
fn a_signal_ends_a_long_run_with_its_figures() {
    let mut running = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["--minutes", "10", "--profile", "small"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output_text = BufReader::new(running.stdout.take().unwrap());
    let mut first = String::new();
    output_text.read_line(&mut first).unwrap();
    assert!(first.starts_with("seeds from"), "{first}");
    let interrupt = ["-INT", &running.id().to_string()].map(str::to_owned);
    assert!(
        Command::new("kill")
            .args(interrupt)
            .status()
            .unwrap()
            .success()
    );
    let mut rest = String::new();
    output_text.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with("ended by a signal after"), "{rest}");
    assert!(rest.contains("seeds a second"), "{rest}");
    assert_eq!(running.wait().unwrap().code(), Some(2));
}

#[test]
fn figures_and_traces_are_written_to_the_named_files() {
    let folder = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (json, trace) = (folder.join("report.json"), folder.join("trace.jsonl"));
    assert!(
        conformance(&[
            "--seeds",
            "2",
            "--seed",
            "1",
            "--json",
            json.to_str().unwrap()
        ])
        .status
        .success()
    );
    assert!(
        conformance(&["replay", "1", "--trace", trace.to_str().unwrap()])
            .status
            .success()
    );
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["summary"]["run_count"], 2);
    assert_eq!(report["good"], true);
    let trace = trace.to_str().unwrap();
    let printed = conformance(&["trace", trace, "--kind", "phase"]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("converged\n"));
    assert!(
        conformance(&["trace", trace, "--diff", trace])
            .status
            .success()
    );
    let page = folder.join("page.html");
    let written = conformance(&["trace", trace, "--html", page.to_str().unwrap()]);
    assert!(written.status.success());
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .starts_with("<!doctype html>")
    );
    let refused = |arguments: &[&str]| {
        let output = conformance(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    refused(&["trace", json.to_str().unwrap()]);
    let refusal = refused(&["trace", trace, "--kind", "phrase"]);
    assert!(refusal.contains("phase, operation"), "{refusal}");
    let refusal = refused(&["trace", trace, "--actor", "nobody"]);
    assert!(refusal.contains("server, workload"), "{refusal}");
    let read = refused(&["trace", trace, "--perfetto", trace, "--force"]);
    assert!(read.contains("is read, and cannot be written to"), "{read}");
    let out = folder.join("out").display().to_string();
    let twice = refused(&["replay", "1", "--trace", &out, "--html", &out]);
    assert!(twice.contains("is to be written twice"), "{twice}");
    // A run that was killed may end within a character.
    let mut bytes = std::fs::read(trace).unwrap();
    bytes.extend_from_slice(b"{\"t\":1,\"k\":\"note\",\"say\":\"\xc3");
    std::fs::write(&out, bytes).unwrap();
    assert!(conformance(&["trace", &out]).status.success());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_compressed_trace_reads_like_another_one_up_to_where_it_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plain, packed, cut) = (path("t.jsonl"), path("t.jsonl.gz"), path("cut.jsonl.gz"));
    for trace in [&plain, &packed] {
        let run = conformance(&["replay", "1", "--profile", "small", "--trace", trace]);
        assert!(run.status.success());
    }
    let read = |trace: &str| {
        let output = conformance(&["trace", trace]);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let whole = read(&plain);
    assert_eq!(read(&packed), whole);
    let mut bytes = std::fs::read(&packed).unwrap();
    assert!(bytes.len() * 4 < std::fs::read(&plain).unwrap().len());
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&cut, &bytes).unwrap();
    let part = read(&cut);
    let line_count = part.lines().count();
    assert!(line_count * 3 > whole.lines().count() && line_count < whole.lines().count());

    // What was changed since is no trace.
    bytes[300..400].fill(0xff);
    std::fs::write(&cut, &bytes).unwrap();
    let refused = conformance(&["trace", &cut]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("cannot read"), "{message}");
}

#[test]
fn score_writes_the_trace_of_each_plan_of_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, html) = (path("trace.jsonl"), path("page.html"));
    let args = ["score", "--scenario", "disconnect", "--subject"];
    let traces = ["--trace", &trace, "--html", &html];
    let output = conformance(&[&args[..], &["broken-deaf"], &traces].concat());
    assert!(output.status.success(), "{output:?}");
    for trace in [trace, path("trace.2.jsonl")] {
        let printed = conformance(&["trace", &trace]);
        let text = String::from_utf8_lossy(&printed.stdout);
        let broken = text.matches("first broken: freshness: cache 1 stands at 10");
        assert_eq!(broken.count(), 1, "it ignores deletions: {text}");
    }
    for page in [html, path("page.2.html")] {
        assert!(
            std::fs::read_to_string(page)
                .unwrap()
                .starts_with("<!doctype html>")
        );
    }
}

#[test]
fn a_file_that_exists_is_replaced_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.json");
    std::fs::write(&file, "notes").unwrap();
    let path = file.to_str().unwrap();
    let scenario = folder.path().join("notes.yaml");
    std::fs::write(&scenario, "steps: [{method: GET, path: /version}]").unwrap();
    let (scenario, folder) = (scenario.to_str().unwrap(), folder.path().to_str().unwrap());
    let nowhere = "http://127.0.0.1:1";
    for args in [
        &["--json", path][..],
        &["replay", "1", "--trace", path],
        &["replay", "1", "--shrink", path],
        &["bugs", "--markdown", path],
        &["score", "--json", path],
        &["score", "--markdown", path],
        &[
            "score",
            "--subject",
            "informer",
            "--scenario",
            "nothing",
            "--trace",
            path,
        ],
        &["wire", "--server", nowhere, "--json", path],
        &["wire", "--server", nowhere, "--record", folder, scenario],
        &["corpus", "record", "--server", nowhere, "--output", path],
        &[
            "corpus", "compare", "--server", nowhere, "--json", path, path,
        ],
        &[
            "diff", "--left", nowhere, "--right", nowhere, "--json", path,
        ],
    ] {
        let output = conformance(args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert_eq!(output.stdout, b"", "{args:?}: nothing has begun");
        let expected = format!("cannot write {path}: it exists; --force replaces it\n");
        assert_eq!(error, expected, "{args:?}");
        assert_eq!(std::fs::read(&file).unwrap(), b"notes", "{args:?}");
    }
    let output = conformance(&["replay", "1", "--trace", path, "--force"]);
    assert!(output.status.success());
    let trace = std::fs::read_to_string(&file).unwrap();
    assert!(trace.contains("\"say\":\"converged\""), "{trace}");
}

#[test]
fn a_plan_that_fails_is_reported_and_shrunk() {
    let folder = std::env::temp_dir().join(format!("conformance-shrink-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (whole, smaller) = (folder.join("whole.json"), folder.join("smaller.json"));
    let mut plan = Plan::draw(Seed::new(11));
    plan.faults
        .push(PlannedFault::new(0, plan.safety_ms, Fault::DropEvent));
    std::fs::write(&whole, plan.to_text()).unwrap();

    let (whole, smaller) = (whole.to_str().unwrap(), smaller.to_str().unwrap());
    let output = conformance(&["replay", "--plan", whole, "--shrink", smaller]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("expected of fault"), "{text}");
    assert!(text.contains("replay --plan"), "{text}");
    // The timeline of the smaller plan is printed.
    assert!(text.contains("  event\n"), "{text}");
    assert!(text.contains("^ first broken: "), "{text}");

    let shrunk = Plan::from_text(&std::fs::read_to_string(smaller).unwrap()).unwrap();
    assert!(shrunk.workload.len() < plan.workload.len());
    assert_eq!(shrunk.faults.len(), 1);
    assert_eq!(shrunk.faults[0].kind, Fault::DropEvent);
    assert_eq!(shrunk.informers.len(), 1);
    assert_eq!(
        conformance(&["replay", "--plan", smaller]).status.code(),
        Some(1)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

/// Runs the program with these arguments, and records its output as on a terminal of 100 columns.
fn session(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let output_text = [output.stdout, output.stderr].concat();
    let output_text = String::from_utf8(output_text).unwrap();
    let command = args.join(" ");
    (
        output.status.code(),
        format!("$ conformance {command}\n{output_text}"),
    )
}

/// The expected output is a snapshot. `INSTA_UPDATE=always cargo test -p conformance program` regenerates it.
#[test]
fn a_wrong_command_line_is_told_apart_from_a_failed_check() {
    let mut errors = Vec::new();
    for args in [
        &["replay"][..],
        &["replay", "1", "--plan", "x"],
        &["--seeds", "many"],
        &["--profile", "huge"],
        &["replay", "--plan", "nowhere.json"],
        &["nonsense"],
        &["score", "--subject", "nobody"],
        &["score", "--scenario", "nowhere"],
        &["score", "--subject", "external"],
        &["score", "--subject", "external", "--command", "true"],
        &["score", "--against", "tcp", "--scenario", "suspend"],
        &["score", "--against", "carrier-pigeon"],
        &["score", "--answer-within", "3"],
        &["score", "--speed", "0"],
        &["score", "--trace", "trace.txt"],
        &["subject", "--library", "none"],
    ] {
        let (code, text) = session(args);
        assert_eq!(code, Some(2), "{text}");
        errors.push(text);
    }
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn help_shows_examples() {
    let commands = [
        "sim", "replay", "bugs", "wire", "corpus", "diff", "proxy", "score", "subject",
    ];
    let of_commands = commands.map(|command| vec![command, "--help"]);
    let of_corpus = ["compare", "record"].map(|command| vec!["corpus", command, "--help"]);
    for args in of_commands
        .into_iter()
        .chain(of_corpus)
        .chain([vec!["--help"]])
    {
        let (code, text) = session(&args);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("Examples:"), "{text}");
    }
    let help =
        ["replay", "subject", "corpus", "diff"].map(|command| session(&[command, "--help"]).1);
    insta::assert_snapshot!(help.join("\n"));
}
