//! A connection that breaks in the middle of a line.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResetMidLine;

impl Definition for ResetMidLine {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F2",
        fault: "reset_mid_line",
        parameters: &[],
        effect: "Sends half of a frame, and fails the transport.",
        models: "a connection breaks within a line",
        suffered: "client-go: any decoding error lists everything again (kubernetes#129683)",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::NeedsTcp],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let after_bytes = frame.length / 2;
        Some(FrameVerdict::Reset { after_bytes })
    }
}
