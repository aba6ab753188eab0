//! `proxy`: a reverse proxy with faults, until a signal or a time limit.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use clap::{Args as ClapArgs, builder::NonEmptyStringValueParser};
use comfy_table::{Cell, CellAlignment, Table, presets};
use fakeserver::{
    Certificates, Listener,
    cli::kubeconfig::{Credential, Kubeconfig, KubeconfigFile},
    faults::{FaultSpec, Firing},
};
use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig as Source},
};
use support::cli::{Signals, say};
use tokio::{net::TcpListener, runtime::Runtime, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{call::whole, proxy::Proxy};

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
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8002")]
    listen: SocketAddr,
    /// Speak TLS, with an authority made for the run, which the written kubeconfig names. Clients in Go use HTTP/2 only so.
    #[arg(long)]
    tls: bool,
    /// A kubeconfig to add the proxy to: a cluster, a user without credentials and a context.
    ///
    /// The rest of the file does not change. The entries are removed when the proxy ends, and so is the file if the
    /// proxy has created it and nothing else is in it.
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// The name of the cluster, the user and the context that are written.
    #[arg(
        long,
        value_name = "NAME",
        requires = "write_kubeconfig",
        default_value = "fakeserver-proxy",
        value_parser = NonEmptyStringValueParser::new()
    )]
    write_context: String,
    /// Make the written context the current one of its kubeconfig, even if another one is.
    #[arg(long, requires = "write_kubeconfig")]
    use_context: bool,
    /// Leave the written entries in their kubeconfig when the proxy ends.
    #[arg(long, requires = "write_kubeconfig")]
    keep: bool,
    /// Connections that are served at a time; further ones wait
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    max_connections: usize,
}

/// The faults that have fired, for the table at the end.
#[derive(Debug, Default)]
struct Tally {
    by_rule: Mutex<BTreeMap<&'static str, (u64, u64)>>,
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
        let certificates = if self.tls {
            Some(Certificates::new([self.listen.ip().to_string()]))
        } else {
            None
        };
        let certificates = certificates.transpose().map_err(|error| whole(&error))?;
        let mut own = Kubeconfig {
            context: self.write_context.clone(),
            address: self.listen,
            authority_pem: certificates.as_ref().map(Certificates::authority_pem),
            // The proxy brings the credentials of its upstream, or passes those on that the client adds.
            administrator: Credential::None,
            users: Vec::new(),
        };
        let file = self.kubeconfig_file();
        if let Some(file) = &file {
            file.check(&own).await.map_err(|error| whole(&error))?;
            // A killed proxy may have left itself as the current context of the kubeconfig that is read below.
            let removed = file.remove_stale(&own).await;
            removed.map_err(|error| whole(&error))?;
        }
        let proxy = Proxy::new(self.config().await?).map_err(|error| whole(&error))?;
        let tally = Arc::new(Tally::default());
        observe(&proxy, &tally);
        let faults = self.install_faults(&proxy)?;
        let listener = TcpListener::bind(self.listen).await.map_err(|error| {
            let address = self.listen;
            format!("cannot listen on {address}: {error}; `--listen 127.0.0.1:0` takes a free port")
        })?;
        own.address = listener.local_addr().map_err(|error| whole(&error))?;
        let mut listener = Listener::new(listener).with_connections_max(self.max_connections);
        if let Some(certificates) = &certificates {
            listener = listener.with_certificates(certificates);
        }
        let added = match file {
            Some(file) => Some(file.add(&own).await.map_err(|error| whole(&error))?),
            None => None,
        };
        say(&format!("listening on {}\n", own.url()));
        if let Some(added) = &added {
            say(&format!("{}\n", added.command()));
        }
        say(&format!("{faults} faults in force\n"));

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
        if let Some(added) = added
            && let Err(error) = added.remove().await
        {
            eprintln!("warning: entries are left: {}", whole(&error));
        }
        say(&tally.text());
        Ok(code)
    }

    /// Puts the faults of the file in force, and returns how many they are.
    fn install_faults(&self, proxy: &Proxy) -> Result<usize, String> {
        let specs = match &self.faults {
            Some(file) => read(file)?,
            None => Vec::new(),
        };
        for spec in &specs {
            let guard = proxy.install(spec).map_err(|error| whole(&error))?;
            guard.detach();
        }
        Ok(specs.len())
    }

    fn kubeconfig_file(&self) -> Option<KubeconfigFile> {
        let file = KubeconfigFile::new(self.write_kubeconfig.as_ref()?, "--write-context");
        Some(file.with_use_context(self.use_context).with_keep(self.keep))
    }

    /// Returns the address of the upstream, its authorities, and the credentials for it.
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
    let message = |error: &dyn Error| format!("{}: {}", file.display(), whole(error));
    let text = fs::read(file).map_err(|error| message(&error))?;
    FaultSpec::read(&text).map_err(|error| message(&error))
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
