//! An event that comes twice.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DuplicateEvent;

impl Definition for DuplicateEvent {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F21",
        fault: "duplicate_event",
        parameters: &[],
        effect: "Sends an event (no bookmark, no error) twice.",
        models: "negative control: an event comes twice",
        suffered: "a checker must find it",
        target: Target::Reads,
        recovery: Recovery::Never,
        properties: &[Property::BreaksPromises],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::Duplicate)
    }
}
