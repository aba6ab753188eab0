//! The pieces in which the body of an answer arrives that is no watch.

use bytes::Bytes;
use fakeserver::faults::BodyFault;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::shape::Shaper;

/// The maximum size of a piece of a body that is cut randomly.
const PIECE_MAX_BYTES: usize = 512;

/// Cuts what comes of a body.
#[derive(Debug)]
pub(super) struct Pieces {
    fault: BodyFault,
    rng: ChaCha8Rng,
    /// The number of bytes before the connection breaks, if it is known.
    until_break: Option<usize>,
}

// === impl Pieces ===

impl Pieces {
    /// Creates the pieces for `fault`. `length` is that of the body in bytes, if known.
    pub(super) fn new(fault: BodyFault, length: Option<usize>) -> Self {
        let seed = match fault {
            BodyFault::Cut { seed } => seed,
            _ => 0,
        };
        Self {
            fault,
            rng: ChaCha8Rng::seed_from_u64(seed),
            until_break: length.map(|length| length / 2),
        }
    }

    /// Decides how `part` arrives. Whether it knows how; else it passes.
    pub(super) fn cut(&mut self, part: Bytes, shaper: &mut Shaper) -> bool {
        match self.fault {
            BodyFault::Break => {
                // If the length of the body is unknown, half of its first part is sent.
                let left = self.until_break.unwrap_or(part.len() / 2);
                if left < part.len() {
                    shaper.pass(part.slice(..left));
                    shaper.break_off();
                } else {
                    self.until_break = Some(left - part.len());
                    shaper.pass(part);
                }
            }
            BodyFault::Trickle { bytes, every } => shaper.trickle(part, bytes, every),
            BodyFault::Cut { .. } => {
                let mut rest = part;
                while !rest.is_empty() {
                    let size = self.rng.random_range(1..=PIECE_MAX_BYTES);
                    shaper.pass(rest.split_to(size.min(rest.len())));
                }
            }
            _ => {
                shaper.pass(part);
                return false;
            }
        }
        true
    }
}
