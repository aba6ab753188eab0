//! What an effect does at random.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The stream of an effect: the trigger of its rule draws from the first one.
const STREAM: u64 = 1;

/// The dice of an effect, which follow from `seed`.
pub(super) fn dice(seed: u64) -> ChaCha8Rng {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    dice.set_stream(STREAM);
    dice
}
