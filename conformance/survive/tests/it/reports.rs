//! Reports of `survive`: what is written when room or time is short, what replays it, and what is accepted.

use std::{fs, path::Path, process::Command};

use fakeserver::KubernetesVersion;
use serde_json::{Value, json};
use survive::{AcceptanceList, Family, Report, Subject, index, junit, markdown};

use super::{ENOUGH_PLANS, crashing, operator, pair, trying};

/// Runs crashes of an operator one after the other, and lets its process of this number ask the campaign to end. Returns the status,
/// what was said, and the report; `None` without Python.
fn interrupted(process: usize, flags: &[&str]) -> Option<(Option<i32>, String, Value, String)> {
    let operator = operator("database")?;
    let folder = tempfile::tempdir().unwrap();
    let (report, count) = (folder.path().join("report"), folder.path().join("count"));
    let count = count.display();
    let script = format!(
        "echo >>{count}; if [ $(wc -l <{count}) -eq {process} ]; then kill -s TERM $PPID; fi; exec \"$@\""
    );
    let output = crashing("database", &report)
        .args(["--jobs", "1", "--", "sh", "-c", &script, "sh"])
        .args(operator)
        .args(flags)
        .output()
        .unwrap();
    let read = |name: &str| fs::read_to_string(report.join(name)).unwrap();
    let output_text = [output.stdout, output.stderr].concat();
    let output_text = String::from_utf8_lossy(&output_text).into_owned();
    let json = serde_json::from_str(&read("report.json")).unwrap();
    Some((output.status.code(), output_text, json, read("junit.xml")))
}

/// Four processes are the reference's, and a crash has three.
#[test]
fn an_interrupted_campaign_reports_what_was_run() {
    let Some((status, output_text, json, junit)) = interrupted(8, &[]) else {
        return;
    };
    assert_eq!(status, Some(2), "{output_text}");
    assert!(
        output_text.contains("interrupted: 1 of 9 plans were run"),
        "{output_text}"
    );
    assert_eq!(json["runs"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(
        (&json["planned"], &json["interrupted"]),
        (&json!(9), &json!(true))
    );
    assert!(
        output_text.contains("only run              1 of 9 plans: interrupted"),
        "{output_text}"
    );
    assert!(junit.contains("errors=\"1\"") && junit.contains("<error message=\"interrupted: "));
}

#[test]
fn an_interrupt_is_reported_beside_broken_promises() {
    let Some((status, output_text, json, junit)) = interrupted(11, &["--buggy"]) else {
        return;
    };
    assert_eq!(status, Some(1), "{output_text}");
    assert!(
        output_text.contains("plans break a promise"),
        "{output_text}"
    );
    assert!(output_text.contains("interrupted: "), "{output_text}");
    assert_eq!(json["interrupted"], true);
    assert!(junit.contains("errors=\"1\""), "{junit}");
}

/// Checks that a replay is judged by the reference of its report: another object there is missed, since the replay's own has none.
fn check_replay(file: &Path) {
    let replay = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_survive"));
        let output = command.args(["--replay"]).arg(file).output();
        let output = output.unwrap();
        let output_text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{output_text}");
        output_text
    };
    let note = "without perturbation the subject is not as in the report";
    let output_text = replay();
    assert!(!output_text.contains(note), "{output_text}");
    assert!(
        output_text.contains("there are 1 instead of 2"),
        "{output_text}"
    );

    let mut kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(
        kept["kubernetes_version"],
        KubernetesVersion::DEFAULT.name()
    );
    kept["reference"]["end"]["objects"]["configmaps default/more"] = json!([{"kind": "ConfigMap"}]);
    fs::write(file, kept.to_string()).unwrap();
    let output_text = replay();
    assert!(output_text.contains(note), "{output_text}");
    assert!(
        output_text.contains("\nend state: configmaps default/more is missing"),
        "{output_text}"
    );
}

/// Checks that a report tells who made it and when, and the file that replays a failure wherever it is read.
fn check_origin(report: &Path, json: &Value, failed: usize) {
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&json["seed"], &json["families"]),
        (&json!(1), &json!(["crash"]))
    );
    assert_eq!(
        json["command"].as_array().unwrap().last().unwrap(),
        "--buggy"
    );
    assert_eq!(json["call"][1], "--families");
    let started = json["started"].as_str().unwrap();
    assert!(started.parse::<jiff::Timestamp>().is_ok(), "{started}");
    assert!(json["seconds"].as_f64().unwrap() > 1.0);
    let replay = json["runs"][failed - 1]["replay"].as_str().unwrap();
    assert_eq!(Path::new(replay), report.join(format!("{failed:04}.json")));
    let markdown = fs::read_to_string(report.join("report.md")).unwrap();
    assert!(markdown.contains("| crash twice | "), "{markdown}");
    let line = format!("\n    survive --replay {replay}\n");
    assert!(markdown.contains(&line), "{markdown}");
}

/// Checks that lines tell how far a campaign is without a terminal, and that the report fits one.
fn check_text(output_text: &str, error: &str) {
    for expected in [
        "two runs without perturbation",
        "the reference has 3 writes after ",
    ] {
        assert!(error.contains(&format!("survive: {expected}")), "{error}");
    }
    assert!(
        error.contains("4 of 4 runs after ") || error.contains("3 of 4 runs after "),
        "{error}"
    );
    let is_short = |line: &&str| line.chars().count() <= 80 || line.starts_with("each replays");
    assert!(
        output_text.lines().all(|line| is_short(&line)),
        "{output_text}"
    );
}

/// The files of a report are limited to half a megabyte: traces are shorter, and pages are longer.
#[test]
fn a_report_does_without_pages_that_cannot_be_written_and_replays_its_failures() {
    let Some(operator) = operator("database") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let campaign = crashing("database", &report);
    let limits = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limits])
        .arg(campaign.get_program())
        .args(campaign.get_args())
        .args(ENOUGH_PLANS)
        .arg("--")
        .args(operator)
        .arg("--buggy")
        .output()
        .unwrap();
    let (output_text, error) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    let output_text = String::from_utf8(output_text).unwrap();
    assert_eq!(output.status.code(), Some(1), "{output_text}{error}");
    assert!(
        output_text.contains("plans break a promise"),
        "{output_text}"
    );
    assert!(error.contains(".html: File too large"), "{error}");
    assert!(error.contains("the report does without it"), "{error}");
    let read = |name: &str| fs::read_to_string(report.join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("report.json")).unwrap();
    let mut runs = json["runs"].as_array().unwrap().iter();
    let failed = runs.position(|run| run["survived"] == false).unwrap() + 1;
    let junit = read("junit.xml");
    assert!(junit.ends_with("</testsuite>\n") && junit.contains("name=\"seed\" value=\"1\""));
    let index = read("index.html");
    assert!(index.contains("<th>families</th><td>crash</td>"), "{index}");
    assert!(
        index.contains("<li>create configmaps default/db-*</li>"),
        "{index}"
    );

    check_origin(&report, &json, failed);
    check_text(&output_text, &error);
    assert!(
        output_text.contains("broken in 2 of 2 runs"),
        "{output_text}"
    );
    assert_eq!(
        json["runs"][failed - 1]["times"],
        json!({"broken": 2, "total": 2})
    );
    check_replay(&report.join(format!("{failed:04}.json")));
    for (ending, is_there) in [
        ("txt", true),
        ("jsonl", true),
        ("json", true),
        ("html", false),
    ] {
        let name = format!("{failed:04}.{ending}");
        assert_eq!(report.join(&name).exists(), is_there, "{name}");
        assert_eq!(index.contains(&format!("\"{name}\"")), is_there, "{index}");
    }
}

/// Tries the buggy operator for pairs of config maps as a function, with what is accepted.
fn accepting(folder: &Path, accepted: &Value, families: &[Family]) -> Report {
    let apply = "{apply: {apiVersion: v1, kind: Namespace, metadata: {name: shop}}}";
    let workload = folder.join("survive.yaml");
    fs::write(&workload, format!("steps: [{apply}, {{quiet: 2s}}]")).unwrap();
    fs::write(folder.join("survive.accepted.json"), accepted.to_string()).unwrap();
    let subject = Subject::function(|client| pair(client, true));
    let check = survive::check(subject).workload(workload);
    check.families(families.to_vec()).report().unwrap()
}

/// Checks that each report tells what is accepted.
fn check_accepted(crashes: &Report, count: usize) {
    let words: Vec<String> = crashes
        .to_string()
        .split_whitespace()
        .map(Into::into)
        .collect();
    let text = words.join(" ");
    for expected in [
        "1 of 2 survive, 1 accepted",
        "left out, by survive.accepted.json",
        "(accepted: known)",
        "1 entry matches nothing that was found, by survive.accepted.json",
        "1 field may differ, by survive.accepted.json",
        "configmaps default/nosuch: data.x differs in no run",
        "1 field differs between runs",
        "keep every promise, but for what is accepted",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let json: Value = serde_json::from_str(&crashes.json()).unwrap();
    assert_eq!(json["accepted"]["left_out"], count);
    assert_eq!(json["accepted"]["unmatched"][0]["text"], "none");
    assert_eq!(
        json["accepted"]["unmatched_masks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let xml = junit(crashes);
    assert!(xml.contains("<skipped message=\"end state: "), "{xml}");
    assert!(
        xml.contains(&format!("name=\"accepted\" value=\"{count}\"")),
        "{xml}"
    );

    for text in [
        markdown(crashes).replace('\\', ""),
        index(crashes, |_| true),
    ] {
        assert!(
            text.contains("configmaps default/nosuch: data.x differs in no run"),
            "{text}"
        );
        assert!(text.contains("(accepted: known), in "), "{text}");
        assert!(
            text.contains("matches nothing that was found: crash: leaks: none"),
            "{text}"
        );
    }
}

#[test]
fn an_acceptance_counts_under_its_families_alone_and_each_report_reports_it() {
    let folder = tempfile::tempdir().unwrap();
    let both = [Family::Crash, Family::LostAnswer];
    let found = accepting(folder.path(), &json!({}), &both);
    let mut accepted = AcceptanceList::default();
    for verdict in found.failed() {
        if verdict.plan.family == Family::Crash {
            accepted.add(Family::Crash, &verdict.findings, "known");
        }
    }
    let gone = json!({"promise": "leaks", "text": "none", "families": ["crash"], "reason": "old"});
    let mut accepted = serde_json::to_value(&accepted).unwrap();
    accepted["findings"].as_array_mut().unwrap().push(gone);
    accepted["mask"] = json!([["configmaps default/nosuch", ".data.x"]]);

    let crashes = accepting(folder.path(), &accepted, &[Family::Crash]);
    let count = crashes.left_out().count();
    assert!(crashes.is_good() && count > 0, "{crashes}");
    check_accepted(&crashes, count);

    // The same finding under another family is none that was accepted.
    let answers = accepting(folder.path(), &accepted, &[Family::LostAnswer]);
    let is_lost = |it: &&survive::Verdict| it.plan.family == Family::LostAnswer;
    assert!(answers.failed_count() > 0);
    assert_eq!(
        answers.failed_count(),
        found.failed().filter(is_lost).count()
    );
}

#[test]
fn a_failure_without_perturbation_can_be_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let map = "{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: source}}}";
    let rules = "rules: [{name: never, always: '1 == 2'}]";
    let workload = format!("{{steps: [{map}, {{quiet: 500ms}}], {rules}}}");
    let run = |arguments: &[&str]| {
        let script = "echo READY; exec sleep 1234";
        let mut command = trying(folder.path(), &workload, script);
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let place = words.iter().position(|word| word == "--").unwrap();
        command = Command::new(command.get_program());
        let output = command
            .current_dir(folder.path())
            .args(&words[..place])
            .args(["--ready-output", "READY"])
            .args(arguments)
            .args(&words[place..])
            .output()
            .unwrap();
        let output_text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8(output_text).unwrap(),
        )
    };
    let (status, output_text) = run(&["--accept", "it is so"]);
    assert_eq!(status, Some(1), "{output_text}");
    assert!(
        output_text.contains("accepted.json: 1 finding\n"),
        "{output_text}"
    );
    let file = folder.path().join("survive.accepted.json");
    let accepted = AcceptanceList::read(&file).unwrap();
    assert_eq!(accepted.findings[0].families, Some(vec![Family::Reference]));
    // Nothing is broken now, but there is no plan, either.
    let (status, output_text) = run(&["--accept", "again"]);
    assert_eq!(status, Some(2), "{output_text}");
    assert!(output_text.contains("1 finding left out"), "{output_text}");
    assert!(
        output_text.contains("there is nothing to accept"),
        "{output_text}"
    );
    assert_eq!(AcceptanceList::read(&file).unwrap(), accepted);
}
