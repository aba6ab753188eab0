//! The health of a manager, for probes.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

/// The health of a [`Manager`](super::Manager), for the probes of a pod. A clone shows the same.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<AtomicU8>);

/// The stages of a manager, in their order; 0 comes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Stage {
    Synced = 1,
    Leading,
    Ended,
}

// === impl Health ===

impl Health {
    /// Returns true unless the manager has ended: `/healthz`.
    pub fn is_live(&self) -> bool {
        self.stage() < Stage::Ended as u8
    }

    /// Returns true if the caches are filled, and the manager has not ended: `/readyz`.
    pub fn is_ready(&self) -> bool {
        self.stage() >= Stage::Synced as u8 && self.is_live()
    }

    /// Returns true if the controllers work: this copy leads, or there is no election.
    pub fn is_leading(&self) -> bool {
        self.stage() == Stage::Leading as u8
    }

    pub(crate) fn reach(&self, stage: Stage) {
        self.0.fetch_max(stage as u8, Ordering::Release);
    }

    fn stage(&self) -> u8 {
        self.0.load(Ordering::Acquire)
    }
}
