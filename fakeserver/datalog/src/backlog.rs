//! The commits between a state and its log: added under the lock of the state, taken by the writer.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use tracing::warn;

use crate::{
    durability::Durability,
    options::WriterOptions,
    queue::{Entry, Queue},
};

/// Commits that wait for the writer.
///
/// # Memory
///
/// At most [`WriterOptions::queue_bytes_max`]: beyond that the writer takes a snapshot instead, which has them all.
#[derive(Debug)]
pub struct Backlog<E> {
    state: Mutex<State<E>>,
    arrived: Condvar,
    durability: Durability,
}

#[derive(Debug)]
struct State<E> {
    queue: Queue<E>,
    /// Those that wait for a snapshot.
    requests: Vec<mpsc::SyncSender<io::Result<()>>>,
    is_stopped: bool,
    /// True if the writer has something to look at besides the queue.
    is_woken: bool,
}

/// The reason why the writer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    Work,
    TimedOut,
    Stopped,
}

// === impl Backlog ===

impl<E> Backlog<E> {
    /// Creates a backlog behind the commit `last`, which is on the disk.
    pub fn new(last: u64, options: &WriterOptions) -> Arc<Self> {
        let durability = Durability::new(last, options.mode.holds_back(), options.wait_limit);
        Arc::new(Self {
            state: Mutex::new(State {
                queue: Queue::new(options.queue_bytes_max, last),
                requests: Vec::new(),
                is_stopped: false,
                is_woken: false,
            }),
            arrived: Condvar::new(),
            durability,
        })
    }

    /// Adds a commit of about `bytes` bytes, after which the state stands at `revision`. To be called under the lock of the
    /// state, so that the numbers have its order.
    pub fn push(&self, commit: E, bytes: usize, revision: u64) {
        let mut state = self.lock();
        if !state.queue.push(commit, bytes, revision) {
            warn!(
                revision,
                "the queue of the log is full; a snapshot takes its place"
            );
        }
        self.durability.set_latest(state.queue.last());
        drop(state);
        self.arrived.notify_one();
    }

    /// Handles that the state was replaced as a whole. To be called under the lock of the state.
    pub fn replace(&self) {
        let mut state = self.lock();
        state.queue.replace();
        self.durability.set_latest(state.queue.last());
        // No revision of the new state is on the disk. Those that wait for one of the old state are not to see it.
        self.durability.publish(|durable| durable.revision = 0);
        drop(state);
        self.arrived.notify_one();
    }

    /// Returns the number of the last commit, and that of replacements. To be called under the lock of the state, by what takes
    /// a snapshot of it.
    pub fn position(&self) -> (u64, u64) {
        let state = self.lock();
        (state.queue.last(), state.queue.epoch())
    }

    /// Returns the handle of those who wait.
    pub fn durability(&self) -> &Durability {
        &self.durability
    }

    /// Returns the bytes that wait.
    pub fn bytes(&self) -> usize {
        self.lock().queue.bytes()
    }

    /// Has the writer put a snapshot in place, and waits until it has.
    ///
    /// # Errors
    ///
    /// The snapshot cannot be written, or not within `limit`.
    pub fn snapshot(&self, limit: Duration) -> io::Result<()> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.lock().requests.push(sender);
        self.arrived.notify_one();
        let done = receiver.recv_timeout(limit);
        done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    pub(crate) fn with_queue<T>(&self, work: impl FnOnce(&mut Queue<E>) -> T) -> T {
        work(&mut self.lock().queue)
    }

    pub(crate) fn take(&self, bytes_max: usize) -> (Vec<Entry<E>>, u64) {
        let mut state = self.lock();
        (state.queue.take(bytes_max), state.queue.epoch())
    }

    /// Publishes that the commits up to `sequence` are on the disk, after which the state of `epoch` stands at `revision`.
    pub(crate) fn publish(&self, sequence: u64, revision: u64, epoch: u64) {
        let state = self.lock();
        let is_present = state.queue.epoch() == epoch;
        self.durability.publish(|durable| {
            durable.sequence = sequence;
            if is_present {
                durable.revision = revision;
            }
            durable.stall = None;
        });
    }

    pub(crate) fn take_requests(&self) -> Vec<mpsc::SyncSender<io::Result<()>>> {
        std::mem::take(&mut self.lock().requests)
    }

    pub(crate) fn has_requests(&self) -> bool {
        !self.lock().requests.is_empty()
    }

    /// Lets the writer look around.
    pub(crate) fn wake(&self) {
        self.lock().is_woken = true;
        self.arrived.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.arrived.notify_one();
    }

    /// Waits until there is work.
    pub(crate) fn wait(&self) -> Wake {
        let state = self.lock();
        let has_none = |state: &mut State<E>| {
            state.queue.is_empty()
                && state.requests.is_empty()
                && !state.is_stopped
                && !state.is_woken
        };
        let waited = self.arrived.wait_while(state, has_none);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_woken = false;
        if state.is_stopped {
            Wake::Stopped
        } else {
            Wake::Work
        }
    }

    /// Waits for `time`, or until a snapshot is requested or the writer is to stop.
    pub(crate) fn pause(&self, time: Duration) -> Wake {
        let state = self.lock();
        let waits = |state: &mut State<E>| state.requests.is_empty() && !state.is_stopped;
        let waited = self.arrived.wait_timeout_while(state, time, waits);
        let (state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        match (state.is_stopped, timed_out.timed_out()) {
            (true, _) => Wake::Stopped,
            (_, true) => Wake::TimedOut,
            _ => Wake::Work,
        }
    }

    /// The state is valid at every step.
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
