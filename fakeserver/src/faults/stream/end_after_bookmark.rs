//! A stream that ends when it has just said how far it has come.

use crate::faults::{Effect, EventType, FrameFacts, FrameVerdict, NamedRule};

/// See [`end_after_bookmark`].
#[derive(Debug, Clone, Copy)]
pub struct EndAfterBookmark;

/// A bookmark is sent, the one that ends the initial events included, and then the stream ends cleanly: a client has to go
/// on from there, and must not count the stream as one that brought nothing.
pub fn end_after_bookmark() -> NamedRule<EndAfterBookmark> {
    NamedRule::new(EndAfterBookmark)
}

impl Effect for EndAfterBookmark {
    fn name(&self) -> &'static str {
        "end_after_bookmark"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        (frame.event == EventType::Bookmark).then_some(FrameVerdict::EndAfter)
    }
}
