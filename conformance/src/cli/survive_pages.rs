//! The files of a report of `survive`: those of the whole campaign first, then those of each failure.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use fakeserver::cli::output::OutputArgs;

use super::{
    say,
    survive_replay::Replay,
    survive_report::NewFiles,
    traced::{TraceArgs, read},
};
use crate::{
    survive::{Report, TRACE, Verdict, escaped, junit, timeline, with_findings},
    tracefile::page,
};

/// The trace of the run without perturbation, in the report.
const REFERENCE: &str = "reference.jsonl";
/// The page that links the others.
const INDEX: &str = "index.html";
/// The endings of the files of a failure, and the words that link them.
const LINKS: [(&str, &str); 4] = [
    ("txt", "timeline"),
    ("jsonl", "trace"),
    ("log", "output"),
    ("json", "replay"),
];

/// The files of a report, as they are written.
pub(super) struct Pages<'a> {
    files: &'a NewFiles<'a>,
    replay: &'a Replay,
    /// What could not be written, and why.
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
        for (place, verdict) in failures(report) {
            let file = format!("{}.json", name_of(place));
            self.files.write(&file, self.replay.text(&verdict.plan))?;
            replays.insert(place, self.files.file(&file));
        }
        report.replays = replays;
        self.files.write("report.json", report.json())?;
        self.files.write("junit.xml", junit(report))?;
        // With all links, so that there is room for those of the files that follow.
        let index = self.index(report, |_| true);
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
        for (place, verdict) in failures(report) {
            let name = name_of(place);
            let told = timeline(&verdict.trace, &verdict.findings);
            self.add(&format!("{name}.txt"), told);
            let output = verdict.folder.join("replica-0").join("output.log");
            if let Ok(output) = fs::read(&output) {
                self.add(&format!("{name}.log"), output);
            }
        }
        let reference = read(reference)?;
        self.add(REFERENCE, &reference);
        for (place, verdict) in failures(report) {
            self.add_trace(&name_of(place), verdict, &reference);
        }
        self.files.release();
        let index = self.index(report, |file| self.files.has(file));
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

    /// Returns the index: the command, what the terminal shows, and the failures with links to those files that `is_there`.
    fn index(&self, report: &Report, is_there: impl Fn(&str) -> bool) -> String {
        let mut rows = String::new();
        for (place, verdict) in failures(report) {
            rows.push_str(&row(&name_of(place), verdict, &is_there));
        }
        let command = escaped(&self.replay.command.join(" "));
        let told = escaped(&report.to_string());
        let body = if rows.is_empty() {
            let kept = if report.is_good() {
                "Every plan kept every promise."
            } else {
                "A promise is broken without any perturbation."
            };
            format!("<p>{kept}</p>")
        } else {
            format!(
                "<table><tr><th>page</th><th>plan</th><th>broken</th><th></th></tr>\n{rows}</table>"
            )
        };
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>survive</title>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <style>:root {{ color-scheme: light dark; font: 14px/1.5 system-ui }} td, th {{ text-align: left; \
             vertical-align: top; padding: 2px 12px 2px 0; white-space: pre-line }}</style></head>\n\
             <body><h1>survive</h1>\n<p><code>{command}</code></p>\n{body}\n<pre>{told}</pre>\n\
             <p><a href=\"report.json\">report.json</a> <a href=\"junit.xml\">junit.xml</a> \
             <a href=\"{REFERENCE}\">the run without perturbation</a></p>\n</body></html>\n"
        )
    }
}

/// Returns the verdicts on plans that broke a promise, with their places.
fn failures(report: &Report) -> impl Iterator<Item = (usize, &Verdict)> {
    let verdicts = report.verdicts.iter().enumerate();
    verdicts.filter(|(_, verdict)| !verdict.findings.is_empty())
}

/// Returns what the names of a plan's files begin with.
fn name_of(place: usize) -> String {
    format!("{:04}", place + 1)
}

/// Returns the row of a failure.
fn row(name: &str, verdict: &Verdict, is_there: impl Fn(&str) -> bool) -> String {
    let page = format!("{name}.html");
    let title = if is_there(&page) {
        format!("<a href=\"{page}\">{name}</a>")
    } else {
        name.to_owned()
    };
    let plan = escaped(&verdict.plan.to_string());
    let found: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
    let found = escaped(&found.join("\n"));
    let mut links = String::new();
    for (ending, word) in LINKS {
        let file = format!("{name}.{ending}");
        if is_there(&file) {
            write!(links, "<a href=\"{file}\">{word}</a> ")
                .expect("a string takes what is written");
        }
    }
    format!("<tr><td>{title}</td><td>{plan}</td><td>{found}</td><td>{links}</td></tr>\n")
}
