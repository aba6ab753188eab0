//! Benchmarks that check their answers, both sides in one run.
//!
//! How they measure, and what to keep in mind when reading the figures, is in `benches/README.md`.

mod answer;
mod child;
mod curves;
mod fan_out;
mod feed;
mod figures;
mod forms;
mod job;
mod latency;
mod load;
mod manifests;
mod plot;
mod process;
mod program;
mod progress;
mod reads;
mod recorder;
mod relist;
mod results;
#[doc(hidden)]
pub mod seeded;
mod serve;
mod server;
mod side;
mod sync;
mod task;
mod updates;
mod wire;
mod workloads;

use std::{error::Error, process::ExitCode};

use clap::{Command, CommandFactory as _, Parser, Subcommand};

/// Benchmarks of this project against its peers, both sides in one run, answers checked.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  \
        cargo run --release -p benches                                       sync of 10,000 pods, three rounds\n  \
        cargo run --release -p benches -- sync --pods 50000                  a larger cluster\n  \
        cargo run --release -p benches --features heap -- sync               with what is on the heap; times mean nothing then\n  \
        cargo build --release -p fakeserver -p benches && target/release/benches figures\n  \
                                                                             everything that is promised, measured; half an hour\n  \
        cargo run --release -p benches -- figures --only reads,latency       a part of it\n  \
        cargo run --release -p benches -- curves                             more and more watchers and handlers; a minute\n  \
        cargo run --release -p benches -- server                             building a fake server\n  \
        cargo run --release -p benches -- workloads                          5,000 deployments of ten pods each\n  \
        cargo run --release -p benches -- manifests --kubeconform PROGRAM    2,000 manifests with 60 mistakes"
)]
struct Arguments {
    #[command(subcommand)]
    bench: Option<Bench>,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// From an empty cache to a synced one, informer beside kube-runtime's reflector.
    Sync(sync::Options),
    /// Everything that is promised, measured beside its target.
    Figures(figures::Options),
    /// Rates by the number of watchers, and of handlers
    Curves(curves::Options),
    /// From nothing to a fake server in this process that can be asked.
    Server(server::Options),
    /// From deployments that are created at once to all of their pods ready
    Workloads(workloads::Options),
    /// Seeded mistakes in manifests that `fakeserver check` finds, and its time, beside kubeconform
    Manifests(manifests::Options),
    /// A part of the others in a process of its own: what to do, and what came of it, as JSON.
    #[command(hide = true)]
    Job { job: String },
}

/// Runs the program with the arguments of this process, on a runtime of its own.
// No async function: the crate that first polls one compiles it, and all that it awaits, again.
pub fn main() -> ExitCode {
    let bench = Arguments::parse().bench;
    let runtime = tokio::runtime::Runtime::new().map_err(Box::from);
    match runtime.and_then(|runtime| runtime.block_on(run(bench))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the command line, for those who read pages that name parts of it.
pub fn command() -> Command {
    Arguments::command()
}

async fn run(bench: Option<Bench>) -> Result<(), Box<dyn Error>> {
    match bench.unwrap_or(Bench::Sync(sync::Options::default())) {
        Bench::Sync(options) => sync::run(&options).await,
        Bench::Figures(options) => figures::run(&options).await,
        Bench::Curves(options) => curves::run(&options).await,
        Bench::Server(options) => server::run(&options).await,
        Bench::Workloads(options) => workloads::run(&options).await,
        Bench::Manifests(options) => manifests::run(&options).await,
        Bench::Job { job } => serde_json::from_str::<job::Job>(&job)?.run().await,
    }
}
