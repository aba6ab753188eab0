//! A slow network, or a slow server.

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::faults::{
    Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict, dice::dice,
};

/// See [`latency`].
#[derive(Debug, Clone)]
pub struct Latency {
    request: Duration,
    frame: Duration,
    jitter: Duration,
    dice: ChaCha8Rng,
}

/// A request is served later.
pub fn latency(request: Duration) -> NamedRule<Latency> {
    NamedRule::new(Latency {
        request,
        frame: Duration::ZERO,
        jitter: Duration::ZERO,
        dice: dice(0),
    })
}

// === impl Latency ===

impl NamedRule<Latency> {
    /// The frames of watches come late too.
    pub fn and_frames(mut self, frame: Duration) -> Self {
        self.effect_mut().frame = frame;
        self
    }

    /// What comes late comes up to so much later still, as dice say. Parts of milliseconds do not count.
    pub fn with_jitter(mut self, jitter: Duration) -> Self {
        self.effect_mut().jitter = jitter;
        self
    }
}

impl Latency {
    fn jittered(&mut self, delay: Duration) -> Option<Duration> {
        if delay.is_zero() {
            return None;
        }
        let most = u64::try_from(self.jitter.as_millis()).unwrap_or(u64::MAX);
        let jitter = self.dice.random_range(0..=most);
        Some(delay.saturating_add(Duration::from_millis(jitter)))
    }
}

impl Effect for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        self.jittered(self.request).map(RequestVerdict::Delay)
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        self.jittered(self.frame).map(FrameVerdict::Delay)
    }

    fn seed(&mut self, seed: u64) {
        self.dice = dice(seed);
    }
}
