//! Options of runs in real time on several threads.

use std::num::NonZeroUsize;

use clap::Args;

use crate::{
    batch::{Mode, Threads},
    plan::Profile,
};

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ThreadArgs {
    /// Run in real time, each run on N threads, with plans of the profile brief. Threads are scheduled by the
    /// system: the same seed gives the same plan, but not the same run.
    #[arg(long, value_name = "N", conflicts_with = "profile")]
    workers: Option<NonZeroUsize>,
    /// Burn processor time with N further threads, so that the system preempts the runs.
    #[arg(long, value_name = "N", requires = "workers", default_value_t = 0)]
    load: usize,
}

// === impl ThreadArgs ===

impl ThreadArgs {
    pub(super) fn mode(self) -> Mode {
        match self.workers {
            Some(count) => Mode::Threads(Threads::new(count).with_load(self.load)),
            None => Mode::Paused,
        }
    }

    /// Returns the profile of the plans, where the command line says `given`.
    pub(super) fn profile(self, given: Profile) -> Profile {
        match self.workers {
            Some(_) => Profile::Brief,
            None => given,
        }
    }
}
