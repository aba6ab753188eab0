//! `proxy`: a reverse proxy with faults, for as long as it is wanted.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use clap::Args as ClapArgs;
use comfy_table::{Cell, CellAlignment, Table, presets};
use fakeserver::{
    Certificates, Listener,
    faults::{FaultSpec, Firing},
};
use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig as Source},
};
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::say;
use crate::{
    call::whole,
    proxy::{Kubeconfig, Proxy},
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The server behind the proxy; the one that the kubeconfig names if left out.
    #[arg(long, value_name = "URL", required_unless_present = "kubeconfig")]
    upstream: Option<http::Uri>,
    /// The kubeconfig that says how to trust the server, and as whom to ask it.
    ///
    /// Then every request is that user's. Without it each client brings its own token.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one if left out.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// The faults to begin with: a list in JSON, or one.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8002")]
    listen: SocketAddr,
    /// Speak TLS, with an authority made for the run, which the written kubeconfig names. Clients in Go use HTTP/2 only so.
    #[arg(long)]
    tls: bool,
    /// Where to write a kubeconfig for the proxy.
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// How many connections are served at a time; further ones wait.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    max_connections: usize,
}

/// What has fired, for the table at the end.
#[derive(Debug, Default)]
struct Tally {
    by_rule: Mutex<BTreeMap<&'static str, (u64, u64)>>,
}

/// The signals that ask to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        let outcome = Runtime::new()
            .map_err(|error| format!("no runtime: {error}"))
            .and_then(|runtime| {
                let outcome = runtime.block_on(self.serve());
                // What still runs belongs to connections that did not end in time.
                runtime.shutdown_background();
                outcome
            });
        outcome.unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::from(2)
        })
    }

    /// Serves until a signal. A second signal ends the process at once.
    async fn serve(self) -> Result<ExitCode, String> {
        let mut signals = Signals::listen().map_err(|error| whole(&error))?;
        let proxy = Proxy::new(self.config().await?).map_err(|error| whole(&error))?;
        let tally = Arc::new(Tally::default());
        observe(&proxy, &tally);
        let specs = match &self.faults {
            Some(file) => read(file)?,
            None => Vec::new(),
        };
        for spec in &specs {
            let guard = proxy.install(spec).map_err(|error| whole(&error))?;
            guard.detach();
        }
        let listener = TcpListener::bind(self.listen).await.map_err(|error| {
            let address = self.listen;
            format!("cannot listen on {address}: {error}; `--listen 127.0.0.1:0` takes a free port")
        })?;
        let address = listener.local_addr().map_err(|error| whole(&error))?;
        let mut listener = Listener::new(listener).with_connections_max(self.max_connections);
        let mut kubeconfig = Kubeconfig::new(address);
        if self.tls {
            let certificates = Certificates::new([address.ip().to_string()]);
            let certificates = certificates.map_err(|error| whole(&error))?;
            kubeconfig = kubeconfig.with_authority(certificates.authority_pem());
            listener = listener.with_certificates(&certificates);
        }
        if let Some(file) = &self.write_kubeconfig {
            kubeconfig.write(file).map_err(|error| whole(&error))?;
        }
        say(&format!("listening on {}\n", kubeconfig.url()));
        say(&format!("{} faults in force\n", specs.len()));

        let stop = CancellationToken::new();
        let stopping = async {
            signals.recv().await;
            stop.cancel();
            signals.recv().await;
        };
        let code = tokio::select! {
            biased;
            () = stopping => ExitCode::FAILURE,
            () = proxy.serve(listener, stop.clone()) => ExitCode::SUCCESS,
        };
        say(&tally.text());
        Ok(code)
    }

    /// Where the upstream is, whom to trust, and as whom to ask.
    async fn config(&self) -> Result<Config, String> {
        let Some(file) = &self.kubeconfig else {
            let url = self.upstream.clone().unwrap_or_default();
            return match (url.scheme_str(), url.host()) {
                (Some("http" | "https"), Some(_)) => Ok(Config::new(url)),
                _ => Err(format!(
                    "--upstream {url}: a URL is wanted, as in http://127.0.0.1:8001"
                )),
            };
        };
        let source = Source::read_from(file);
        let source = source.map_err(|error| format!("{}: {}", file.display(), whole(&error)))?;
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(source, &options).await;
        let mut config =
            config.map_err(|error| format!("{}: {}", file.display(), whole(&error)))?;
        if let Some(url) = &self.upstream {
            config.cluster_url = url.clone();
        }
        Ok(config)
    }
}

/// The faults in `file`.
fn read(file: &Path) -> Result<Vec<FaultSpec>, String> {
    let told = |error: &dyn Error| format!("{}: {}", file.display(), whole(error));
    let text = fs::read(file).map_err(|error| told(&error))?;
    FaultSpec::read(&text).map_err(|error| told(&error))
}

/// Prints a line for each firing, and counts it.
fn observe(proxy: &Proxy, tally: &Arc<Tally>) {
    let (begun, tally) = (Instant::now(), Arc::clone(tally));
    proxy.faults().observe(move |firing| {
        say(&line(begun.elapsed().as_secs_f64(), firing));
        tally.count(firing);
    });
}

fn line(seconds: f64, firing: &Firing) -> String {
    let Firing {
        rule,
        client,
        verb,
        resource,
        revision,
        ..
    } = firing;
    let client = if client.is_empty() { "-" } else { client };
    format!("{seconds:>9.3} s  {rule:<24} {client} {verb} {resource} at {revision}\n")
}

// === impl Tally ===

impl Tally {
    fn count(&self, firing: &Firing) {
        let mut by_rule = self.by_rule.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = by_rule.entry(firing.rule).or_default();
        *counted = (counted.0 + 1, firing.revision);
    }

    fn text(&self) -> String {
        let by_rule = self.by_rule.lock().unwrap_or_else(PoisonError::into_inner);
        if by_rule.is_empty() {
            return "no fault has fired\n".to_owned();
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header(["fault", "fired", "last at version"]);
        for (rule, (count, revision)) in by_rule.iter() {
            let number = |number: &u64| Cell::new(number).set_alignment(CellAlignment::Right);
            table.add_row([Cell::new(rule), number(count), number(revision)]);
        }
        format!("{table}\n")
    }
}

// === impl Signals ===

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one. Cancel safe.
    async fn recv(&mut self) {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
