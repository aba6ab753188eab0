//! Pieces that have nothing to do with what is in them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::faults::{
    BodyFault, Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict,
    dice::dice,
};

/// How many pieces are made of a frame at most.
const PIECES_MAX: usize = 5;

/// See [`rechunk`].
#[derive(Debug, Clone)]
pub struct Rechunk {
    dice: ChaCha8Rng,
}

/// The bytes of watches, and of what is read otherwise, arrive in other pieces: frames are cut anywhere, within a character
/// too, or come together with the next one. No byte is changed.
pub fn rechunk() -> NamedRule<Rechunk> {
    NamedRule::new(Rechunk { dice: dice(0) })
}

impl Effect for Rechunk {
    fn name(&self) -> &'static str {
        "rechunk"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_body = matches!(request.verb, "get" | "list");
        is_body.then(|| {
            RequestVerdict::Body(BodyFault::Cut {
                seed: self.dice.random(),
            })
        })
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if self.dice.random_bool(0.4) {
            return Some(FrameVerdict::JoinNext);
        }
        let count = self.dice.random_range(1..PIECES_MAX);
        let most = frame.length.max(2);
        let mut cuts: Vec<usize> = (0..count)
            .map(|_| self.dice.random_range(1..most))
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        Some(FrameVerdict::Cut(cuts))
    }

    fn seed(&mut self, seed: u64) {
        self.dice = dice(seed);
    }
}
