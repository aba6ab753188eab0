//! The command `survive`: a user's controller under crashes, lost answers, stale caches and the like.

mod report_folder;
mod progress;
mod pages;
mod replay;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args as ClapArgs, Parser, builder::NonEmptyStringValueParser};
use fakeserver::KubernetesVersion;
#[cfg(target_os = "linux")]
use support::process_group::Orphans;
use support::{
    call::whole,
    cli::{PartitionArgs, Signals, TraceArgs, finish_on, say, say_error},
    partition::Partition,
};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use self::{
    pages::Pages,
    progress::ProgressDisplay,
    replay::{Replay, SubjectOptions, setup, without_reference},
    report_folder::{ReportFolder, replace},
};
use crate::{
    AcceptanceList, CONTROLLERS, Campaign, CampaignError, Choice, Family, Report, TRACE, Workload,
    controllers, counted, file_stem, replay_line,
};

/// The file with the output of a subject that does not get through the workload.
const OUTPUT: &str = "0000.log";

/// Runs a controller under crashes, lost answers, stale caches and more, at each of its writes.
///
/// The controller is any command: it gets a kubeconfig of a server of its own, and is killed, stopped and restarted.
#[derive(Debug, Parser)]
#[command(version, after_help = examples("survive"))]
pub struct Cli {
    #[command(flatten)]
    args: Args,
}

#[derive(Debug, ClapArgs)]
pub struct Args {
    /// File or folder of definitions of custom resources, and of other objects that are there from the start; repeats. Of a
    /// folder and those in it the files of YAML and JSON are read, but for kustomize's own (`kustomization.yaml`).
    #[arg(long, value_name = "PATH")]
    crds: Vec<PathBuf>,
    /// Steps of the user: `steps:`, `replicas:` and `rules:`.
    #[arg(long, value_name = "FILE", required_unless_present = "replay")]
    workload: Option<PathBuf>,
    /// Rules in CEL beside those of the workload, in the form of its `rules:`.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Version of Kubernetes of the server: `1.35`, `1.35.6`, `latest`, or `latest-1` for the one before [default: that
    /// of `fakeserver`; with `--replay` that of the report].
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,
    /// Controllers of the server, as in `fakeserver serve --controllers`.
    #[arg(long, value_name = "LIST", default_value = CONTROLLERS, value_parser = checked_controllers)]
    controllers: String,
    /// Families of plans [default: all but pairs].
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    families: Vec<Family>,
    /// Number of plans: as many of each family as there is room for, and then pairs [default: each write by each family].
    #[arg(long, value_name = "N")]
    plans: Option<usize>,
    /// Begin no new run after M minutes, as in 0.5.
    #[arg(long, value_name = "M", value_parser = checked_minutes)]
    minutes: Option<Duration>,
    /// Change N fields of the workload's custom objects too, one at a time, to values that their schemas allow: the way to a
    /// state must make no difference, and the way back must lead back.
    #[arg(long, value_name = "N", default_value_t = 0)]
    generate: usize,
    #[command(flatten)]
    partition: PartitionArgs,
    /// Number of runs at once [default: 8 a core, fewer if the subject is busy].
    #[arg(long, value_name = "J", value_parser = checked_jobs)]
    jobs: Option<usize>,
    /// Seed of pairs.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Pattern of the subject's output that says it is ready, besides its first watch or write.
    #[arg(long, value_name = "REGEX")]
    ready_output: Option<regex::Regex>,
    /// URL that answers with 200 when the subject is ready, as in `http://127.0.0.1:{port}/readyz`.
    #[arg(long, value_name = "URL", value_parser = checked_url)]
    ready_url: Option<String>,
    /// Let the subject find the server as a pod does: by the variables and the files of a service account, not by `KUBECONFIG`.
    #[arg(long)]
    in_cluster: bool,
    /// Folder of the report: report.json, junit.xml, report.md, index.html, and for each failure a timeline, a trace, a page that shows
    /// it in a browser, and a file to replay it.
    #[arg(long, value_name = "DIR", default_value = "survive-report")]
    report: PathBuf,
    /// Write to a report folder that holds other files, too: those of the same names are replaced.
    #[arg(long)]
    force: bool,
    /// Accept what is found, for this reason, in the file beside the workload that later runs read.
    #[arg(long, value_name = "REASON", conflicts_with = "replay", value_parser = NonEmptyStringValueParser::new())]
    accept: Option<String>,
    /// Run the plan of a file of the report again, in the folder in which the subject was started.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "crds", "rules", "plans", "families"])]
    replay: Option<PathBuf>,
    #[command(flatten)]
    files: TraceArgs,
    /// The subject and its arguments, executed without a shell. `{server}`, `{kubeconfig}`, `{workdir}` and
    /// `{port}`, a free port, are replaced.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

// === impl Cli ===

impl Cli {
    /// Runs the command and returns the exit status.
    pub fn run(self) -> ExitCode {
        self.args.run("survive")
    }
}

/// Returns the end of the help of the command that is called as `program`.
pub fn examples(program: &str) -> String {
    format!(
        "\
Examples:
  {program} --crds config/crd --workload survive.yaml -- ./my-operator
  {program} --workload survive.yaml --families crash,stale -- python3 operator.py
  {program} --workload survive.yaml --plans 500 --seed 7 -- ./my-operator
  {program} --workload survive.yaml --kubernetes-version latest -- ./my-operator
  {program} --workload survive.yaml --partition 0/4 --report part-0 -- ./my-operator
                                       a quarter of the plans; `conformance merge` makes one report of those of all
  {program} --replay survive-report/0007.json      one plan of a report again
Exit status:
  0  every plan keeps every promise
  1  one does not, also with --accept
  2  no plan could be run, say for a wrong workload or command line,
     or the runs end early without a broken promise"
    )
}

// === impl Args ===

impl Args {
    /// Runs the command, which was called as `program`, and returns the exit status.
    pub fn run(self, program: &'static str) -> ExitCode {
        #[cfg(target_os = "linux")]
        let orphans = Orphans::adopt();
        let status = self.finish(program);
        #[cfg(target_os = "linux")]
        warn_of_orphans(&orphans.kill());
        status
    }

    fn finish(self, program: &'static str) -> ExitCode {
        finish_on(&mut Builder::new_multi_thread(), async {
            let mut signals = Signals::listen().map_err(|error| whole(&error))?;
            let stop = CancellationToken::new();
            let mut work = std::pin::pin!(self.survive(program, &stop));
            tokio::select! {
                biased;
                outcome = &mut work => return outcome,
                () = signals.recv() => stop.cancel(),
            }
            // The report of what was run is written; a second signal does without.
            tokio::select! {
                biased;
                outcome = work => outcome,
                () = signals.recv() => Err("interrupted twice: there is no report".to_owned()),
            }
        })
    }

    async fn survive(
        &self,
        program: &'static str,
        stop: &CancellationToken,
    ) -> Result<bool, String> {
        let temporary = Temporary::make()?;
        if let Some(file) = &self.replay {
            return self.replay(program, file, temporary.path(), stop).await;
        }
        if self.files.files().next().is_some() {
            return Err(
                "--trace and --html are for --replay; the report has them of each failure"
                    .to_owned(),
            );
        }
        if self.command.is_empty() {
            return Err("there is no subject: give its command after `--`".to_owned());
        }
        let partition = self.partition.partition()?;
        let path = self.workload.as_deref().unwrap_or(Path::new(""));
        let mut workload = Workload::read(path).map_err(|error| whole(&error))?;
        if let Some(rules) = &self.rules {
            workload.add_rules(rules).map_err(|error| whole(&error))?;
        }
        let accepted = AcceptanceList::read(&path.with_extension("accepted.json"))?;
        let mut surroundings = self.surroundings();
        // A later release of this program may have another default.
        surroundings
            .kubernetes_version
            .get_or_insert_with(|| KubernetesVersion::DEFAULT.name().to_owned());
        let setup = setup(&self.command, &self.crds, &surroundings)?;
        let campaign = Campaign::new(setup, workload).await;
        let mut campaign = campaign.map_err(|error| whole(&error))?;
        let workload = campaign.workload();
        let mut replay = Replay::new(&self.command, surroundings, workload, &self.crds)?;
        // What becomes of the files meanwhile makes no difference to the runs.
        campaign.set_definitions(replay.write_definitions(temporary.path())?);
        let report_folder = ReportFolder::lock(&self.report, self.force)?;
        let choice = self.choice(temporary.path(), partition, stop);
        let options = self.options(&replay);
        let display = ProgressDisplay::begin();
        let survey = campaign.survey(&choice, &accepted, self.generate);
        let survey = display.until_done(stop.run_until_cancelled(survey)).await;
        let survey = survey.ok_or("interrupted before there was a reference")?;
        let survey = survey.map_err(|error| explain_and_save_output(&error, &report_folder))?;
        replay.set_reference(survey.reference.stored());
        display.on_survey(&survey);
        let judged = campaign.judge(survey, &choice, |progress| display.on(progress));
        let mut report = display.until_done(judged).await;
        display.end();
        let call = env::args_os().map(|word| word.display().to_string());
        report.origin.program = program;
        report.origin.call = call.collect();
        report.origin.options = options;
        let reference = temporary.path().join("reference-1").join(TRACE);
        let written = publish(&report_folder, &replay, &mut report, &reference);
        let reason = self.accept.as_ref();
        let accepted = reason.map(|reason| accept(accepted, &report, reason));
        outcome(&report, [written.err(), accepted.and_then(Result::err)])
    }

    async fn replay(
        &self,
        program: &'static str,
        file: &Path,
        folder: &Path,
        stop: &CancellationToken,
    ) -> Result<bool, String> {
        let mut replay = Replay::read(file)?;
        if !self.command.is_empty() {
            replay.set_command(&self.command);
        }
        replay.surroundings = replay.surroundings.changed_by(self.surroundings());
        let replay = replay.run(program, file, folder, &self.files);
        let outcome = stop.run_until_cancelled(replay).await;
        outcome.unwrap_or_else(|| Err("interrupted".to_owned()))
    }

    fn surroundings(&self) -> SubjectOptions {
        SubjectOptions {
            kubernetes_version: self
                .kubernetes_version
                .map(|version| version.name().to_owned()),
            controllers: self.controllers.clone(),
            in_cluster: self.in_cluster,
            ready_output: self.ready_output.as_ref().map(ToString::to_string),
            ready_url: self.ready_url.clone(),
        }
    }

    /// Returns the options on which plans and runs depend, for the stamp of the report.
    fn options(&self, replay: &Replay) -> BTreeMap<String, String> {
        let plans = self
            .plans
            .map_or("all".to_owned(), |count| count.to_string());
        let options = [
            ("--plans", plans),
            ("--generate", self.generate.to_string()),
            ("the subject, its workload and definitions", replay.digest()),
        ];
        options
            .map(|(option, value)| (option.to_owned(), value))
            .into()
    }

    fn choice(&self, folder: &Path, partition: Partition, stop: &CancellationToken) -> Choice {
        Choice {
            families: match self.families.as_slice() {
                [] => Family::ALL.to_vec(),
                chosen => chosen.to_vec(),
            },
            plans: self.plans,
            limit: self.minutes,
            partition,
            jobs: self.jobs,
            seed: self.seed,
            folder: folder.to_owned(),
            stop: stop.clone(),
        }
    }
}

/// Returns whether every promise was kept, and tells what else went wrong; fails if they may have been kept for want of runs, or
/// with `errors` alone.
fn outcome(report: &Report, errors: [Option<String>; 2]) -> Result<bool, String> {
    let failure = report.failure.as_ref().map(|error| whole(error));
    let errors = [failure, report.shortfall()].into_iter().chain(errors);
    let errors: Vec<String> = errors.flatten().collect();
    match report.is_good() {
        true if !errors.is_empty() => Err(errors.join("\n")),
        true => Ok(true),
        false => {
            for error in errors {
                say_error(&error);
            }
            Ok(false)
        }
    }
}

/// Warns of processes that cannot be attributed to a run.
#[cfg(target_os = "linux")]
fn warn_of_orphans(names: &[String]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let names: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !names.is_empty() {
        say_error(&format!(
            "WARNING: processes that the subject left behind were killed in the end: {}; in a cluster they would end with \
             their container",
            names.join(", ")
        ));
    }
}

/// Tells why there is no reference, and keeps the subject's output beside an earlier report.
fn explain_and_save_output(error: &CampaignError, report: &ReportFolder) -> String {
    let message = without_reference(error);
    let CampaignError::NoReference { output, .. } = error else {
        return message;
    };
    let Ok(output) = fs::read(output) else {
        return message;
    };
    if output.is_empty() {
        return message;
    }
    let kept = report.begin().and_then(|files| {
        files.write(OUTPUT, output)?;
        files.add()
    });
    match kept {
        Ok(()) => format!("{message}\nits output: {}", report.file(OUTPUT).display()),
        Err(error) => format!("{message}\n{error}"),
    }
}

/// Prints the report and writes it.
fn publish(
    folder: &ReportFolder,
    replay: &Replay,
    report: &mut Report,
    reference: &Path,
) -> Result<(), String> {
    // A disk that is full takes the files alone.
    say(&report.to_string());
    let files = folder.begin()?;
    let mut pages = Pages::new(&files, replay);
    pages.write_summary(report)?;
    let written = pages.write_failures(report, reference);
    files.replace()?;
    if let Some((place, _)) = report.failures().next() {
        let file = folder.file(&format!("{}.json", file_stem(place)));
        say(&format!(
            "each replays: {}\nwhat happened is in the files of the same name\n",
            replay_line(report.origin.program, &file)
        ));
    }
    written
}

fn checked_url(text: &str) -> Result<String, String> {
    let authority = text.strip_prefix("http://").unwrap_or_default();
    if authority
        .split('/')
        .next()
        .is_some_and(|it| it.contains(':'))
    {
        return Ok(text.to_owned());
    }
    Err(
        "it has to begin with http:// and to name a port, as in http://127.0.0.1:{port}/readyz"
            .to_owned(),
    )
}

fn checked_minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok();
    let limit = minutes.and_then(|it| Duration::try_from_secs_f64(it * 60.0).ok());
    limit.ok_or_else(|| "it has to be a number of minutes, as in 90 or 0.5".to_owned())
}

fn checked_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("0 runs nothing; the default is 8 a core".to_owned()),
        Ok(jobs) => Ok(jobs),
        Err(error) => Err(format!("{error}")),
    }
}

fn checked_controllers(text: &str) -> Result<String, String> {
    controllers(text).map(|_| text.to_owned())
}

/// Adds what was found to the file of what is accepted.
fn accept(mut accepted: AcceptanceList, report: &Report, reason: &str) -> Result<(), String> {
    let mut count = accepted.add(Family::Reference, &report.reference.findings, reason);
    for verdict in report.failed() {
        count += accepted.add(verdict.plan.family, &verdict.findings, reason);
    }
    let file = accepted.file.display();
    if count == 0 {
        say(&format!(
            "there is nothing to accept: {file} is as it was\n"
        ));
        return Ok(());
    }
    let text = serde_json::to_string_pretty(&accepted).expect("plain values");
    replace(&accepted.file, &text)?;
    say(&format!(
        "accepted from now on, in {file}: {}\n",
        counted(count, "finding")
    ));
    Ok(())
}

/// The folder of the runs, which is removed in the end.
struct Temporary(tempfile::TempDir);

// === impl Temporary ===

impl Temporary {
    fn make() -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("survive-").tempdir();
        folder
            .map(Self)
            .map_err(|error| format!("no temporary folder: {error}"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}
