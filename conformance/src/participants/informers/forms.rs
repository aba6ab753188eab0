//! The forms in which informers hold, select and receive objects.

use std::num::NonZero;

use rand::RngExt;

use super::plan::{InformerPlan, PlannedEncoding};
use crate::{
    plan::{
        Operator,
        swarm::{odds, pick},
    },
    seed::Seed,
};

/// The sizes of small chunks: some cut characters, escapes and names, others whole fields.
const CHUNK_SIZES_BYTES: [usize; 3] = [3, 17, 200];

/// The intervals in which indices are added and removed, if that is not too often for the length of a run.
const INDEX_EDITS_MS: [u64; 3] = [70, 900, 5_000];
/// The most edits of the indices of an informer.
pub(super) const INDEX_EDITS_MAX: u32 = 120;

/// Draws which informers ask for protobuf or CBOR, which hold compact objects, which transform theirs, which select by a filter or by other operators than
/// `=`, which refuse spoiled objects, which receive small chunks, and which have their indices edited: each by a stream of its own, and none in a third
/// of all runs.
pub(super) fn draw(seed: Seed, safety_ms: u64, informers: &mut [InformerPlan]) {
    let is_drawn = |stream: &str, usual: f64| {
        let mut rng = seed.stream(stream);
        let share = odds(&mut rng, usual);
        move || rng.random_bool(share)
    };
    let mut is_binary = is_drawn("binary encodings", 0.4);
    let encodings = &mut seed.stream("encodings");
    let mut is_compact = is_drawn("compact", 0.3);
    let mut is_transforming = is_drawn("transforms", 0.3);
    let mut is_filtered = is_drawn("filters", 0.5);
    let mut is_in_chunks = is_drawn("chunks", 0.2);
    let mut is_strict = is_drawn("strict types", 0.3);
    let mut is_edited = is_drawn("edited indices", 0.3);
    let mut is_odd = is_drawn("odd selectors", 0.6);
    let operators = &mut seed.stream("operators of selectors");
    let index_edits = &mut seed.stream("intervals of edits");
    let chunk_sizes = &mut seed.stream("sizes of chunks");
    for informer in informers {
        informer.chunk_max_bytes = is_in_chunks()
            .then(|| pick(chunk_sizes, &CHUNK_SIZES_BYTES))
            .and_then(NonZero::new);
        informer.index_edit_ms = is_edited()
            .then(|| pick(index_edits, &INDEX_EDITS_MS))
            .map(|interval_ms| interval_ms.max(safety_ms / u64::from(INDEX_EDITS_MAX)));
        if is_binary() {
            let binary = [PlannedEncoding::Protobuf, PlannedEncoding::Cbor];
            informer.encoding = pick(encodings, &binary);
        }
        informer.compact = is_compact();
        informer.transforms = is_transforming();
        if informer.selection.label.is_some() && is_odd() {
            informer.selection.operator = pick(operators, &Operator::ALL);
        }
        informer.selection.is_filtered = is_filtered() && informer.selection.label.is_some();
        informer.selection.is_strict = is_strict() && informer.can_be_strict();
    }
}
