//! Runs a plan on a paused clock: the cluster, the faults, the informers, and at last the checks.
//!
//! A run has two phases that matter. In *safety* everything goes wrong that the plan says, and promises that hold at every
//! moment are observed. In *recovery* faults have ended, and every cache has to become equal to the server within a bound.

mod cluster;
mod setting;
mod log;
mod minimal;
pub(crate) mod schedule;
mod world;

pub use self::{
    minimal::Minimal,
    setting::{Against, Setting},
};
use crate::{
    checkers::{self, Violation},
    plan::Plan,
    subjects::{self, Subject, SubjectParts},
    trace::Trace,
};

/// Makes what is under test, out of the parts of each informer of a plan.
pub type MakeSubject<'a> = dyn Fn(SubjectParts<'_>) -> Box<dyn Subject> + 'a;

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What was observed.
    pub trace: Trace,
    /// Which promises were broken: in a good run none that was not [expected](Violation::is_expected).
    pub violations: Vec<Violation>,
}

// === impl Outcome ===

impl Outcome {
    /// The promises that were broken, but for those that a fault makes the server break on purpose.
    pub fn broken(&self) -> impl Iterator<Item = &Violation> {
        self.violations
            .iter()
            .filter(|violation| !violation.is_expected())
    }

    /// Whether every promise was kept, but for those that a fault makes the server break on purpose.
    pub fn is_good(&self) -> bool {
        self.broken().next().is_none()
    }
}

/// Runs a plan and checks what was observed.
///
/// Takes no simulated time from anybody: the run has a runtime and a clock of its own, and does not share anything with
/// other runs, so that they may go on side by side in threads.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run(plan: &Plan) -> Outcome {
    run_with(plan, &subjects::informer)
}

/// The same with other subjects than the informer as it is.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run_with(plan: &Plan, make: &MakeSubject<'_>) -> Outcome {
    run_in(plan, &Setting::new(make))
}

/// The same in another setting: against another kind of server.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run_in(plan: &Plan, setting: &Setting<'_>) -> Outcome {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    match setting.against {
        Against::InProcess => builder.enable_time().start_paused(true),
        // Sockets and a paused clock do not go together: it would leap while bytes are on their way.
        Against::Tcp => builder.enable_all(),
    };
    let runtime = builder
        .build()
        .expect("the system gives what a runtime needs");
    let trace = runtime.block_on(world::run(plan, setting));
    let violations = checkers::check_all(&trace);
    Outcome { trace, violations }
}
