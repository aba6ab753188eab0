//! Two events in the wrong order.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReorderEvents;

impl Definition for ReorderEvents {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F22",
        fault: "reorder_events",
        parameters: &[],
        effect: "Sends an event (no bookmark, no error) after the frame that follows it.",
        models: "negative control: an event comes after the next one",
        suffered: "a checker must find it",
        target: Target::Reads,
        recovery: Recovery::Never,
        properties: &[Property::BreaksPromises],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::SwapWithNext)
    }
}
