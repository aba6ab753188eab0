//! Objects as large as a store takes them.

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, RequestFacts, RequestVerdict,
    Rewrite, Target,
    definition::{Problem, pick},
};

const BYTES_MAX: u32 = 3 << 20;

/// The parameters of [`Fault::HugeObjects`](crate::faults::Fault::HugeObjects).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HugeObjects {
    /// Bytes by which each object grows, at most 3 MiB, 1,500,000 by default.
    pub bytes: u32,
}

impl Default for HugeObjects {
    fn default() -> Self {
        Self { bytes: 1_500_000 }
    }
}

impl Definition for HugeObjects {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F37",
        fault: "huge_objects",
        parameters: &["bytes"],
        effect: "Adds `bytes` to each object that is read as JSON, in an unknown field. 1.5 MB is the most that etcd takes. A list \
                 is made as a whole: it takes the memory of its objects times their bytes.",
        models: "objects as large as a store takes them",
        suffered: "clients that hold a list several times (kubernetes#73497)",
        target: Target::Reads,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        let bytes = self.bytes;
        (bytes > BYTES_MAX).then(|| ("bytes", format!("{bytes} is more than {BYTES_MAX}")))
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            bytes: pick(rng, &[1_000, 10_000, 100_000]),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list").then(|| RequestVerdict::Rewrite(self.padding()))
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame
            .is_event()
            .then(|| FrameVerdict::Rewrite(self.padding()))
    }
}

// === impl HugeObjects ===

impl HugeObjects {
    fn padding(self) -> Rewrite {
        Rewrite::Padding(usize::try_from(self.bytes).unwrap_or(usize::MAX))
    }
}
