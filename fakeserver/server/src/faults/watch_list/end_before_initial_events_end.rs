//! A streaming list that ends before it is complete.

use crate::faults::{CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EndBeforeInitialEventsEnd;

impl Definition for EndBeforeInitialEventsEnd {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F8",
        fault: "end_before_initial_events_end",
        parameters: &[],
        effect: "Sends all initial events, and ends the stream in place of the bookmark that ends them.",
        models: "a streaming list ends before it is complete",
        suffered: "kube-runtime 5.0: 21,000 watches a second",
        target: Target::StreamingLists,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_initial_events_end.then_some(FrameVerdict::End)
    }
}
