//! `fakeserver envtest -- COMMAND`: a command whose envtest starts this program.

use std::{env, ffi::OsString, path::PathBuf, process::ExitCode};

use clap::Args;
use tokio::process::Command;

use super::{
    addresses::{AddressOptions, SERVICE_RANGE_VARIABLE},
    assets,
    command::run_to_end,
    kubernetes_version::{self, KubernetesOptions},
    orphan_guard::OrphanGuard,
    signals::Signals,
};

/// The variables that name the programs one by one, and count more than the folder.
const OF_PROGRAMS: [(&str, &str); 2] = [
    ("TEST_ASSET_KUBE_APISERVER", "kube-apiserver"),
    ("TEST_ASSET_ETCD", "etcd"),
];

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Controllers that work in each control plane: a list as in `fakeserver serve --controllers`.
    ///
    /// None by default, as in envtest with the real one.
    #[arg(long, value_name = "LIST", value_parser = checked_controllers)]
    controllers: Option<String>,

    /// Faults that each control plane begins with: a file as in `fakeserver serve --faults`.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,

    #[command(flatten)]
    addresses: AddressOptions,

    #[command(flatten)]
    kubernetes: KubernetesOptions,

    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn checked_controllers(text: &str) -> Result<String, String> {
    super::controllers::ControllersChoice::parse(text).map(|_| text.to_owned())
}

/// Runs the command, and ends with its exit status.
pub(super) async fn envtest(options: &Options) -> Result<ExitCode, String> {
    let mut signals = Signals::listen()?;
    let kubernetes = options.kubernetes.kubernetes_version;
    let folder = assets::fill(&assets::default_folder(kubernetes)?, kubernetes, false)?;
    if env::var_os("USE_EXISTING_CLUSTER").is_some_and(|value| value == "true") {
        eprintln!(
            "warning: USE_EXISTING_CLUSTER is true: envtest asks that cluster, and starts nothing"
        );
    }
    let (program, arguments) = options
        .command
        .split_first()
        .expect("clap requires a command");
    let mut command = Command::new(program);
    command.args(arguments).env("KUBEBUILDER_ASSETS", &folder);
    command.env(kubernetes_version::VARIABLE, kubernetes.release());
    for (name, file) in OF_PROGRAMS {
        command.env(name, folder.join(file));
    }
    if let Some(controllers) = &options.controllers {
        command.env("FAKESERVER_CONTROLLERS", controllers);
    }
    if let Some(range) = options.addresses.service_range()? {
        command.env(SERVICE_RANGE_VARIABLE, range.to_string());
    }
    if let Some(faults) = &options.faults {
        let faults = std::path::absolute(faults)
            .and_then(|file| std::fs::metadata(&file).map(|_| file))
            .map_err(|error| format!("--faults {}: {error}", faults.display()))?;
        command.env("FAKESERVER_FAULTS", faults);
    }
    let spawned = command.kill_on_drop(true).spawn();
    let mut child =
        spawned.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let id = child.id().expect("it has not been waited for");
    let _guard = OrphanGuard::new(id, None)
        .map_err(|error| format!("cannot watch over {}: {error}", program.display()))?;
    let ended = run_to_end(&mut child, &mut signals).await;
    ended.map_err(|error| format!("cannot wait for {}: {error}", program.display()))
}
