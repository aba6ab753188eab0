//! One run from its server to what is left of it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use fakeserver::{
    CelExpression, Certificates, Clock, Controllers, FakeServer,
    faults::{FaultSpec, RuleGuard},
};
use thiserror::Error;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use super::{
    course::Course,
    frozen::{CutRule, FreezeRule, MergeRule},
    history::History,
    kinds::ServedKinds,
    places::Places,
    plan::{Perturbation, Plan},
    readiness::Readiness,
    recorder::Recorder,
    run::Run,
    subject::{SubjectCommand, supervise},
    tap::Tap,
    trace::{Event, RunTrace},
    workload::{Action, Workload},
    world::World,
};
use crate::task::TaskSet;

/// The parts that all runs of a campaign have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The subject.
    pub command: SubjectCommand,
    /// The files and folders of definitions.
    pub definitions: Vec<PathBuf>,
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
    #[error("step {place}: {reason}")]
    Expression {
        /// The step, from 1.
        place: usize,
        /// The mistake.
        reason: String,
    },
}

/// Runs `workload` with `plan` in `folder`, which exists and is empty.
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
    workload: &Workload,
    plan: &Plan,
    folder: &Path,
) -> Result<Outcome, RunError> {
    let waits = compiled(workload)?;
    let replica_count = replica_count(workload, plan);
    let server = server(setup)?;
    let kinds = ServedKinds::read(&server.router()).await;
    let beginning = server.revision();
    let recorder = Recorder::new(plan, replica_count);
    let run = Arc::new(Run::new(World { server, kinds }, recorder));
    let _rules = install(&run, plan);
    let (_taps, replicas, output) = start(&run, setup, replica_count, folder).await?;
    let began = Instant::now();
    let course = Course {
        run: &run,
        workload,
        plan,
        waits: &waits,
    };
    if timeout(setup.run_limit, course.perform()).await.is_err() {
        run.recorder.note(Event::StepFailed {
            place: workload.steps.len(),
            reason: format!("the run took longer than {:?}", setup.run_limit),
        });
    }
    let took = began.elapsed();
    drop(replicas);
    run.stop_tasks().await;
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
        took,
    };
    run.world.server.shutdown().await;
    Ok(outcome)
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

pub(super) fn server(setup: &Setup) -> Result<FakeServer, RunError> {
    let mut builder = FakeServer::builder()
        .with_clock(Clock::wall())
        .with_controllers(setup.controllers.clone());
    for path in &setup.definitions {
        builder = builder.with_manifests(path);
    }
    builder
        .try_build()
        .map_err(|error| RunError::Server(crate::call::whole(&error)))
}

/// Compiles the expressions of the steps.
pub(super) fn compiled(workload: &Workload) -> Result<Vec<Option<CelExpression>>, RunError> {
    let steps = workload.steps.iter().enumerate();
    steps
        .map(|(place, step)| match &step.action {
            Action::Wait { until, .. } => CelExpression::compile(until, &["object", "now"])
                .map(Some)
                .map_err(|error| RunError::Expression {
                    place: place + 1,
                    reason: error.to_string(),
                }),
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

/// Starts the replicas, each behind a tap of its own.
async fn start(
    run: &Arc<Run>,
    setup: &Setup,
    replica_count: usize,
    folder: &Path,
) -> Result<(Vec<Tap>, TaskSet, Vec<PathBuf>), RunError> {
    let failed = |what| move |source| RunError::System { what, source };
    let (mut taps, mut outputs, mut senders) = (Vec::new(), Vec::new(), Vec::new());
    let mut replicas = TaskSet::new();
    for replica in 0..replica_count {
        let certificates = setup.certificates.as_ref();
        let tap = Tap::open(Arc::clone(run), replica, certificates).await;
        let tap = tap.map_err(failed("port"))?;
        let places = Places::make(folder, replica, tap.address, certificates).await;
        let places = places.map_err(failed("folder or port"))?;
        outputs.push(places.output.clone());
        let (sender, orders) = mpsc::channel(8);
        senders.push(sender);
        let recorder = Arc::clone(&run.recorder);
        run.beside(
            setup
                .readiness
                .clone()
                .watch(places.clone(), Arc::clone(&recorder), replica),
        );
        replicas.spawn(supervise(
            setup.command.clone(),
            places,
            replica,
            recorder,
            orders,
        ));
        taps.push(tap);
    }
    let _ = run.orders.set(senders);
    Ok((taps, replicas, outputs))
}
