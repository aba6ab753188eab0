//! The state on disk: the initial state of a server, and when its writes are there.

use std::{io::IsTerminal, path::PathBuf, time::Duration};

use super::with_sources;
use clap::{Args, ValueEnum};
use fakeserver_server::{
    BuildError, DataSync, FakeServer, FakeServerBuilder, Restart, SnapshotError, server::Progress,
    task,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::SignedDuration;

#[derive(Debug, Args)]
pub(super) struct DataOptions {
    /// Begin with the objects in this file, or in the files of this directory: YAML or JSON, as people write them and
    /// as `kubectl get -A -o yaml` prints them. YAML is read as Kubernetes reads it, in version 1.1. Not with `--data`, once
    /// there is state in its file.
    #[arg(long, value_name = "PATH")]
    load: Vec<PathBuf>,

    /// Keep the state in this file: begin with it, and go on from there. A file that exists and is not the state of a server is
    /// refused.
    ///
    /// Every write is on the disk before it is acknowledged: in `FILE.log`, which is compacted into `FILE` now and then, and when
    /// the server ends. `--data-sync` has it otherwise. While the disk takes nothing, writes are refused with 503, and reads show
    /// what is on it.
    ///
    /// Example: `fakeserver serve --data ./state`
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Time at which writes are on the disk: `always` before they are acknowledged, or `interval=DURATION` at most so much later, without
    /// waiting: what was acknowledged in that time is lost if the process is killed or the machine fails.
    ///
    /// Example: `fakeserver serve --data ./state --data-sync interval=200ms`
    #[arg(long, value_name = "MODE", default_value = "always", value_parser = parse_sync)]
    data_sync: DataSync,

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
            builder = builder.with_data_file(file).with_data_sync(self.data_sync);
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
        if let (Ok(_), Some(file), DataSync::Interval(interval)) =
            (&server, &self.data, self.data_sync)
        {
            eprintln!(
                "warning: --data {}: if this process is killed, the writes of up to {interval:?} (--data-sync) that it has \
                 acknowledged are lost",
                file.display(),
            );
        }
        server
    }
}

/// Says why there is no server, and what to do about a file that cannot be used.
fn refusal(error: &BuildError) -> String {
    let advice = match error {
        BuildError::Data(SnapshotError::Damaged { .. } | SnapshotError::TooNew { .. }) => {
            "; it is left as it is, and another `--data` starts with an empty store"
        }
        BuildError::Data(SnapshotError::LogDamaged { .. }) => {
            "; it is left as it is; to begin with the snapshot alone, without what was acknowledged after it, move the log away"
        }
        BuildError::Data(SnapshotError::InUse { .. }) => "; each server needs a file of its own",
        _ => "",
    };
    format!("{}{advice}", with_sources(error))
}

/// On a terminal only.
pub(super) fn progress_bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} objects {elapsed}");
    ProgressBar::with_draw_target(None, target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Compacts the state into its file, if there is one and it has changed.
pub(super) fn save(server: &FakeServer) -> Result<(), String> {
    let saved = task::block(|| server.save());
    saved.map(drop).map_err(|error| with_sources(&error))
}

fn parse_sync(text: &str) -> Result<DataSync, String> {
    const ADVICE: &str = "try `always`, or `interval=200ms`";
    if text == "always" {
        return Ok(DataSync::Acknowledged);
    }
    let interval = text
        .strip_prefix("interval=")
        .ok_or_else(|| format!("there is no mode {text:?}; {ADVICE}"))?;
    let interval = interval
        .parse::<SignedDuration>()
        .map_err(|error| format!("{error}; {ADVICE}"))?;
    let interval = Duration::try_from(interval)
        .ok()
        .filter(|interval| !interval.is_zero());
    interval
        .map(DataSync::Interval)
        .ok_or_else(|| format!("an interval is more than nothing; {ADVICE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_and_others_are_refused_with_advice() {
        assert_eq!(parse_sync("always"), Ok(DataSync::Acknowledged));
        let interval = DataSync::Interval(Duration::from_millis(200));
        assert_eq!(parse_sync("interval=200ms"), Ok(interval));
        for wrong in [
            "",
            "never",
            "interval",
            "interval=",
            "interval=0s",
            "interval=-1s",
        ] {
            let error = parse_sync(wrong).unwrap_err();
            assert!(error.contains("`interval=200ms`"), "{wrong}: {error}");
        }
    }
}
