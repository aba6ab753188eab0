//! A bookmark that promises more than was sent.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`bookmark_ahead`].
#[derive(Debug, Clone, Copy)]
pub struct BookmarkAhead;

/// A negative control: no correct server does this, and a checker must find out.
///
/// Instead of an event (no bookmark, no error) comes a bookmark of its version and the end of the stream: a client
/// that resumes there has missed the event.
pub fn bookmark_ahead() -> NamedRule<BookmarkAhead> {
    NamedRule::new(BookmarkAhead)
}

impl Effect for BookmarkAhead {
    fn name(&self) -> &'static str {
        "bookmark_ahead"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
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
