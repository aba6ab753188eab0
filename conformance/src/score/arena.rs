//! The conditions of a scoreboard's runs.

use std::{num::NonZeroU32, time::Duration};

use crate::{
    live::RealServer, participants::subjects::external::Program, seed::Seed, sim::Against,
};

/// The conditions of a scoreboard's runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Arena {
    /// The seed of jitter and of the server's choices.
    pub seed: Seed,
    /// The way of contestants to the server.
    pub against: Against,
    /// A real server in place of the fake one: cells are filled one after the other, over TCP.
    pub server: Option<RealServer>,
    /// The program of the external contestant.
    pub program: Option<Program>,
    /// The number of cells that are filled in parallel, each in a thread.
    pub thread_count: usize,
    /// The factor by which plans are [sped up](crate::sim::Plan::sped_up).
    pub speed: NonZeroU32,
    /// The time for convergence after the end of all faults; the default if `None`.
    pub convergence_limit: Option<Duration>,
}

// === impl Arena ===

impl Arena {
    /// Runs in process, in `thread_count` threads.
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

    /// Runs over TCP, in real time.
    #[must_use]
    pub fn over_tcp(mut self) -> Self {
        self.against = Against::Tcp;
        self
    }

    /// Runs against a real server, over TCP, one cell after the other.
    #[must_use]
    pub fn against_server(mut self, server: RealServer) -> Self {
        self.server = Some(server);
        self.thread_count = 1;
        self.over_tcp()
    }

    setters! {
        /// Sets the program of the external contestant.
        with_program(program: Program) |this| this.program = Some(program);
        /// Speeds plans up by `factor`.
        with_speed(factor: NonZeroU32) |this| this.speed = factor;
        /// Limits the time for convergence.
        with_convergence_limit(limit: Duration) |this| this.convergence_limit = Some(limit);
    }
}
