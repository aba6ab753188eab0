//! Where contestants meet scenarios.

use std::{num::NonZeroU32, time::Duration};

use crate::{live::RealServer, seed::Seed, sim::Against, subjects::external::Program};

/// Where contestants meet scenarios.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arena {
    /// Where jitter and the server's choices come from.
    pub seed: Seed,
    /// How contestants reach the server.
    pub against: Against,
    /// A real server in place of the fake one: then cells are filled one after the other, over TCP.
    pub server: Option<RealServer>,
    /// What is run as the external contestant.
    pub program: Option<Program>,
    /// How many cells are filled at a time, each in a thread.
    pub thread_count: usize,
    /// How many times as fast plans are run. See [`Plan::hastened`](crate::plan::Plan::hastened).
    pub speed: NonZeroU32,
    /// How long caches may take to become equal to the server once faults have ended; as long as ever if `None`.
    pub convergence_limit: Option<Duration>,
}

// === impl Arena ===

impl Arena {
    /// In process, with so many threads.
    pub fn new(seed: Seed, thread_count: usize) -> Self {
        Self {
            seed,
            against: Against::InProcess,
            server: None,
            program: None,
            thread_count,
            speed: NonZeroU32::MIN,
            convergence_limit: None,
        }
    }

    /// Over TCP, in the time that it takes.
    #[must_use]
    pub fn over_tcp(mut self) -> Self {
        self.against = Against::Tcp;
        self
    }

    /// Against a real server, over TCP, one cell after the other.
    #[must_use]
    pub fn against_server(mut self, server: RealServer) -> Self {
        self.server = Some(server);
        self.thread_count = 1;
        self.over_tcp()
    }

    /// With what is run as the external contestant.
    #[must_use]
    pub fn with_program(mut self, program: Program) -> Self {
        self.program = Some(program);
        self
    }

    /// Plans are run so many times as fast.
    #[must_use]
    pub fn with_speed(mut self, factor: NonZeroU32) -> Self {
        self.speed = factor;
        self
    }

    /// Caches may take so long to become equal to the server.
    #[must_use]
    pub fn with_convergence_limit(mut self, limit: Duration) -> Self {
        self.convergence_limit = Some(limit);
        self
    }
}
