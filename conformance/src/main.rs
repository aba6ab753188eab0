//! Simulates clusters under faults and reports whether informers' caches converged.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    conformance::cli::Cli::parse().run()
}
