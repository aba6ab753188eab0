//! One run from its server to what is left of it.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use fakeserver::{
    CelExpression, CelInput, Certificates, Clock, Controllers, FakeServer, KubernetesVersion,
    Workloads,
    cli::parse_controllers,
    faults::{FaultSpec, RuleGuard},
};
use jiff::Timestamp;
use serde_json::Value;
use support::task::TaskSet;
use thiserror::Error;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use tracefile::Header;

use super::{
    environment::Environment,
    history::History,
    kinds::ServedKinds,
    output::Output,
    paused_runtime,
    plan::{Perturbation, Plan},
    readiness::Readiness,
    recorder::Recorder,
    run::Run,
    step_runner::StepRunner,
    subject::{Subject, supervise},
    tap::{self, Tap},
    trace::{Event, RunTrace},
    trace_writer::TraceWriter,
    watch_rules::{CutRule, FreezeRule, MergeRule},
    workload::{Action, Workload},
    world::World,
};

/// The controllers of the server, unless others are chosen.
pub const CONTROLLERS: &str = "workloads";
/// 2026-05-17T14:23:07Z, far from the date of other runs.
const OTHER_DATE: Timestamp = Timestamp::constant(1_779_027_787, 0);

/// The trace file in the folder of a run.
pub const TRACE: &str = "trace.jsonl";

/// The parts that all runs of a campaign have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The subject.
    pub subject: Subject,
    /// The files and folders of definitions.
    pub definitions: Vec<PathBuf>,
    /// Definitions and other objects that are there from the start, besides those of files.
    pub objects: Vec<Value>,
    /// The version of Kubernetes that the server is.
    pub kubernetes_version: KubernetesVersion,
    /// The controllers of the server.
    pub controllers: Controllers,
    /// The ways by which a process says that it is ready, besides its first watch or write.
    pub readiness: Readiness,
    /// The certificates of a server that is found as in a cluster; `None` for one that a kubeconfig names.
    pub certificates: Option<Certificates>,
    /// The longest time of a run.
    pub run_limit: Duration,
}

/// The remains of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The record.
    pub trace: RunTrace,
    /// The cluster's states.
    pub history: History,
    /// Perturbations at writes that did not come.
    pub not_done: Vec<String>,
    /// The identities of each replica.
    pub identities: Vec<Vec<String>>,
    /// The output of each replica.
    pub output: Vec<PathBuf>,
    /// The panics in this process.
    pub panics: Vec<String>,
    /// The time in the end, as the server's clock shows it.
    pub now: String,
    /// The duration of the steps.
    pub took: Duration,
}

/// The failure to begin a run. A retry helps only if its cause is gone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The server cannot be made of the definitions.
    #[error("the definitions cannot be served: {0}")]
    Server(String),
    /// A folder, a file or a port is not to be had.
    #[error("the run has no {what}")]
    System {
        /// Its name.
        what: &'static str,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// An expression of the workload is wrong.
    #[error("{place}: {reason}")]
    Expression {
        /// The step, and its file if it is from one.
        place: String,
        /// The mistake.
        reason: String,
    },
}

/// The conditions of a run that make no difference to a subject: where they do, the mask learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditions {
    /// Those of all plans.
    Usual,
    /// Those of the second run of the reference: in process other uids and names, another date, and slower answers.
    Other,
}

/// One run of a campaign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) workload: &'a Workload,
    pub(super) plan: &'a Plan,
    pub(super) conditions: Conditions,
    pub(super) folder: &'a Path,
    /// The trace file of a function; that of a command is in the folder.
    pub(super) trace: Option<&'a Path>,
}

/// Runs `workload` with `plan` in `folder`, which exists and is empty if the subject is a command.
///
/// # Errors
///
/// The run cannot begin.
///
/// # Panics
///
/// Outside of a tokio runtime with time and I/O enabled.
///
/// # Cancel safety
///
/// If dropped, the subject's processes are killed.
pub(super) async fn run(
    setup: &Setup,
    kinds: &ServedKinds,
    task: Task<'_>,
) -> Result<Outcome, RunError> {
    let Task {
        workload,
        plan,
        conditions,
        folder,
        ..
    } = task;
    let waits = compiled(workload)?;
    let replica_count = replica_count(workload, plan);
    let clock = conditions.clock(&setup.subject);
    let server = server(setup, conditions, clock)?;
    let kinds = kinds.clone();
    // Objects of definitions are no changes of the run.
    let beginning = server.revision();
    let recorder = Recorder::new(plan, replica_count)
        .with_reads_as_ready(setup.subject.is_function())
        .with_trace_writer(trace_writer(setup, &server, &kinds, task, replica_count)?);
    let run = Arc::new(Run::new(
        World {
            server,
            kinds,
            clock,
        },
        recorder,
    ));
    // Before any replica starts, so that its first list meets them.
    let _rules = install(&run, plan);
    let mut started = StartedReplicas::of(&run, setup, replica_count, conditions, folder).await?;
    let began = Instant::now();
    let steps = StepRunner {
        run: &run,
        workload,
        plan,
        waits: &waits,
    };
    perform(&run, &steps, setup.run_limit).await;
    let took = began.elapsed();
    // The subject first, while tasks of the run still read its output. The trace file last: both write to it.
    started.replicas.shutdown().await;
    run.stop_tasks().await;
    let output = started.end_output()?;
    run.recorder.end_trace().map_err(no_trace_file)?;
    let identities = run.recorder.identities();
    let outcome = Outcome {
        trace: run.recorder.trace(),
        history: History::of(&run.world.server, &run.world.kinds, beginning),
        not_done: run.recorder.not_done(),
        identities: identities
            .into_iter()
            .map(|of_replica| of_replica.into_iter().collect())
            .collect(),
        output,
        panics: paused_runtime::take_panics(),
        now: clock.now_text(),
        took,
    };
    // After the history is taken: it is that of the server.
    run.world.server.shutdown().await;
    Ok(outcome)
}

/// Goes through the steps, as long as there is time and a subject.
async fn perform(run: &Run, steps: &StepRunner<'_>, limit: Duration) {
    let (place, reason) = tokio::select! {
        biased;
        ended = timeout(limit, steps.perform()) => match ended {
            Ok(()) => return,
            Err(_) => (steps.workload.steps.len(), format!("the run took longer than {limit:?}")),
        },
        () = run.recorder.given_up() => {
            let reason = "the subject ended by itself too often to be started again";
            (run.recorder.step(), reason.to_owned())
        }
    };
    run.recorder.note(Event::StepFailed {
        place,
        reason,
        is_refused: false,
    });
}

/// Begins the trace file of a run, if it is to have one.
fn trace_writer(
    setup: &Setup,
    server: &FakeServer,
    kinds: &ServedKinds,
    task: Task<'_>,
    replica_count: usize,
) -> Result<Option<TraceWriter>, RunError> {
    let file = match task.trace {
        Some(file) => file.to_owned(),
        None if setup.subject.is_function() => return Ok(None),
        None => task.folder.join(TRACE),
    };
    let mut header = Header::new(task.plan.to_string());
    if let Subject::Command(command) = &setup.subject {
        header = header.with_command(command.to_string());
    }
    let trace_writer = TraceWriter::begin(&file, &header, server, kinds, replica_count);
    trace_writer.map(Some).map_err(no_trace_file)
}

fn no_trace_file(source: io::Error) -> RunError {
    let what = "trace file";
    RunError::System { what, source }
}

/// Returns the number of replicas: two or more where the plan is about leaders.
fn replica_count(workload: &Workload, plan: &Plan) -> usize {
    let needs_two = |it: &Perturbation| matches!(it, Perturbation::Stop { .. });
    if plan.perturbations.iter().any(needs_two) {
        workload.replicas.max(2)
    } else {
        workload.replicas
    }
}

/// Returns the controllers of a list, as in `fakeserver serve --controllers`, which start and stop pods in a moment.
///
/// # Errors
///
/// A name is unknown.
pub fn controllers(text: &str) -> Result<Controllers, String> {
    let moment = Duration::from_millis(50);
    let parsed = parse_controllers(text)?;
    if !text.split(',').any(|name| name.trim() == "workloads") {
        return Ok(parsed);
    }
    let workloads = Workloads::default();
    Ok(parsed.with_workloads(workloads.with_pod_start(moment).with_pod_stop(moment)))
}

/// Makes the server of a run.
pub(super) fn server(
    setup: &Setup,
    conditions: Conditions,
    clock: Clock,
) -> Result<FakeServer, RunError> {
    let mut builder = FakeServer::builder()
        .with_kubernetes_version(setup.kubernetes_version)
        .with_clock(clock)
        .with_seed(conditions.seed())
        .with_objects(&setup.objects)
        .with_controllers(setup.controllers.clone());
    for path in &setup.definitions {
        builder = builder.with_manifests(path);
    }
    builder
        .try_build()
        .map_err(|error| RunError::Server(support::call::whole(&error)))
}

/// Compiles the expressions of the steps.
pub(super) fn compiled(workload: &Workload) -> Result<Vec<Option<CelExpression>>, RunError> {
    let compile = |text: &str| {
        let compiled = CelExpression::compile(text, &["object", "now"]);
        let compiled = compiled.map_err(|error| error.to_string())?;
        let now = CelInput::Timestamp(Clock::wall().now_text());
        let inputs = BTreeMap::from([("object", CelInput::Json(Value::Null)), ("now", now)]);
        // It fails where it needs an object.
        match compiled.evaluate(&inputs) {
            Ok(Value::Bool(_)) | Err(_) => Ok(compiled),
            Ok(value) => Err(format!("`until` is {value}, but has to be true or false")),
        }
    };
    let steps = workload.steps.iter().enumerate();
    steps
        .map(|(place, step)| match &step.action {
            Action::Wait { until, .. } => {
                compile(until)
                    .map(Some)
                    .map_err(|reason| RunError::Expression {
                        place: workload.step_named(place),
                        reason,
                    })
            }
            _ => Ok(None),
        })
        .collect()
}

/// Puts the rules of the run in force.
fn install(run: &Run, plan: &Plan) -> Vec<RuleGuard> {
    let faults = run.world.server.faults();
    let mut guards = vec![
        faults.install(FreezeRule(run.frozen.clone())),
        faults.install(CutRule(run.cut.clone())),
    ];
    for perturbation in &plan.perturbations {
        match perturbation {
            Perturbation::Merge { resource } => {
                let resource = resource.clone();
                guards.push(faults.install(MergeRule { resource }));
            }
            Perturbation::Fault { fault } => match FaultSpec::from_value(fault.clone()) {
                Ok(spec) => guards.push(faults.install_spec(&spec)),
                Err(error) => run
                    .recorder
                    .note(Event::Perturbed(format!("no such fault: {error}"))),
            },
            _ => {}
        }
    }
    guards
}

/// The replicas that run.
struct StartedReplicas {
    replicas: TaskSet,
    output: Vec<Output>,
    /// The listeners of commands.
    _taps: Vec<Tap>,
}

// === impl StartedReplicas ===

impl StartedReplicas {
    /// Starts the replicas, each behind a tap of its own.
    async fn of(
        run: &Arc<Run>,
        setup: &Setup,
        replica_count: usize,
        conditions: Conditions,
        folder: &Path,
    ) -> Result<Self, RunError> {
        let failed = |what| move |source| RunError::System { what, source };
        let (mut taps, mut output, mut senders) = (Vec::new(), Vec::new(), Vec::new());
        let mut replicas = TaskSet::new();
        for replica in 0..replica_count {
            let (sender, orders) = mpsc::channel(8);
            senders.push(sender);
            let recorder = Arc::clone(&run.recorder);
            match &setup.subject {
                Subject::Command(command) => {
                    let certificates = setup.certificates.as_ref();
                    let tap = Tap::open(Arc::clone(run), replica, certificates).await;
                    let tap = tap.map_err(failed("port"))?;
                    let environment =
                        Environment::make(folder, replica, tap.address, certificates).await;
                    let environment = environment.map_err(failed("folder or port"))?;
                    run.beside(environment.output.clone().read());
                    output.push(environment.output.clone());
                    taps.push(tap);
                    let readiness = setup.readiness.clone();
                    run.beside(readiness.watch(
                        environment.clone(),
                        Arc::clone(&recorder),
                        replica,
                    ));
                    let command = command.clone();
                    let start = move || command.start(&environment);
                    replicas.spawn(supervise(start, replica, recorder, orders));
                }
                Subject::Function(function) => {
                    let (function, router) = (function.clone(), tap::router(run, replica));
                    let start = move || Ok(function.start(replica, &router, conditions.latency()));
                    replicas.spawn(supervise(start, replica, recorder, orders));
                }
            }
        }
        let _ = run.orders.set(senders);
        Ok(Self {
            replicas,
            output,
            _taps: taps,
        })
    }

    /// Completes the files of the output, and returns them.
    fn end_output(&self) -> Result<Vec<PathBuf>, RunError> {
        let mut files = Vec::new();
        for output in &self.output {
            let what = "file for the output";
            let ended = output.end();
            ended.map_err(|source| RunError::System { what, source })?;
            files.push(output.path().to_owned());
        }
        Ok(files)
    }
}

// === impl Task ===

impl<'a> Task<'a> {
    /// Returns a run in the usual conditions, without a trace file of its own.
    pub(super) fn new(workload: &'a Workload, plan: &'a Plan, folder: &'a Path) -> Self {
        Self {
            workload,
            plan,
            conditions: Conditions::Usual,
            folder,
            trace: None,
        }
    }
}

// === impl Conditions ===

impl Conditions {
    fn seed(self) -> u64 {
        match self {
            Self::Usual => 0,
            Self::Other => 1,
        }
    }

    /// Returns the time that a request of a function takes.
    fn latency(self) -> Duration {
        match self {
            Self::Usual => Duration::from_millis(1),
            Self::Other => Duration::from_millis(2),
        }
    }

    /// Returns the clock of the server: of a function it tells the same in each run of a plan.
    pub(super) fn clock(self, subject: &Subject) -> Clock {
        match (subject, self) {
            (Subject::Command(_), _) => Clock::wall(),
            (Subject::Function(_), Self::Usual) => Clock::default(),
            (Subject::Function(_), Self::Other) => Clock::simulated(OTHER_DATE),
        }
    }
}

// === impl Setup ===

impl Setup {
    /// Works where the subject runs: on this runtime, or on a paused clock.
    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> T {
        if self.subject.is_function() {
            paused_runtime::run(work)
        } else {
            work.await
        }
    }
}
