//! The folder of a report of `survive`. A complete report replaces the previous one, and no other files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, Permissions, TryLockError},
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use support::seed::fnv1a;
use tempfile::{NamedTempFile, TempDir};

/// The file that tells which files of the folder are the report's.
const LIST: &str = "survive-files.json";
/// The writer that it names.
const WRITER: &str = "conformance survive";
/// A file of a report while it is written again.
const REWRITTEN: &str = ".rewritten";
/// The number of foreign files that an error names.
const NAMED_MAX: usize = 3;

/// The folder of a report, to which no other run writes meanwhile.
pub(super) struct ReportFolder {
    path: PathBuf,
    is_forced: bool,
    /// The folder itself, whose lock ends with this process.
    _lock: File,
}

/// Files that are written beside a report, and put into its folder when all of them are complete.
pub(super) struct NewFiles<'a> {
    folder: &'a ReportFolder,
    staged: TempDir,
}

/// The files of a report.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    written_by: String,
    /// The digest of each file, by its name.
    files: BTreeMap<String, String>,
}

// === impl ReportFolder ===

impl ReportFolder {
    /// Makes the folder and locks it. Fails if another run has it, if it holds files of others and is not forced, or if it takes
    /// no files.
    pub(super) fn lock(path: &Path, is_forced: bool) -> Result<Self, String> {
        let failed = |error| format!("cannot write a report to {}: {error}", path.display());
        fs::create_dir_all(path).map_err(failed)?;
        let lock = File::open(path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "another run writes its report to {}; wait for its end, or choose another --report",
                    path.display()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let folder = Self {
            path: path.to_owned(),
            is_forced,
            _lock: lock,
        };
        let foreign = folder.foreign(&folder.list())?;
        if !foreign.is_empty() && !is_forced {
            return Err(format!(
                "{} holds other files than those that a report wrote there ({}); choose another --report, or --force to put one \
                 among them",
                path.display(),
                named(&foreign)
            ));
        }
        folder.begin()?;
        Ok(folder)
    }

    /// Begins new files, which are removed again if they are dropped.
    pub(super) fn begin(&self) -> Result<NewFiles<'_>, String> {
        let staged = tempfile::Builder::new()
            .prefix(".survive-")
            .tempdir_in(&self.path);
        let staged = staged.map_err(|error| self.failed(&error))?;
        Ok(NewFiles {
            folder: self,
            staged,
        })
    }

    /// Returns the place of a file of the report.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> String {
        format!("cannot write a report to {}: {error}", self.path.display())
    }

    /// Returns the files that a report wrote here; none if there is no list of them, or one of others.
    fn list(&self) -> List {
        let text = fs::read(self.file(LIST)).unwrap_or_default();
        let list = serde_json::from_slice(&text);
        list.ok()
            .filter(|list: &List| list.written_by == WRITER)
            .unwrap_or_else(|| List::of(BTreeMap::new()))
    }

    /// Returns the names of what is here and is not as a report wrote it.
    fn foreign(&self, list: &List) -> Result<BTreeSet<String>, String> {
        let mut foreign = BTreeSet::new();
        for entry in fs::read_dir(&self.path).map_err(|error| self.failed(&error))? {
            let entry = entry.map_err(|error| self.failed(&error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_file = entry.file_type().is_ok_and(|it| it.is_file());
            let is_own = match list.files.get(&name) {
                Some(known) => is_file && digest_of(&entry.path()).as_ref() == Some(known),
                None => name == LIST && !list.files.is_empty(),
            };
            if !is_own {
                foreign.insert(name);
            }
        }
        Ok(foreign)
    }
}

// === impl NewFiles ===

impl NewFiles<'_> {
    /// Writes one of them.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        let written = fs::write(self.staged.path().join(name), content);
        written.map_err(|error| format!("cannot write {}: {error}", self.file(name).display()))
    }

    /// Rewrites one of them. If that fails, the one before stays.
    pub(super) fn rewrite(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        let new = self.staged.path().join(REWRITTEN);
        let written = fs::write(&new, content);
        let written = written.and_then(|()| fs::rename(&new, self.staged.path().join(name)));
        written.map_err(|error| {
            let _ = fs::remove_file(&new);
            format!("cannot write {} again: {error}", self.file(name).display())
        })
    }

    /// Writes one of them, if it can be written whole.
    pub(super) fn try_write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        self.write(name, content).inspect_err(|_| {
            let _ = fs::remove_file(self.staged.path().join(name));
        })
    }

    /// Returns whether one of them is written.
    pub(super) fn has(&self, name: &str) -> bool {
        self.staged.path().join(name).is_file()
    }

    /// Returns the place that a file will have.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.file(name)
    }

    /// Puts them into the folder, and removes what earlier reports wrote there.
    pub(super) fn replace(self) -> Result<(), String> {
        self.put(true)
    }

    /// Puts them into the folder, beside what earlier reports wrote there.
    pub(super) fn add(self) -> Result<(), String> {
        self.put(false)
    }

    fn put(self, replaces: bool) -> Result<(), String> {
        let (staged, folder) = (self.staged.path(), self.folder);
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(staged).map_err(|error| folder.failed(&error))? {
            let path = entry.map_err(|error| folder.failed(&error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let digest =
                digest_of(&path).ok_or_else(|| format!("cannot read {}", path.display()))?;
            files.insert(name.into_owned(), digest);
        }
        let mut old = folder.list().files;
        let mut foreign = folder.foreign(&List::of(old.clone()))?;
        foreign.remove(&*staged.file_name().unwrap_or_default().to_string_lossy());
        let is_in_the_way = |name: &&String| {
            files.contains_key(*name) && (!folder.is_forced || folder.file(name).is_dir())
        };
        let in_the_way: BTreeSet<String> = foreign.iter().filter(is_in_the_way).cloned().collect();
        if !in_the_way.is_empty() {
            return Err(self.kept(&format!("it now holds {}", named(&in_the_way))));
        }
        old.retain(|name, _| !files.contains_key(name) && !foreign.contains(name));
        let mut list = List::of(files.clone());
        if !replaces {
            list.files.extend(old.clone());
        }
        let text = serde_json::to_string_pretty(&list).expect("plain values");
        write(&staged.join(LIST), text)?;
        let names = files.keys().map(String::as_str).chain([LIST]);
        for name in names {
            if let Err(error) = fs::rename(staged.join(name), folder.file(name)) {
                return Err(self.kept(&error.to_string()));
            }
        }
        if replaces {
            for name in old.keys() {
                let removed = fs::remove_file(folder.file(name));
                removed.map_err(|error| folder.failed(&error))?;
            }
        }
        Ok(())
    }

    /// Keeps the files where they are. Returns the error that reports it.
    fn kept(self, why: &str) -> String {
        let (folder, staged) = (self.folder.path.display(), self.staged.keep());
        format!(
            "cannot put the report into {folder}: {why}; it is in {}",
            staged.display()
        )
    }
}

// === impl List ===

impl List {
    fn of(files: BTreeMap<String, String>) -> Self {
        Self {
            written_by: WRITER.to_owned(),
            files,
        }
    }
}

/// Returns the digest of a file: its length and its FNV-1a hash. `None` if it cannot be read.
fn digest_of(path: &Path) -> Option<String> {
    let content = fs::read(path).ok()?;
    Some(format!("{}-{:016x}", content.len(), fnv1a(&content)))
}

/// Writes a file of a report.
pub(super) fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(file, content).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Replaces a file atomically: after an error it is unchanged.
pub(super) fn replace(file: &Path, content: &str) -> Result<(), String> {
    // A link keeps its target.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let failed = |error| format!("cannot write {}: {error}", file.display());
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let mut staged = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    staged.write_all(content.as_bytes()).map_err(failed)?;
    // A temporary file is its owner's alone.
    let permissions =
        fs::metadata(file).map_or(Permissions::from_mode(0o644), |it| it.permissions());
    staged
        .as_file()
        .set_permissions(permissions)
        .map_err(failed)?;
    staged.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}

fn named(names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().map(String::as_str).take(NAMED_MAX).collect();
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(folder: &ReportFolder, files: &[&str]) {
        let new = folder.begin().unwrap();
        for name in files {
            new.write(name, format!("{name} of a report")).unwrap();
        }
        new.replace().unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn refusal(folder: &Path) -> String {
        let locked = ReportFolder::lock(folder, false);
        locked.err().expect("it holds files of others")
    }

    #[test]
    fn a_report_replaces_the_one_before_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let locked = ReportFolder::lock(&path, false).unwrap();
        report(&locked, &["report.json", "0001.json", "0002.json"]);
        let unfinished = locked.begin().unwrap();
        unfinished.write("report.json", "half").unwrap();
        drop(unfinished);
        let all = ["0001.json", "0002.json", "report.json", LIST];
        assert_eq!(names(&path), all);
        let output = locked.begin().unwrap();
        output.write("0000.log", "no such flag").unwrap();
        output.add().unwrap();
        assert_eq!(names(&path).len(), 5);
        drop(locked);
        let locked = ReportFolder::lock(&path, false).unwrap();
        report(&locked, &["report.json", "0003.json"]);
        assert_eq!(names(&path), ["0003.json", "report.json", LIST]);
    }

    #[test]
    fn a_second_run_in_one_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let locked = ReportFolder::lock(folder.path(), false).unwrap();
        assert!(refusal(folder.path()).starts_with("another run writes"));
        drop(locked);
        assert!(ReportFolder::lock(folder.path(), false).is_ok());
    }

    #[test]
    fn files_of_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("report.json"), r#"{"my": 1}"#).unwrap();
        assert!(refusal(path).contains("(report.json)"));
        fs::remove_file(path.join("report.json")).unwrap();

        let locked = ReportFolder::lock(path, false).unwrap();
        report(&locked, &["report.json", "index.html", "0001.json"]);
        drop(locked);
        fs::write(path.join("index.html"), "my own page").unwrap();
        fs::create_dir(path.join("0010.txt")).unwrap();
        assert!(refusal(path).contains("(0010.txt, index.html)"));
        assert_eq!(names(path).len(), 5);

        // They are put among them on request, but a folder is not replaced.
        let locked = ReportFolder::lock(path, true).unwrap();
        let new = locked.begin().unwrap();
        new.write("0010.txt", "new").unwrap();
        let error = new.replace().unwrap_err();
        let staged = error.rsplit("it is in ").next().unwrap();
        assert_eq!(
            fs::read_to_string(Path::new(staged).join("0010.txt")).unwrap(),
            "new"
        );
        assert_eq!(
            fs::read_to_string(path.join("index.html")).unwrap(),
            "my own page"
        );
        fs::remove_dir_all(staged).unwrap();
        fs::remove_dir(path.join("0010.txt")).unwrap();
        report(&locked, &["report.json"]);
        assert_eq!(names(path), ["index.html", "report.json", LIST]);
    }

    #[test]
    fn foreign_files_that_appear_meanwhile_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let locked = ReportFolder::lock(folder.path(), false).unwrap();
        let new = locked.begin().unwrap();
        new.write("report.json", "new").unwrap();
        fs::write(folder.path().join("report.json"), "mine").unwrap();
        let error = new.replace().unwrap_err();
        assert!(error.contains("it is in "), "{error}");
        let kept = fs::read_to_string(folder.path().join("report.json")).unwrap();
        assert_eq!(kept, "mine");
    }
}
