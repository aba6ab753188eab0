//! The options of commands that write traces, and the header of a trace.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use fakeserver::cli::output::OutputArgs;
use support::cli::{TraceArgs, say};
use tracefile::{Header, page, read_text};

use crate::{checkers::Violation, timeline::LiveFile, trace::SharedSink};

/// The files of the runs of a scenario's plans.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PlanTraceArgs {
    /// Write the trace of one scenario and one contestant to this file; that of a scenario's second plan goes to a file
    /// beside it, whose name has a 2 before its ending.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a page that shows that trace to this file, for a browser; it needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The folders of the files of several runs.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct TraceFolders {
    /// Run each failure again, and write its trace to this folder.
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
    /// Run each failure again, and write a page that shows it to this folder, for a browser; it needs no network.
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
}

/// A run that is written to files.
pub(super) struct TracedRun {
    live: LiveFile,
    file: PathBuf,
    html: Option<PathBuf>,
    /// The folder of a trace that only the page needs.
    _temporary: Option<tempfile::TempDir>,
}

// === impl PlanTraceArgs ===

impl PlanTraceArgs {
    /// Returns whether something is written.
    pub(super) fn is_some(&self) -> bool {
        self.trace.is_some() || self.html.is_some()
    }

    /// Returns the files of the plan at `place`.
    pub(super) fn of_plan(&self, place: usize) -> TraceArgs {
        let of_plan = |file: &PathBuf| beside(file, place + 1);
        TraceArgs {
            trace: self.trace.as_ref().map(of_plan),
            html: self.html.as_ref().map(of_plan),
        }
    }
}

// === impl TraceFolders ===

impl TraceFolders {
    /// Returns whether something is written.
    pub(super) fn is_some(&self) -> bool {
        self.trace.is_some() || self.html.is_some()
    }

    /// Runs a failure again by `run`, which returns the broken promises, and writes the files of this name.
    pub(super) fn write(
        &self,
        name: &str,
        header: &Header,
        output: OutputArgs,
        run: impl FnOnce(&SharedSink) -> Vec<Violation>,
    ) -> Result<(), String> {
        for folder in [&self.trace, &self.html].into_iter().flatten() {
            fs::create_dir_all(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        let inside = |folder: &Option<PathBuf>, ending: &str| {
            let folder = folder.as_ref()?;
            Some(folder.join(format!("{name}.{ending}")))
        };
        let files = TraceArgs {
            trace: inside(&self.trace, "jsonl"),
            html: inside(&self.html, "html"),
        };
        output.check(files.files())?;
        if let Some(traced) = TracedRun::begin(&files, header)? {
            let violations = run(&traced.sink());
            traced.finish(&violations)?;
        }
        for file in files.files() {
            say(&format!("{name}: {}\n", file.display()));
        }
        Ok(())
    }
}

// === impl TracedRun ===

impl TracedRun {
    /// Begins the files of a run, if there are any. The caller has [checked](OutputArgs::check) them.
    pub(super) fn begin(files: &TraceArgs, header: &Header) -> Result<Option<Self>, String> {
        let temporary = match (&files.trace, &files.html) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                let folder = tempfile::tempdir();
                Some(folder.map_err(|error| format!("no temporary folder: {error}"))?)
            }
            (Some(_), _) => None,
        };
        let inside = temporary.as_ref().map(|it| it.path().join("trace.jsonl"));
        let file = files
            .trace
            .clone()
            .or(inside)
            .expect("one of them is there");
        let live = LiveFile::create(&file, header).map_err(|error| cannot_write(&file, &error))?;
        Ok(Some(Self {
            live,
            file,
            html: files.html.clone(),
            _temporary: temporary,
        }))
    }

    /// Returns the sink for the observations of the run.
    pub(super) fn sink(&self) -> SharedSink {
        self.live.sink()
    }

    /// Adds the broken promises, and writes the page.
    pub(super) fn finish(&self, violations: &[Violation]) -> Result<(), String> {
        let finished = self.live.finish(violations);
        finished.map_err(|error| cannot_write(&self.file, &error))?;
        match &self.html {
            Some(html) => write_page(&self.file, None, html, OutputArgs { force: true }),
            None => Ok(()),
        }
    }
}

/// Writes the page of a trace file, beside that of a reference run if there is one.
pub(super) fn write_page(
    file: &Path,
    reference: Option<&Path>,
    html: &Path,
    output: OutputArgs,
) -> Result<(), String> {
    let trace = read(file)?;
    let reference = reference.map(read).transpose()?;
    output.write(html, page(&trace, reference.as_deref()).as_bytes())
}

/// Returns the name of a plan's file, by its number: `run.jsonl`, `run.2.jsonl`, `run.3.jsonl`.
fn beside(file: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return file.to_owned();
    }
    let ending = match file.extension() {
        Some(ending) => format!("{number}.{}", ending.to_string_lossy()),
        None => number.to_string(),
    };
    file.with_extension(ending)
}

/// Reads the text of a trace, compressed or not.
pub(super) fn read(file: &Path) -> Result<String, String> {
    read_text(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

fn cannot_write(file: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", file.display())
}
