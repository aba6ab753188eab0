//! The command `merge`: one report of those of a campaign's partitions.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args as ClapArgs;
use comfy_table::{Cell, CellAlignment, Table, presets};
use fakeserver::cli::output::{OutputArgs, check_apart};
use support::cli::{say, say_error};

use super::{bugs, report, sim::status_of_coverage, steer};
use crate::reports::{self, CampaignReport, Merged, SurviveReport};

/// The file of a report of `survive` in its folder.
const IN_FOLDER: &str = "report.json";
/// The largest report that is read, in bytes: of steered searches it has the plans of the corpus.
const SIZE_MAX: u64 = 256 << 20;
/// The number of reasons, and of partitions, that are printed.
const SHOWN: usize = 20;
/// The number of plans that broke a promise that are printed.
const PLANS_SHOWN: usize = 20;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Reports of all partitions: files of --json, or folders of reports of `survive`.
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// Write the merged report to this file, too, in the form of its parts.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the plans of the merged corpus of steered runs to this folder; those that are there stay.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Print all figures, as `sim --verbose` does.
    #[arg(short, long)]
    verbose: bool,
    /// Print what could have been broken and what occurred, as `sim --coverage` does.
    #[arg(long)]
    coverage: bool,
    /// Fail with exit status 3 if all partitions together lack something, as `sim --require-coverage` does.
    #[arg(long)]
    require_coverage: bool,
    #[command(flatten)]
    output: OutputArgs,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.merge() {
            Ok(status) => status,
            Err(error) => {
                say_error(&error);
                ExitCode::from(2)
            }
        }
    }

    fn merge(&self) -> Result<ExitCode, String> {
        let files: Vec<PathBuf> = self.reports.iter().map(|path| file_of(path)).collect();
        check_apart(files.iter().map(PathBuf::as_path), self.json.as_deref())?;
        self.output.check(self.json.as_deref())?;
        if let Some(folder) = &self.corpus
            && folder.exists()
            && !folder.is_dir()
        {
            let folder = folder.display();
            return Err(format!("--corpus {folder}: it is a file; name a folder"));
        }
        let mut read = Vec::new();
        for file in &files {
            read.push((file.display().to_string(), read_report(file)?));
        }
        let merged = reports::merge(read).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            first_lines(&errors)
        })?;
        say(&self.text(&merged));
        if let Some(path) = &self.json {
            self.output
                .write(path, merged.report.to_json().as_bytes())?;
        }
        self.write_corpus(&merged.report)?;
        let shortfalls = merged.shortfalls();
        if !shortfalls.is_empty() {
            say_error(&first_lines(&shortfalls));
        }
        Ok(match &merged.report {
            report if !report.is_good() => ExitCode::FAILURE,
            _ if !shortfalls.is_empty() => ExitCode::from(2),
            CampaignReport::Sim(report) if self.require_coverage => {
                status_of_coverage(&report.uncovered())
            }
            _ => ExitCode::SUCCESS,
        })
    }

    fn text(&self, merged: &Merged) -> String {
        let stamp = merged.report.stamp();
        let count = merged.parts.len() + merged.missing.len();
        let mut lines = vec![format!("{}, {count} partitions", stamp.command)];
        let failed = merged.failed().take(SHOWN);
        lines.extend(
            failed.map(|part| format!("partition {} failed: {}", part.partition, part.file)),
        );
        let text = match &merged.report {
            CampaignReport::Sim(sim) => {
                let steered = sim.steered.as_ref().map(steer::text).unwrap_or_default();
                let coverage = if self.coverage {
                    report::coverage(sim)
                } else {
                    String::new()
                };
                format!("{}{steered}{coverage}", report::text(sim, self.verbose))
            }
            CampaignReport::Bugs(report) => bugs::text(report),
            CampaignReport::Score(report) => match report.board() {
                Ok(board) => board.to_text(),
                Err(reason) => format!("{reason}\n"),
            },
            CampaignReport::Survive(report) => survived(report),
        };
        format!("{}\n\n{text}", lines.join("\n"))
    }

    fn write_corpus(&self, report: &CampaignReport) -> Result<(), String> {
        let Some(folder) = &self.corpus else {
            return Ok(());
        };
        let steered = match report {
            CampaignReport::Sim(report) => report.steered.as_ref(),
            _ => None,
        };
        let Some(steered) = steered else {
            return Err("--corpus is for reports of `sim --steer`".to_owned());
        };
        match steer::write_corpus(&steered.corpus, folder.clone()) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(first_lines(&problems)),
        }
    }
}

/// Returns the file of a report, which `survive` puts into a folder.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.join(IN_FOLDER);
    }
    path.to_owned()
}

fn read_report(file: &Path) -> Result<CampaignReport, String> {
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", file.display());
    let size = fs::metadata(file).map_err(unread)?.len();
    let mut text = String::new();
    let opened = File::open(file).map_err(unread)?;
    // A pipe has no size.
    let read = opened.take(SIZE_MAX + 1).read_to_string(&mut text);
    if size > SIZE_MAX || text.len() as u64 > SIZE_MAX {
        let mib = SIZE_MAX >> 20;
        return Err(format!("{}: reports have up to {mib} MiB", file.display()));
    }
    read.map_err(unread)?;
    let report = CampaignReport::parse(&text);
    report.map_err(|error| format!("{}: {error}", file.display()))
}

/// Joins the first of these lines, and says how many more there are.
fn first_lines(lines: &[String]) -> String {
    let mut text = lines[..lines.len().min(SHOWN)].join("\n");
    if lines.len() > SHOWN {
        write!(text, "\nand {} more", lines.len() - SHOWN).expect("a string takes what is written");
    }
    text
}

/// Formats the merged report of `survive`.
fn survived(report: &SurviveReport) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(["plans", "survive", "accepted", "of"]);
    for ((_, name), line) in report.lines() {
        let count = |count: usize| Cell::new(count).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(name),
            count(line.survived),
            count(line.accepted),
            count(line.total),
        ]);
    }
    let mut lines = vec![table.to_string()];
    let findings = report.reference.findings.iter();
    lines.extend(findings.map(|finding| format!("FAILS without perturbation: {finding}")));
    for run in report.failed().take(PLANS_SHOWN) {
        lines.push(run.plan.clone());
        lines.extend(run.findings.iter().take(1).map(|it| format!("  {it}")));
        lines.extend(
            run.replay
                .iter()
                .map(|file| format!("  replay file: {}", file.display())),
        );
    }
    let (failed, total) = (report.failed().count(), report.runs.len());
    if failed > PLANS_SHOWN {
        lines.push(format!("and {} more plans", failed - PLANS_SHOWN));
    }
    if report.idle_count() > 0 {
        lines.push(format!(
            "{} plans said nothing: their writes did not come",
            report.idle_count()
        ));
    }
    if total < report.planned {
        lines.push(format!("only {total} of {} plans were run", report.planned));
    }
    if !report.with_other_plans.is_empty() {
        lines.push(format!(
            "the subject's writes differ from run to run: partitions {} chose from other plans; none was run twice, a few may be \
             left out",
            report.with_other_plans.join(", ")
        ));
    }
    lines.push(match failed {
        0 if !report.reference.findings.is_empty() => {
            "a promise is broken without any perturbation".to_owned()
        }
        0 => format!("{total} plans keep every promise"),
        _ => format!("{failed} of {total} plans break a promise"),
    });
    lines.push(String::new());
    lines.join("\n")
}
