//! The forms in which informers hold, select and receive objects.

use std::num::NonZero;

use rand::RngExt;

use super::{
    InformerPlan,
    swarm::{odds, pick},
};
use crate::seed::Seed;

/// The sizes of small chunks: some cut characters, escapes and names, others whole fields.
const CHUNK_SIZES_BYTES: [usize; 3] = [3, 17, 200];

/// Draws which informers hold compact objects, which transform theirs, which select by a filter, which refuse spoiled
/// objects, and which receive small chunks: each by a stream of its own, and none in a third of all runs.
pub(super) fn draw(seed: Seed, informers: &mut [InformerPlan]) {
    let is_drawn = |stream: &str, usual: f64| {
        let mut rng = seed.stream(stream);
        let share = odds(&mut rng, usual);
        move || rng.random_bool(share)
    };
    let mut is_compact = is_drawn("compact", 0.3);
    let mut is_transforming = is_drawn("transforms", 0.3);
    let mut is_filtered = is_drawn("filters", 0.5);
    let mut is_in_chunks = is_drawn("chunks", 0.2);
    let mut is_strict = is_drawn("strict types", 0.3);
    let chunk_sizes = &mut seed.stream("sizes of chunks");
    for informer in informers {
        informer.chunk_max_bytes = is_in_chunks()
            .then(|| pick(chunk_sizes, &CHUNK_SIZES_BYTES))
            .and_then(NonZero::new);
        informer.compact = is_compact();
        informer.transforms = is_transforming();
        informer.selection.is_filtered = is_filtered() && informer.selection.label.is_some();
        informer.selection.is_strict = is_strict() && informer.can_be_strict();
    }
}
