//! The files of a report of `survive`: those of the whole campaign first, then those of each failure.

use std::{
    collections::BTreeMap,
    fs,
    path::{self, Path},
};

use fakeserver::cli::output::OutputArgs;

use super::{
    say,
    survive_replay::Replay,
    survive_report::NewFiles,
    traced::{TraceArgs, read},
};
use crate::{
    survive::{
        REFERENCE_FILE, Report, TRACE, Verdict, file_stem, index, junit, markdown, timeline,
        with_findings,
    },
    tracefile::page,
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

    /// Writes what is small and tells of the whole campaign, and the files by which failures are replayed.
    pub(super) fn write_summary(&self, report: &mut Report) -> Result<(), String> {
        let mut replays = BTreeMap::new();
        for (place, verdict) in report.failures() {
            let file = format!("{}.json", file_stem(place));
            self.files.write(&file, self.replay.text(&verdict.plan))?;
            let file = self.files.file(&file);
            replays.insert(place, path::absolute(&file).unwrap_or(file));
        }
        report.replays = replays;
        self.files.write("report.json", report.json())?;
        self.files.write("junit.xml", junit(report))?;
        self.files.write("report.md", markdown(report))?;
        // With all links, so that there is room for those of the files that follow.
        let index = index(report, |_| true);
        self.files.write(INDEX, index)?;
        self.files.reserve()
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
            let told = timeline(&verdict.trace, &verdict.findings);
            self.add(&format!("{name}.txt"), told);
            let output = verdict.folder.join("replica-0").join("output.log");
            if let Ok(output) = fs::read(&output) {
                self.add(&format!("{name}.log"), output);
            }
        }
        let reference = read(reference)?;
        self.add(REFERENCE_FILE, &reference);
        for (place, verdict) in report.failures() {
            self.add_trace(&file_stem(place), verdict, &reference);
        }
        self.files.release();
        let index = index(report, |file| self.files.has(file));
        self.add(INDEX, index);
        match self.missing.as_slice() {
            [] => Ok(()),
            [only] => Err(format!("{only}: the report does without it")),
            [first, others @ ..] => Err(format!(
                "{first}: the report does without it and {} more of its files",
                others.len()
            )),
        }
    }

    fn add(&mut self, name: &str, content: impl AsRef<[u8]>) {
        self.missing
            .extend(self.files.try_write(name, content).err());
    }

    /// Adds the trace and the page of a plan that broke promises. A run that has no folder of its own left has none: its timeline tells.
    fn add_trace(&mut self, name: &str, verdict: &Verdict, reference: &str) {
        let Ok(trace) = fs::read_to_string(verdict.folder.join(TRACE)) else {
            return;
        };
        let replay = self.files.file(&format!("{name}.json"));
        let replay = format!("conformance survive --replay {}", replay.display());
        match with_findings(&trace, Some(replay), &verdict.findings) {
            Ok(trace) => {
                self.add(&format!("{name}.jsonl"), &trace);
                self.add(&format!("{name}.html"), page(&trace, Some(reference)));
            }
            Err(error) => self.missing.push(format!("the trace of {name}: {error}")),
        }
    }
}
