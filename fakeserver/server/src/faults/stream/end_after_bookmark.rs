//! A watch that ends just after a bookmark.

use crate::faults::{
    CatalogueEntry, Definition, EventType, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EndAfterBookmark;

impl Definition for EndAfterBookmark {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F9",
        fault: "end_after_bookmark",
        parameters: &[],
        effect: "Ends a watch cleanly after a bookmark, that of the end of the initial events included. A client has to go on from \
                 the version of the bookmark, and must not count the stream as an empty one.",
        models: "a stream ends just after a bookmark",
        suffered: "clients that take a stream without events for a failed one",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        (frame.event == EventType::Bookmark).then_some(FrameVerdict::EndAfter)
    }
}
