//! The only place that starts threads: they do what blocks, and no runtime drives them.

use std::{
    io, panic,
    thread::{self, JoinHandle},
};

/// Work on another thread.
#[derive(Debug)]
pub(crate) struct Background<T>(Work<T>);

#[derive(Debug)]
enum Work<T> {
    Running(JoinHandle<T>),
    Done(T),
}

/// Starts a thread of this name. Its owner waits for its end.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

// === impl Background ===

impl<T: Send + 'static> Background<T> {
    /// Starts `work` on a thread of its own, or does it at once if that is not wanted.
    ///
    /// # Errors
    ///
    /// The system has no more threads.
    pub(crate) fn start(
        is_wanted: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self(if is_wanted {
            Work::Running(start("data snapshot", work)?)
        } else {
            Work::Done(work())
        }))
    }

    pub(crate) fn is_done(&self) -> bool {
        match &self.0 {
            Work::Running(thread) => thread.is_finished(),
            Work::Done(_) => true,
        }
    }

    /// Waits for the result.
    pub(crate) fn join(self) -> T {
        match self.0 {
            Work::Running(thread) => thread
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Work::Done(done) => done,
        }
    }
}
