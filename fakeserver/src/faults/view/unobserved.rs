//! Changes that only their outcome tells of.

use std::time::Duration;

use crate::{
    faults::{Effect, FrameFacts, FrameVerdict, NamedRule, verdict::error_frame},
    status::Status,
};

/// See [`unobserved`].
#[derive(Debug, Clone, Copy)]
pub struct Unobserved {
    lasting: Duration,
}

/// A watch says nothing from a frame on for so long, and then that its version is too old: what happened meanwhile is seen
/// through a list only. An object that was deleted and made anew is there as if it had changed, with another uid.
pub fn unobserved(lasting: Duration) -> NamedRule<Unobserved> {
    NamedRule::new(Unobserved { lasting })
}

impl Effect for Unobserved {
    fn name(&self) -> &'static str {
        "unobserved"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if frame.is_initial {
            return None;
        }
        let status = Status::watch_expired(frame.revision.saturating_sub(1), frame.revision);
        Some(FrameVerdict::EndLater {
            after: self.lasting,
            with: error_frame(&status),
        })
    }
}
