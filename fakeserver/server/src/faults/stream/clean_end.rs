//! A watch that ends in good order.

use crate::faults::{CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CleanEnd;

impl Definition for CleanEnd {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F1",
        fault: "clean_end",
        parameters: &[],
        effect: "Ends a watch cleanly before a frame, as a server does that restarts.",
        models: "a watch ends in good order before a frame",
        suffered: "kube-runtime 5.0: streams that end at once are opened again without a pause, 23,000 times a second",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::End)
    }
}
