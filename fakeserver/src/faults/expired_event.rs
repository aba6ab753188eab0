//! 410 in its first form: an event in a stream that had begun.

use super::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`expired_event`].
#[derive(Debug, Clone, Copy)]
pub struct ExpiredEvent;

/// Instead of a frame, an ERROR event says that the version is too old, and the stream ends.
pub fn expired_event() -> NamedRule<ExpiredEvent> {
    NamedRule::new(ExpiredEvent)
}

impl Effect for ExpiredEvent {
    const NAME: &'static str = "expired_event";

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let revision = frame.revision;
        let frame = serde_json::json!({
            "type": "ERROR",
            "object": {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": format!("too old resource version: {revision} ({})", revision + 1),
                "reason": "Expired",
                "code": 410,
            },
        });
        Some(FrameVerdict::EndWith(format!("{frame}\n").into()))
    }
}
