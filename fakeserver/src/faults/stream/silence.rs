//! A half-open connection: nothing comes any more, and nobody says so.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`silence`].
#[derive(Debug, Clone, Copy)]
pub struct Silence;

/// Neither the frame nor anything after it is sent, also no end; the stream stays open until its client gives up.
pub fn silence() -> NamedRule<Silence> {
    NamedRule::new(Silence)
}

impl Effect for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::Silence)
    }
}
