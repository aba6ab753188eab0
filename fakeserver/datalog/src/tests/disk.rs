//! A disk in memory: it loses what was not synced, and fails when it is told to.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::disk::{Disk, DiskFile, FileName};

/// The names of files, each with the number of its content.
type Names = BTreeMap<FileName, usize>;

/// A disk that all clones share.
#[derive(Debug, Clone)]
pub(super) struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Debug)]
pub(super) struct MemoryFile {
    disk: MemoryDisk,
    number: usize,
}

/// A promise that the disk breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    None,
    /// A file is not on the disk after its sync: as if commits were acknowledged before it.
    Files,
    /// Names are not.
    Names,
}

#[derive(Debug)]
struct State {
    files: Vec<Content>,
    names: Names,
    /// The names on the disk, and those after each later operation.
    synced_names: Vec<Names>,
    lie: Lie,
    random: fastrand::Rng,
    operations: usize,
    /// The number of the operation after which the process is gone.
    dies_at: usize,
    /// The failures in a thousand operations.
    failures: u16,
    bytes_max: usize,
}

#[derive(Debug, Clone, Default)]
struct Content {
    current: Vec<u8>,
    synced: Vec<u8>,
}

// === impl MemoryDisk ===

impl MemoryDisk {
    pub(super) fn new(seed: u64, lie: Lie) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: Vec::new(),
            names: Names::new(),
            synced_names: vec![Names::new()],
            lie,
            random: fastrand::Rng::with_seed(seed),
            operations: 0,
            dies_at: usize::MAX,
            failures: 0,
            bytes_max: usize::MAX,
        })))
    }

    pub(super) fn die_at(&self, operation: usize) {
        self.lock().dies_at = operation;
    }

    pub(super) fn fail(&self, in_a_thousand: u16) {
        self.lock().failures = in_a_thousand;
    }

    pub(super) fn limit(&self, bytes_max: usize) {
        self.lock().bytes_max = bytes_max;
    }

    pub(super) fn operations(&self) -> usize {
        self.lock().operations
    }

    /// Returns the disk as the next process finds it: what was not synced is there, partly there, or gone.
    pub(super) fn crash(&self) -> Self {
        let mut state = self.lock();
        let State {
            files,
            synced_names,
            random,
            ..
        } = &mut *state;
        let names = synced_names[random.usize(..synced_names.len())].clone();
        let files = files.iter().map(|file| file.after_crash(random)).collect();
        let seed = random.u64(..);
        let next = Self::new(seed, state.lie);
        let mut new = next.lock();
        new.files = files;
        new.names = names.clone();
        new.synced_names = vec![names];
        drop(new);
        next
    }

    pub(super) fn content(&self, name: FileName) -> Option<Vec<u8>> {
        let state = self.lock();
        let number = state.names.get(&name)?;
        Some(state.files[*number].current.clone())
    }

    pub(super) fn names(&self) -> Vec<FileName> {
        self.lock().names.keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn operate<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.lock();
        state.operations += 1;
        if state.operations > state.dies_at {
            return Err(io::Error::other("the process is gone"));
        }
        if state.random.u16(..1_000) < state.failures {
            return Err(io::Error::other("the disk has failed"));
        }
        work(&mut state)
    }
}

impl Disk for MemoryDisk {
    type File = MemoryFile;

    fn read(&self, name: FileName, from: u64) -> io::Result<Option<Vec<u8>>> {
        // As systems do.
        if i64::try_from(from).is_err() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let read = self.content(name);
        Ok(read.map(|bytes| bytes[from.min(bytes.len())..].to_vec()))
    }

    fn create(&self, name: FileName) -> io::Result<MemoryFile> {
        self.operate(|state| {
            state.files.push(Content::default());
            let number = state.files.len() - 1;
            state.rename_with(|names| names.insert(name, number));
            Ok(MemoryFile {
                disk: self.clone(),
                number,
            })
        })
    }

    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        self.operate(|state| {
            let number = state.names.get(&from).copied();
            let number = number.ok_or(io::ErrorKind::NotFound)?;
            state.rename_with(|names| {
                names.remove(&from);
                names.insert(to, number)
            });
            Ok(())
        })
    }

    fn remove(&self, name: FileName) -> io::Result<()> {
        self.operate(|state| {
            state.rename_with(|names| names.remove(&name));
            Ok(())
        })
    }

    fn sync_names(&self) -> io::Result<()> {
        self.operate(|state| {
            if state.lie != Lie::Names {
                state.synced_names = vec![state.names.clone()];
            }
            Ok(())
        })
    }
}

impl DiskFile for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.number;
        self.disk.operate(|state| {
            let used: usize = state
                .names
                .values()
                .map(|it| state.files[*it].current.len())
                .sum();
            let room = state.bytes_max.saturating_sub(used);
            if room == 0 && !bytes.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let most = bytes.len().min(room);
            // Short writes, as a system may do them.
            let written = if state.random.bool() {
                most
            } else {
                state.random.usize(1..=most.max(1)).min(most)
            };
            state.files[number].current.extend(&bytes[..written]);
            Ok(written)
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        let number = self.number;
        self.disk.operate(|state| {
            if state.lie != Lie::Files {
                let file = &mut state.files[number];
                file.synced = file.current.clone();
            }
            Ok(())
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let (number, length) = (self.number, usize::try_from(length).unwrap());
        self.disk.operate(|state| {
            state.files[number].current.truncate(length);
            Ok(())
        })
    }
}

// === impl State ===

impl State {
    fn rename_with<T>(&mut self, change: impl FnOnce(&mut Names) -> T) {
        change(&mut self.names);
        self.synced_names.push(self.names.clone());
    }
}

// === impl Content ===

impl Content {
    /// Keeps what was synced, and of the rest some sectors up to some length; the others were never written.
    fn after_crash(&self, random: &mut fastrand::Rng) -> Self {
        const SECTOR: usize = 512;
        let safe = self.synced.len();
        let mut bytes = self.synced.clone();
        if self.current.len() > safe {
            let end = random.usize(safe..=self.current.len());
            let mut start = safe;
            while start < end {
                let next = (start - start % SECTOR + SECTOR).min(end);
                if random.u8(..4) == 0 {
                    bytes.resize(next, 0);
                } else {
                    bytes.extend(&self.current[start..next]);
                }
                start = next;
            }
        }
        Self {
            current: bytes.clone(),
            synced: bytes,
        }
    }
}
