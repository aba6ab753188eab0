//! The program under the name `kube-apiserver`: what test environments start.

mod flags;
mod options;
mod store;

use std::{path::Path, process::ExitCode, time::Duration};

use fakeserver_server::{BuildError, Clock, Compaction, DataSync, FakeServer, SnapshotError};
use fakeserver_versions::KubernetesVersion;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::{flags::Flags, options::Options, store::StateLocation};
use super::{
    data, feature_gates::FeatureGateOptions, install_faults, kubernetes_version, parent::Parent,
    say, security::random, signals::Signals, with_sources,
};

/// The interval at which changed objects are on the disk. A killed API server loses at most the changes of one interval.
const SAVE_INTERVAL: Duration = Duration::from_millis(200);

/// Serves until a signal, or until the process that started it has ended.
pub(super) async fn run(arguments: impl IntoIterator<Item = String>) -> Result<ExitCode, String> {
    let parent = Parent::current();
    let kubernetes = kubernetes_version::of_program()?;
    let mut flags = Flags::parse(kubernetes, arguments)?;
    if flags.is_set("help", false)? {
        return say(&flags::help(kubernetes));
    }
    if flags.get("version").is_some() {
        return say(&format!("Kubernetes {}\n", kubernetes.git_version()));
    }
    let mut signals = Signals::listen()?;
    let mut notes = std::mem::take(&mut flags.notes);
    let options = Options::new(&flags, &mut notes)?;
    for note in &notes {
        eprintln!("note: {note}");
    }
    // The address is bound before the store is opened, so that a second server at the same address fails here.
    let listener = TcpListener::bind(options.address).await.map_err(|error| {
        format!("failed to create listener: failed to listen on {}: {error}; is another API server running?", options.address)
    })?;
    let server = build(kubernetes, &options).await?;
    let stop = CancellationToken::new();
    let serving = server.serve_tls(listener, &options.certificates, stop.clone());
    let stopping = async {
        tokio::select! {
            biased;
            _ = signals.recv() => {}
            () = parent.ended() => {}
        }
        stop.cancel();
        // A second signal ends the process at once.
        signals.recv().await.exit_code()
    };
    tokio::select! {
        biased;
        code = stopping => return Ok(code),
        () = serving => {}
    }
    server.shutdown().await;
    data::save(&server)?;
    Ok(ExitCode::SUCCESS)
}

async fn build(kubernetes: KubernetesVersion, options: &Options) -> Result<FakeServer, String> {
    let builder = FakeServer::builder()
        .with_kubernetes_version(kubernetes)
        .with_clock(Clock::wall())
        .with_compaction(Compaction::production())
        // Without a key file, the signing key of tokens has to be secret, so that it is random.
        .with_token_key(random()?);
    let mut builder = options.configure(builder);
    builder = FeatureGateOptions::of(&options.feature_gates).configure(kubernetes, builder)?;
    if let Some(first) = options.etcd.first() {
        match store::locate(first).await? {
            StateLocation::File(file) => {
                eprintln!(
                    "note: the etcd at {first} is that of fakeserver: objects are in {}",
                    file.display()
                );
                builder = builder
                    .with_data_file(file)
                    .with_data_sync(DataSync::Interval(SAVE_INTERVAL));
            }
            StateLocation::Etcd => builder = builder.with_etcd(options.etcd_options()?),
        }
    }
    for name in options.plugins.without_effect() {
        eprintln!("note: the admission plugin {name} has no effect here");
    }
    let server = builder.try_build().map_err(|error| {
        let message = with_sources(&error);
        match (options.etcd.first(), error) {
            (Some(etcd), BuildError::Data(SnapshotError::InUse { .. })) => format!(
                "--etcd-servers {etcd}: the store is in use by another API server ({message}); one at a time has its objects"
            ),
            _ => message,
        }
    })?;
    if let Some(file) = &options.faults {
        install_faults(&server, Path::new(file))
            .map_err(|error| format!("FAKESERVER_FAULTS: {error}"))?;
    }
    Ok(server)
}
