//! The command `survive`: a user's controller under crashes, lost answers, stale caches and the like.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::Certificates;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::{
    finish_on, progress_bar, say,
    signals::Signals,
    survive_pages::{Pages, write_traced},
    survive_report::{REPORT, check_report, empty_report},
    traced::TraceArgs,
};
use crate::{
    call::whole,
    survive::{
        Acceptance, Accepted, CONTROLLERS, Campaign, CampaignError, Choice, Family, Plan,
        Readiness, Report, Setup, Subject, TRACE, Verdict, Workload, controllers, junit, timeline,
    },
};

/// The number of lines that are shown of the output of a subject that does not get through the workload.
const OUTPUT_LINES: usize = 10;
/// The longest time of a run.
const RUN_LIMIT: Duration = Duration::from_mins(5);

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// File or folder of definitions of custom resources, and of other objects that are there from the start; repeats.
    #[arg(long, value_name = "PATH")]
    crds: Vec<PathBuf>,
    /// Steps of the user: `steps:`, `replicas:` and `rules:`.
    #[arg(long, value_name = "FILE", required_unless_present = "replay")]
    workload: Option<PathBuf>,
    /// Rules in CEL beside those of the workload, in the form of its `rules:`.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Controllers of the server, as in `fakeserver serve --controllers`.
    #[arg(long, value_name = "LIST", default_value = CONTROLLERS, value_parser = checked_controllers)]
    controllers: String,
    /// Families of plans [default: all but pairs].
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    families: Vec<Family>,
    /// Number of plans: as many of each family as there is room for, and then pairs [default: each write by each family].
    #[arg(long, value_name = "N")]
    plans: Option<usize>,
    /// Begin no new run after so many minutes.
    #[arg(long, value_name = "M")]
    minutes: Option<u64>,
    /// Change so many fields of the workload's custom objects too, one at a time, to values that their schemas allow: the way to a
    /// state must make no difference, and the way back must lead back.
    #[arg(long, value_name = "N", default_value_t = 0)]
    generate: usize,
    /// Number of runs at once [default: 8 a core, fewer if the subject is busy].
    #[arg(long, value_name = "J")]
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
    /// Folder of the report: report.json, junit.xml, index.html, and for each failure a timeline, a trace, a page that shows
    /// it in a browser, and a file to replay it.
    #[arg(long, value_name = "DIR", default_value = "survive-report")]
    report: PathBuf,
    /// Replace a report folder that holds other files, too.
    #[arg(long)]
    force: bool,
    /// Accept what is found, for this reason, in the file beside the workload that later runs read.
    #[arg(long, value_name = "REASON", conflicts_with = "replay")]
    accept: Option<String>,
    /// Run the plan of a file of the report again.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "crds", "rules", "plans", "families"])]
    replay: Option<PathBuf>,
    #[command(flatten)]
    files: TraceArgs,
    /// The subject and its arguments, executed without a shell. `{server}`, `{kubeconfig}`, `{workdir}` and
    /// `{port}`, a free port, are replaced.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A plan of a report, with all that is needed to run it again.
#[derive(Debug, Serialize, Deserialize)]
struct Replay {
    command: Vec<String>,
    #[serde(flatten)]
    surroundings: Surroundings,
    workload: Workload,
    /// The texts of the definitions' files.
    definitions: Vec<String>,
    plan: Plan,
}

/// The surroundings of the subject, as options say.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Surroundings {
    controllers: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    in_cluster: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ready_output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ready_url: Option<String>,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        finish_on(&mut Builder::new_multi_thread(), async {
            let mut signals = Signals::listen().map_err(|error| whole(&error))?;
            let stop = CancellationToken::new();
            let mut work = std::pin::pin!(self.survive(&stop));
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

    async fn survive(&self, stop: &CancellationToken) -> Result<bool, String> {
        let temporary = Temporary::make()?;
        if let Some(file) = &self.replay {
            let replay = self.replay(file, temporary.path());
            let outcome = stop.run_until_cancelled(replay).await;
            return outcome.unwrap_or_else(|| Err("interrupted".to_owned()));
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
        let path = self.workload.as_deref().unwrap_or(Path::new(""));
        let mut workload = Workload::read(path).map_err(|error| whole(&error))?;
        if let Some(rules) = &self.rules {
            workload.add_rules(rules).map_err(|error| whole(&error))?;
        }
        check_report(&self.report, self.force)?;
        let accepted_file = path.with_extension("accepted.json");
        let accepted = Accepted::read(&accepted_file)?;
        let setup = setup(&self.command, &self.crds, &self.surroundings())?;
        let campaign = Campaign::new(setup, workload).await;
        let campaign = campaign.map_err(|error| whole(&error))?;
        empty_report(&self.report)?;
        let choice = self.choice(temporary.path(), stop);
        let survey = campaign.survey(&choice, &accepted, self.generate);
        let survey = stop.run_until_cancelled(survey).await;
        let survey = survey.ok_or("interrupted before there was a reference")?;
        let survey = survey.map_err(|error| self.without_reference(&error))?;
        let bar = progress_bar(survey.plans.len(), "plans");
        let told = |verdict: &Verdict| {
            if let Some(finding) = verdict.findings.first() {
                bar.println(format!("{}: {finding}", verdict.plan));
            }
            bar.inc(1);
        };
        let report = campaign.judge(survey, &choice, &accepted, told).await;
        let report = report.map_err(|error| whole(&error))?;
        bar.finish_and_clear();
        if let Some(reason) = &self.accept {
            accept(&accepted_file, accepted, &report.verdicts, reason)?;
        }
        let reference = temporary.path().join("reference-1").join(TRACE);
        let is_good = self.tell(&campaign, report, &reference)?;
        if is_good && stop.is_cancelled() {
            return Err("interrupted: the plans that were not run may break a promise".to_owned());
        }
        Ok(is_good)
    }

    /// Tells why there is no reference, and keeps the subject's output.
    fn without_reference(&self, error: &CampaignError) -> String {
        let told = whole(error);
        let CampaignError::NoReference { output, .. } = error else {
            return told;
        };
        let kept = self.report.join("0000.log");
        match fs::copy(output, &kept) {
            Ok(0) => format!("{told}\nit has put out nothing"),
            Ok(_) => format!(
                "{told}\n{}\nits output: {}",
                last_lines(&kept),
                kept.display()
            ),
            Err(_) => told,
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            controllers: self.controllers.clone(),
            in_cluster: self.in_cluster,
            ready_output: self.ready_output.as_ref().map(ToString::to_string),
            ready_url: self.ready_url.clone(),
        }
    }

    fn choice(&self, folder: &Path, stop: &CancellationToken) -> Choice {
        Choice {
            families: match self.families.as_slice() {
                [] => Family::ALL.to_vec(),
                chosen => chosen.to_vec(),
            },
            plans: self.plans,
            limit: self
                .minutes
                .map(|minutes| Duration::from_secs(minutes * 60)),
            jobs: self.jobs,
            seed: self.seed,
            folder: folder.to_owned(),
            stop: stop.clone(),
        }
    }

    /// Writes the report and prints it. Returns whether all promises were kept.
    fn tell(
        &self,
        campaign: &Campaign,
        mut report: Report,
        reference: &Path,
    ) -> Result<bool, String> {
        let mut replays = BTreeMap::new();
        let mut pages = Pages::begin(&self.report, reference)?;
        let definitions = texts(&self.crds)?;
        for (place, verdict) in report.verdicts.iter().enumerate() {
            if verdict.findings.is_empty() {
                continue;
            }
            let name = format!("{:04}", place + 1);
            let replay = Replay {
                command: self
                    .command
                    .iter()
                    .map(|it| it.display().to_string())
                    .collect(),
                surroundings: self.surroundings(),
                workload: campaign.workload().clone(),
                definitions: definitions.clone(),
                plan: verdict.plan.clone(),
            };
            let text = serde_json::to_string_pretty(&replay).expect("plain values");
            let file = self.report.join(format!("{name}.json"));
            write(&file, &text)?;
            replays.insert(place, file);
            let told = timeline(&verdict.trace, &verdict.findings);
            write(&self.report.join(format!("{name}.txt")), &told)?;
            pages.add(&name, verdict)?;
            let output = verdict.folder.join("replica-0").join("output.log");
            if let Ok(output) = fs::read(&output) {
                let file = self.report.join(format!("{name}.log"));
                fs::write(&file, output)
                    .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            }
        }
        pages.end()?;
        report.replays = replays;
        write(&self.report.join(REPORT), &report.json())?;
        write(&self.report.join("junit.xml"), &junit(&report.verdicts))?;
        say(&report.to_string());
        if let Some(file) = report.replays.values().next() {
            say(&format!(
                "each replays: conformance survive --replay {}; what happened is in the files of the same name\n",
                file.display()
            ));
        }
        Ok(report.is_good())
    }

    async fn replay(&self, file: &Path, folder: &Path) -> Result<bool, String> {
        let text = fs::read_to_string(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let replay: Replay = serde_json::from_str(&text)
            .map_err(|error| format!("{} is no file of a report: {error}", file.display()))?;
        let mut definitions = Vec::new();
        for (place, text) in replay.definitions.iter().enumerate() {
            let path = folder.join(format!("definitions-{place}.yaml"));
            write(&path, text)?;
            definitions.push(path);
        }
        let command: Vec<OsString> = match self.command.as_slice() {
            [] => replay.command.iter().map(OsString::from).collect(),
            given => given.to_vec(),
        };
        if command.is_empty() {
            return Err(format!("{} has no command", file.display()));
        }
        let surroundings = replay.surroundings.changed_by(self);
        let setup = setup(&command, &definitions, &surroundings)?;
        let campaign = Campaign::new(setup, replay.workload).await;
        let campaign = campaign.map_err(|error| whole(&error))?;
        let reference = campaign.reference(folder).await;
        let reference = reference.map_err(|error| whole(&error))?;
        let folder = folder.join("replay");
        let verdict = campaign.verdict(&reference, replay.plan, &folder);
        let verdict = Box::pin(verdict).await.map_err(|error| whole(&error))?;
        let line = format!("conformance survive --replay {}", file.display());
        write_traced(&self.files, &verdict, line)?;
        say(&format!("{}\n", verdict.plan));
        say(&timeline(&verdict.trace, &verdict.findings));
        for finding in &verdict.findings {
            say(&format!("{finding}\n"));
        }
        if verdict.findings.is_empty() {
            say("every promise was kept\n");
        }
        Ok(verdict.findings.is_empty())
    }
}

// === impl Surroundings ===

impl Surroundings {
    /// Returns those of a report as options change them.
    fn changed_by(self, args: &Args) -> Self {
        let given = args.surroundings();
        Self {
            controllers: self.controllers,
            in_cluster: self.in_cluster || given.in_cluster,
            ready_output: given.ready_output.or(self.ready_output),
            ready_url: given.ready_url.or(self.ready_url),
        }
    }
}

fn setup(
    command: &[OsString],
    definitions: &[PathBuf],
    surroundings: &Surroundings,
) -> Result<Setup, String> {
    let (program, arguments) = command.split_first().expect("it was checked before");
    let output = surroundings.ready_output.as_deref().map(regex::Regex::new);
    let output = output.transpose().map_err(|error| error.to_string())?;
    let certificates = surroundings
        .in_cluster
        .then(|| Certificates::new(["127.0.0.1"]));
    Ok(Setup {
        subject: Subject::command(program, arguments),
        definitions: definitions.to_vec(),
        objects: Vec::new(),
        controllers: controllers(&surroundings.controllers)?,
        readiness: Readiness {
            output,
            url: surroundings.ready_url.clone(),
        },
        certificates: certificates.transpose().map_err(|error| whole(&error))?,
        run_limit: RUN_LIMIT,
    })
}

/// Returns the last lines of an output, indented.
fn last_lines(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
    let indented: Vec<String> = shown.iter().map(|line| format!("  {line}")).collect();
    indented.join("\n")
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

fn checked_controllers(text: &str) -> Result<String, String> {
    controllers(text).map(|_| text.to_owned())
}

fn accept(
    file: &Path,
    mut accepted: Accepted,
    verdicts: &[Verdict],
    reason: &str,
) -> Result<(), String> {
    for finding in verdicts.iter().flat_map(|verdict| &verdict.findings) {
        let is_new = accepted.findings.iter().all(|known| {
            known.finding.promise != finding.promise || known.finding.text != finding.text
        });
        if is_new {
            let mut finding = finding.clone();
            finding.at_ms = None;
            accepted.findings.push(Acceptance {
                finding,
                reason: reason.to_owned(),
            });
        }
    }
    let text = serde_json::to_string_pretty(&accepted).expect("plain values");
    write(file, &text)?;
    say(&format!(
        "accepted from now on, in {}: {} findings\n",
        file.display(),
        accepted.findings.len()
    ));
    Ok(())
}

/// Returns the texts of files, and of the files in folders.
fn texts(paths: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for path in paths {
        let failed = |error| format!("cannot read {}: {error}", path.display());
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(failed)?;
            let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            inside.sort();
            inside.retain(|path| {
                let extension = path.extension().and_then(|extension| extension.to_str());
                path.is_dir() || matches!(extension, Some("yaml" | "yml" | "json"))
            });
            texts.extend(self::texts(&inside)?);
        } else {
            texts.push(fs::read_to_string(path).map_err(failed)?);
        }
    }
    Ok(texts)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
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
