//! The file that replays one plan of a report of `survive`.

use std::{
    env,
    ffi::OsString,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use fakeserver::{Certificates, UnknownVersionError, cli::output::OutputArgs};
use serde::{Deserialize, Serialize};
use support::{
    call::whole,
    cli::{TraceArgs, say},
    seed::fnv1a,
};

use super::{pages::write_traced, report_folder::write};
use crate::{
    Campaign, CampaignError, Plan, Readiness, Reference, Setup, StoredReference, Subject, TRACE,
    Workload, controllers, definition_files, replay_line, timeline,
};

/// The longest time of a run.
const RUN_LIMIT: Duration = Duration::from_mins(5);
/// The number of differences of two references that are shown.
const DIFFERENCES: usize = 5;
/// The number of lines that are shown of the output of a subject that does not get through the workload.
const OUTPUT_LINES: usize = 10;

/// A plan of a report, with all that is needed to run it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Replay {
    pub(super) command: Vec<String>,
    /// The folder in which the command is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    #[serde(flatten)]
    pub(super) surroundings: SubjectOptions,
    workload: Workload,
    /// The texts of the definitions' files.
    definitions: Vec<String>,
    plan: Plan,
    /// The reference of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<StoredReference>,
    /// True if the command is none of the report.
    #[serde(skip)]
    has_other_command: bool,
}

/// The surroundings of the subject, as options say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SubjectOptions {
    /// The name of the version of Kubernetes. Reports of earlier programs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kubernetes_version: Option<String>,
    pub(super) controllers: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_cluster: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ready_output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ready_url: Option<String>,
}

// === impl Replay ===

impl Replay {
    /// Reads the definitions, and keeps them with what else a run needs.
    pub(super) fn new(
        command: &[OsString],
        surroundings: SubjectOptions,
        workload: &Workload,
        definitions: &[PathBuf],
    ) -> Result<Self, String> {
        let words = command.iter().map(|word| word.display().to_string());
        let folder = env::current_dir().ok();
        Ok(Self {
            command: words.collect(),
            folder: folder.filter(|folder| folder.to_str().is_some()),
            surroundings,
            workload: workload.clone(),
            definitions: texts(definitions)?,
            plan: Plan::default(),
            reference: None,
            has_other_command: false,
        })
    }

    /// Returns a digest of what all runs have in common, but for the folder, which is another one on each machine.
    pub(super) fn digest(&self) -> String {
        let common = Self {
            folder: None,
            reference: None,
            ..self.clone()
        };
        let text = common.text(&Plan::default());
        format!("{:016x}", fnv1a(text.as_bytes()))
    }

    /// Sets the reference by which plans are judged.
    pub(super) fn set_reference(&mut self, reference: StoredReference) {
        self.reference = Some(reference);
    }

    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let replay: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{} is no file of a report: {error}", file.display()))?;
        if replay.command.is_empty() {
            return Err(format!("{} has no command", file.display()));
        }
        Ok(replay)
    }

    /// Returns the text of the file that replays `plan`.
    pub(super) fn text(&self, plan: &Plan) -> String {
        let replay = Self {
            plan: plan.clone(),
            ..self.clone()
        };
        serde_json::to_string_pretty(&replay).expect("plain values")
    }

    /// Sets the command, which is started in the present folder.
    pub(super) fn set_command(&mut self, command: &[OsString]) {
        let words = command.iter().map(|word| word.display().to_string());
        self.command = words.collect();
        self.folder = None;
        self.has_other_command = true;
    }

    /// Writes the definitions to `folder`, as they were read, and returns their files.
    pub(super) fn write_definitions(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let mut files = Vec::new();
        for (place, text) in self.definitions.iter().enumerate() {
            let path = folder.join(format!("definitions-{place}.yaml"));
            write(&path, text)?;
            files.push(path);
        }
        Ok(files)
    }

    /// Runs the reference and the plan in `folder`, and tells what happened. Returns whether every promise was kept.
    pub(super) async fn run(
        self,
        program: &str,
        file: &Path,
        folder: &Path,
        files: &TraceArgs,
    ) -> Result<bool, String> {
        OutputArgs::default().check(files.files())?;
        let definitions = self.write_definitions(folder)?;
        let command: Vec<OsString> = self.command.iter().map(OsString::from).collect();
        let mut setup = setup(&command, &definitions, &self.surroundings)?;
        if let (Subject::Command(command), Some(started_in)) = (&mut setup.subject, &self.folder) {
            if started_in.is_dir() {
                command.folder = Some(started_in.clone());
            } else {
                say(&format!(
                    "the report was made in {}, which is not there: the subject is started in this folder\n",
                    started_in.display()
                ));
            }
        }
        let campaign = Campaign::new(setup, self.workload).await;
        let campaign = campaign.map_err(|error| whole(&error))?;
        let reference = campaign.reference(folder).await;
        let mut reference = reference.map_err(|error| without_reference(&error))?;
        let is_same = !self.has_other_command;
        say(&judge_by(&mut reference, self.reference.as_ref(), is_same));
        let folder = folder.join("replay");
        if files.files().next().is_some() {
            let trace = folder.join(TRACE);
            say(&format!(
                "the trace is in {} until the run has ended\n",
                trace.display()
            ));
        }
        let verdict = campaign.verdict(&reference, self.plan, &folder);
        let verdict = Box::pin(verdict).await.map_err(|error| whole(&error))?;
        write_traced(files, &verdict, replay_line(program, file))?;
        say(&format!("{}\n", verdict.plan));
        say(&timeline(&verdict.trace, &verdict.findings));
        for finding in &verdict.findings {
            say(&format!("{finding}\n"));
        }
        if verdict.findings.is_empty() {
            say("every promise was kept in this run\n");
        }
        Ok(verdict.findings.is_empty())
    }
}

/// Judges plans by the reference of a report, unless the subject is another one. Returns what there is to say of it.
fn judge_by(reference: &mut Reference, kept: Option<&StoredReference>, is_same: bool) -> String {
    let Some(kept) = kept else {
        return "the file has no reference: the plan is judged by a new one\n".to_owned();
    };
    if !is_same {
        reference.accept_as(kept);
        return "the command is another one: the plan is judged by a new reference\n".to_owned();
    }
    let differences = reference.judge_by(kept);
    if differences.is_empty() {
        return String::new();
    }
    let mut message =
        "without perturbation the subject is not as in the report, by which the plan is judged:\n"
            .to_owned();
    for difference in differences.iter().take(DIFFERENCES) {
        writeln!(message, "  {difference}").expect("a string takes what is written");
    }
    if let Some(more @ 1..) = differences.len().checked_sub(DIFFERENCES) {
        writeln!(message, "  and {more} more").expect("a string takes what is written");
    }
    if kept.version != env!("CARGO_PKG_VERSION") {
        message.push_str("it was made by another version of this program\n");
    }
    message.push_str("if the subject was changed since then, give its command after `--`: a new reference is drawn for it\n");
    message
}

/// Returns the parts that all runs of a command have in common.
pub(super) fn setup(
    command: &[OsString],
    definitions: &[PathBuf],
    surroundings: &SubjectOptions,
) -> Result<Setup, String> {
    let (program, arguments) = command.split_first().expect("it was checked before");
    let output = surroundings.ready_output.as_deref().map(regex::Regex::new);
    let output = output.transpose().map_err(|error| error.to_string())?;
    let certificates = surroundings
        .in_cluster
        .then(|| Certificates::new(["127.0.0.1"]));
    let kubernetes_version = surroundings.kubernetes_version.as_deref().map(str::parse);
    let kubernetes_version = kubernetes_version
        .transpose()
        .map_err(|error: UnknownVersionError| error.to_string())?
        .unwrap_or_default();
    Ok(Setup {
        subject: Subject::command(program, arguments),
        definitions: definitions.to_vec(),
        objects: Vec::new(),
        kubernetes_version,
        controllers: controllers(&surroundings.controllers)?,
        readiness: Readiness {
            output,
            url: surroundings.ready_url.clone(),
        },
        certificates: certificates.transpose().map_err(|error| whole(&error))?,
        run_limit: RUN_LIMIT,
    })
}

/// Tells why there is no reference, with the last lines of the subject's output.
pub(super) fn without_reference(error: &CampaignError) -> String {
    let message = whole(error);
    let CampaignError::NoReference { output, .. } = error else {
        return message;
    };
    match fs::read(output) {
        Ok(text) if text.is_empty() => format!("{message}\nit has put out nothing"),
        Ok(text) => format!("{message}\n{}", last_lines(&text)),
        Err(_) => message,
    }
}

/// Returns the last lines of an output, indented.
fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
    let indented: Vec<String> = last.iter().map(|line| format!("  {line}")).collect();
    indented.join("\n")
}

/// Returns the texts of files, and of the files in folders.
fn texts(paths: &[PathBuf]) -> Result<Vec<String>, String> {
    let files = definition_files(paths).map_err(|error| error.to_string())?;
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file);
        text.map_err(|error| format!("cannot read {}: {error}", file.display()))
    };
    files.iter().map(read).collect()
}

// === impl SubjectOptions ===

impl SubjectOptions {
    /// Returns those of a report as options change them.
    pub(super) fn changed_by(self, given: Self) -> Self {
        Self {
            kubernetes_version: given.kubernetes_version.or(self.kubernetes_version),
            controllers: self.controllers,
            in_cluster: self.in_cluster || given.in_cluster,
            ready_output: given.ready_output.or(self.ready_output),
            ready_url: given.ready_url.or(self.ready_url),
        }
    }
}
