//! A streaming list without the bookmark that ends it.

use crate::faults::{CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InitialEventsEndMissing;

impl Definition for InitialEventsEndMissing {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F38",
        fault: "initial_events_end_missing",
        parameters: &[],
        effect: "Leaves out the bookmark that ends the initial events. Later changes follow as usual.",
        models: "the bookmark that ends the initial events never comes",
        suffered: "client-go never syncs, silently (kubernetes#140890, k9s#4044, rancher/steve#1229)",
        target: Target::StreamingLists,
        recovery: Recovery::RequestTimeout,
        properties: &[],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_initial_events_end.then_some(FrameVerdict::Drop)
    }
}
