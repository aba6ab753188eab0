//! A connection that brings a few bytes at a time.

use std::time::Duration;

use crate::faults::{
    BodyFault, Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict,
};

/// See [`trickle`].
#[derive(Debug, Clone, Copy)]
pub struct Trickle {
    bytes: usize,
    every: Duration,
}

/// Frames of watches, and the bodies of what is read otherwise, arrive so many bytes at a time, and each time so much later.
pub fn trickle(bytes: usize, every: Duration) -> NamedRule<Trickle> {
    let bytes = bytes.max(1);
    NamedRule::new(Trickle { bytes, every })
}

impl Effect for Trickle {
    fn name(&self) -> &'static str {
        "trickle"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let Self { bytes, every } = *self;
        matches!(request.verb, "get" | "list")
            .then_some(RequestVerdict::Body(BodyFault::Trickle { bytes, every }))
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let Self { bytes, every } = *self;
        Some(FrameVerdict::Trickle { bytes, every })
    }
}
