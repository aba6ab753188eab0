//! How a server is configured.

use super::FakeServer;
use crate::{clock::Clock, state::Core, storage::Compaction};

/// Builds a [`FakeServer`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct FakeServerBuilder {
    seed: u64,
    clock: Option<Clock>,
    compaction: Compaction,
    watcher_buffer: usize,
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Every uid, generated name and random timeout follows from `seed`. The default is 0.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The default is [`Clock::default`], from when the server is built.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How much history is kept. By default all of it.
    pub fn with_compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// How many changes a watcher may be behind before it is cut off. The default is 1,000.
    pub fn with_watcher_buffer_frames(mut self, frames: usize) -> Self {
        self.watcher_buffer = frames;
        self
    }

    /// The server, with the namespaces that every cluster has. It needs no runtime until it is asked something.
    #[must_use = "a server is stopped when it is dropped"]
    pub fn build(self) -> FakeServer {
        FakeServer::new(Core::new(
            self.seed,
            self.clock.unwrap_or_default(),
            self.compaction,
            self.watcher_buffer,
        ))
    }
}

impl Default for FakeServerBuilder {
    fn default() -> Self {
        Self {
            seed: 0,
            clock: None,
            compaction: Compaction::default(),
            watcher_buffer: 1_000,
        }
    }
}
