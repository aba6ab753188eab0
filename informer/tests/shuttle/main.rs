//! The work queue and the processor under a scheduler that explores the interleavings of threads.
//!
//! Run it with `cargo test -p informer --features _shuttle --test shuttle`. A schedule that fails is printed as a string
//! that `shuttle::replay` takes. A wake-up that is lost shows as a deadlock.

#![cfg(feature = "_shuttle")]

mod processor;
mod workqueue;

/// Explores `run` `iterations` times at random, and as often with few but well-placed preemptions.
fn check(iterations: usize, run: impl Fn() + Send + Sync + 'static) {
    let run = std::sync::Arc::new(run);
    let again = std::sync::Arc::clone(&run);
    shuttle::check_random(move || run(), iterations);
    shuttle::check_pct(move || again(), iterations, 3);
}
