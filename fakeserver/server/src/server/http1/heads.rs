//! The parts of heads that the library does not take, from the stream of a connection to its requests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{HeaderName, HeaderValue};

/// The part of a head that was left out of what the library reads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HeadRest {
    /// The query, if it is too long for the library.
    pub(super) query: Option<String>,
    /// The headers beyond those that the library takes.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// True if the head is too large, and was left out as a whole.
    pub(super) is_too_large: bool,
    /// True if the body has an encoding other than `chunked`.
    pub(super) has_foreign_encoding: bool,
}

/// The rests of the heads of one connection, in the order of its requests.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Heads(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    rests: VecDeque<HeadRest>,
    /// The number of heads so far.
    pushed: u64,
}

// === impl Heads ===

impl Heads {
    pub(super) fn push(&self, rest: HeadRest) {
        let mut queue = self.lock();
        queue.rests.push_back(rest);
        queue.pushed += 1;
    }

    pub(super) fn pop(&self) -> Option<HeadRest> {
        self.lock().rests.pop_front()
    }

    /// Returns the number of heads so far.
    pub(super) fn count(&self) -> u64 {
        self.lock().pushed
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
