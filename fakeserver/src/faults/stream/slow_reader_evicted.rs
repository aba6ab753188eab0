//! A client that is too slow for its server.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`slow_reader_evicted`].
#[derive(Debug, Clone, Copy)]
pub struct SlowReaderEvicted;

/// A watch is cut off, as if its client did not read fast enough: it brings what is queued for it, in order, and ends
/// cleanly. Nothing that happens from then on is in it.
pub fn slow_reader_evicted() -> NamedRule<SlowReaderEvicted> {
    NamedRule::new(SlowReaderEvicted)
}

impl Effect for SlowReaderEvicted {
    fn name(&self) -> &'static str {
        "slow_reader_evicted"
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::Evict)
    }
}
