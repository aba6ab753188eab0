//! The commands `corpus compare` and `corpus record`.

mod compare;
mod record;
pub(super) mod report;

use std::{process::ExitCode, time::Duration};

use clap::Subcommand;
use support::cli::finish;

use super::server::ServerArgs;
use crate::{
    call::whole,
    corpus::{Generator, ServedKinds, Session},
    golden::Endpoint,
    seed::Seed,
};

/// The maximal time for an answer, in seconds.
pub(super) const PATIENCE_MAX_SECONDS: u64 = 3_600;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Plays recorded requests against a server and reports the answers that differ.
    #[command(after_help = super::CORPUS_EXAMPLES)]
    Compare(Box<compare::Args>),
    /// Generates requests and records a server's answers to them.
    #[command(after_help = super::CORPUS_EXAMPLES)]
    Record(Box<record::Args>),
}

/// The requests to generate.
#[derive(Debug, clap::Args)]
pub(super) struct GenerateArgs {
    /// Seed of the requests [default: a fresh one].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Number of requests.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) requests: u64,
    /// Generate requests about these kinds only, such as `deployment`.
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
}

/// The way to a server.
#[derive(Debug, clap::Args)]
pub(super) struct ReachArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Seconds to wait for each answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=PATIENCE_MAX_SECONDS))]
    timeout: u64,
}

// === impl Command ===

impl Command {
    pub(super) fn run(self) -> ExitCode {
        match self {
            Self::Compare(args) => finish(async move { args.perform().await }),
            Self::Record(args) => finish(async move { args.perform().await.map(|()| true) }),
        }
    }
}

// === impl GenerateArgs ===

impl GenerateArgs {
    /// Returns the given seed, or a fresh one.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(super::sim::fresh)
    }

    /// Returns the options that give the same requests again.
    pub(super) fn replay(&self, seed: u64) -> String {
        let kinds = match &self.kind[..] {
            [] => String::new(),
            kinds => format!(" --kind {}", kinds.join(",")),
        };
        format!("--seed {seed}{kinds}")
    }

    /// Creates the generator for the kinds of a server.
    pub(super) async fn generator(
        &self,
        seed: u64,
        session: &Session,
    ) -> Result<Generator, String> {
        let served = ServedKinds::read(session).await;
        let served = served
            .map_err(|error| format!("no kinds to generate requests for: {}", whole(&error)))?;
        let mut generator = served.generator(Seed::new(seed));
        if !self.kind.is_empty() {
            let names: Vec<&str> = generator.kinds().collect();
            if let Some(kind) = self
                .kind
                .iter()
                .find(|kind| !names.contains(&kind.as_str()))
            {
                let names = names.join(", ");
                return Err(format!("no kind is called {kind}; there are {names}"));
            }
            generator.keep(&self.kind);
        }
        if generator.kinds().next().is_none() {
            return Err("the server serves no kind that requests can be about".to_owned());
        }
        Ok(generator)
    }
}

// === impl ReachArgs ===

impl ReachArgs {
    pub(super) fn name(&self) -> String {
        self.server.name()
    }

    /// Connects to the server, and returns its version.
    pub(super) async fn reach(&self) -> Result<(Endpoint, String), String> {
        self.server.reach(Duration::from_secs(self.timeout)).await
    }
}
