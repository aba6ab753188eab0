//! The version of Kubernetes, on the command line and for the program under its other names.

use std::{env, fs, io, path::Path, str::FromStr};

use clap::Args;
use fakeserver_versions::KubernetesVersion;

/// The variable that names the version: for the program under the name `kube-apiserver`, and where the flag is not given.
pub(super) const VARIABLE: &str = "FAKESERVER_KUBERNETES_VERSION";
/// The file beside that program that names it, in a folder of assets, which may be a user's: no other program has such a file.
const FILE: &str = ".fakeserver-kubernetes-version";

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct KubernetesOptions {
    /// The version of Kubernetes to serve: `1.35`, `1.35.6`, `latest`, or `latest-1` for the one before.
    #[arg(long, value_name = "VERSION", env = VARIABLE, default_value_t = KubernetesVersion::DEFAULT)]
    pub(super) kubernetes_version: KubernetesVersion,
}

/// A version of Kubernetes, or two of them with all between: `1.34..1.37`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VersionRange {
    first: KubernetesVersion,
    last: KubernetesVersion,
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

// === impl VersionRange ===

impl VersionRange {
    /// The range that has only the default version.
    pub(super) const DEFAULT: &str = "1.36";

    /// Returns the versions, from old to new.
    pub(super) fn versions(&self) -> impl Iterator<Item = KubernetesVersion> + use<> {
        let (first, last) = (self.first, self.last);
        KubernetesVersion::all().filter(move |version| (first..=last).contains(version))
    }
}

/// Reads a version, or two with `..` between them.
impl FromStr for VersionRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let version = |text: &str| text.parse().map_err(|error| format!("{error}"));
        let Some((first, last)) = text.split_once("..") else {
            let only: KubernetesVersion = version(text)?;
            return Ok(Self {
                first: only,
                last: only,
            });
        };
        let last = last.strip_prefix('=').unwrap_or(last);
        let (first, last): (KubernetesVersion, KubernetesVersion) =
            (version(first)?, version(last)?);
        if first > last {
            return Err(format!(
                "{text} has no version: write the older one first, as in {}..{}",
                last.name(),
                first.name()
            ));
        }
        Ok(Self { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, String> {
        let range: VersionRange = text.parse()?;
        let names: Vec<&str> = range.versions().map(KubernetesVersion::name).collect();
        Ok(names.join(" "))
    }

    #[test]
    fn a_range_has_both_ends() {
        for (text, expected) in [
            ("1.35", "1.35"),
            ("v1.34.9", "1.34"),
            ("1.34..1.36", "1.34 1.35 1.36"),
            ("1.34..=1.35", "1.34 1.35"),
            ("latest-1..latest", "1.36 1.37"),
            ("1.36..1.36", "1.36"),
            (VersionRange::DEFAULT, KubernetesVersion::DEFAULT.name()),
        ] {
            assert_eq!(check(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_wrong_range_says_what_to_write() {
        assert_eq!(
            check("1.36..1.34").unwrap_err(),
            "1.36..1.34 has no version: write the older one first, as in 1.34..1.36"
        );
        for text in ["1.3", "1.34..", "..1.36", "1.34-1.36"] {
            let error = check(text).unwrap_err();
            assert!(error.contains("there are 1.31.14, "), "{error}");
        }
    }
}
