//! The figures of a batch, for people and for programs.

use std::{fmt::Write, time::Duration};

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde_json::json;

use super::steer::SteerFigures;
use crate::{
    batch::{Failure, Mode, Report, Threads, Tries},
    plan::Profile,
    seed::Seed,
    trace::seconds,
};

/// The number of broken promises that are shown of one seed.
const VIOLATIONS_SHOWN: usize = 8;
/// The number of tries in the command that runs a seed in threads again.
const REPLAY_TRIES: usize = 50;

/// Formats the report as text, at most 80 columns wide except for findings.
///
/// It has the figures that matter first, and all if `is_verbose`.
pub(super) fn text(report: &Report, took: Duration, is_verbose: bool) -> String {
    let mut text = format!("{}\n", table(report, took, is_verbose));
    for failure in &report.failures {
        text.push_str(&failed(failure, report));
    }
    for seed in &report.stuck {
        writeln!(
            text,
            "seed {seed} does not end\nreplay it: {}",
            replay(*seed, report)
        )
        .expect(WRITES);
    }
    if report.inconclusive_count > 0 {
        writeln!(
            text,
            "{} runs are inconclusive: the system woke them up to {} s late",
            grouped(report.inconclusive_count),
            seconds(report.longest_lag)
        )
        .expect(WRITES);
    }
    if report.is_good() {
        text.push_str("every check held\n");
    }
    text
}

/// Formats how often each promise could have been broken, and how often each transition occurred, the rarest first.
pub(super) fn coverage(report: &Report) -> String {
    let summary = &report.summary;
    let promises = summary.occasions.iter();
    let promises = promises.map(|(checker, count)| (*count, (*checker).to_owned()));
    let transitions = summary.transitions.iter();
    let transitions = transitions.map(|(made, count)| (*count, made.to_string()));
    let promises = counts(
        ["promise", "could have been broken"],
        promises.collect(),
        "nothing could have broken these promises",
    );
    let transitions = counts(
        ["transition", "occurred"],
        transitions.collect(),
        "these transitions did not occur",
    );
    format!("{promises}{transitions}")
}

/// Returns the promises that nothing could have broken, and the transitions that did not occur.
pub(super) fn uncovered(report: &Report) -> Vec<String> {
    let summary = &report.summary;
    let promises = summary.occasions.iter();
    let promises = promises.filter(|(_, count)| **count == 0);
    let transitions = summary.transitions.iter();
    let transitions = transitions.filter(|(_, count)| **count == 0);
    promises
        .map(|(checker, _)| (*checker).to_owned())
        .chain(transitions.map(|(made, _)| made.to_string()))
        .collect()
}

/// Formats counts, the smallest first, and names those at zero after the words `never`.
fn counts(header: [&str; 2], mut counts: Vec<(u64, String)>, never: &str) -> String {
    counts.sort_unstable();
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(header);
    for (count, name) in &counts {
        table.add_row([
            Cell::new(name),
            Cell::new(grouped(*count)).set_alignment(CellAlignment::Right),
        ]);
    }
    let at_zero = counts.iter().take_while(|(count, _)| *count == 0);
    let names: Vec<&str> = at_zero.map(|(_, name)| name.as_str()).collect();
    if names.is_empty() {
        format!("{table}\n")
    } else {
        format!("{table}\n{never}; run more seeds: {}\n", names.join(", "))
    }
}

/// Formats the report as JSON.
pub(super) fn json(report: &Report, steered: Option<&SteerFigures>, took: Duration) -> String {
    let failures: Vec<_> = report
        .failures
        .iter()
        .map(|failure| {
            let violations: Vec<String> =
                failure.violations.iter().map(ToString::to_string).collect();
            json!({
                "seed": failure.seed,
                "plan": failure.file,
                "violations": violations,
                "tries": failure.tries.map(|tries| [tries.failed_count, tries.count]),
                "replay": replay_failure(failure, report),
            })
        })
        .collect();
    let report = json!({
        "good": report.is_good(),
        "profile": report.profile,
        "seconds": took.as_secs_f64(),
        "summary": report.summary,
        "requests_per_fault": report.summary.requests_per_fault(),
        "failures": failures,
        "stuck": report.stuck,
        "inconclusive": report.inconclusive_count,
        "longest_lag_ms": report.longest_lag.as_millis(),
        "steered": steered,
    });
    format!("{report:#}\n")
}

/// Formats the failure of one seed, and the command that repeats it.
fn failed(failure: &Failure, report: &Report) -> String {
    let what = if failure.violations.is_empty() {
        "does not end"
    } else {
        "failed"
    };
    let mut text = match &failure.file {
        Some(file) => format!("plan {} {what}\n", file.display()),
        None => format!("seed {} {what}\n", failure.seed),
    };
    for violation in failure.violations.iter().take(VIOLATIONS_SHOWN) {
        writeln!(text, "  {violation}").expect(WRITES);
    }
    let more = failure.violations.len().saturating_sub(VIOLATIONS_SHOWN);
    if more > 0 {
        writeln!(text, "  and {more} more").expect(WRITES);
    }
    if let Some(tries) = failure.tries {
        text.push_str(&self::tries(tries));
    }
    writeln!(text, "replay it: {}", replay_failure(failure, report)).expect(WRITES);
    text
}

/// Formats the command that runs a failure again.
pub(super) fn replay_failure(failure: &Failure, report: &Report) -> String {
    match &failure.file {
        Some(file) => format!(
            "cargo run --release -p conformance -- replay --plan {}",
            file.display()
        ),
        None => replay(failure.seed, report),
    }
}

/// Formats how often a plan failed in real time.
pub(super) fn tries(tries: Tries) -> String {
    let Tries {
        count,
        failed_count,
        ..
    } = tries;
    format!(
        "failed in {failed_count} of {count} tries: the system schedules threads differently each time\n"
    )
}

/// Formats the command that runs a seed again: to the byte on the paused clock, and under other schedules in threads.
pub(super) fn replay(seed: Seed, report: &Report) -> String {
    let mut line = format!("cargo run --release -p conformance -- replay {seed}");
    match report.mode {
        Mode::Paused if report.profile == Profile::default() => {}
        Mode::Paused => {
            write!(line, " --profile {}", report.profile.name()).expect(WRITES);
        }
        Mode::Threads(Threads {
            worker_count,
            load_count,
        }) => {
            write!(line, " --workers {worker_count}").expect(WRITES);
            if load_count > 0 {
                write!(line, " --load {load_count}").expect(WRITES);
            }
            write!(line, " --tries {REPLAY_TRIES}").expect(WRITES);
        }
    }
    line
}

/// The figures that matter first; all others, and each fault, if `is_verbose`.
fn table(report: &Report, took: Duration, is_verbose: bool) -> Table {
    let summary = &report.summary;
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(["figure", "value"]);
    let mut row = |name: &str, value: String| {
        table.add_row([
            Cell::new(name),
            Cell::new(value).set_alignment(CellAlignment::Right),
        ]);
    };
    row("seeds", grouped(summary.run_count));
    let failed = report.failures.len() + report.stuck.len();
    row("seeds that broke a promise", grouped(failed as u64));
    row("faults that had an effect", grouped(summary.fault_count()));
    row(
        "requests per fault",
        format!("{:.2}", summary.requests_per_fault()),
    );
    #[expect(clippy::cast_precision_loss, reason = "a figure to be looked at")]
    let rate = summary.run_count as f64 / took.as_secs_f64().max(f64::EPSILON);
    row("seeds a second", format!("{rate:.0}"));
    if is_verbose {
        for (name, value) in further_figures(report, took) {
            row(&name, value);
        }
    }
    table
}

/// Returns the figures for those who want to know more.
fn further_figures(report: &Report, took: Duration) -> Vec<(String, String)> {
    let summary = &report.summary;
    let mut figures = Vec::new();
    let mut add = |name: &str, value: String| figures.push((name.to_owned(), value));
    add("checks", grouped(summary.check_count));
    add("informers", grouped(summary.informer_count));
    add(
        "operations on the cluster",
        grouped(summary.operation_count),
    );
    add("events watched", grouped(summary.event_count));
    add(
        "notifications to handlers",
        grouped(summary.notification_count),
    );
    add(
        "lists and watches requested",
        grouped(summary.request_count),
    );
    add("relists", grouped(summary.relist_count));
    let in_seconds = |time: Duration| format!("{} s", seconds(time));
    let slowest = Duration::from_millis(summary.slowest_convergence_ms);
    add("slowest convergence, simulated", in_seconds(slowest));
    if let Some(seed) = summary.slowest_seed {
        add("  of seed", seed.to_string());
    }
    if report.mode != Mode::Paused {
        add("longest scheduling lag", in_seconds(report.longest_lag));
    }
    let simulated = Duration::from_millis(summary.simulated_ms);
    let hours = simulated.as_secs() / 3_600;
    add("simulated time", format!("{} h", grouped(hours)));
    add("time taken", format!("{:.1} s", took.as_secs_f64()));
    for (fault, count) in &summary.faults {
        add(
            &format!("fault: {}", fault.replace('_', " ")),
            grouped(*count),
        );
    }
    figures
}

/// Formats a number with separated thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const WRITES: &str = "a string takes what is written";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{coverage, grouped, text, uncovered};
    use crate::{
        batch::{Failure, Mode, Report},
        checkers::{Finding, Violation},
        plan::Profile,
        seed::Seed,
    };

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn a_failure_reports_what_differed_and_how_to_replay_it() {
        let mut report = Report::default();
        report.failures.push(Failure {
            seed: Seed::new(42),
            file: None,
            violations: vec![Violation {
                checker: "convergence",
                finding: Finding::whole("cache 0 lacks one/pod-1"),
            }],
            tries: None,
        });
        let text = text(&report, Duration::from_secs(1), false);
        assert!(
            text.contains("convergence: cache 0 lacks one/pod-1"),
            "{text}"
        );
        assert!(
            text.contains("cargo run --release -p conformance -- replay 42"),
            "{text}"
        );
        assert!(!text.contains("every check held"), "{text}");
    }

    #[test]
    fn a_plan_that_no_seed_gives_is_replayed_from_its_file() {
        let mut report = Report::new(Profile::Small, Mode::Paused);
        report.failures.push(Failure {
            seed: Seed::new(42),
            file: Some("failed-1.json".into()),
            violations: Vec::new(),
            tries: None,
        });
        let text = text(&report, Duration::from_secs(1), false);
        let want = "plan failed-1.json does not end\n\
                    replay it: cargo run --release -p conformance -- replay --plan failed-1.json\n";
        assert!(text.ends_with(want), "{text}");
    }

    #[test]
    fn promises_that_nothing_could_have_broken_are_named() {
        let mut report = Report::new(Profile::Small, Mode::Paused);
        report.summary.occasions = [("waits", 0), ("contents", 1_200), ("herds", 0)].into();
        let text = coverage(&report);
        assert!(text.contains("1,200"), "{text}");
        assert!(
            text.contains("these promises; run more seeds: herds, waits\n"),
            "{text}"
        );
        assert_eq!(uncovered(&report), ["herds", "waits"]);
        report.summary.occasions = [("contents", 1_200)].into();
        assert!(!coverage(&report).contains("run more seeds"));
        assert_eq!(uncovered(&report), [""; 0]);
    }

    #[test]
    fn a_report_shows_figures_then_failures_then_how_to_see_them_again() {
        let mut report = Report::new(Profile::Small, Mode::Paused);
        let summary = &mut report.summary;
        (summary.run_count, summary.check_count) = (1_200, 24_000);
        (summary.informer_count, summary.request_count) = (3_600, 9_000);
        summary.faults.insert("clean_end".to_owned(), 1_234);
        report.failures.push(Failure {
            seed: Seed::new(42),
            file: None,
            violations: vec![Violation {
                checker: "told_truth",
                finding: Finding::at(17, "handler 0.0 one/pod-1 added u@9: u@9 never was"),
            }],
            tries: None,
        });
        report.stuck.push(Seed::new(43));
        insta::assert_snapshot!(text(&report, Duration::from_secs(6), true));
    }

    #[test]
    fn a_good_report_fits_a_terminal() {
        let text = text(&Report::default(), Duration::from_secs(1), false);
        assert!(text.ends_with("every check held\n"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
