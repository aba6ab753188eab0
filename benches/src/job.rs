//! What runs in a process of its own: told by its arguments, answered by the last line that it prints.

use std::{error::Error, process::Stdio, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::{fan_out, load, reads, relist, serve, side::Side, sync, updates};

/// How long a job may take to say the next thing.
const DEADLINE: Duration = Duration::from_mins(10);

/// What a process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Serve a cluster of so many pods until standard input ends.
    Serve { pods: u32 },
    /// Sync an empty cache.
    Sync { side: Side, url: String },
    /// Sync an empty cache, say so, and wait until everything was listed again.
    Relist { side: Side, url: String },
    /// Take in so many updates, and tell so many handlers.
    Updates {
        side: updates::Side,
        handlers: u32,
        count: u32,
    },
    /// Watch, so many times, while so many changes are written.
    FanOut {
        url: String,
        watchers: u32,
        changes: u32,
    },
    /// Read a cache of so many pods.
    Reads { pods: u32 },
    /// Create so many objects over so many connections.
    Create {
        url: String,
        connections: u32,
        count: u32,
    },
}

/// A job under way.
pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

// === impl Job ===

impl Job {
    /// What the process is started with.
    pub(crate) fn arguments(&self) -> serde_json::Result<[String; 2]> {
        Ok(["job".to_owned(), serde_json::to_string(self)?])
    }

    /// Starts a process that does it.
    pub(crate) fn start(&self) -> Result<Running, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        if let Self::Sync { side, .. } = self
            && let Some(threads) = side.threads()
        {
            command.env("TOKIO_WORKER_THREADS", threads.to_string());
        }
        let mut child = command
            .args(self.arguments()?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().expect("standard output is piped");
        let lines = BufReader::new(stdout).lines();
        Ok(Running { child, lines })
    }

    /// What came of it, done in a process of its own.
    pub(crate) async fn outcome<T: DeserializeOwned>(&self) -> Result<T, Box<dyn Error>> {
        self.start()?.outcome().await
    }

    /// Does it in this process.
    pub(crate) async fn run(self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Serve { pods } => serve::run(pods).await,
            Self::Sync { side, url } => say(&sync::run_side(side, &url).await?),
            Self::Relist { side, url } => say(&relist::run_side(side, &url).await?),
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
            } => say(&load::create(&url, connections, count).await?),
        }
    }
}

fn say<T: Serialize>(outcome: &T) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string(outcome)?);
    Ok(())
}

// === impl Running ===

impl Running {
    /// The next line that it prints.
    pub(crate) async fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let line = timeout(DEADLINE, self.lines.next_line()).await;
        let line = line.map_err(|_| "a process said nothing for ten minutes")?;
        Ok(line?.ok_or("a process ended without an answer, and said why above")?)
    }

    /// What it prints last.
    pub(crate) async fn outcome<T: DeserializeOwned>(mut self) -> Result<T, Box<dyn Error>> {
        let outcome = serde_json::from_str(&self.line().await?)?;
        self.child.wait().await?;
        Ok(outcome)
    }
}
