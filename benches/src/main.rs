//! Benchmarks that check their answers, both sides in one run.
//!
//! How they measure, and what to keep in mind when reading the figures, is in `benches/README.md`.

mod client;
mod cluster;
mod pods;
mod process;
mod server;
mod sync;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmarks of this project against its peers, both sides in one run, answers checked.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  \
        cargo run --release -p benches                       sync of 10,000 pods, three rounds\n  \
        cargo run --release -p benches -- sync --pods 50000  a larger cluster\n  \
        cargo run --release -p benches -- server             building a fake server"
)]
struct Arguments {
    #[command(subcommand)]
    bench: Option<Bench>,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// From an empty cache to a synced one, informer beside kube-runtime's reflector.
    Sync(sync::Options),
    /// From nothing to a fake server in this process that can be asked.
    Server(server::Options),
    /// One side of `sync`, in a process of its own; prints what it measured as JSON.
    #[command(hide = true)]
    SyncSide(sync::SideOptions),
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse()
        .bench
        .unwrap_or(Bench::Sync(sync::Options::default()))
    {
        Bench::Sync(options) => sync::run(&options).await,
        Bench::Server(options) => server::run(&options).await,
        Bench::SyncSide(options) => sync::run_side(&options).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
