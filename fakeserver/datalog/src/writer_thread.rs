//! The thread of the writer: it waits for commits, and for a disk that has failed.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use tracing::error;

use crate::{
    backlog::{Backlog, Wake},
    disk::Disk,
    options::{SyncMode, WriterOptions},
    task,
    writer::{Source, Turn, Writer},
};

/// The longest wait for the end of the writer. A disk that hangs must not stop the process from ending.
const END_LIMIT: Duration = Duration::from_secs(30);

/// The thread of a writer. When it is dropped, what waits is written, and the thread ends.
#[derive(Debug)]
pub struct WriterThread<C> {
    backlog: Arc<Backlog<C>>,
    ended: Mutex<mpsc::Receiver<()>>,
}

// === impl WriterThread ===

impl<C: Send + 'static> WriterThread<C> {
    /// Starts to write.
    ///
    /// # Errors
    ///
    /// The system has no more threads.
    pub fn start<D: Disk, S: Source<Commit = C>>(
        writer: Writer<D, S>,
        backlog: Arc<Backlog<C>>,
        options: &WriterOptions,
    ) -> io::Result<Self> {
        let (end, ended) = mpsc::sync_channel(1);
        let (shared, options) = (Arc::clone(&backlog), options.clone());
        task::start("data log", move || {
            run(writer, &shared, &options);
            // Dropped with its receiver if nobody waits.
            let _ = end.send(());
        })?;
        Ok(Self {
            backlog,
            ended: Mutex::new(ended),
        })
    }
}

impl<C> Drop for WriterThread<C> {
    fn drop(&mut self) {
        self.backlog.stop();
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(END_LIMIT).is_err() {
            error!("the log was not closed: its disk does not answer");
        }
    }
}

fn run<D: Disk, S: Source>(
    mut writer: Writer<D, S>,
    backlog: &Backlog<S::Commit>,
    options: &WriterOptions,
) {
    while backlog.wait() != Wake::Stopped {
        if let SyncMode::Interval(interval) = options.mode
            && backlog.pause(interval) == Wake::Stopped
        {
            break;
        }
        while writer.turn() == Turn::Failed {
            if backlog.pause(options.retry) == Wake::Stopped {
                break;
            }
        }
    }
    if let Err(error) = writer.close() {
        error!(%error, "the log was not closed");
    }
}
