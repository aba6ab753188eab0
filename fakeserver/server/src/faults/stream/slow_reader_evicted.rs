//! The eviction of a client that reads too slowly.

use crate::faults::{CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlowReaderEvicted;

impl Definition for SlowReaderEvicted {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F5",
        fault: "slow_reader_evicted",
        parameters: &[],
        effect: "Cuts off a watch as if its client read too slowly: sends the queued frames in order, none of a later change, and \
                 ends the watch cleanly.",
        models: "a server cuts off a watcher that reads too slowly, behind what is queued for it",
        suffered: "client-go: slow handlers hold up the watch until the server cuts it (kubernetes#103789)",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::Evict)
    }
}
