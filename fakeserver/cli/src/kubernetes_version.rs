//! The version of Kubernetes, on the command line and for the program under its other names.

use std::{env, fs, io, path::Path};

use clap::Args;
use fakeserver_versions::KubernetesVersion;

/// The variable that names the version: for the program under the name `kube-apiserver`, and where the flag is not given.
pub(super) const VARIABLE: &str = "FAKESERVER_KUBERNETES_VERSION";
/// The file beside that program that names it, in a folder of assets, which may be a user's: no other program has such a file.
const FILE: &str = ".fakeserver-kubernetes-version";

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct KubernetesOptions {
    /// The version of Kubernetes to serve: `1.35`, `1.35.6`, `latest`, or `latest-1` for the one before. A POST to
    /// `/_control/kubernetes-version` upgrades a server that runs.
    #[arg(long, value_name = "VERSION", env = VARIABLE, default_value_t = KubernetesVersion::DEFAULT)]
    pub(super) kubernetes_version: KubernetesVersion,
}

/// Returns the version for the program under another name: by the variable, or else by the file beside it.
///
/// # Errors
///
/// There is no such version.
pub(super) fn of_program() -> Result<KubernetesVersion, String> {
    if let Ok(text) = env::var(VARIABLE) {
        return read(VARIABLE, &text);
    }
    let file = env::current_exe().map(|program| program.with_file_name(FILE));
    let Ok(file) = file else {
        return Ok(KubernetesVersion::DEFAULT);
    };
    match fs::read_to_string(&file) {
        Ok(text) => read(&file.display().to_string(), &text),
        Err(_) => Ok(KubernetesVersion::DEFAULT),
    }
}

fn read(source: &str, text: &str) -> Result<KubernetesVersion, String> {
    let version = text.trim().parse();
    version.map_err(|error| format!("{source}: {error}"))
}

/// Names the version for the programs in a folder. The default has no file.
///
/// What says so already is left as it is: a program that starts meanwhile reads a whole file.
pub(super) fn put(folder: &Path, version: KubernetesVersion) -> io::Result<()> {
    if version == KubernetesVersion::DEFAULT {
        return remove(folder);
    }
    let (file, text) = (folder.join(FILE), format!("{version}\n"));
    match fs::read_to_string(&file) {
        Ok(found) if found == text => Ok(()),
        _ => fs::write(file, text),
    }
}

/// Removes the name of the version from a folder.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
