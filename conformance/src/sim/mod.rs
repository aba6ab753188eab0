//! Runs a plan on a paused clock: servers, faults, informers, and checks of the trace at the end.
//!
//! A run has two phases that matter. In *safety* the faults of the plan are in force, and promises that hold at every
//! moment are observed. In *recovery* faults have ended, and every cache has to become equal to the server within a limit.

mod plan;
mod cluster;
mod lag;
mod log;
mod threads;
mod options;
mod pace;
mod minimal;
mod schedule;
pub(crate) mod servers;
mod simulated;
pub(crate) mod world;

use std::time::Duration;

use tokio::time::Instant;

use self::{lag::Lag, log::WarningRecorder, pace::Pace, simulated::SimulatedServers};
pub use self::{
    minimal::MinimalPlan,
    options::{Against, CONVERGENCE_LIMIT, MakeSubject, RunOptions},
    plan::{Plan, shrink},
};
use crate::{
    checkers::Violation,
    participants,
    trace::{Observation, Recorder, Trace},
};

/// The checkers that are about the usual waits of an informer. In threads it uses short ones.
const OF_USUAL_WAITS: [&str; 3] = ["bounded_requests", "retry_after", "herds"];

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The observations.
    pub trace: Trace,
    /// The broken promises: in a good run none that was not [expected](Violation::is_expected).
    pub violations: Vec<Violation>,
    /// The longest time by which the system woke a run in threads later than it asked for; otherwise zero.
    pub lag: Duration,
    /// True if there were findings that only this lag may explain. They are left out.
    pub is_inconclusive: bool,
}

// === impl Outcome ===

impl Outcome {
    /// Checks a trace.
    pub(crate) fn of(trace: Trace) -> Self {
        let violations = participants::check_all(&trace);
        Self {
            trace,
            violations,
            lag: Duration::ZERO,
            is_inconclusive: false,
        }
    }

    /// Returns the broken promises, without those that a fault makes the server break.
    pub fn broken(&self) -> impl Iterator<Item = &Violation> {
        self.violations
            .iter()
            .filter(|violation| !violation.is_expected())
    }

    /// Returns true if no promise was broken, without those that a fault makes the server break.
    pub fn is_good(&self) -> bool {
        self.broken().next().is_none()
    }
}

/// Runs a plan and checks the observations.
///
/// The run has a runtime and a clock of its own and shares nothing with other runs, which may run in parallel threads.
///
/// # Panics
///
/// Within a tokio runtime. In threads, a panic of the run is a violation of `warnings`.
pub fn run(plan: &Plan, options: &RunOptions<'_>) -> Outcome {
    let Against::InThreads(worker_count) = options.against else {
        return Outcome::of(options.against.runtime().block_on(trace(plan, options)));
    };
    let (recorder, lag) = (Recorder::new().with_sink(options.sink), Lag::new());
    let measuring = lag.measure(&recorder);
    let mut trace = threads::trace(worker_count, &recorder, || {
        observe(plan, options, &recorder)
    });
    // Read before the measurement ends, and after the run has: the lag of the check does not count.
    let longest_lag = lag.longest();
    trace.allow_lateness(lag.lateness());
    drop(measuring);
    let mut outcome = Outcome::of(trace);
    outcome.violations.retain(|violation| {
        let checker = &violation.checker;
        !participants::assumes_instant_delivery(checker) && !OF_USUAL_WAITS.contains(checker)
    });
    outcome.lag = longest_lag;
    outcome.is_inconclusive = lag::remove_unproven(outcome.lag, &mut outcome.violations);
    outcome
}

/// Runs `plan` on the current runtime, which has this thread only, and returns the observations.
async fn trace(plan: &Plan, options: &RunOptions<'_>) -> Trace {
    let recorder = Recorder::with_steps_at_once(steps_at_once(plan)).with_sink(options.sink);
    // For this thread alone, on which everything in the run happens.
    let _log = tracing::subscriber::set_default(WarningRecorder::new(recorder.clone()));
    observe(plan, options, &recorder).await;
    recorder.take()
}

/// Runs `plan` on the current runtime, until the last of its tasks has ended, if they end.
async fn observe(plan: &Plan, options: &RunOptions<'_>, recorder: &Recorder) {
    let servers = SimulatedServers::new(plan, recorder.clone(), options.goal);
    let Ok(()) = world::run(plan, servers, options, recorder).await;
    let metrics = tokio::runtime::Handle::current().metrics();
    let has_ended = || metrics.num_alive_tasks() == 0;
    let pace = Pace::new(options.against, recorder.clone());
    pace.wind_down(has_ended).await;
    let until = Instant::now() + Duration::from_millis(plan.participants.lingering_ms());
    while !has_ended() && Instant::now() < until {
        pace.wind_down(has_ended).await;
    }
    recorder.record(Observation::TasksLeft {
        count: metrics.num_alive_tasks(),
    });
}

/// Returns the number of observations that are plausible at one moment if all operations happen in it: every informer sees
/// each, as an event of its watch or in its list, its content is read, every handler is notified, perhaps twice, and every
/// controller is notified and reconciles it.
fn steps_at_once(plan: &Plan) -> usize {
    let seen: usize = plan
        .informers
        .iter()
        .map(|informer| 3 + 2 * informer.handlers.len() + 4 * informer.controllers.len())
        .sum();
    2 * plan.workload.len() * (1 + seen)
}
