//! `fakeserver run -- COMMAND`.

use std::{ffi::OsString, net::Ipv4Addr, process::ExitCode};

use clap::Args;
use tokio::{net::TcpListener, process::Command};
use tokio_util::sync::CancellationToken;

use super::{
    ServerOptions, await_ready,
    command::{Outcome, run_to_end},
    data,
    kubeconfig::{DEFAULT_CONTEXT, KubeconfigFile},
    orphan_guard::OrphanGuard,
    signals::Signals,
    with_sources,
};

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    server: ServerOptions,

    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Serves on a free port while the command runs, and ends with its exit status.
pub(super) async fn run(options: &Options) -> Result<ExitCode, String> {
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(|error| format!("cannot listen on the loopback interface: {error}"))?;
    let address = listener
        .local_addr()
        .map_err(|error| format!("the listener has no address: {error}"))?;
    let directory =
        tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
    let file = directory.path().join("kubeconfig");
    let secured = options.server.security.secure(address, DEFAULT_CONTEXT)?;
    let added = KubeconfigFile::new(&file, "--context").add(&secured.kubeconfig);
    // The whole directory is removed with it.
    let _entries = added.await.map_err(|error| with_sources(&error))?;

    let server = options.server.build(&secured)?;
    options.server.security.warn(address);
    if let Some(page) = options.server.page.url(&secured.kubeconfig.url()) {
        // The output is the command's.
        eprintln!("live page at {page}");
    }
    tokio::select! {
        biased;
        signal = signals.recv() => {
            server.shutdown().await;
            return data::save(&server).map(|()| signal.exit_code());
        }
        () = await_ready(&server) => {}
    }
    let (program, arguments) = options
        .command
        .split_first()
        .expect("clap requires a command");
    let mut child = Command::new(program)
        .args(arguments)
        .env("KUBECONFIG", &file)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let id = child.id().expect("it has not been waited for");
    let _guard = OrphanGuard::new(id, Some(directory.path()))
        .map_err(|error| format!("cannot watch over {}: {error}", program.display()))?;

    let stop = CancellationToken::new();
    let status = {
        let serving = secured.serve(&server, listener, stop.clone());
        let running = run_to_end(&mut child, &mut signals);
        tokio::pin!(serving, running);
        tokio::select! {
            biased;
            status = &mut running => {
                stop.cancel();
                serving.await;
                status
            }
            () = &mut serving => running.await,
        }
    };
    server.shutdown().await;
    data::save(&server)?;
    status.map(Outcome::exit_code).map_err(|error| {
        format!(
            "cannot wait for {} at {}: {error}",
            program.display(),
            secured.kubeconfig.url()
        )
    })
}
