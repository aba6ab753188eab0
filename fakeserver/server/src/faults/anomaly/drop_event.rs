//! An event that never comes.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DropEvent;

impl Definition for DropEvent {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F20",
        fault: "drop_event",
        parameters: &[],
        effect: "Leaves an event (no bookmark, no error) out of its stream.",
        models: "negative control: an event never comes",
        suffered: "no client can hold it; a checker must find it",
        target: Target::Reads,
        recovery: Recovery::Never,
        properties: &[Property::BreaksPromises],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::Drop)
    }
}
