//! 410 in its first form: an event in a stream that had begun.

use crate::{
    faults::{Effect, FrameFacts, FrameVerdict, NamedRule, verdict::error_frame},
    status::Status,
};

/// See [`expired_event`].
#[derive(Debug, Clone, Copy)]
pub struct ExpiredEvent;

/// Instead of a frame, an ERROR event says that the version is too old, and the stream ends.
pub fn expired_event() -> NamedRule<ExpiredEvent> {
    NamedRule::new(ExpiredEvent)
}

impl Effect for ExpiredEvent {
    fn name(&self) -> &'static str {
        "expired_event"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let status = Status::watch_expired(frame.revision, frame.revision + 1);
        Some(FrameVerdict::EndWith(error_frame(&status)))
    }
}
