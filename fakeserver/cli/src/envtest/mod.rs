//! `fakeserver envtest -- COMMAND`: a command whose envtest starts this program, once for each version of Kubernetes.

mod report;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use fakeserver_versions::{KubernetesVersion, VersionRange};
use tokio::{process::Command, time::Instant};

use self::report::Report;
use super::{
    addresses::{AddressOptions, SERVICE_RANGE_VARIABLE},
    assets,
    command::{Outcome, run_to_end},
    kubernetes_version,
    orphan_guard::OrphanGuard,
    signals::Signals,
};

/// The variable by which Makefiles of kubebuilder name the version.
const VERSION_OF_MAKEFILES: &str = "ENVTEST_K8S_VERSION";
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

    /// The version of Kubernetes to serve: `1.35`, `1.35.6`, `latest`, `latest-1`, or a range, as in `1.34..1.37`; repeats. The
    /// command runs once for each version, and a table on standard error has its results.
    #[arg(long = "kubernetes-version", value_name = "VERSION", env = kubernetes_version::VARIABLE, default_values_t = [VersionRange::from(KubernetesVersion::DEFAULT)])]
    versions: Vec<VersionRange>,

    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn checked_controllers(text: &str) -> Result<String, String> {
    super::controllers::ControllersChoice::parse(text).map(|_| text.to_owned())
}

/// Runs the command for each version, and ends with the exit status of the first one that failed.
pub(super) async fn envtest(options: &Options) -> Result<ExitCode, String> {
    let mut signals = Signals::listen()?;
    if env::var_os("USE_EXISTING_CLUSTER").is_some_and(|value| value == "true") {
        eprintln!(
            "warning: USE_EXISTING_CLUSTER is true: envtest asks that cluster, and starts nothing"
        );
    }
    let mut versions: Vec<KubernetesVersion> = Vec::new();
    for version in options.versions.iter().flat_map(|range| range.versions()) {
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    let mut report = Report::new(versions, &options.command);
    while let Some(version) = report.begin() {
        let start = Instant::now();
        let outcome = options.run(version, &mut signals).await?;
        report.add(outcome, start.elapsed());
    }
    Ok(report.end())
}

// === impl Options ===

impl Options {
    /// Runs the command with a version.
    async fn run(
        &self,
        version: KubernetesVersion,
        signals: &mut Signals,
    ) -> Result<Outcome, String> {
        let folder = assets::fill(&assets::default_folder(version)?, version, false)?;
        let (program, arguments) = self.command.split_first().expect("clap requires a command");
        let mut command = Command::new(program);
        command.args(arguments);
        self.set_environment(&mut command, version, &folder)?;
        let spawned = command.kill_on_drop(true).spawn();
        let mut child =
            spawned.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
        let id = child.id().expect("it has not been waited for");
        let _guard = OrphanGuard::new(id, None)
            .map_err(|error| format!("cannot watch over {}: {error}", program.display()))?;
        let ended = run_to_end(&mut child, signals).await;
        ended.map_err(|error| format!("cannot wait for {}: {error}", program.display()))
    }

    /// Sets the variables by which the command finds the programs in `folder`, and these what they serve.
    fn set_environment(
        &self,
        command: &mut Command,
        version: KubernetesVersion,
        folder: &Path,
    ) -> Result<(), String> {
        command.env("KUBEBUILDER_ASSETS", folder);
        for (name, file) in OF_PROGRAMS {
            command.env(name, folder.join(file));
        }
        command.env(kubernetes_version::VARIABLE, version.release());
        command.env(VERSION_OF_MAKEFILES, version.name());
        if let Some(controllers) = &self.controllers {
            command.env("FAKESERVER_CONTROLLERS", controllers);
        }
        if let Some(range) = self.addresses.service_range()? {
            command.env(SERVICE_RANGE_VARIABLE, range.to_string());
        }
        if let Some(faults) = &self.faults {
            let faults = std::path::absolute(faults)
                .and_then(|file| std::fs::metadata(&file).map(|_| file))
                .map_err(|error| format!("--faults {}: {error}", faults.display()))?;
            command.env("FAKESERVER_FAULTS", faults);
        }
        Ok(())
    }
}
