//! The files of a report of `survive`: those of the whole campaign first, then those of each failure.

use std::{
    fs,
    path::{self, Path},
};

use fakeserver::cli::output::OutputArgs;

use support::cli::{TraceArgs, say};
use tracefile::{page, read_text};

use super::{replay::Replay, report_folder::NewFiles};
use crate::{
    REFERENCE_FILE, Report, TRACE, Verdict, file_stem, index, junit, markdown, replay_line,
    timeline, with_findings,
};

/// The page that links the others.
const INDEX: &str = "index.html";

/// The files of a report, as they are written.
pub(super) struct Pages<'a> {
    files: &'a NewFiles<'a>,
    replay: &'a Replay,
    /// The files that could not be written, with the reasons.
    missing: Vec<String>,
}

/// Writes the trace and the page of one run.
pub(super) fn write_traced(
    files: &TraceArgs,
    verdict: &Verdict,
    replay: String,
) -> Result<(), String> {
    if files.files().next().is_none() {
        return Ok(());
    }
    let output = OutputArgs::default();
    output.check(files.files())?;
    let Ok(trace) = fs::read_to_string(verdict.folder.join(TRACE)) else {
        say("the traces of runs that keep every promise are not kept\n");
        return Ok(());
    };
    let trace = with_findings(&trace, Some(replay), &verdict.findings)
        .map_err(|error| error.to_string())?;
    if let Some(file) = &files.trace {
        output.write(file, trace.as_bytes())?;
    }
    match &files.html {
        Some(file) => output.write(file, page(&trace, None).as_bytes()),
        None => Ok(()),
    }
}

// === impl Pages ===

impl<'a> Pages<'a> {
    pub(super) fn new(files: &'a NewFiles<'a>, replay: &'a Replay) -> Self {
        Self {
            files,
            replay,
            missing: Vec::new(),
        }
    }

    /// Writes what is small and tells of the whole campaign, and the files by which failures are replayed. Of those the ones that cannot
    /// be written are left out.
    pub(super) fn write_summary(&mut self, report: &mut Report) -> Result<(), String> {
        let replays = report.failures().map(|(place, _)| {
            let file = self.files.file(&replay_file(place));
            (place, path::absolute(&file).unwrap_or(file))
        });
        report.replays = replays.collect();
        self.files.write("report.json", report.json())?;
        self.files.write("junit.xml", junit(report))?;
        self.files.write("report.md", markdown(report))?;
        // With all links; it is written again once it is known which of the files that follow are there.
        self.files.write(INDEX, index(report, |_| true))?;
        for (place, verdict) in report.failures() {
            self.add(&replay_file(place), self.replay.text(&verdict.plan));
        }
        Ok(())
    }

    /// Writes the timelines, outputs, traces and pages of failures, and last the index. Those that cannot be written are left out,
    /// and are named by the error.
    pub(super) fn write_failures(
        mut self,
        report: &Report,
        reference: &Path,
    ) -> Result<(), String> {
        for (place, verdict) in report.failures() {
            let name = file_stem(place);
            let text = timeline(&verdict.trace, &verdict.findings);
            self.add(&format!("{name}.txt"), text);
            let output = verdict.folder.join("replica-0").join("output.log");
            if let Ok(output) = fs::read(&output) {
                self.add(&format!("{name}.log"), output);
            }
        }
        let text = read_text(reference);
        let reference =
            text.map_err(|error| format!("cannot read {}: {error}", reference.display()))?;
        self.add(REFERENCE_FILE, &reference);
        for (place, verdict) in report.failures() {
            let line = replay_line(report.origin.program, &self.files.file(&replay_file(place)));
            self.add_trace(&file_stem(place), verdict, line, &reference);
        }
        if !self.missing.is_empty() {
            let index = index(report, |file| self.files.has(file));
            self.missing.extend(self.files.rewrite(INDEX, index).err());
        }
        match self.missing.as_slice() {
            [] => Ok(()),
            [only] => Err(format!("{only}: the report does without it")),
            [first, others @ ..] => Err(format!(
                "{first}: the report does without it and {} more of its files",
                others.len()
            )),
        }
    }

    /// Adds one that may be missing.
    fn add(&mut self, name: &str, content: impl AsRef<[u8]>) {
        self.missing
            .extend(self.files.try_write(name, content).err());
    }

    /// Adds the trace and the page of a plan that broke promises. A run that has no folder of its own left has none: its timeline tells.
    fn add_trace(&mut self, name: &str, verdict: &Verdict, replay: String, reference: &str) {
        let Ok(trace) = fs::read_to_string(verdict.folder.join(TRACE)) else {
            return;
        };
        match with_findings(&trace, Some(replay), &verdict.findings) {
            Ok(trace) => {
                self.add(&format!("{name}.jsonl"), &trace);
                self.add(&format!("{name}.html"), page(&trace, Some(reference)));
            }
            Err(error) => self.missing.push(format!("the trace of {name}: {error}")),
        }
    }
}

fn replay_file(place: usize) -> String {
    format!("{}.json", file_stem(place))
}
