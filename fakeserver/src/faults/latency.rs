//! A slow network, or a slow server.

use std::time::Duration;

use super::{Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict};

/// See [`latency`].
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    request: Duration,
    frame: Duration,
}

/// A request is served later.
pub fn latency(request: Duration) -> NamedRule<Latency> {
    NamedRule::new(Latency {
        request,
        frame: Duration::ZERO,
    })
}

// === impl Latency ===

impl NamedRule<Latency> {
    /// The frames of watches come late too.
    pub fn and_frames(mut self, frame: Duration) -> Self {
        self.effect_mut().frame = frame;
        self
    }
}

impl Effect for Latency {
    const NAME: &'static str = "latency";

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Delay(self.request))
    }

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        (self.frame > Duration::ZERO).then_some(FrameVerdict::Delay(self.frame))
    }
}
