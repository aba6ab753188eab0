//! The state of an etcd as the initial state of a server.

use std::path::PathBuf;

use clap::Args;
use fakeserver_server::{FakeServerBuilder, Snapshot};
use fakeserver_versions::KubernetesVersion;

use super::{data::progress_bar, with_sources};

#[derive(Debug, Args)]
pub(super) struct EtcdSnapshotOptions {
    /// Begin with the state of a cluster: a snapshot of its etcd, as `etcdctl snapshot save` writes it, or the file `member/snap/db`
    /// of a member that has stopped. It is read whole, and never written. Not with `--data`, once there is state in its file.
    #[arg(long, value_name = "FILE")]
    etcd_snapshot: Option<PathBuf>,
}

// === impl EtcdSnapshotOptions ===

impl EtcdSnapshotOptions {
    /// Adds the state, if there is any: what is below `prefix`.
    pub(super) fn configure(
        &self,
        kubernetes: KubernetesVersion,
        prefix: &str,
        builder: FakeServerBuilder,
    ) -> Result<FakeServerBuilder, String> {
        let Some(file) = &self.etcd_snapshot else {
            return Ok(builder);
        };
        let bar = progress_bar();
        let snapshot = Snapshot::from_etcd_file(file, prefix, kubernetes, |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let snapshot =
            snapshot.map_err(|error| format!("--etcd-snapshot: {}", with_sources(&error)))?;
        Ok(builder.with_snapshot(snapshot))
    }
}
