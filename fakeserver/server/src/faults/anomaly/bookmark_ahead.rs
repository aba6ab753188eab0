//! A bookmark ahead of an event that was not sent.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BookmarkAhead;

impl Definition for BookmarkAhead {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F23",
        fault: "bookmark_ahead",
        parameters: &[],
        effect: "Sends, in place of an event (no bookmark, no error), a bookmark of its version, and ends the stream: a client that \
                 resumes there has missed the event.",
        models: "negative control: a bookmark promises an event that was not sent",
        suffered: "no client can hold it; a checker must find it",
        target: Target::Reads,
        recovery: Recovery::Never,
        properties: &[Property::BreaksPromises],
    };

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then(|| {
            let bookmark = serde_json::json!({
                "type": "BOOKMARK",
                "object": {
                    "kind": frame.kind,
                    "apiVersion": frame.api_version,
                    "metadata": {"resourceVersion": frame.revision.to_string()},
                },
            });
            FrameVerdict::EndWith(format!("{bookmark}\n").into())
        })
    }
}
