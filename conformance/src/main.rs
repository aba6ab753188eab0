//! Simulates clusters under faults and reports whether informers' caches converged.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// A run makes and drops a great many small things: a fifth of its time is the allocator's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    conformance::cli::Cli::parse().run()
}
