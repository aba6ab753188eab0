//! A large simulated cluster: nodes and workloads as a real one has them, and their changes over time.
//!
//! ```text
//! ClusterOptions ──► shape ──► World (what there is, small) ──► print ──► storage
//!                                ▲                               ▲
//!                              churn (what happens next) ────────┘   driver: a tick every 100 ms
//! ```
//!
//! The world stores only the fields in which an object differs from others of its kind. The stored object is printed
//! from them with a stencil. A stencil is cut from one object of its kind that was created and updated by the rules for
//! all writers (`controllers::written`), including defaults and managed fields. So a hundred thousand pods take
//! seconds. Everything follows from the seed and the number of ticks: the same seed gives the same bytes at every
//! revision.

mod options;
mod hole;
mod prototypes;
mod world;
mod shape;
mod print;
mod fill;
mod churn;
mod driver;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool};

use fakeserver_server::{
    nodes::{ClusterSource, SimulatedCluster},
    task::TaskSet,
    write::Backend,
};
use jiff::Timestamp;

use self::{churn::Machine, prototypes::Prototypes, world::World};

pub use self::options::{Churn, ClusterOptions};

/// The simulated cluster of a server.
#[derive(Debug)]
pub(crate) struct Simulation {
    options: ClusterOptions,
    /// `None` before it is first filled, and while it is rebuilt.
    cluster: Mutex<Option<LiveCluster>>,
    /// True while its task runs.
    is_started: AtomicBool,
}

/// The world and its churn.
#[derive(Debug)]
struct LiveCluster {
    prototypes: Prototypes,
    world: World,
    machine: Machine,
    /// The time of its first tick, and the number of ticks.
    beginning: Timestamp,
    ticks: u32,
}

// === impl Simulation ===

impl Simulation {
    pub(crate) fn new(options: ClusterOptions) -> Self {
        Self {
            options,
            cluster: Mutex::default(),
            is_started: AtomicBool::new(false),
        }
    }

    /// A tick that panics has written nothing. Its changes in memory are at most not written.
    fn lock(&self) -> MutexGuard<'_, Option<LiveCluster>> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClusterSource for ClusterOptions {
    fn cluster(&self) -> Arc<dyn SimulatedCluster> {
        Arc::new(Simulation::new(self.clone()))
    }
}

impl SimulatedCluster for Simulation {
    fn fill(&self, backend: &Backend, progress: &mut dyn FnMut(usize, usize)) {
        self.write_all(backend, progress);
    }

    fn start(self: Arc<Self>, backend: &Arc<Backend>, tasks: &TaskSet) {
        self.start_churn(backend, tasks);
    }

    fn clear(&self) {
        *self.lock() = None;
    }
}
