//! The command line: `serve` runs until it is stopped, `run` for as long as a command runs.

#[doc(hidden)]
pub mod kubeconfig;
#[doc(hidden)]
pub mod output;
mod orphan_guard;
mod run;
mod hints;
mod serve;
mod apiserver;
mod assets;
mod setup_envtest;
mod command;
mod envtest;
mod terminal;
mod faults;
mod check;
mod diff;
mod etcd;
mod shell;
mod parent;
mod signals;
mod addresses;
mod admission;
mod kubernetes_version;
mod feature_gates;
mod data;
mod etcd_state;
mod etcd_snapshot;
mod snapshot;
mod cluster;
mod controllers;
mod webhooks;
mod pods;
mod security;
mod audit;
mod page;
mod trace;

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal, Write as _},
    iter,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use fakeserver_cluster::workloads::Stage;
use fakeserver_server::{
    Clock, Compaction, Controllers, FakeServer, faults::FaultSpec, server::with_sources,
};
use jiff::SignedDuration;
use tracing_subscriber::EnvFilter;

use self::controllers::ControllersChoice;

/// The filter of logs by default, and the variables that have another one, the first of them first.
const LOG_DEFAULT: &str = "warn";
const LOG_VARIABLE: &str = "FAKESERVER_LOG";
const LOG_VARIABLE_OF_RUST: &str = "RUST_LOG";

/// A Kubernetes API server for tests: exact, in memory, started in milliseconds.
#[derive(Debug, Parser)]
#[command(
    name = "fakeserver",
    version,
    after_help = "Examples:\n  \
        fakeserver serve --listen 127.0.0.1:8001 --kubeconfig ./kubeconfig\n  \
        kubectl --kubeconfig ./kubeconfig --context fakeserver get namespaces\n  \
        fakeserver run -- kubectl get namespaces\n  \
        fakeserver envtest -- go test ./...\n  \
        fakeserver envtest --kubernetes-version 1.33 --kubernetes-version 1.36 -- go test ./...\n  \
        export KUBEBUILDER_ASSETS=$(fakeserver assets)\n  \
        fakeserver setup-envtest use 1.34.x -p path\n  \
        fakeserver faults throttle\n  \
        fakeserver check --kubernetes-version 1.34..1.37 deploy/\n  \
        fakeserver diff deploy/ new/\n  \
        fakeserver serve --etcd-snapshot backup.db --kubeconfig ./kubeconfig\n  \
        fakeserver snapshot --from-etcd-snapshot backup.db -o manifests\n  \
        fakeserver serve --controllers workloads --pod-backend app=web=127.0.0.1:3000\n  \
        fakeserver run --tls --authorization rbac -- kubectl auth whoami\n  \
        fakeserver serve --tls --authorization rbac --token secret=jane,developers --kubeconfig ./kubeconfig"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Log filter for stderr, as in `info` or `fakeserver=debug`. `fakeserver::access=info` tells each request.
    /// Without it `RUST_LOG` counts; the default is `warn`
    #[arg(long, global = true, value_name = "FILTER", env = LOG_VARIABLE)]
    log: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until SIGINT or SIGTERM.
    ///
    /// The first line on stdout is `listening on http://ADDRESS:PORT`, or `https://` by TLS. With `--controllers workloads` it comes
    /// when all nodes are ready and the pods have started, or after 30 s with a warning of what is missing.
    Serve(serve::Options),
    /// Serve while a command runs, with KUBECONFIG set for it, and end with its exit status.
    Run(run::Options),
    /// Make a folder for `KUBEBUILDER_ASSETS`, and print its path.
    ///
    /// It has `kube-apiserver` and `etcd`, as which this program starts in milliseconds, and `kubectl` if there is one:
    /// `export KUBEBUILDER_ASSETS=$(fakeserver assets)`.
    Assets(assets::Options),
    /// The words of controller-runtime's `setup-envtest`, for folders that `assets` makes: a Makefile changes one name.
    SetupEnvtest(setup_envtest::Options),
    /// Run a command whose test environments (envtest) start this program, and end with its exit status.
    ///
    /// It runs once for each version of Kubernetes. The exit status is 0 if it has passed with all, or else that of its first failure.
    Envtest(envtest::Options),
    /// Print the faults that there are, or one with its parameters and the fields of a rule.
    Faults(faults::Options),
    /// Check manifests against the servers of one or several versions of Kubernetes, in process.
    ///
    /// Every manifest is created in the order of dependencies, definitions, policies and webhook configurations included. Errors,
    /// warnings, unknown fields, removed and deprecated APIs and denials of policies are reported with file and line.
    Check(check::Options),
    /// Show what a server changes when new manifests are applied over old ones, with defaults filled in.
    Diff(diff::Options),
    /// Print the objects of an etcd's snapshot as manifests, without an etcd and without a server.
    ///
    /// The values of secrets are left out unless `--with-secrets` asks for them.
    Snapshot(snapshot::Options),
    /// Print the completions of a shell: `source <(fakeserver completions bash)`.
    Completions(shell::Completions),
    /// Print the manual page, or write all pages into a folder.
    Man(shell::Man),
}

/// The parts of a server.
#[derive(Debug, Args)]
struct ServerOptions {
    #[command(flatten)]
    kubernetes: kubernetes_version::KubernetesOptions,

    /// The number from which uids and generated names follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Age up to which history is kept: older versions are answered with 410. `off` keeps all
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_age)]
    compact_age: AgeLimit,

    /// Bytes of history that are kept. `off` keeps all
    #[arg(long, value_name = "BYTES", default_value = "134217728", value_parser = parse_bytes)]
    compact_bytes: SizeLimit,

    /// Keep objects compressed: less memory for a large cluster, some microseconds more for each object that is written
    /// or read.
    #[arg(long)]
    compress: bool,

    /// Which controllers work: a list of `default` (those two that follow), `garbage-collector`, `namespaces`,
    /// `certificates`, `quota`, `service-accounts` and `workloads`; or `none`.
    ///
    /// `service-accounts` makes the service account `default` in every namespace, and the config map
    /// `kube-root-ca.crt`, without `--tls` with a certificate that stands for none; it writes tokens into secrets of the type `kubernetes.io/service-account-token`. It turns on the
    /// admission plugin `ServiceAccount`.
    ///
    /// `quota` counts the usage of resource quotas, which limit nothing without it.
    ///
    /// `certificates` signs approved certificate signing requests of the built-in signers, approves those of kubelets if an
    /// authorizer allows it, and deletes old ones. By `--tls` the server takes the certificates that it signs.
    ///
    /// `workloads` runs deployments, replica sets, replication controllers, stateful sets, daemon sets, jobs and cron jobs,
    /// a scheduler, and a kubelet for every node; it gives services endpoints and claims volumes, evicts pods from nodes that
    /// fail, and checks the types of validating admission policies. If there are none when it starts, it makes `node-0` and the
    /// storage class `standard`. It takes the others along.
    #[arg(long, value_name = "LIST", default_value = "default", value_parser = ControllersChoice::parse)]
    controllers: ControllersChoice,

    #[command(flatten)]
    admission: admission::AdmissionOptions,

    #[command(flatten)]
    feature_gates: feature_gates::FeatureGateOptions,

    /// Begin without the objects that every cluster has, not even with namespaces.
    #[arg(long)]
    no_bootstrap: bool,

    #[command(flatten)]
    addresses: addresses::AddressOptions,

    /// Reads that are served at a time; further ones are answered with 429. 0 is no limit
    #[arg(long, value_name = "COUNT", default_value_t = 400)]
    max_requests_inflight: usize,

    /// Writes that are served at a time; further ones are answered with 429. 0 is no limit
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    max_mutating_requests_inflight: usize,

    /// Faults to begin with: a file of JSON, one or an array of what is posted to `/_control/faults`.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,

    /// Stages of pods and other objects: a file of YAML that says what becomes of them, and when. Several files are read in
    /// order; no two stages have the same name. They need `--controllers workloads`.
    #[arg(long, value_name = "FILE")]
    stages: Vec<PathBuf>,

    #[command(flatten)]
    cluster: cluster::ClusterArguments,

    #[command(flatten)]
    data: data::DataOptions,

    #[command(flatten)]
    etcd: etcd_state::EtcdArguments,

    #[command(flatten)]
    etcd_snapshot: etcd_snapshot::EtcdSnapshotOptions,

    #[command(flatten)]
    webhooks: webhooks::WebhookOptions,

    #[command(flatten)]
    pods: pods::PodOptions,

    #[command(flatten)]
    security: security::SecurityOptions,

    #[command(flatten)]
    audit: audit::AuditOptions,

    #[command(flatten)]
    page: page::PageOptions,

    #[command(flatten)]
    trace: trace::TraceOptions,
}

#[derive(Clone, Copy, Debug)]
struct AgeLimit(Option<Duration>);

#[derive(Clone, Copy, Debug)]
struct SizeLimit(Option<u64>);

/// Returns the command line, for those who read pages that name parts of it.
#[doc(hidden)]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the program with the arguments of this process.
///
/// Under the names `kube-apiserver` and `etcd` it takes their flags instead, and under that of `setup-envtest` its words.
pub fn main() -> ExitCode {
    let mut words = env::args_os();
    let name = words.next().map(PathBuf::from).unwrap_or_default();
    let text = |word: OsString| word.to_string_lossy().into_owned();
    match name.file_name().and_then(OsStr::to_str) {
        Some("kube-apiserver") => {
            run_logged(env::var(LOG_VARIABLE).ok(), apiserver::run(words.map(text)))
        }
        Some("etcd") => run_logged(env::var(LOG_VARIABLE).ok(), etcd::run(words.map(text))),
        name => {
            let command = (name == Some(setup_envtest::NAME)).then_some(setup_envtest::NAME);
            let start = iter::once("fakeserver").chain(command).map(OsString::from);
            let Arguments { command, log } = Arguments::parse_from(start.chain(words));
            run_logged(log.or_else(|| command.log()), async {
                match &command {
                    Command::Serve(options) => serve::serve(options).await,
                    Command::Run(options) => run::run(options).await,
                    Command::Assets(options) => assets::assets(options),
                    Command::SetupEnvtest(options) => setup_envtest::setup_envtest(options),
                    Command::Envtest(options) => envtest::envtest(options).await,
                    Command::Faults(options) => faults::faults(options),
                    Command::Check(options) => check::run(options).await,
                    Command::Diff(options) => diff::run(options).await,
                    Command::Snapshot(options) => snapshot::snapshot(options),
                    Command::Completions(options) => shell::completions(options),
                    Command::Man(options) => shell::man(options),
                }
            })
        }
    }
}

/// Runs a program to its end, with a filter of logs, or the one that is usual for programs in Rust.
fn run_logged(
    log: Option<String>,
    program: impl Future<Output = Result<ExitCode, String>>,
) -> ExitCode {
    let (name, log) = match (log, env::var(LOG_VARIABLE_OF_RUST)) {
        (Some(log), _) => ("--log", log),
        (None, Ok(log)) if !log.is_empty() => (LOG_VARIABLE_OF_RUST, log),
        (None, _) => ("", LOG_DEFAULT.to_owned()),
    };
    let filter = match EnvFilter::try_new(&log) {
        Ok(filter) => filter,
        Err(error) => return failure(&format!("{name} {log:?}: {error}; try `info`")),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failure(&format!("no runtime: {error}")),
    };
    let outcome = runtime.block_on(program);
    // What still runs belongs to connections that did not end in time.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|error| failure(&error))
}

/// Writes to standard output, and ends the program with success. A closed pipe is no error.
fn say(text: &str) -> Result<ExitCode, String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to stdout: {error}"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn failure(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

// === impl Command ===

impl Command {
    /// Returns the filter of logs that its own flags ask for.
    fn log(&self) -> Option<String> {
        let Self::SetupEnvtest(options) = self else {
            return None;
        };
        options.level.map(|level| level.filter().to_owned())
    }
}

// === impl ServerOptions ===

impl ServerOptions {
    fn build(&self, secured: &security::ServerSecurity) -> Result<FakeServer, String> {
        let kubernetes = self.kubernetes.kubernetes_version;
        let builder = FakeServer::builder()
            .with_kubernetes_version(kubernetes)
            .with_seed(self.seed)
            .with_clock(Clock::wall())
            .with_compaction(Compaction {
                age: self.compact_age.0,
                bytes: self.compact_bytes.0,
            })
            .with_compression(self.compress)
            .with_bootstrap(!self.no_bootstrap)
            .with_controllers(self.controllers()?)
            .with_max_requests_in_flight(self.max_requests_inflight)
            .with_max_mutating_requests_in_flight(self.max_mutating_requests_inflight);
        let builder = self.admission.configure(secured.configure(builder));
        let builder = self.addresses.configure(builder)?;
        let builder = self.feature_gates.configure(kubernetes, builder)?;
        let builder = self.audit.configure(builder)?;
        let builder = self.page.configure(self.cluster.configure(builder));
        let builder = self.pods.configure(builder, &self.controllers)?;
        let builder = self.etcd.configure(self.trace.configure(builder)?)?;
        let prefix = self.etcd.prefix();
        let builder = self.etcd_snapshot.configure(kubernetes, prefix, builder)?;
        let server = self.data.build(builder)?;
        self.admission.warn();
        self.webhooks.configure(&server);
        if let Some(file) = &self.faults {
            install_faults(&server, file)?;
        }
        Ok(server)
    }

    /// Returns the controllers, with the stages of the files and the pods of the cluster itself.
    fn controllers(&self) -> Result<Controllers, String> {
        let mut controllers = self.controllers.clone();
        let mut files: BTreeMap<String, &Path> = BTreeMap::new();
        for file in &self.stages {
            let stages = read_stages(file)?;
            check_names(&stages, file, &mut files)?;
            let missing = || "--stages needs `--controllers workloads`".to_owned();
            controllers = controllers.with_workloads(missing, |all| all.with_stages(stages))?;
        }
        let controllers = self.pods.controllers(controllers)?;
        self.cluster.check(&controllers)?;
        Ok(controllers.all())
    }
}

/// Reads the controllers that `--controllers` names.
///
/// # Errors
///
/// A name is unknown, or `none` is not alone; the message says which.
pub fn parse_controllers(text: &str) -> Result<Controllers, String> {
    ControllersChoice::parse(text).map(ControllersChoice::all)
}

/// Reads the stages of a file.
fn read_stages(file: &Path) -> Result<Vec<Stage>, String> {
    let path = file.display();
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("--stages {path}: {error}"))?;
    Stage::parse(&text).map_err(|error| format!("--stages {path}: {error}"))
}

/// Checks that no other file has a stage of the same name. `files` are those that were read before, by the names of stages.
fn check_names<'a>(
    stages: &[Stage],
    file: &'a Path,
    files: &mut BTreeMap<String, &'a Path>,
) -> Result<(), String> {
    for stage in stages {
        if let Some(other) = files.insert(stage.name().to_owned(), file) {
            let [path, other] = [file, other].map(Path::display);
            let name = stage.name();
            return Err(format!(
                "--stages {path}: a stage of {other} has the name {name:?} already: give another"
            ));
        }
    }
    Ok(())
}

/// Waits until the cluster behind the API is there, and warns if it is not in time.
async fn await_ready(server: &FakeServer) {
    if let Err(error) = server.ready().await {
        eprintln!("warning: {error}");
    }
}

fn install_faults(server: &FakeServer, file: &Path) -> Result<(), String> {
    let path = file.display();
    let text = std::fs::read(file).map_err(|error| format!("--faults {path}: {error}"))?;
    let specs = FaultSpec::read(&text).map_err(|error| format!("--faults {path}: {error}"))?;
    for spec in &specs {
        if let Some(warning) = server.fault_warning(spec) {
            eprintln!("warning: --faults {path}: {warning}");
        }
        server.faults().install_spec(spec).detach();
    }
    Ok(())
}

fn parse_age(text: &str) -> Result<AgeLimit, String> {
    if text == "off" {
        return Ok(AgeLimit(None));
    }
    let age = text
        .parse::<SignedDuration>()
        .map_err(|error| format!("{error}; try `5m`, `90s` or `off`"))?;
    let age = Duration::try_from(age).map_err(|_| "an age cannot be negative".to_owned())?;
    Ok(AgeLimit(Some(age)))
}

fn parse_bytes(text: &str) -> Result<SizeLimit, String> {
    if text == "off" {
        return Ok(SizeLimit(None));
    }
    text.parse()
        .map(|bytes| SizeLimit(Some(bytes)))
        .map_err(|error| format!("{error}; try `134217728` or `off`"))
}
