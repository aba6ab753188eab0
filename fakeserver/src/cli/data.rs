//! The state on disk: what a server begins with, and when it is saved.

use std::{future::Future, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use jiff::SignedDuration;
use tracing::warn;

use super::told;
use crate::{FakeServer, FakeServerBuilder, Restart, task};

#[derive(Debug, Args)]
pub(super) struct DataOptions {
    /// Keep the state in this file: begin with it, save it now and then and at the end.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// How often the state is saved, if it has changed.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = parse_interval)]
    data_interval: Duration,

    /// Whether revisions go on where they were, or so far on that every client of before has to list again.
    #[arg(long, value_enum, default_value_t = DataRestart::Keep)]
    data_restart: DataRestart,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DataRestart {
    Keep,
    Advance,
}

// === impl DataOptions ===

impl DataOptions {
    pub(super) fn build(&self, builder: FakeServerBuilder) -> Result<FakeServer, String> {
        let mut builder = builder.with_restart(match self.data_restart {
            DataRestart::Keep => Restart::Keep,
            DataRestart::Advance => Restart::Advance,
        });
        if let Some(file) = &self.data {
            builder = builder.with_data_file(file);
        }
        builder.try_build().map_err(|error| told(&error))
    }

    /// Saves the state at intervals until `serving` ends.
    pub(super) async fn while_saving(
        &self,
        server: &FakeServer,
        serving: impl Future<Output = ()>,
    ) {
        if self.data.is_none() {
            return serving.await;
        }
        let saving = async {
            loop {
                tokio::time::sleep(self.data_interval).await;
                if let Err(error) = save(server) {
                    warn!(error, "state not saved; the next interval tries again");
                }
            }
        };
        tokio::select! {
            biased;
            () = serving => {}
            () = saving => {}
        }
    }
}

/// Saves the state, if it is to be and has changed.
pub(super) fn save(server: &FakeServer) -> Result<(), String> {
    let saved = task::block(|| server.save());
    saved.map(drop).map_err(|error| told(&error))
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = text
        .parse::<SignedDuration>()
        .map_err(|error| format!("{error}; try `5s`"))?;
    Duration::try_from(interval)
        .ok()
        .filter(|interval| !interval.is_zero())
        .ok_or_else(|| "an interval is more than nothing; try `5s`".to_owned())
}
