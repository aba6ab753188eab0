//! The figures of a batch, for people and for programs.

use std::{fmt::Write, time::Duration};

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::{
    batch::Mode,
    reports::{FailedRun, SimReport, replay_line},
    trace::seconds,
};

/// The number of broken promises that are shown of one seed.
const VIOLATIONS_SHOWN: usize = 8;

/// Formats the report as text, at most 80 columns wide except for findings.
///
/// It has the figures that matter first, and all if `is_verbose`.
pub(super) fn text(report: &SimReport, is_verbose: bool) -> String {
    let mut text = format!("{}\n", table(report, is_verbose));
    for failure in &report.failures {
        text.push_str(&failed(failure));
    }
    for seed in &report.stuck {
        writeln!(
            text,
            "seed {seed} does not end\nreplay it: {}",
            replay_line(*seed, report.profile, report.mode)
        )
        .expect(WRITES);
    }
    if report.inconclusive > 0 {
        writeln!(
            text,
            "{} runs are inconclusive: the system woke them up to {} s late",
            grouped(report.inconclusive),
            seconds(Duration::from_millis(report.longest_lag_ms))
        )
        .expect(WRITES);
    }
    if report.good {
        text.push_str("every check held\n");
    }
    text
}

/// Formats how often each promise could have been broken, and how often each transition occurred, the rarest first.
pub(super) fn coverage(report: &SimReport) -> String {
    let summary = &report.summary;
    let promises = summary.occasions.iter();
    let promises = promises.map(|(checker, count)| (*count, checker.clone()));
    let transitions = summary.transitions.iter();
    let transitions = transitions.map(|(made, count)| (*count, made.clone()));
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

/// Formats the failure of one seed, and the command that repeats it.
fn failed(failure: &FailedRun) -> String {
    let what = if failure.violations.is_empty() {
        "does not end"
    } else {
        "failed"
    };
    let mut text = match &failure.plan {
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
    if let Some([failed_count, count]) = failure.tries {
        text.push_str(&tries(failed_count, count));
    }
    writeln!(text, "replay it: {}", failure.replay).expect(WRITES);
    text
}

/// Formats how often a plan failed in real time.
pub(super) fn tries(failed_count: usize, count: usize) -> String {
    format!(
        "failed in {failed_count} of {count} tries: the system schedules threads differently each time\n"
    )
}

/// The figures that matter first; all others, and each fault, if `is_verbose`.
fn table(report: &SimReport, is_verbose: bool) -> Table {
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
    let rate = summary.run_count as f64 / report.seconds.max(f64::EPSILON);
    row("seeds a second", format!("{rate:.0}"));
    if is_verbose {
        for (name, value) in further_figures(report) {
            row(&name, value);
        }
    }
    table
}

/// Returns the figures for those who want to know more.
fn further_figures(report: &SimReport) -> Vec<(String, String)> {
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
        let lag = Duration::from_millis(report.longest_lag_ms);
        add("longest scheduling lag", in_seconds(lag));
    }
    let simulated = Duration::from_millis(summary.simulated_ms);
    let hours = simulated.as_secs() / 3_600;
    add("simulated time", format!("{} h", grouped(hours)));
    add("time taken", format!("{:.1} s", report.seconds));
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

    use super::{coverage, grouped};
    use crate::{
        batch::{Failure, Mode, Report},
        checkers::{Finding, Violation},
        partition::{Partition, Stamp},
        plan::Profile,
        reports::SimReport,
        seed::Seed,
    };

    fn file(report: &Report, took: Duration) -> SimReport {
        let stamp = Stamp::new("sim", "0", Partition::WHOLE);
        SimReport::of(stamp, report, None, took)
    }

    fn text(report: &Report, took: Duration, is_verbose: bool) -> String {
        super::text(&file(report, took), is_verbose)
    }

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
        let occasions = [("waits", 0), ("contents", 1_200), ("herds", 0)];
        report.summary.occasions = occasions
            .map(|(name, count)| (name.to_owned(), count))
            .into();
        let counted = file(&report, Duration::from_secs(1));
        let text = coverage(&counted);
        assert!(text.contains("1,200"), "{text}");
        assert!(
            text.contains("these promises; run more seeds: herds, waits\n"),
            "{text}"
        );
        assert_eq!(counted.uncovered(), ["herds", "waits"]);
        report.summary.occasions = [("contents".to_owned(), 1_200)].into();
        let counted = file(&report, Duration::from_secs(1));
        assert!(!coverage(&counted).contains("run more seeds"));
        assert_eq!(counted.uncovered(), [""; 0]);
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
