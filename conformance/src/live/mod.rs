//! Runs a plan against a real API server, in the time that it takes: faults come from a proxy in between.
//!
//! ```text
//!  informer ──► tap ──► transport ──► proxy ─┐
//!               (TCP)   (recorded)   (faults) ├──► API server
//!  workload, chronicle ──────────────────────┘
//! ```
//!
//! What the server held, and when, is known from a watch that no fault hits: the `chronicle`. It takes the place of the
//! log of a server of our own.
//!
//! # Limits
//!
//! One run at a time: all runs use the same names, and each begins by removing what the one before has left. A server has to
//! be one that may be thrown away; one that has objects of these names by others is refused.

mod error;
mod objects;
mod ground;
mod chronicle;
mod world;

use kube::Config;

pub use self::error::LiveError;
use crate::{
    checkers,
    plan::{FaultKind, Plan},
    proxy,
    sim::{Outcome, Setting},
};

/// A real API server, and as whom it is asked.
#[derive(Clone, Debug)]
pub struct RealServer {
    config: Config,
}

// === impl RealServer ===

impl RealServer {
    /// The server that `config` names.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// Whether a run can be made here: nothing in its plan is for a server of our own alone.
    pub fn can_run(plan: &Plan) -> bool {
        let can_be_made = |kind: FaultKind| kind == FaultKind::Disconnect || proxy::can_make(kind);
        plan.incidents.is_empty() && plan.faults.iter().all(|fault| can_be_made(fault.kind))
    }

    /// Makes it ready for runs, and tells why it cannot be. A run does the same when it begins.
    ///
    /// # Errors
    ///
    /// See [`LiveError`].
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn prepare(&self) -> Result<(), LiveError> {
        runtime().block_on(async {
            let router = world::undisturbed(&self.config)?;
            ground::prepare(&router).await
        })
    }

    /// Runs a plan and checks what was observed. `setting.against` is not looked at.
    ///
    /// # Errors
    ///
    /// See [`LiveError`]: the run says nothing about what is under test.
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn run(&self, plan: &Plan, setting: &Setting<'_>) -> Result<Outcome, LiveError> {
        let trace = runtime().block_on(world::run(&self.config, plan, setting))?;
        let violations = checkers::check_all(&trace);
        Ok(Outcome { trace, violations })
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the system gives what a runtime needs")
}
