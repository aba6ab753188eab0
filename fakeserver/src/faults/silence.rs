//! A half-open connection: nothing comes any more, and nobody says so.

use super::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`silence`].
#[derive(Debug, Clone, Copy)]
pub struct Silence;

/// Neither the frame nor anything after it is sent, also no end; the stream stays open until its client gives up.
pub fn silence() -> NamedRule<Silence> {
    NamedRule::new(Silence)
}

impl Effect for Silence {
    const NAME: &'static str = "silence";

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::Silence)
    }
}
