//! The cells that threads share, under a scheduler that explores interleavings.
//!
//! | file | cells |
//! |---|---|
//! | `workqueue` | the work queue: its items, those who wait for one, and its drains |
//! | `processor` | mailboxes, registrations, and the sync of handlers |
//! | `delta_fifo` | the queue between a reflector and its cache |
//! | `indexer` | the snapshots that a cache publishes |
//! | `compact` | objects that are packed and decoded |
//!
//! Run it with `cargo test -p informer --features _shuttle --test shuttle`. Schedules follow from a seed, so that each run is
//! the same. A failing one is printed as a seed, which the environment variable `SHUTTLE_RANDOM_SEED` repeats, and as a string
//! that `shuttle::replay` takes. A wake-up that is lost shows as a deadlock. `SHUTTLE_TIMES=50` explores 50 times as many
//! schedules.

#![cfg(feature = "_shuttle")]

mod workqueue;
mod processor;
mod delta_fifo;
mod indexer;
mod compact;

use std::sync::Arc;

use informer::{Labels, Metadata, Object, ObjectKey, ResourceVersion};
use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler},
};

const SEED: u64 = 0;
/// The number of well-placed preemptions of a schedule.
const PREEMPTIONS: usize = 3;
/// The size of a stack: zstd needs more than shuttle's default.
const STACK_SIZE_BYTES: usize = 1 << 20;

/// Explores `run` `iterations` times at random, and as often with few but well-placed preemptions.
fn check(iterations: usize, run: impl Fn() + Send + Sync + 'static) {
    let iterations = iterations * times();
    let mut config = Config::new();
    config.stack_size = STACK_SIZE_BYTES;
    let run = Arc::new(run);
    let again = Arc::clone(&run);
    let random = RandomScheduler::new_from_seed(SEED, iterations);
    Runner::new(random, config.clone()).run(move || run());
    let preempting = PctScheduler::new_from_seed(SEED, PREEMPTIONS, iterations);
    Runner::new(preempting, config).run(move || again());
}

fn times() -> usize {
    let times = std::env::var("SHUTTLE_TIMES");
    times.map_or(1, |times| times.parse().expect("SHUTTLE_TIMES is a number"))
}

fn metadata(name: &str, version: u64) -> Metadata {
    Metadata {
        key: ObjectKey::cluster(name),
        uid: name.into(),
        resource_version: ResourceVersion::new(version.to_string()),
        labels: Labels::default(),
        owners: [].into(),
        is_terminating: false,
    }
}

fn object(name: &str, version: u64) -> Object<()> {
    Object::with_metadata(metadata(name, version), ())
}
