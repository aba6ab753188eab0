//! `fakeserver serve`.

use std::{
    env,
    fmt::Display,
    fs::Permissions,
    future::pending,
    io::{self, ErrorKind, IsTerminal as _, Write as _},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf, absolute},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, builder::NonEmptyStringValueParser};
use fakeserver_server::FakeServer;
use tempfile::{Builder, TempDir};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;

use super::{
    ServerOptions, await_ready, data,
    hints::Hints,
    kubeconfig::{AddedEntries, DEFAULT_CONTEXT, KubeconfigFile},
    parent::Parent,
    security::ServerSecurity,
    signals::Signals,
    with_sources,
};

/// The longest wait for the address of a name.
const RESOLUTION_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Address to listen on, or the name of a host; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8001")]
    listen: String,

    #[command(flatten)]
    entries: EntryOptions,

    /// Leave out the suggestions that follow the address in a terminal.
    #[arg(long)]
    quiet: bool,

    /// End as at SIGTERM when the process that started this one has ended, however it has ended.
    #[arg(long)]
    end_with_parent: bool,

    #[command(flatten)]
    server: ServerOptions,
}

/// The entries in a kubeconfig.
#[derive(Debug, Args)]
struct EntryOptions {
    /// A kubeconfig to add this server to: a cluster, a user and a context.
    ///
    /// Everything else in the file stays as it is. The entries are removed when the server ends, and so is the file if
    /// the server has created it and nothing else is in it.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The name of the cluster, the user and the context in the kubeconfig.
    #[arg(
        long,
        value_name = "NAME",
        requires = "kubeconfig",
        default_value = DEFAULT_CONTEXT,
        value_parser = NonEmptyStringValueParser::new()
    )]
    context: String,

    /// Make the context the current one of the kubeconfig, even if another one is.
    #[arg(long, requires = "kubeconfig")]
    use_context: bool,

    /// Leave the entries in the kubeconfig when the server ends.
    #[arg(long, requires = "kubeconfig")]
    keep: bool,

    /// Make the folder of the kubeconfig, which must not exist, for this user alone; when the server ends, it is removed with
    /// all that is in it.
    #[arg(long, requires = "kubeconfig", conflicts_with = "keep")]
    own_folder: bool,
}

/// The events that end the server.
struct StopEvents {
    signals: Signals,
    parent: Option<Parent>,
}

/// Serves until a signal. A second signal ends the process at once.
pub(super) async fn serve(options: &Options) -> Result<ExitCode, String> {
    let parent = options.end_with_parent.then(Parent::current);
    // Before anything is created: a signal during the start must still remove the folder and the entries.
    let signals = Signals::listen()?;
    let security = &options.server.security;
    let wanted = resolve(&options.listen).await?;
    let mut secured = security.secure(wanted, &options.entries.context)?;
    let file = options.entries.file();
    // Dropped, and with it removed, after all that uses it.
    let _folder = options.entries.make_folder()?;
    if let Some(file) = &file {
        // A kubeconfig that cannot take the entries is an error before the address is taken.
        let checked = file.check(&secured.kubeconfig).await;
        checked.map_err(|error| with_sources(&error))?;
    }
    let listener = TcpListener::bind(wanted)
        .await
        .map_err(|error| not_listening(&options.listen, &error))?;
    let address = listener
        .local_addr()
        .map_err(|error| format!("the listener has no address: {error}"))?;
    // Port 0 becomes the real port only when the listener is bound.
    secured.kubeconfig.address = address;
    let server = options.server.build(&secured)?;
    security.warn(address);
    let mut stopping = StopEvents { signals, parent };
    tokio::select! {
        biased;
        () = stopping.first() => {
            server.shutdown().await;
            return data::save(&server).map(|()| ExitCode::SUCCESS);
        }
        () = await_ready(&server) => {}
    }
    // The entries are added last: a client that finds them can connect.
    let added = match file {
        Some(file) => {
            let added = file.add(&secured.kubeconfig).await;
            Some(added.map_err(|error| with_sources(&error))?)
        }
        None => None,
    };

    let ended = match options.announce(&secured, address, added.as_ref()) {
        Ok(()) => until_stopped(&server, &secured, listener, stopping).await,
        Err(error) => Err(format!("cannot write to stdout: {error}")),
    };
    // The entries are removed on errors, too: nothing above returns early after they were added.
    if let Some(added) = added
        && let Err(error) = added.remove().await
    {
        eprintln!("warning: entries are left: {}", with_sources(&error));
    }
    ended
}

async fn until_stopped(
    server: &FakeServer,
    secured: &ServerSecurity,
    listener: TcpListener,
    mut stopping: StopEvents,
) -> Result<ExitCode, String> {
    let stop = CancellationToken::new();
    let serving = secured.serve(server, listener, stop.clone());
    let stopping = async {
        stopping.first().await;
        stop.cancel();
        // The first signal has begun a graceful end. A second one skips it, and leaves the log to the next server.
        let second = stopping.signals.recv().await;
        Ok(second.exit_code())
    };
    tokio::select! {
        biased;
        code = stopping => code,
        () = serving => {
            // Controllers stop before the state is saved, so that the file has their last writes.
            server.shutdown().await;
            data::save(server)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns the address that `HOST:PORT` stands for; of several, one of version 4.
async fn resolve(listen: &str) -> Result<SocketAddr, String> {
    let why = |error: &dyn Display| {
        format!("--listen {listen}: {error}; try `127.0.0.1:8001`, or port 0 for a free one")
    };
    let found = tokio::time::timeout(RESOLUTION_LIMIT, lookup_host(listen)).await;
    let found = found.map_err(|_| why(&"the name of the host was not resolved in time"))?;
    let found = found.map_err(|error| why(&error))?;
    found
        .min_by_key(SocketAddr::is_ipv6)
        .ok_or_else(|| why(&"the name of the host has no address"))
}

/// Says why an address cannot be listened on, and which one can.
fn not_listening(listen: &str, error: &io::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::AddrNotAvailable => {
            "this machine has no such address, but `127.0.0.1:8001`, or `0.0.0.0:8001` for all it has"
        }
        ErrorKind::PermissionDenied => "ports from 1024 on need no privileges",
        _ => "`--listen 127.0.0.1:0` takes a free port",
    };
    format!("cannot listen on {listen}: {error}; {advice}")
}

// === impl StopEvents ===

impl StopEvents {
    /// Completes at the first signal, or at the end of the parent if the server ends with it.
    ///
    /// # Cancel safety
    ///
    /// The future can be dropped, and the function called again.
    async fn first(&mut self) {
        let parent = async {
            match self.parent {
                Some(parent) => parent.ended().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.signals.recv() => {}
            () = parent => {}
        }
    }
}

// === impl EntryOptions ===

impl EntryOptions {
    fn file(&self) -> Option<KubeconfigFile> {
        let file = KubeconfigFile::new(self.kubeconfig.as_ref()?, "--context");
        Some(file.with_use_context(self.use_context).with_keep(self.keep))
    }

    /// Makes the folder of the kubeconfig, if that is asked for. Dropping it removes it.
    fn make_folder(&self) -> Result<Option<TempDir>, String> {
        let file = self.kubeconfig.as_ref().filter(|_| self.own_folder);
        let Some(file) = file else {
            return Ok(None);
        };
        let path = file.display();
        let folder = absolute(file).map_err(|error| format!("--own-folder: {path}: {error}"))?;
        let (Some(parent), Some(name)) = (
            folder.parent().and_then(Path::parent),
            folder.parent().and_then(Path::file_name),
        ) else {
            return Err(format!("--own-folder: {path} is in no folder of its own"));
        };
        let made = Builder::new()
            .prefix(name)
            .rand_bytes(0)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent);
        made.map(Some)
            .map_err(|error| format!("--own-folder: {error}; name a folder that does not exist"))
    }
}

// === impl Options ===

impl Options {
    /// Prints the addresses of the server and its page, and in a terminal also possible next commands.
    fn announce(
        &self,
        secured: &ServerSecurity,
        address: SocketAddr,
        added: Option<&AddedEntries>,
    ) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        let url = format!("{}://{address}", secured.scheme());
        writeln!(stdout, "listening on {url}")?;
        if let Some(added) = added {
            writeln!(stdout, "{}", added.command())?;
        }
        if let Some(page) = self.server.page.url(&secured.kubeconfig.url()) {
            writeln!(stdout, "live page at {page}")?;
        }
        if stdout.is_terminal() && !self.quiet {
            let file = self.entries.kubeconfig.as_ref().map(|file| {
                let file = absolute(file).unwrap_or_else(|_| file.clone());
                file.to_string_lossy().into_owned()
            });
            let hints = Hints {
                url: &url,
                kubeconfig: file
                    .as_deref()
                    .map(|file| (file, self.entries.context.as_str())),
                asks_for_credentials: self.server.security.asks_for_credentials(),
                runs_workloads: self.server.controllers.workloads.is_some(),
            };
            let is_styled = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            stdout.write_all(hints.text(is_styled).as_bytes())?;
        }
        stdout.flush()
    }
}
