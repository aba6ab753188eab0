//! Measurements in processes of their own: options as arguments, the result as the last line printed.

use std::{error::Error, process::Stdio};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::process::Command;

use crate::{child::Child, fan_out, load, reads, relist, serve, side::Side, sync, updates};

/// The measurement that a process makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Serve a cluster of `pods` pods until standard input ends; each list only once if it `records`.
    Serve { pods: u32, records: bool },
    /// Sync an empty cache.
    Sync { side: Side, url: String, pods: u64 },
    /// Sync an empty cache, report it, and wait until everything was listed again.
    Relist { side: Side, url: String, pods: u64 },
    /// Process updates, and notify `handlers` handlers.
    Updates {
        side: updates::Side,
        handlers: u32,
        count: u32,
    },
    /// Open `watchers` watches, and read them while changes are written.
    FanOut {
        url: String,
        watchers: u32,
        changes: u32,
    },
    /// Read a cache of `pods` pods.
    Reads { pods: u32 },
    /// Create objects over `connections` connections.
    Create {
        url: String,
        connections: u32,
        count: u32,
    },
}

// === impl Job ===

impl Job {
    /// Starts a process that does it.
    pub(crate) fn start(&self) -> Result<Child, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["job".to_owned(), serde_json::to_string(self)?]);
        command.stdin(match self {
            Self::Serve { .. } => Stdio::piped(),
            _ => Stdio::null(),
        });
        if let Self::Sync { side, .. } = self
            && let Some(threads) = side.threads()
        {
            command.env("TOKIO_WORKER_THREADS", threads.to_string());
        }
        Child::start(&mut command)
    }

    /// Runs the measurement in a process of its own, and returns its result.
    pub(crate) async fn outcome<T: DeserializeOwned>(&self) -> Result<T, Box<dyn Error>> {
        self.start()?.outcome().await
    }

    /// Does it in this process.
    pub(crate) async fn run(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Serve { pods, records } => serve::run(pods, records).await,
            Self::Sync { side, url, pods } => say(&sync::run_side(side, &url, pods).await?),
            Self::Relist { side, url, pods } => say(&relist::run_side(side, &url, pods).await?),
            Self::Updates {
                side,
                handlers,
                count,
            } => say(&updates::run(side, handlers, count).await?),
            Self::Reads { pods } => say(&reads::run(pods).await?),
            Self::FanOut {
                url,
                watchers,
                changes,
            } => say(&fan_out::run(&url, watchers, changes).await?),
            Self::Create {
                url,
                connections,
                count,
            } => say(&load::create(url, connections, count).await?),
        }
    }
}

fn say<T: Serialize>(outcome: &T) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string(outcome)?);
    Ok(())
}
