//! Bytes that arrive in other pieces.

use rand::{RngExt, rngs::ChaCha8Rng};

use crate::faults::{
    BodyFault, CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, RequestFacts,
    RequestVerdict, Target, fault_rule::Effect, rng::seeded_rng,
};

/// The most pieces of a frame.
const PIECES_MAX: usize = 5;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rechunk;

#[derive(Debug)]
struct RandomPieces {
    rng: ChaCha8Rng,
}

impl Definition for Rechunk {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F6",
        fault: "rechunk",
        parameters: &[],
        effect: "Cuts the frames of watches, and the bodies of lists and gets, at random offsets, also within a character, or \
                 joins a frame with the next one. No byte is changed.",
        models: "bytes arrive in other pieces: cut within a character, several events in one",
        suffered: "clients that take a piece for a line",
        target: Target::Reads,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn effect(self) -> Box<dyn Effect> {
        let rng = seeded_rng(0);
        Box::new(RandomPieces { rng })
    }
}

impl Effect for RandomPieces {
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let has_body = matches!(request.verb, "get" | "list");
        has_body.then(|| {
            let seed = self.rng.random();
            RequestVerdict::Body(BodyFault::Cut { seed })
        })
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if self.rng.random_bool(0.4) {
            return Some(FrameVerdict::JoinNext);
        }
        let count = self.rng.random_range(1..PIECES_MAX);
        let end = frame.length.max(2);
        let mut cuts: Vec<usize> = (0..count).map(|_| self.rng.random_range(1..end)).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Some(FrameVerdict::Cut(cuts))
    }

    fn seed(&mut self, seed: u64) {
        self.rng = seeded_rng(seed);
    }
}
