//! `fakeserver assets`: the folder that `KUBEBUILDER_ASSETS` names.

use std::{
    env,
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use fakeserver_versions::KubernetesVersion;

use super::{
    kubernetes_version::{self, KubernetesOptions},
    say,
};

/// The names under which the program stands in for others.
pub(super) const NAMES: [&str; 2] = ["kube-apiserver", "etcd"];
const KUBECTL: &str = "kubectl";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The folder; by default one of this version in the user's cache.
    dir: Option<PathBuf>,

    #[command(flatten)]
    pub(super) kubernetes: KubernetesOptions,

    /// Replace files of these names that fakeserver has not made.
    #[arg(long)]
    force: bool,
}

/// Fills the folder, and prints its absolute path.
pub(super) fn assets(options: &Options) -> Result<ExitCode, String> {
    let folder = match &options.dir {
        Some(folder) => folder.clone(),
        None => default_folder(options.kubernetes.kubernetes_version)?,
    };
    let folder = fill(
        &folder,
        options.kubernetes.kubernetes_version,
        options.force,
    )?;
    say(&format!("{}\n", folder.display()))
}

/// Puts the program into `folder` under its other names, where it serves a version of Kubernetes, and returns the absolute
/// path. kubectl is linked, if there is one.
///
/// # Errors
///
/// The folder cannot be written, or has a file of such a name that is not this program's, without `force`.
pub(super) fn fill(
    folder: &Path,
    kubernetes: KubernetesVersion,
    force: bool,
) -> Result<PathBuf, String> {
    let why = |error: io::Error| format!("assets {}: {error}", folder.display());
    let program = env::current_exe().and_then(fs::canonicalize).map_err(why)?;
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        let folder = folder.display();
        return Err(format!("assets {folder}: it is a file; name a folder"));
    }
    fs::create_dir_all(folder).map_err(why)?;
    let folder = fs::canonicalize(folder).map_err(why)?;
    let _lock = lock(&folder);
    let mut missing = Vec::new();
    for file in NAMES.map(|name| folder.join(name)) {
        if is_to_be_made(&program, &file, force)? {
            missing.push(file);
        }
    }
    for file in missing {
        place(&program, &file)?;
    }
    kubernetes_version::put(&folder, kubernetes).map_err(why)?;
    let link = folder.join(KUBECTL);
    match on_path(KUBECTL, &folder) {
        Some(_) if link.symlink_metadata().is_ok() => {}
        Some(kubectl) => symlink(&kubectl, &link)
            .and_then(|()| mark(&link, &identity(&link)?))
            .map_err(why)?,
        None => eprintln!("note: no kubectl is on the PATH, so that there is none in the folder"),
    }
    Ok(folder)
}

/// Returns true if fakeserver has made the programs in `folder`.
///
/// # Errors
///
/// The folder cannot be read.
pub(super) fn is_filled(folder: &Path) -> io::Result<bool> {
    for file in NAMES.map(|name| folder.join(name)) {
        if !is_ours(&file)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes what fakeserver has made in `folder`, and the folder if nothing else is in it. Returns true if it is gone.
///
/// # Errors
///
/// A file cannot be removed.
pub(super) fn clear(folder: &Path) -> io::Result<bool> {
    let _lock = lock(folder);
    for file in NAMES.iter().chain([&KUBECTL]).map(|name| folder.join(name)) {
        if is_ours(&file)? {
            fs::remove_file(&file)?;
            fs::remove_file(marker_of(&file))?;
        }
    }
    kubernetes_version::remove(folder)?;
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until no other process fills the folder or clears it, as long as the value lives. That takes as long as two copies, and
/// the system ends the lock of a process that was killed.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    // A file system without locks does without.
    folder.lock().ok()?;
    Some(folder)
}

/// Returns the folder of this version in the user's cache.
pub(super) fn default_folder(kubernetes: KubernetesVersion) -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| {
        let home = set("HOME")?;
        Some(home.join(if cfg!(target_os = "macos") {
            "Library/Caches"
        } else {
            ".cache"
        }))
    });
    let cache =
        cache.ok_or("there is no HOME, and so no cache; try `fakeserver assets ./assets`")?;
    let name = match kubernetes {
        KubernetesVersion::DEFAULT => env!("CARGO_PKG_VERSION").to_owned(),
        other => format!("{}-kubernetes-{}", env!("CARGO_PKG_VERSION"), other.name()),
    };
    Ok(cache.join("fakeserver").join("assets").join(name))
}

/// Returns true unless `file` is the program already.
///
/// # Errors
///
/// The file exists and was not made by this program, and `force` is false.
fn is_to_be_made(program: &Path, file: &Path, force: bool) -> Result<bool, String> {
    let why = |error: io::Error| format!("assets {}: {error}", file.display());
    match file.symlink_metadata() {
        Ok(_) if is_same(program, file).map_err(why)? || is_copy(program, file).map_err(why)? => {
            Ok(false)
        }
        Ok(_) if !force && !is_ours(file).map_err(why)? => Err(format!(
            "assets {}: fakeserver has not made this file; `--force` replaces it, and another folder keeps it",
            file.display()
        )),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(why(error)),
    }
}

/// Makes `file` the program: a hard link, or a copy where that cannot be.
fn place(program: &Path, file: &Path) -> Result<(), String> {
    let why = |error: io::Error| format!("assets {}: {error}", file.display());
    // Beside it first: who starts the program meanwhile finds a whole one.
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let made = fs::hard_link(program, &new).or_else(|_| {
        fs::copy(program, &new)?;
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755))
    });
    made.and_then(|()| fs::rename(&new, file))
        .map_err(|error| {
            // The partial file has no further use, and its removal may fail.
            drop(fs::remove_file(&new));
            why(error)
        })?;
    let made = identity(file).map_err(why)?;
    let program = version_of(program).map_err(why)?;
    mark(file, &format!("{made}\n{program}")).map_err(why)
}

/// Notes that fakeserver has made `file`.
fn mark(file: &Path, text: &str) -> io::Result<()> {
    fs::write(marker_of(file), text)
}

/// Returns the file that says which one fakeserver has made.
fn marker_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.fakeserver"))
}

/// Returns whether the file was made by fakeserver and not replaced since.
fn is_ours(file: &Path) -> io::Result<bool> {
    let marker = fs::read_to_string(marker_of(file));
    let is_ours = marker.and_then(|text| Ok(text.lines().next() == Some(&*identity(file)?)));
    match is_ours {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        known => known,
    }
}

/// Returns true if fakeserver has copied this program to `file`.
fn is_copy(program: &Path, file: &Path) -> io::Result<bool> {
    if !is_ours(file)? {
        return Ok(false);
    }
    let marker = fs::read_to_string(marker_of(file))?;
    Ok(marker.lines().nth(1) == Some(&*version_of(program)?))
}

/// Returns what tells a file from others of its name.
fn identity(file: &Path) -> io::Result<String> {
    let found = fs::symlink_metadata(file)?;
    Ok(format!("{} {} {}", found.dev(), found.ino(), found.len()))
}

/// Returns what tells the program from one that was built later, which may be in its place.
fn version_of(program: &Path) -> io::Result<String> {
    let found = fs::metadata(program)?;
    let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
    Ok(format!("{} {seconds}.{nanoseconds}", identity(program)?))
}

/// Returns true if both are one file.
fn is_same(program: &Path, file: &Path) -> io::Result<bool> {
    let (program, file) = (fs::metadata(program)?, fs::symlink_metadata(file)?);
    Ok(program.dev() == file.dev() && program.ino() == file.ino())
}

/// Finds a program, but not in `except`.
fn on_path(name: &str, except: &Path) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths)
        .filter(|folder| folder != except)
        .map(|folder| folder.join(name))
        .find(|file| {
            let found = fs::metadata(file);
            found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_others_made_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("etcd");
        fs::write(&file, "a real one").unwrap();
        let error = fill(folder.path(), KubernetesVersion::DEFAULT, false).unwrap_err();
        assert!(error.contains("--force"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), b"a real one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fill(folder.path(), KubernetesVersion::DEFAULT, true).unwrap();
        // What it has made itself is replaced without being asked.
        for _ in 0..2 {
            let filled = fill(folder.path(), KubernetesVersion::DEFAULT, false).unwrap();
            assert!(filled.is_absolute());
        }
        assert!(is_ours(&folder.path().join("kube-apiserver")).unwrap());
        assert!(is_filled(folder.path()).unwrap());
        // A file that the user puts in the place of such a file is not ours.
        fs::remove_file(&file).unwrap();
        fs::write(&file, "a real one again").unwrap();
        fill(folder.path(), KubernetesVersion::DEFAULT, false).unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), b"a real one again");
        // It stays, and so does its folder.
        assert!(!is_filled(folder.path()).unwrap());
        assert!(!clear(folder.path()).unwrap());
        assert!(fs::read(&file).unwrap() == b"a real one again");
        assert!(!folder.path().join("kube-apiserver").exists());
    }

    #[test]
    fn a_copy_is_made_once_for_each_build_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let (program, file) = (folder.path().join("program"), folder.path().join("etcd"));
        fs::write(&program, "a program").unwrap();
        fs::copy(&program, &file).unwrap();
        let text = format!(
            "{}\n{}",
            identity(&file).unwrap(),
            version_of(&program).unwrap()
        );
        mark(&file, &text).unwrap();
        assert!(!is_to_be_made(&program, &file, false).unwrap());
        fs::remove_file(&program).unwrap();
        fs::write(&program, "a program").unwrap();
        assert!(is_to_be_made(&program, &file, false).unwrap());
    }

    #[test]
    fn a_folder_with_nothing_else_is_cleared_to_its_end() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("assets");
        fill(&folder, KubernetesVersion::LATEST, false).unwrap();
        assert!(clear(&folder).unwrap());
        assert!(!folder.exists());
        assert!(!is_filled(&folder).unwrap());
    }
}
