//! `fakeserver serve`.

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{ServerOptions, data, security::Secured, signals::Signals};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8001")]
    listen: SocketAddr,

    /// Where to write a kubeconfig for this server.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    #[command(flatten)]
    server: ServerOptions,
}

/// Serves until a signal. A second signal ends the process at once.
pub(super) async fn serve(options: &Options) -> Result<ExitCode, String> {
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind(options.listen).await.map_err(|error| {
        format!(
            "cannot listen on {}: {error}; `--listen 127.0.0.1:0` takes a free port",
            options.listen
        )
    })?;
    let address = listener
        .local_addr()
        .map_err(|error| format!("the listener has no address: {error}"))?;
    let secured = options.server.security.secure(address)?;
    if let Some(file) = &options.kubeconfig {
        secured.kubeconfig.write(file)?;
    }
    let server = options.server.build(&secured)?;
    options.server.security.warn(address);
    announce(&secured, address).map_err(|error| format!("cannot write to stdout: {error}"))?;

    let stop = CancellationToken::new();
    let serving = secured.serve(&server, listener, stop.clone());
    let stopping = async {
        signals.recv().await;
        stop.cancel();
        let second = signals.recv().await;
        Ok(second.exit_code())
    };
    tokio::select! {
        biased;
        code = stopping => code,
        () = options.server.data.while_saving(&server, serving) => {
            server.shutdown().await;
            data::save(&server)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn announce(secured: &Secured, address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening on {}://{address}", secured.scheme())?;
    stdout.flush()
}
