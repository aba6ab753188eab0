//! The commits that wait to be appended: numbered, and bounded by their size.

use std::{collections::VecDeque, ops::Range};

/// Commits in the order of their numbers, without a gap.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    entries: VecDeque<Entry<E>>,
    bytes: usize,
    bytes_max: usize,
    /// The number of the last commit.
    last: u64,
    /// The number up to which commits are in no log: a snapshot has to have them.
    missing: Option<u64>,
    /// The number of times that the state was replaced as a whole.
    epoch: u64,
}

/// A commit that waits.
#[derive(Debug)]
pub(crate) struct Entry<E> {
    pub(crate) sequence: u64,
    /// The revision at which the state stands after it.
    pub(crate) revision: u64,
    pub(crate) bytes: usize,
    pub(crate) commit: E,
}

// === impl Queue ===

impl<E> Queue<E> {
    /// Creates an empty queue for `bytes_max` bytes, behind the commit `last`.
    pub(crate) fn new(bytes_max: usize, last: u64) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max,
            last,
            missing: None,
            epoch: 0,
        }
    }

    /// Adds a commit. Returns false if the queue was full: it is empty then, and a snapshot has to have what was in it.
    pub(crate) fn push(&mut self, commit: E, bytes: usize, revision: u64) -> bool {
        self.last += 1;
        if self.bytes + bytes > self.bytes_max && !self.entries.is_empty() {
            self.drop_all();
            return false;
        }
        self.bytes += bytes;
        self.entries.push_back(Entry {
            sequence: self.last,
            revision,
            bytes,
            commit,
        });
        true
    }

    /// Handles that the state was replaced as a whole: only a snapshot has it.
    pub(crate) fn replace(&mut self) {
        self.last += 1;
        self.epoch += 1;
        self.drop_all();
    }

    /// Takes the first commits, up to about `bytes_max` bytes. None while a snapshot is needed.
    pub(crate) fn take(&mut self, bytes_max: usize) -> Vec<Entry<E>> {
        if self.missing.is_some() {
            return Vec::new();
        }
        let mut bytes = 0;
        let mut fits = |entry: &Entry<E>| {
            let is_first = bytes == 0;
            bytes += entry.bytes;
            is_first || bytes <= bytes_max
        };
        let count = self.entries.iter().take_while(|entry| fits(entry)).count();
        self.drain(0..count)
    }

    /// Drops what a snapshot has that is on the disk.
    pub(crate) fn cover(&mut self, sequence: u64) {
        self.missing = self.missing.filter(|missing| *missing > sequence);
        let is_old = |entry: &Entry<E>| entry.sequence <= sequence;
        let count = self.entries.partition_point(is_old);
        drop(self.drain(0..count));
    }

    /// Returns whether only a snapshot can bring the disk up to date.
    pub(crate) fn needs_snapshot(&self) -> bool {
        self.missing.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.missing.is_none()
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop_all(&mut self) {
        self.entries.clear();
        self.bytes = 0;
        self.missing = Some(self.last);
    }

    fn drain(&mut self, range: Range<usize>) -> Vec<Entry<E>> {
        let taken: Vec<Entry<E>> = self.entries.drain(range).collect();
        self.bytes -= taken.iter().map(|entry| entry.bytes).sum::<usize>();
        taken
    }
}
