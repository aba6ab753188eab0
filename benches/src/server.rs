//! From nothing to a fake server in this process that can be asked.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use clap::Args;
use fakeserver::FakeServer;
use http::Request;
use serde_json::Value;

/// Options of `server`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {
    /// Number of servers to build
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    servers: u32,
}

/// Builds servers one after the other and prints how long one takes. The first one also parses the registry, which
/// happens once in a process, and is reported by itself.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut built: Vec<Duration> = Vec::new();
    for seed in 0..=u64::from(options.servers) {
        let start = Instant::now();
        let server = FakeServer::builder().with_seed(seed).build();
        let client = server.client();
        built.push(start.elapsed());
        let namespace: Value = client
            .request(Request::get("/api/v1/namespaces/default").body(Vec::new())?)
            .await?;
        if namespace["metadata"]["name"] != "default" {
            return Err(format!("the server of seed {seed} has no namespace default").into());
        }
    }
    let first = built.remove(0);
    built.sort_unstable();
    println!(
        "a server with its client: {first:?} the first time, then median {:?}, slowest hundredth {:?} of {}",
        built[built.len() / 2],
        built[built.len() * 99 / 100],
        built.len(),
    );
    Ok(())
}
