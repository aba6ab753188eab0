//! The traces and the pages of a report of `survive`.

use std::{fmt::Write as _, fs, path::Path};

use fakeserver::cli::output::OutputArgs;

use super::{
    say,
    survive_report::NewFiles,
    traced::{TraceArgs, read},
};
use crate::{
    survive::{Report, TRACE, Verdict, escaped, with_findings},
    tracefile::page,
};

/// The trace of the run without perturbation, in the report.
const REFERENCE: &str = "reference.jsonl";
/// The page that links the others.
const INDEX: &str = "index.html";

/// The traces and pages of a report.
pub(super) struct Pages<'a> {
    files: &'a NewFiles<'a>,
    reference: String,
    /// The rows of the index.
    rows: String,
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
    /// Keeps the trace of the reference.
    pub(super) fn begin(files: &'a NewFiles<'a>, reference: &Path) -> Result<Self, String> {
        let reference = read(reference)?;
        let pages = Self {
            files,
            reference,
            rows: String::new(),
        };
        pages.files.write(REFERENCE, &pages.reference)?;
        Ok(pages)
    }

    /// Adds the trace and the page of a plan that broke promises. `name` is that of its file to replay it.
    pub(super) fn add(&mut self, name: &str, verdict: &Verdict) -> Result<(), String> {
        let Ok(trace) = fs::read_to_string(verdict.folder.join(TRACE)) else {
            // The run has no folder of its own left: its trace is told by the timeline.
            return Ok(());
        };
        let replay = self.files.file(&format!("{name}.json"));
        let replay = format!("conformance survive --replay {}", replay.display());
        let trace = with_findings(&trace, Some(replay), &verdict.findings)
            .map_err(|error| format!("the trace of {name}: {error}"))?;
        self.files.write(&format!("{name}.jsonl"), &trace)?;
        let page = page(&trace, Some(&self.reference));
        self.files.write(&format!("{name}.html"), page)?;
        let plan = escaped(&verdict.plan.to_string());
        let found: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
        let found = escaped(&found.join("\n"));
        writeln!(
            self.rows,
            "<tr><td><a href=\"{name}.html\">{name}</a></td><td>{plan}</td><td>{found}</td>\
             <td><a href=\"{name}.txt\">timeline</a> <a href=\"{name}.jsonl\">trace</a></td></tr>"
        )
        .expect("a string takes what is written");
        Ok(())
    }

    /// Writes the index: the command, what the terminal shows, and the failures.
    pub(super) fn end(&self, command: &[String], report: &Report) -> Result<(), String> {
        let Self { rows, .. } = self;
        let command = escaped(&command.join(" "));
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
        let index = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>survive</title>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <style>:root {{ color-scheme: light dark; font: 14px/1.5 system-ui }} td, th {{ text-align: left; \
             vertical-align: top; padding: 2px 12px 2px 0; white-space: pre-line }}</style></head>\n\
             <body><h1>survive</h1>\n<p><code>{command}</code></p>\n{body}\n<pre>{told}</pre>\n\
             <p><a href=\"report.json\">report.json</a> <a href=\"junit.xml\">junit.xml</a> \
             <a href=\"{REFERENCE}\">the run without perturbation</a></p>\n</body></html>\n"
        );
        self.files.write(INDEX, index)
    }
}
