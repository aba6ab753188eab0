//! The chances of tasks to yield.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde::{Deserialize, Serialize};

/// The chances, in percent, of a task to yield to all others at a seam.
///
/// One thread runs all tasks of a run in a fixed order. These draws replace the differences between machines in
/// production:
/// the order differs by seed and is the same for the same seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Interleaving {
    /// Before an operation on the cluster.
    pub operations: u8,
    /// Before a request reaches the server, and before its answer reaches the informer.
    pub requests: u8,
    /// Before a frame of a body reaches the informer's client.
    pub frames: u8,
    /// Before a page or an event goes from the informer's client to its store.
    pub store: u8,
    /// The longest row of yields.
    pub row_max: u8,
}

// === impl Interleaving ===

impl Interleaving {
    /// Returns true if tasks never yield.
    pub fn is_none(&self) -> bool {
        [self.operations, self.requests, self.frames, self.store] == [0; 4]
    }

    pub(crate) fn draw(rng: &mut ChaCha8Rng) -> Self {
        if rng.random_bool(0.25) {
            return Self::default();
        }
        let mut chance = || *[0, 10, 50, 100].choose(rng).expect("there are choices");
        let drawn = Self {
            operations: chance(),
            requests: chance(),
            frames: chance(),
            store: chance(),
            row_max: 0,
        };
        if drawn.is_none() {
            return drawn;
        }
        Self {
            row_max: rng.random_range(1..=6),
            ..drawn
        }
    }
}
