//! The forms in which handlers are notified.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::plan::{Adapter, HandlerPlan, InformerPlan};
use crate::{
    plan::swarm::{odds, pick},
    seed::Seed,
};

/// The times of calls: shorter than the gap between most operations, and longer than that.
const DELAYS_MS: [u64; 4] = [1, 20, 100, 250];
/// The sizes of small buffers, from the one that merges whatever waits.
const BUFFER_SIZES: [usize; 4] = [0, 1, 3, 8];

/// Draws which handlers take time, which have small buffers, which read a stream, and which are behind an adapter: each by a
/// stream of its own, and none in a third of all runs.
pub(super) fn draw(seed: Seed, safety_ms: u64, informers: &mut [InformerPlan]) {
    let is_drawn = |stream: &str, usual: f64| {
        let mut rng = seed.stream(stream);
        let share = odds(&mut rng, usual);
        move || rng.random_bool(share)
    };
    let mut is_slow = is_drawn("slow handlers", 0.3);
    let mut is_merged = is_drawn("buffers of handlers", 0.3);
    let mut is_stream = is_drawn("streams of handlers", 0.2);
    let removals = &mut seed.stream("removals of handlers");
    let mut is_adapted = is_drawn("adapters of handlers", 0.3);
    let adapters = &mut seed.stream("kinds of adapters");
    crowd(&mut seed.stream("crowd of handlers"), safety_ms, informers);
    let delays = &mut seed.stream("times of calls");
    let buffers = &mut seed.stream("sizes of buffers");
    for handler in informers
        .iter_mut()
        .flat_map(|informer| &mut informer.handlers)
    {
        handler.delay_ms = is_slow().then(|| pick(delays, &DELAYS_MS));
        handler.buffer_max = is_merged().then(|| pick(buffers, &BUFFER_SIZES));
        handler.adapter =
            is_adapted().then(|| pick(adapters, &[Adapter::Closures, Adapter::Filter]));
        handler.is_stream = is_stream();
        handler.is_removal_awaited = removals.random_bool(0.5) && handler.leave_ms.is_some();
        if handler.is_stream {
            // Only the reader would notice.
            handler.panic_every = None;
        }
    }
}

/// Lets dozens of handlers come and go at one informer, in a tenth of all runs.
fn crowd(rng: &mut ChaCha8Rng, safety_ms: u64, informers: &mut [InformerPlan]) {
    if !rng.random_bool(0.1) {
        return;
    }
    let informer = rng.random_range(0..informers.len());
    let count = pick(rng, &[12, 24, 48]);
    let stay_ms = pick(rng, &[0, 100, safety_ms / 10]);
    for _ in 0..count {
        let join_ms = rng.random_range(0..safety_ms);
        informers[informer].handlers.push(HandlerPlan {
            join_ms,
            leave_ms: Some((join_ms + stay_ms).min(safety_ms)),
            ..HandlerPlan::default()
        });
    }
}
