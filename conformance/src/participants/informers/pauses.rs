//! The times in which informers are paused.

use rand::RngExt;

use super::plan::{InformerPlan, Pause};
use crate::{plan::swarm::odds, seed::Seed};

/// Draws the pauses of informers, by a stream of its own: none in a third of all runs.
pub(super) fn draw(seed: Seed, safety_ms: u64, informers: &mut [InformerPlan]) {
    let rng = &mut seed.stream("pauses");
    let share = odds(rng, 0.2);
    for informer in informers {
        while informer.pauses.len() < 3 && rng.random_bool(share) {
            let at_ms = rng.random_range(0..safety_ms);
            let for_ms = rng.random_range(0..=(safety_ms - at_ms) / 2);
            informer.pauses.push(Pause { at_ms, for_ms });
        }
        informer.pauses.sort_by_key(|pause| pause.at_ms);
    }
}
