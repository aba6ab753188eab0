//! The folder in which a Rust test keeps the traces of what failed.

use std::{
    fs, io,
    path::{self, Path, PathBuf},
    thread,
};

use thiserror::Error;
use tracefile::ReadError;

use super::{
    annotated_trace::with_findings, campaign::Campaign, error::CampaignError, execute::TRACE,
    finding::Finding, plan::Plan, report::Report,
};

/// The number of failures whose traces are kept.
pub(super) const KEPT_MAX: usize = 10;
/// The name of the trace of the run without perturbation.
const REFERENCE: &str = "reference";
/// The ending of trace files.
const ENDING: &str = "jsonl";
/// The beginning of each of them.
const BEGINNING: &str = r#"{"format":"conformance-trace""#;

/// The traces of one test in a folder, which may have those of others.
#[derive(Debug)]
pub(super) struct TraceFolder {
    folder: PathBuf,
    test: String,
}

/// The failure to keep a trace. A retry helps only if its cause is gone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The folder or a file cannot be read or written.
    #[error("cannot keep a trace in {}", path.display())]
    File {
        /// The folder or file.
        path: PathBuf,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// A file that is no trace has the name of one.
    #[error("{} is no trace: it is not replaced; move it, or choose another folder", .0.display())]
    Foreign(PathBuf),
    /// The run has left something else.
    #[error("the run left no whole trace")]
    Form(#[from] ReadError),
    /// The run cannot begin once more.
    #[error(transparent)]
    Run(#[from] CampaignError),
}

// === impl TraceFolder ===

impl TraceFolder {
    /// Makes the folder, and removes the traces of an earlier run of this test.
    ///
    /// # Errors
    ///
    /// It cannot be made, or a trace cannot be removed.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, TraceError> {
        let folder = path::absolute(folder).map_err(|source| failed(folder, source))?;
        fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
        // The harness names the thread of a test so, unless it runs them on its own.
        let test = thread::current().name().map(|name| name.replace("::", "."));
        let kept = Self {
            folder,
            test: test.unwrap_or_else(|| "main".to_owned()),
        };
        let entries = fs::read_dir(&kept.folder).map_err(|source| failed(&kept.folder, source))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if kept.is_own(&path) && is_trace(&path) {
                fs::remove_file(&path).map_err(|source| failed(&path, source))?;
            }
        }
        Ok(kept)
    }

    /// Keeps the traces of failures, and beside them that of the run without perturbation. The runs of commands have left them in
    /// `runs`; those of functions are run once more. `replay` returns the line that runs a plan again.
    ///
    /// # Errors
    ///
    /// A run cannot begin, or a trace cannot be kept.
    pub(super) async fn keep(
        &self,
        campaign: &Campaign,
        report: &mut Report,
        runs: &Path,
        replay: impl Fn(&Plan) -> String,
    ) -> Result<(), TraceError> {
        if report.is_good() {
            return Ok(());
        }
        let left = runs.join("reference-1").join(TRACE);
        let reference = self.keep_reference(campaign, &left, &report.reference.findings);
        report.reference_trace = Some(reference.await?);
        let verdicts = report.verdicts.iter().enumerate();
        let failed = verdicts.filter(|(_, verdict)| !verdict.findings.is_empty());
        for (place, verdict) in failed.take(KEPT_MAX) {
            let file = self.file(&format!("{:04}", place + 1))?;
            let left = verdict.folder.join(TRACE);
            let line = Some(replay(&verdict.plan));
            if campaign.is_of_function() {
                let reference = Some(&report.reference);
                // A changed field is four runs: none of them is the trace.
                let Some(found) = campaign.traced(reference, &verdict.plan, &file).await? else {
                    continue;
                };
                complete(&file, &file, line, &found)?;
            } else {
                complete(&left, &file, line, &verdict.findings)?;
            }
            report.traces.insert(place, file);
        }
        Ok(())
    }

    /// Keeps the trace of the run without perturbation, which a command has left in the file `left`. Returns its file.
    ///
    /// # Errors
    ///
    /// The run cannot begin, or the trace cannot be kept.
    pub(super) async fn keep_reference(
        &self,
        campaign: &Campaign,
        left: &Path,
        findings: &[Finding],
    ) -> Result<PathBuf, TraceError> {
        let file = self.file(REFERENCE)?;
        if campaign.is_of_function() {
            campaign.traced(None, &Plan::default(), &file).await?;
            complete(&file, &file, None, findings)?;
        } else {
            complete(left, &file, None, findings)?;
        }
        Ok(file)
    }

    /// Returns the file of a trace, which does not exist.
    fn file(&self, name: &str) -> Result<PathBuf, TraceError> {
        let file = self.folder.join(format!("{}-{name}.{ENDING}", self.test));
        if file.exists() {
            return Err(TraceError::Foreign(file));
        }
        Ok(file)
    }

    fn is_own(&self, path: &Path) -> bool {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let rest = stem.and_then(|stem| stem.strip_prefix(&*self.test)?.strip_prefix('-'));
        let is_name = |rest: &str| rest == REFERENCE || rest.bytes().all(|it| it.is_ascii_digit());
        path.extension().is_some_and(|it| it == ENDING) && rest.is_some_and(is_name)
    }
}

/// Adds findings and the line that replays the run to the trace in `from`, and writes it to `to`, which may be the same file.
fn complete(
    from: &Path,
    to: &Path,
    replay: Option<String>,
    findings: &[Finding],
) -> Result<(), TraceError> {
    let text = fs::read_to_string(from).map_err(|source| failed(from, source))?;
    let text = with_findings(&text, replay, findings)?;
    fs::write(to, text).map_err(|source| failed(to, source))
}

fn is_trace(path: &Path) -> bool {
    fs::read(path).is_ok_and(|text| text.starts_with(BEGINNING.as_bytes()))
}

fn failed(path: &Path, source: io::Error) -> TraceError {
    TraceError::File {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_an_earlier_run_are_replaced_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            let test = thread::current().name().unwrap().replace("::", ".");
            folder.path().join(name.replace("TEST", &test))
        };
        let trace = format!("{BEGINNING},\"version\":\"1.0\"}}\n");
        let own = [path("TEST-0001.jsonl"), path("TEST-reference.jsonl")];
        let others = [path("TEST-else-0001.jsonl"), path("other-0001.jsonl")];
        for file in own.iter().chain(&others) {
            fs::write(file, &trace).unwrap();
        }
        let foreign = path("TEST-0002.jsonl");
        fs::write(&foreign, "notes").unwrap();
        let kept = TraceFolder::in_folder(folder.path()).unwrap();
        assert!(!own.iter().any(|file| file.exists()));
        assert!(others.iter().all(|file| file.exists()));
        assert_eq!(kept.file("0001").unwrap(), own[0]);
        let error = kept.file("0002").unwrap_err();
        assert!(error.to_string().contains("is not replaced"), "{error}");
        assert_eq!(fs::read_to_string(foreign).unwrap(), "notes");
    }
}
