//! Random generators of effects.

use rand::{SeedableRng, rngs::ChaCha8Rng};

/// The stream of effects: a rule's trigger draws from stream 0 of the same seed.
const EFFECT_STREAM: u64 = 1;

/// Returns the generator of an effect.
pub(super) fn seeded_rng(seed: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(EFFECT_STREAM);
    rng
}
