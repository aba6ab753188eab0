//! Runs a user's controller under crashes, lost answers, stale caches and more, at each of its writes.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// A run makes and drops a great many small things: a fifth of its time is the allocator's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    survive::cli::Cli::parse().run()
}
