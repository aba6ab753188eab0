//! Runs a plan against a real API server, in real time: a proxy in between makes the faults.
//!
//! ```text
//!  informer ──► tap ──► transport ──► proxy ─┐
//!               (TCP)   (recorded)   (faults) ├──► API server
//!  workload, chronicle ──────────────────────┘
//! ```
//!
//! The `chronicle` is the history of the server, from a watch that no fault hits. It replaces the log of a simulated
//! server.
//!
//! # Limits
//!
//! One run at a time: all runs use the same names, and each begins by deleting the objects of the one before. The
//! server has to be disposable; one with foreign objects of these names is refused.

mod error;
mod objects;
mod ground;
mod chronicle;
mod servers;

use kube::Config;

pub use self::error::LiveError;
use self::servers::RealServers;
use crate::{
    plan::Interleaving,
    proxy,
    sim::{Against, Outcome, Plan, RunOptions, world},
    trace::Recorder,
};

/// A real API server and the credentials for it.
#[derive(Clone, Debug)]
pub struct RealServer {
    config: Config,
}

// === impl RealServer ===

impl RealServer {
    /// Creates a handle of the server that `config` names.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// Returns true if nothing in the plan needs a simulated server.
    pub fn can_run(plan: &Plan) -> bool {
        let mut faults = plan.faults.iter();
        plan.incidents.is_empty() && faults.all(|planned| proxy::can_make(planned.kind))
    }

    /// Prepares the server for runs, and returns why that is not possible. A run does the same when it begins.
    ///
    /// # Errors
    ///
    /// See [`LiveError`].
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn prepare(&self) -> Result<(), LiveError> {
        Against::Tcp.runtime().block_on(async {
            let router = servers::undisturbed(&self.config)?;
            ground::prepare(&router).await
        })
    }

    /// Runs a plan over TCP and checks the observations.
    ///
    /// `options.against` and `options.goal` are without effect, and so is the plan's interleaving.
    ///
    /// # Errors
    ///
    /// See [`LiveError`]: the run says nothing about its subjects.
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn run(&self, plan: &Plan, options: &RunOptions<'_>) -> Result<Outcome, LiveError> {
        let options = options.with_against(Against::Tcp);
        let mut plan = plan.clone();
        plan.interleaving = Interleaving::default();
        let recorder = Recorder::new();
        Against::Tcp.runtime().block_on(async {
            let servers = RealServers::open(&self.config).await?;
            world::run(&plan, servers, &options, &recorder).await
        })?;
        Ok(Outcome::of(recorder.take()))
    }
}
