//! Kubeconfigs on the disk: read, merged and replaced under a lock.

use std::{
    fs::{self, File, Metadata},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, fchown},
    path::{Path, PathBuf},
};

use fakeserver_server::store::snapshot::{directory_of, resolve};
use tempfile::NamedTempFile;

use super::{
    Kubeconfig, KubeconfigError,
    edit::{self, FoundEntry},
    error::EditError,
    lock::Lock,
    mark::{Mark, Owner},
};

/// A file that the entries of a server are added to. All other bytes of the file stay unchanged.
#[derive(Debug)]
pub struct KubeconfigFile {
    path: PathBuf,
    option: &'static str,
    use_context: bool,
    keep: bool,
}

/// The entries of a server in a file.
#[derive(Debug)]
#[must_use = "the entries stay in the file unless they are removed"]
pub struct AddedEntries {
    file: KubeconfigFile,
    mark: Mark,
    /// The file's text before and after they were added.
    before: Option<String>,
    after: String,
}

/// A file that is there, or not yet.
struct State {
    /// The path after all links are followed.
    target: PathBuf,
    /// The text and the metadata of the file, if it exists.
    present: Option<(String, Metadata)>,
    _lock: Lock,
}

// === impl KubeconfigFile ===

impl KubeconfigFile {
    /// Returns a file by its path, and the option of the command line that names the server's context in it.
    pub fn new(path: impl Into<PathBuf>, option: &'static str) -> Self {
        Self {
            path: path.into(),
            option,
            use_context: false,
            keep: false,
        }
    }

    /// Makes the server's context the current one, even if there is another.
    #[must_use]
    pub fn with_use_context(mut self, use_context: bool) -> Self {
        self.use_context = use_context;
        self
    }

    /// Leaves the entries in the file when the server ends.
    #[must_use]
    pub fn with_keep(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    /// Makes sure that the entries of `server` can be added. Changes nothing.
    pub async fn check(&self, server: &Kubeconfig) -> Result<(), KubeconfigError> {
        self.check_names(server)?;
        let state = self.open().await?;
        if let Some((text, _)) = &state.present {
            let rest = self.without_stale(text, server)?;
            let mark = Mark::of_this_process(&server.context);
            let added = edit::add(&rest, server, &mark, self.use_context);
            added.map_err(self.not_changed())?;
            let writable = File::options().write(true).open(&state.target);
            writable.map_err(self.not_written())?;
        }
        state.successor().map(drop).map_err(self.not_written())
    }

    /// Removes what killed servers have left of the names that `server` needs.
    pub async fn remove_stale(&self, server: &Kubeconfig) -> Result<(), KubeconfigError> {
        let state = self.open().await?;
        let Some((text, _)) = &state.present else {
            return Ok(());
        };
        let rest = self.without_stale(text, server)?;
        if rest == *text {
            return Ok(());
        }
        state.leave(&rest).map_err(self.not_written())
    }

    /// Adds the entries of `server`.
    pub async fn add(self, server: &Kubeconfig) -> Result<AddedEntries, KubeconfigError> {
        self.check_names(server)?;
        let state = self.open().await?;
        let mark = Mark::of_this_process(&server.context);
        let (before, after) = match &state.present {
            None => (None, Ok(edit::create(server, &mark))),
            Some((text, _)) => {
                // Stale entries are removed first: their names are those that the new ones need.
                let rest = self.without_stale(text, server)?;
                let after = edit::add(&rest, server, &mark, self.use_context);
                (Some(rest), after)
            }
        };
        let after = after.map_err(self.not_changed())?;
        state.write(&after).map_err(self.not_written())?;
        Ok(AddedEntries {
            file: self,
            mark,
            before,
            after,
        })
    }

    /// Fails if a further user has the name of the server's own context.
    fn check_names(&self, server: &Kubeconfig) -> Result<(), KubeconfigError> {
        let name = &server.context;
        if server.users.iter().any(|(user, _)| user == name) {
            Err(self.taken(format!("no place for a second user {name:?}"), name, server))
        } else {
            Ok(())
        }
    }

    /// Locks and reads the file.
    async fn open(&self) -> Result<State, KubeconfigError> {
        let target = resolve(&self.path).map_err(self.not_written())?;
        let is_other = |metadata: Metadata| !metadata.is_file();
        if fs::metadata(&target).is_ok_and(is_other) {
            let why = "it is not a regular file".to_owned();
            let file = self.path.clone();
            return Err(KubeconfigError::NotChanged { file, why });
        }
        // The lock is taken before the file is read, and held with the state, so that no other server writes in between.
        let lock = Lock::take(&self.path, &target).await?;
        let present = match fs::read(&target) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| KubeconfigError::NotChanged {
                    file: self.path.clone(),
                    why: "it is not UTF-8".to_owned(),
                })?;
                let metadata = fs::metadata(&target).map_err(self.not_written())?;
                Some((text, metadata))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(self.not_written()(error)),
        };
        Ok(State {
            target,
            present,
            _lock: lock,
        })
    }

    /// Returns the text without what dead servers have left of the names that `server` needs.
    fn without_stale(&self, text: &str, server: &Kubeconfig) -> Result<String, KubeconfigError> {
        let found = edit::find(text).map_err(self.not_changed())?;
        for entry in &found {
            if is_needed(entry, server) {
                self.check_entry(entry, server)?;
            }
        }
        let is_stale = |entry: &FoundEntry, mark: &Mark| {
            (mark.context == server.context || is_needed(entry, server))
                && mark.owner() == Owner::Dead
        };
        edit::remove(text, is_stale).map_err(self.not_changed())
    }

    /// Fails if an entry that has a name of ours is not of a dead server.
    fn check_entry(&self, entry: &FoundEntry, server: &Kubeconfig) -> Result<(), KubeconfigError> {
        let whose = match entry.mark.as_ref().map(|mark| (mark.owner(), mark.pid)) {
            None => "that no server has written".to_owned(),
            Some((Owner::Dead, _)) => return Ok(()),
            Some((Owner::Alive, pid)) => format!("of a running server, process {pid}"),
            Some((Owner::Elsewhere { host }, pid)) => {
                format!("of a server on another machine, process {pid} on {host}")
            }
        };
        let FoundEntry { section, name, .. } = entry;
        let entry = format!("a {} {name:?} {whose}", section.trim_end_matches('s'));
        Err(self.taken(entry, name, server))
    }

    fn taken(&self, entry: String, name: &str, server: &Kubeconfig) -> KubeconfigError {
        let option = self.option;
        let advice = if *name == server.context {
            format!("{option} gives ours another name")
        } else {
            format!("{option} renames only the server's own: rename the user")
        };
        KubeconfigError::Taken {
            file: self.path.clone(),
            entry,
            advice,
        }
    }

    fn not_written(&self) -> impl Fn(io::Error) -> KubeconfigError {
        let file = self.path.clone();
        move |source| KubeconfigError::NotWritten {
            file: file.clone(),
            source,
        }
    }

    fn not_changed(&self) -> impl Fn(EditError) -> KubeconfigError {
        let file = self.path.clone();
        move |error| KubeconfigError::NotChanged {
            file: file.clone(),
            why: error.to_string(),
        }
    }
}

/// Tells whether an entry has a name that `server` needs for one of its own.
fn is_needed(entry: &FoundEntry, server: &Kubeconfig) -> bool {
    match entry.section {
        "clusters" => entry.name == server.context,
        _ => server.names().any(|name| name == entry.name),
    }
}

// === impl AddedEntries ===

impl AddedEntries {
    /// Removes the entries, unless they are to be kept, and the file if nothing else is in it and we have created it.
    pub async fn remove(self) -> Result<(), KubeconfigError> {
        let Self {
            file,
            mark,
            before,
            after,
        } = self;
        if file.keep || fs::symlink_metadata(&file.path).is_err() {
            return Ok(());
        }
        let state = file.open().await?;
        let Some((text, _)) = &state.present else {
            return Ok(());
        };
        if *text == after {
            let left = match &before {
                Some(before) => state.leave(before),
                None => state.delete(),
            };
            return left.map_err(file.not_written());
        }
        let rest = edit::remove(text, |_, other| other.is_same_server(&mark));
        let rest = rest.map_err(file.not_changed())?;
        if rest == *text {
            return Ok(());
        }
        state.leave(&rest).map_err(file.not_written())
    }

    /// Returns a command line that uses the entries.
    pub fn command(&self) -> String {
        let file = quoted(&self.file.path.to_string_lossy());
        let context = quoted(&self.mark.context);
        format!("kubectl --kubeconfig {file} --context {context} get nodes")
    }
}

/// Returns a word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+=,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

// === impl State ===

impl State {
    /// Writes the rest of the file after entries were removed; a file of ours without a rest is removed.
    fn leave(&self, rest: &str) -> io::Result<()> {
        if edit::is_created_and_empty(rest) {
            self.delete()
        } else {
            self.write(rest)
        }
    }

    /// Replaces the file, as a whole or not at all.
    fn write(&self, text: &str) -> io::Result<()> {
        let mut new = self.successor()?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(&self.target)?;
        self.sync()
    }

    fn delete(&self) -> io::Result<()> {
        fs::remove_file(&self.target)?;
        self.sync()
    }

    /// Returns a new file beside the old one, with its mode and owner. Without an old one only we can read it.
    fn successor(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        let new = builder
            .prefix(".kubeconfig-")
            .tempfile_in(self.directory())?;
        if let Some((_, old)) = &self.present {
            let own = new.as_file().metadata()?;
            if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
                fchown(new.as_file(), Some(old.uid()), Some(old.gid()))?;
            }
            new.as_file().set_permissions(old.permissions())?;
        }
        Ok(new)
    }

    fn sync(&self) -> io::Result<()> {
        File::open(self.directory())?.sync_all()
    }

    fn directory(&self) -> &Path {
        directory_of(&self.target)
    }
}
