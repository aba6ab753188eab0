//! The command `corpus compare`: recorded answers against those of a server.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use indicatif::ProgressBar;
use serde_json::{Value, json, value::RawValue};
use support::cli::{progress_bar, say};

use super::{
    ReachArgs,
    report::{self, Mismatch, Report},
};
use crate::{
    call::whole,
    corpus::{Case, Cause, Corpus, Line, Overlay, Session, SetUp, normalised},
    golden::{EndpointError, differences},
};

/// The number of consecutive requests without an answer after which the server counts as lost.
const UNANSWERED_COUNT_MAX: usize = 3;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    reach: ReachArgs,
    /// Corpora to play: lines of JSON, compressed if the name ends in `.xz`.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Expect the answers of this file in place of those of the corpus: differences of another version, whose field
    /// `line` counts the requests of the corpus from 1, without the set-up.
    #[arg(long, value_name = "FILE")]
    differences: Option<PathBuf>,
    /// Play the requests about these kinds only.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// Play the requests of these categories only.
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',')]
    category: Vec<String>,
    /// Play this line only, after the set-up.
    #[arg(long, value_name = "N")]
    line: Option<usize>,
    /// Group what differs by its presumable cause: kind, status codes and the first path that differs.
    #[arg(long)]
    group: bool,
    /// Show this many of the requests that differ.
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// Write the differences to this file as JSON, too; `-` writes them to standard output, and nothing else.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The play of all files against a server.
struct Comparison<'a> {
    args: &'a Args,
    session: Session,
    bar: ProgressBar,
    report: Report,
    unanswered_count: usize,
}

// === impl Args ===

impl Args {
    /// Returns true if all answers are equal.
    pub(super) async fn perform(&self) -> Result<bool, String> {
        let is_quiet = self.json.as_deref() == Some(Path::new("-"));
        if let Some(path) = self.json.as_deref().filter(|_| !is_quiet) {
            self.output.check([path])?;
        }
        let corpora = self.corpora()?;
        let lines = || {
            corpora
                .iter()
                .flat_map(|(_, corpus)| corpus.lines.iter().enumerate())
        };
        let wanted = lines().filter(|(place, line)| self.is_wanted(*place, line));
        let wanted_count = wanted.count();
        if wanted_count == 0 {
            return Err("no request of the files is asked for".to_owned());
        }
        let (endpoint, version) = self.reach.reach().await?;
        let print = |text: &str| {
            if !is_quiet {
                say(text);
            }
        };
        print(&format!("{} ({version})\n", self.reach.name()));
        let mut play = Comparison {
            args: self,
            session: Session::new(endpoint),
            bar: progress_bar(wanted_count, "requests"),
            report: Report::new(self.reach.name(), version),
            unanswered_count: 0,
        };
        for (file, corpus) in &corpora {
            play.file(file, corpus, &print).await?;
        }
        play.bar.finish_and_clear();
        let report = play.report;
        if self.group {
            print(&report::causes(&report.causes));
        }
        print(&report::totals(&report));
        if let Some(path) = &self.json {
            let text = report.to_json();
            if is_quiet {
                say(&text);
            } else {
                self.output.write(path, text.as_bytes())?;
            }
        }
        Ok(report.is_good())
    }

    /// Reads the files.
    fn corpora(&self) -> Result<Vec<(&Path, Corpus)>, String> {
        let mut corpora = Vec::new();
        for file in &self.files {
            let corpus = Corpus::read(file).map_err(|error| whole(&error))?;
            corpora.push((&**file, corpus));
        }
        if let Some(file) = &self.differences {
            let [(_, corpus)] = &mut corpora[..] else {
                return Err("--differences are those of one corpus: name one file".to_owned());
            };
            let overlay = Overlay::read(file).map_err(|error| whole(&error))?;
            overlay.apply(corpus).map_err(|error| whole(&error))?;
        }
        Ok(corpora)
    }

    fn is_wanted(&self, place: usize, line: &Line) -> bool {
        let Line::Case { case, .. } = line else {
            return false;
        };
        let is_in = |wanted: &[String], name: &String| wanted.is_empty() || wanted.contains(name);
        is_in(&self.kind, &case.kind)
            && is_in(&self.category, &case.category)
            && self.line.is_none_or(|line| line == place + 1)
    }
}

// === impl Comparison ===

impl Comparison<'_> {
    async fn file(
        &mut self,
        file: &Path,
        corpus: &Corpus,
        print: &impl Fn(&str),
    ) -> Result<(), String> {
        let mut is_stale = false;
        for (place, line) in corpus.lines.iter().enumerate() {
            match line {
                Line::SetUp(set_up) => {
                    self.set_up(set_up, print).await?;
                    is_stale = true;
                }
                Line::Case { case, answer } if self.args.is_wanted(place, line) => {
                    if is_stale {
                        self.session.settle().await;
                        let refreshed = self.session.refresh().await;
                        refreshed.map_err(|error| {
                            format!("the set-up cannot be read: {}", whole(&error))
                        })?;
                        is_stale = false;
                    }
                    let place = format!("{}:{}", file.display(), place + 1);
                    self.case(place, case, answer, print).await?;
                }
                Line::Case { .. } => {}
            }
        }
        Ok(())
    }

    async fn set_up(&mut self, set_up: &SetUp, print: &impl Fn(&str)) -> Result<(), String> {
        self.bar.set_message("set-up");
        let Err(error) = self.session.set_up(set_up).await else {
            return Ok(());
        };
        let message = format!("the set-up failed: {}", whole(&error));
        if error.is_fatal() {
            return Err(message);
        }
        self.bar.suspend(|| print(&format!("{message}\n")));
        self.report.failed_set_up.push(message);
        Ok(())
    }

    async fn case(
        &mut self,
        place: String,
        case: &Case,
        answer: &RawValue,
        print: &impl Fn(&str),
    ) -> Result<(), String> {
        self.bar.set_message(case.kind.clone());
        let want: Value = serde_json::from_str(answer.get())
            .map_err(|error| format!("{place} has no answer of JSON: {error}"))?;
        let got = match self.session.ask(&case.request).await {
            Ok(answer) => {
                self.unanswered_count = 0;
                answer
            }
            Err(error) => self.unanswered(&error)?,
        };
        let got = normalised(&got);
        let differences = differences(&want, &got);
        self.bar.inc(1);
        let has_same_status = want["status"] == got["status"];
        let report = &mut self.report;
        report
            .tally
            .add(case, differences.is_empty(), has_same_status);
        let Some(presumed) = Cause::of(&case.kind, &want, &got, &differences) else {
            return Ok(());
        };
        report.causes.add(presumed, report.mismatches.len());
        let mismatch = Mismatch {
            place,
            case: case.clone(),
            differences,
        };
        if report.mismatches.len() < self.args.show {
            let difference_text = report::mismatch(&mismatch, ["expected", "got"]);
            self.bar.suspend(|| print(&difference_text));
        }
        report.mismatches.push(mismatch);
        Ok(())
    }

    /// Returns the answer in place of one that is missing.
    fn unanswered(&mut self, error: &EndpointError) -> Result<Value, String> {
        let why = whole(error);
        self.unanswered_count += 1;
        if self.unanswered_count == UNANSWERED_COUNT_MAX {
            let server = self.args.reach.name();
            let count = self.unanswered_count;
            return Err(format!(
                "{server} was lost: {count} requests in a row were not answered: {why}"
            ));
        }
        Ok(json!({"status": 0, "type": "", "warnings": [], "body": why}))
    }
}
