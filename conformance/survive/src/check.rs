//! The check of a subject in a Rust test: a failing one prints the line that replays it.

use std::{
    env,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use fakeserver::{Controllers, KubernetesVersion};
use serde::Serialize;
use serde_json::Value;
use support::{call::whole, partition::Partition};
use thiserror::Error;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use super::{
    acceptance::AcceptanceList,
    campaign::{Campaign, Choice, at_once},
    error::CampaignError,
    execute::{self, Setup},
    plan::{Family, Plan},
    readiness::Readiness,
    report::Report,
    subject::Subject,
    timeline::timeline,
    trace_folder::{TraceError, TraceFolder},
    workload::{Workload, WorkloadError},
};

/// The variable with the plan that is run instead of all.
const PLAN: &str = "SURVIVE_PLAN";
/// The variable with the folder of traces.
const TRACES: &str = "SURVIVE_TRACES";
/// The longest time of a run.
const RUN_LIMIT: Duration = Duration::from_mins(5);
/// The number of plans that are named when they break a promise.
const REPORTED_MAX: usize = 10;
const WRITES: &str = "a string takes what is written";

/// The check of a subject, in a plain `#[test]`.
///
/// ```
/// use std::time::Duration;
///
/// use survive::{Subject, Workload};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, Client, api::{Patch, PatchParams}};
/// use serde_json::json;
///
/// // Copies a config map, and looks again every second.
/// async fn copy(client: Client) -> Result<(), kube::Error> {
///     let maps: Api<ConfigMap> = Api::default_namespaced(client);
///     loop {
///         let (source, copy) = (maps.get_opt("source").await, maps.get_opt("copy").await);
///         if let (Ok(Some(source)), Ok(copy)) = (source, copy)
///             && copy.is_none_or(|copy| copy.data != source.data)
///         {
///             let metadata = json!({"name": "copy"});
///             let copy = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": source.data});
///             // An attempt that fails is followed by the next one.
///             let _ = maps.patch("copy", &PatchParams::apply("copier").force(), &Patch::Apply(&copy)).await;
///         }
///         tokio::time::sleep(Duration::from_secs(1)).await;
///     }
/// }
///
/// let source = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "source"}, "data": {"a": "1"}});
/// survive::check(Subject::function(copy))
///     .steps(Workload::new().apply(&source).wait("v1 ConfigMap default/copy", "object.data.a == '1'").quiet(Duration::from_secs(2)))
///     .run();
/// ```
#[derive(Clone, Debug)]
#[must_use = "it checks nothing until it is run"]
pub struct Check {
    subject: Subject,
    definitions: Vec<PathBuf>,
    objects: Vec<Value>,
    workload: Option<WorkloadSource>,
    rules: Vec<PathBuf>,
    kubernetes_version: KubernetesVersion,
    controllers: Controllers,
    families: Vec<Family>,
    plans: Option<usize>,
    changes: usize,
    jobs: Option<usize>,
    seed: u64,
    traces: Option<PathBuf>,
}

/// The source of a workload.
#[derive(Clone, Debug)]
enum WorkloadSource {
    File(PathBuf),
    Value(Workload),
}

/// The failure to check a subject. It says nothing about the subject, but for [`Campaign`](Self::Campaign) without a reference.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// No workload was given.
    #[error("there is no workload: give one by `workload` or `steps`")]
    NoWorkload,
    /// The workload or its rules cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The file of what is accepted cannot be read.
    #[error("{0}")]
    AcceptanceList(String),
    /// The variable has another form.
    #[error("{PLAN} is no plan: {0}")]
    Plan(serde_json::Error),
    /// Runs have runtimes of their own.
    #[error("it was called within a tokio runtime; call it in a plain #[test]")]
    InRuntime,
    /// A folder or a runtime is not to be had.
    #[error("a run of a command has no folder or runtime")]
    System(#[from] io::Error),
    /// A trace cannot be kept.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The runs cannot begin, or the subject does not get through the workload without perturbation.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
}

/// Returns the check of a subject. Set what it does, and then [run](Check::run) it.
pub fn check(subject: Subject) -> Check {
    Check {
        subject,
        definitions: Vec::new(),
        objects: Vec::new(),
        workload: None,
        rules: Vec::new(),
        kubernetes_version: KubernetesVersion::DEFAULT,
        controllers: execute::controllers(execute::CONTROLLERS).expect("these names are known"),
        families: Family::ALL.to_vec(),
        plans: None,
        changes: 0,
        jobs: None,
        seed: 1,
        traces: None,
    }
}

// === impl Check ===

impl Check {
    /// Adds a file or folder of definitions, and of other objects that are there from the start. Of a folder and those in it the files
    /// of YAML and JSON are read, but for kustomize's own (`kustomization.yaml`).
    pub fn crds(mut self, path: impl Into<PathBuf>) -> Self {
        self.definitions.push(path.into());
        self
    }

    /// Adds a definition, or another object that is there from the start.
    ///
    /// # Panics
    ///
    /// If it cannot be written as JSON.
    pub fn object(mut self, object: &impl Serialize) -> Self {
        let object = serde_json::to_value(object);
        self.objects.push(object.expect("an object is JSON"));
        self
    }

    /// Sets the workload to that of a file. What is accepted is read from `survive.accepted.json` beside `survive.yaml`.
    pub fn workload(mut self, path: impl Into<PathBuf>) -> Self {
        self.workload = Some(WorkloadSource::File(path.into()));
        self
    }

    /// Sets the workload.
    pub fn steps(mut self, workload: Workload) -> Self {
        self.workload = Some(WorkloadSource::Value(workload));
        self
    }

    /// Adds the rules of a file.
    pub fn rules(mut self, path: impl Into<PathBuf>) -> Self {
        self.rules.push(path.into());
        self
    }

    /// Sets the version of Kubernetes that the server is.
    pub fn kubernetes_version(mut self, version: KubernetesVersion) -> Self {
        self.kubernetes_version = version;
        self
    }

    /// Sets the controllers of the server. By default pods run, and all that belongs to them.
    pub fn controllers(mut self, controllers: Controllers) -> Self {
        self.controllers = controllers;
        self
    }

    /// Chooses families of plans. By default all are, but pairs.
    pub fn families(mut self, families: impl IntoIterator<Item = Family>) -> Self {
        self.families = families.into_iter().collect();
        self
    }

    /// Sets the number of plans: a sample of those of the families, or all and then pairs.
    pub fn plans(mut self, count: usize) -> Self {
        self.plans = Some(count);
        self
    }

    /// Sets the number of fields of custom objects that are changed, one at a time, to values that their schemas allow.
    pub fn changes(mut self, count: usize) -> Self {
        self.changes = count;
        self
    }

    /// Sets the number of runs at once. By default there is one a processor, and of a command eight.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(jobs);
        self
    }

    /// Sets the seed of pairs and changes, which is 1 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Keeps traces of what fails in this folder, which is made. The variable `SURVIVE_TRACES` names another one.
    /// Their names begin with that of the test, whose traces of an earlier run are removed; no other file is replaced.
    pub fn traces(mut self, folder: impl Into<PathBuf>) -> Self {
        self.traces = Some(folder.into());
        self
    }

    /// Runs all plans, or the one of the variable `SURVIVE_PLAN`.
    ///
    /// # Panics
    ///
    /// If a promise is broken, with the report and the line that replays it; or if the subject does not get through the workload
    /// without perturbation.
    #[track_caller]
    pub fn run(&self) {
        match self.report() {
            Ok(report) if report.is_good() => println!("{report}"),
            Ok(report) => panic!("{}", failure_text(&report)),
            Err(error) => panic!("{}", without_report(&error)),
        }
    }

    /// Runs all plans, or the one of the variable `SURVIVE_PLAN`, and returns what was found.
    ///
    /// # Errors
    ///
    /// The runs cannot begin, or the subject does not get through the workload without perturbation.
    pub fn report(&self) -> Result<Report, CheckError> {
        if Handle::try_current().is_ok() {
            return Err(CheckError::InRuntime);
        }
        let (workload, accepted) = self.given()?;
        let chosen = match env::var(PLAN) {
            Ok(text) => Some(serde_json::from_str(&text).map_err(CheckError::Plan)?),
            Err(_) => None,
        };
        if self.subject.is_function() {
            return at_once(self.judged(workload, accepted, chosen, Path::new("")));
        }
        let folder = tempfile::Builder::new().prefix("survive-").tempdir()?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.judged(workload, accepted, chosen, folder.path()))
    }

    async fn judged(
        &self,
        workload: Workload,
        accepted: AcceptanceList,
        chosen: Option<Plan>,
        folder: &Path,
    ) -> Result<Report, CheckError> {
        let setup = Setup {
            subject: self.subject.clone(),
            definitions: self.definitions.clone(),
            objects: self.objects.clone(),
            kubernetes_version: self.kubernetes_version,
            controllers: self.controllers.clone(),
            readiness: Readiness::default(),
            certificates: None,
            run_limit: RUN_LIMIT,
        };
        let choice = Choice {
            families: self.families.clone(),
            plans: self.plans,
            limit: None,
            partition: Partition::WHOLE,
            jobs: self.jobs,
            seed: self.seed,
            folder: folder.to_owned(),
            stop: CancellationToken::new(),
        };
        let traces = self.traces_folder();
        let traces = traces
            .map(|folder| TraceFolder::in_folder(&folder))
            .transpose()?;
        let campaign = Campaign::new(setup, workload).await?;
        let changes = if chosen.is_some() { 0 } else { self.changes };
        let mut survey = campaign.survey(&choice, &accepted, changes).await?;
        if let Some(plan) = chosen {
            survey.plans = vec![plan];
        }
        let mut report = campaign.judge(survey, &choice, |_| {}).await;
        if let Some(failure) = report.failure.take() {
            return Err(failure.into());
        }
        if let Some(traces) = &traces {
            traces.keep(&campaign, &mut report, folder, replay).await?;
        }
        Ok(report)
    }

    fn traces_folder(&self) -> Option<PathBuf> {
        env::var_os(TRACES).map_or_else(|| self.traces.clone(), |folder| Some(folder.into()))
    }

    /// Returns the workload, and what is accepted of it.
    fn given(&self) -> Result<(Workload, AcceptanceList), CheckError> {
        let (mut workload, accepted) = match &self.workload {
            None => return Err(CheckError::NoWorkload),
            Some(WorkloadSource::Value(workload)) => (workload.clone(), AcceptanceList::default()),
            Some(WorkloadSource::File(path)) => {
                let accepted = AcceptanceList::read(&path.with_extension("accepted.json"));
                let accepted = accepted.map_err(CheckError::AcceptanceList)?;
                (Workload::read(path)?, accepted)
            }
        };
        for path in &self.rules {
            workload.add_rules(path)?;
        }
        Ok((workload, accepted))
    }
}

/// Returns what a failing test says: the broken promises, the timeline of the first one, and how it is replayed.
fn failure_text(report: &Report) -> String {
    let mut text = "the subject breaks promises:\n".to_owned();
    let reference = &report.reference;
    for finding in &reference.findings {
        writeln!(text, "  without perturbation: {finding}").expect(WRITES);
    }
    for verdict in report.failed().take(REPORTED_MAX) {
        writeln!(text, "  {}", verdict.plan).expect(WRITES);
        for finding in &verdict.findings {
            writeln!(text, "    {finding}").expect(WRITES);
        }
    }
    if report.failed_count() > REPORTED_MAX {
        writeln!(text, "  and {} more", report.failed_count() - REPORTED_MAX).expect(WRITES);
    }
    let unperturbed = Plan::default();
    let (plan, trace, findings) = match report.failed().next() {
        Some(first) => (&first.plan, &first.trace, &first.findings),
        None => (&unperturbed, &reference.trace, &reference.findings),
    };
    let what = timeline(trace, findings);
    write!(text, "\n{report}\n{plan}:\n{what}\n").expect(WRITES);
    text.push_str(&told_traces(report));
    text.push_str(&replay(plan));
    text
}

/// Returns the lines that show the trace of the first failure, and where the others are.
fn told_traces(report: &Report) -> String {
    let Some(reference) = &report.reference_trace else {
        return format!("{TRACES}=DIR before the line below keeps its trace\n");
    };
    let show = |file: &Path, beside: &str| {
        let (page, file) = (file.with_extension("html"), file.display());
        format!(
            "its trace: conformance trace {file} --html {}{beside}\n",
            page.display()
        )
    };
    let mut files = report.traces.values();
    let Some(first) = files.next() else {
        return show(reference, "");
    };
    let mut text = show(first, &format!(" --reference {}", reference.display()));
    for file in files {
        writeln!(text, "another one: {}", file.display()).expect(WRITES);
    }
    text
}

fn without_report(error: &CheckError) -> String {
    let mut text = whole(error);
    if let CheckError::Campaign(CampaignError::NoReference { timeline, .. }) = error {
        write!(text, "\n{timeline}").expect(WRITES);
    }
    text
}

/// Returns the line that replays a plan in this test.
fn replay(plan: &Plan) -> String {
    let plan = serde_json::to_string(plan).expect("plain values");
    let mut line = format!("{PLAN}='{}' cargo test", plan.replace('\'', r"'\''"));
    if let Ok(package) = env::var("CARGO_PKG_NAME") {
        write!(line, " -p {package}").expect(WRITES);
    }
    // The harness names the thread of a test so, unless it runs them on its own.
    let test = thread::current().name().map(ToOwned::to_owned);
    if let Some(test) = test.filter(|test| test != "main") {
        write!(line, " {test} -- --exact").expect(WRITES);
    }
    line
}
