//! The state on disk: the initial state of a server, and the times at which it is saved.

use std::{future::Future, io::IsTerminal, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use fakeserver_server::{
    BuildError, FakeServer, FakeServerBuilder, Restart, SnapshotError, server::Progress, task,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::SignedDuration;
use tracing::warn;

use super::with_sources;

#[derive(Debug, Args)]
pub(super) struct DataOptions {
    /// Begin with the objects in this file, or in the files of this directory: YAML or JSON, as people write them and
    /// as `kubectl get -A -o yaml` prints them. YAML is read as Kubernetes reads it, in version 1.1. Not with `--data`, once
    /// there is state in its file.
    #[arg(long, value_name = "PATH")]
    load: Vec<PathBuf>,

    /// Keep the state in this file: begin with it, save it at intervals and at the end. A file that exists and is not the
    /// state of a server is refused.
    ///
    /// Writes that were acknowledged since it was last saved are lost if the process is killed, or the machine fails:
    /// `--data-interval` says how many seconds of them. A signal to end saves all.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Interval at which the state is saved, if it has changed
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = parse_interval)]
    data_interval: Duration,

    /// Revisions after a restart: they continue, or move so far on that every earlier client has to list again
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
        for path in &self.load {
            builder = builder.with_manifests(path);
        }
        let bar = progress_bar();
        let progress = bar.clone();
        builder = builder.with_progress(Progress::new(move |done, all| {
            progress.set_length(all as u64);
            progress.set_position(done as u64);
        }));
        let server = builder.try_build().map_err(|error| refusal(&error));
        bar.finish_and_clear();
        if let (Ok(_), Some(file)) = (&server, &self.data) {
            eprintln!(
                "warning: --data {}: if this process is killed, the writes of up to {:?} (--data-interval) that it has \
                 acknowledged are lost",
                file.display(),
                self.data_interval
            );
        }
        server
    }

    /// Saves the state at intervals until `serving` ends.
    pub(super) async fn while_saving(
        &self,
        server: &FakeServer,
        serving: impl Future<Output = ()>,
    ) {
        let interval = self.data.is_some().then_some(self.data_interval);
        while_saving(server, interval, serving).await;
    }
}

/// Saves the state at intervals, if there are any, until `serving` ends.
pub(super) async fn while_saving(
    server: &FakeServer,
    interval: Option<Duration>,
    serving: impl Future<Output = ()>,
) {
    let Some(interval) = interval else {
        return serving.await;
    };
    let saving = async {
        loop {
            tokio::time::sleep(interval).await;
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

/// Says why there is no server, and what to do about a file that cannot be used.
fn refusal(error: &BuildError) -> String {
    let advice = match error {
        BuildError::Data(SnapshotError::Damaged { .. } | SnapshotError::TooNew { .. }) => {
            "; it is left as it is, and another `--data` starts with an empty store"
        }
        BuildError::Data(SnapshotError::InUse { .. }) => "; each server needs a file of its own",
        _ => "",
    };
    format!("{}{advice}", with_sources(error))
}

/// On a terminal only.
fn progress_bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} objects {elapsed}");
    ProgressBar::with_draw_target(None, target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Saves the state, if it is to be and has changed.
pub(super) fn save(server: &FakeServer) -> Result<(), String> {
    let saved = task::block(|| server.save());
    saved.map(drop).map_err(|error| with_sources(&error))
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
