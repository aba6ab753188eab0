//! The folders of assets, one for each release and platform, under the names that `setup-envtest` gives them.

use std::{
    cmp::Reverse,
    env, fs, io,
    path::{Path, PathBuf},
};

use fakeserver_versions::ReleaseNumber;

use super::{super::assets, platform::Platform};

/// The folder of all of them.
#[derive(Debug)]
pub(super) struct Store(PathBuf);

/// A release for a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) release: ReleaseNumber,
    pub(super) platform: Platform,
}

// === impl Store ===

impl Store {
    /// Returns the store in `bin_dir`, or else in the user's folder of data.
    ///
    /// # Errors
    ///
    /// The user has no such folder.
    pub(super) fn at(bin_dir: Option<&Path>) -> Result<Self, String> {
        let root = match bin_dir {
            Some(folder) => folder.to_owned(),
            None => data_folder()?.join("fakeserver-envtest"),
        };
        Ok(Self(root.join("k8s")))
    }

    /// Returns the path of the folder of all of them.
    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    /// Returns the folder of an item, whether it is there or not.
    pub(super) fn folder(&self, item: &Item) -> PathBuf {
        self.0.join(item.folder_name())
    }

    /// Returns the items whose programs fakeserver has made, the newest first. Folders of others are none.
    ///
    /// # Errors
    ///
    /// A folder cannot be read.
    pub(super) fn items(&self) -> Result<Vec<Item>, String> {
        let why = |error: io::Error| format!("{}: {error}", self.0.display());
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(why)?,
        };
        let mut items = Vec::new();
        for entry in entries {
            let entry = entry.map_err(why)?;
            let name = entry.file_name();
            let Some(item) = name.to_str().and_then(Item::of_folder) else {
                tracing::debug!(
                    ?name,
                    "skipped: it is not named by a version and a platform"
                );
                continue;
            };
            if assets::is_filled(&entry.path()).map_err(why)? {
                items.push(item);
            } else {
                tracing::debug!(?name, "skipped: fakeserver has not made its programs");
            }
        }
        items.sort_by_cached_key(|item| (Reverse(item.release), item.platform.clone()));
        Ok(items)
    }
}

// === impl Item ===

impl Item {
    /// Returns the item that a folder of this name has: `1.36.2-linux-amd64`.
    pub(super) fn of_folder(name: &str) -> Option<Self> {
        let (release, platform) = name.split_once('-')?;
        let (os, arch) = platform.split_once('-')?;
        let is_word = |name: &str| {
            let mut letters = name.chars();
            !name.is_empty()
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let is_platform = is_word(os) && is_word(arch);
        is_platform.then_some(())?;
        Some(Self {
            release: ReleaseNumber::parse(release)?,
            platform: Platform {
                os: os.to_owned(),
                arch: arch.to_owned(),
            },
        })
    }

    fn folder_name(&self) -> String {
        let Platform { os, arch } = &self.platform;
        format!("{}-{os}-{arch}", self.release)
    }
}

/// Returns the user's folder of data.
fn data_folder() -> Result<PathBuf, String> {
    let set = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let own = if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".local/share"
    };
    set("XDG_DATA_HOME")
        .or_else(|| Some(set("HOME")?.join(own)))
        .ok_or_else(|| {
            "there is no HOME, and so no folder of data; name one by `--bin-dir`".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use fakeserver_versions::KubernetesVersion;

    use super::*;

    #[test]
    fn a_folder_is_named_by_release_and_platform() {
        for name in [
            "1.36.2-linux-amd64",
            "1.30.0-darwin-arm64",
            "1.34.9-linux-ppc64le",
        ] {
            assert_eq!(Item::of_folder(name).unwrap().folder_name(), name);
        }
        for name in [
            "",
            "1.36.2",
            "1.36-linux-amd64",
            "1.36.2-linux",
            "1.36.2-linux-",
            "v1.36.2-linux-amd64",
            "1.36.2-linux-amd64-2",
        ] {
            assert_eq!(Item::of_folder(name), None, "{name}");
        }
    }

    #[test]
    fn folders_that_others_made_are_no_items() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(Some(folder.path())).unwrap();
        assert_eq!(store.items().unwrap(), []);
        let others = folder.path().join("k8s/1.36.2-linux-amd64");
        fs::create_dir_all(&others).unwrap();
        for program in ["kube-apiserver", "etcd", "kubectl"] {
            fs::write(others.join(program), "a real one").unwrap();
        }
        assert_eq!(store.items().unwrap(), []);
        for release in ["1.34.9", "1.34.10", "1.9.0"] {
            let item = Item::of_folder(&format!("{release}-linux-amd64")).unwrap();
            assets::fill(&store.folder(&item), KubernetesVersion::DEFAULT, false).unwrap();
        }
        let releases: Vec<String> = store
            .items()
            .unwrap()
            .iter()
            .map(|item| item.release.to_string())
            .collect();
        assert_eq!(releases, ["1.34.10", "1.34.9", "1.9.0"]);
    }
}
