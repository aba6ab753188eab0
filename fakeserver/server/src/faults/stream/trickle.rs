//! A connection that delivers a few bytes at a time.

use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    BodyFault, CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery,
    RequestFacts, RequestVerdict, Target,
    definition::{Problem, pick, too_long},
};

/// The parameters of [`Fault::Trickle`](crate::faults::Fault::Trickle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Trickle {
    /// Bytes in a piece, 16 by default.
    pub bytes: u32,
    /// Milliseconds between two pieces, 100 by default.
    pub every_ms: u64,
}

impl Default for Trickle {
    fn default() -> Self {
        Self {
            bytes: 16,
            every_ms: 100,
        }
    }
}

impl Definition for Trickle {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F4",
        fault: "trickle",
        parameters: &["bytes", "everyMs"],
        effect: "Sends the frames of watches, and the bodies of lists and gets, in pieces of `bytes`, one every `everyMs`.",
        models: "a connection that brings a few bytes at a time",
        suffered: "clients whose time limits count from the first byte to the last (kubernetes#89652)",
        target: Target::Reads,
        recovery: Recovery::Slow,
        properties: &[Property::NeedsTcp],
    };

    fn problem(self) -> Option<Problem> {
        if self.bytes == 0 {
            return Some(("bytes", "no bytes would come at all".to_owned()));
        }
        too_long("everyMs", self.every_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            bytes: pick(rng, &[16, 200, 1_000]),
            every_ms: pick(rng, &[1, 50, 100]),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let (bytes, every) = self.pace();
        matches!(request.verb, "get" | "list")
            .then_some(RequestVerdict::Body(BodyFault::Trickle { bytes, every }))
    }

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let (bytes, every) = self.pace();
        Some(FrameVerdict::Trickle { bytes, every })
    }
}

// === impl Trickle ===

impl Trickle {
    fn pace(self) -> (usize, Duration) {
        let bytes = usize::try_from(self.bytes.max(1)).unwrap_or(usize::MAX);
        (bytes, Duration::from_millis(self.every_ms))
    }
}
