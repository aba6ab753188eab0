//! A slow network, or a slow server.

use std::time::Duration;

use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, RequestFacts, RequestVerdict,
    Target,
    definition::{Problem, is_default, pick, too_long},
    fault_rule::Effect,
    rng::seeded_rng,
};

/// The parameters of [`Fault::Latency`](crate::faults::Fault::Latency).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Latency {
    /// Milliseconds before a request is served.
    #[serde(skip_serializing_if = "is_default")]
    pub request_ms: u64,
    /// Milliseconds before a frame is sent.
    #[serde(skip_serializing_if = "is_default")]
    pub frame_ms: u64,
    /// The most milliseconds of a random delay that is added to each.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter_ms: u64,
}

#[derive(Debug)]
struct JitteredLatency {
    latency: Latency,
    rng: ChaCha8Rng,
}

impl Definition for Latency {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F27",
        fault: "latency",
        parameters: &["requestMs", "frameMs", "jitterMs"],
        effect: "Serves requests `requestMs` later, and sends the frames of watches `frameMs` later. Each delay above 0 grows by a \
                 random one of 0 to `jitterMs`.",
        models: "a slow network, steady or not",
        suffered: "clients whose time limits count a watch's whole life (kubernetes#89652)",
        target: Target::Requests,
        recovery: Recovery::LateRetry,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        too_long("requestMs", self.request_ms)
            .or_else(|| too_long("frameMs", self.frame_ms))
            .or_else(|| too_long("jitterMs", self.jitter_ms))
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let request_ms = rng.random_range(1..=5_000);
        Self {
            request_ms,
            frame_ms: request_ms / 10,
            jitter_ms: pick(rng, &[0, 0, request_ms / 2]),
        }
    }

    fn effect(self) -> Box<dyn Effect> {
        Box::new(JitteredLatency {
            latency: self,
            rng: seeded_rng(0),
        })
    }
}

// === impl JitteredLatency ===

impl JitteredLatency {
    fn delay(&mut self, ms: u64) -> Option<Duration> {
        if ms == 0 {
            return None;
        }
        let jitter_ms = self.rng.random_range(0..=self.latency.jitter_ms);
        Some(Duration::from_millis(ms.saturating_add(jitter_ms)))
    }
}

impl Effect for JitteredLatency {
    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        self.delay(self.latency.request_ms)
            .map(RequestVerdict::Delay)
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        self.delay(self.latency.frame_ms).map(FrameVerdict::Delay)
    }

    fn seed(&mut self, seed: u64) {
        self.rng = seeded_rng(seed);
    }
}
