//! The state of a server as a value, and in its file.

use std::path::PathBuf;

use super::{FakeServer, FakeServerBuilder, assembly::Server};
use crate::store::snapshot::{DataSync, Restart, Snapshot, SnapshotError};

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Begins with what `snapshot` holds, and then with the objects of this builder. Seed and generators are those of the
    /// snapshot, and so is the time, unless a [clock](Self::with_clock) is given.
    ///
    /// What was going away when the snapshot was taken, is gone.
    pub fn with_snapshot(mut self, snapshot: Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Keeps the state in `file`: the server starts with its content. The snapshot and the objects of this builder
    /// count only if the file does not exist yet.
    ///
    /// By default the state is written only by [`save`](FakeServer::save) or by a `POST` to `/_control/snapshot`:
    /// [`with_data_sync`](Self::with_data_sync) keeps what was acknowledged. A lock on `file.lock` beside it reserves the file
    /// for this server until the server is dropped. [`reset`](FakeServer::reset) does not restore the file, but the initial
    /// state of a server without it.
    pub fn with_data_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.data_file = Some(file.into());
        self
    }

    /// Sets when the state is in the [data file](Self::with_data_file): by default when it is saved.
    ///
    /// With [`DataSync::Acknowledged`] and [`DataSync::Interval`] each write goes to a log beside the file, `file.log`, which is
    /// compacted into the file when it has grown to the file's length, at least 16 MiB, and by [`save`](FakeServer::save).
    ///
    /// With [`DataSync::Acknowledged`] nothing that a crash could take back leaves the server by a request: answers and watch
    /// events wait until the disk has all that they show, at most seven seconds. While the disk takes nothing, writes are
    /// answered with 503, those that have begun with 500, and reads see what is on the disk; the log goes on by itself when the
    /// disk does. Methods of this type do not wait: they see the store in memory.
    pub fn with_data_sync(mut self, sync: DataSync) -> Self {
        self.data_sync = sync;
        self
    }

    /// Sets the revision at which a restored server begins. By default it is that of the snapshot.
    pub fn with_restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }
}

// === impl FakeServer ===

impl FakeServer {
    /// Returns a snapshot of the whole store, to start another server [with](crate::FakeServerBuilder::with_snapshot),
    /// or to [write](Snapshot::write).
    ///
    /// # Memory
    ///
    /// The snapshot shares the objects with the store.
    pub fn snapshot(&self) -> Snapshot {
        self.server.snapshot()
    }

    /// Writes the state to the [data file](crate::FakeServerBuilder::with_data_file), unless the file is up to date.
    /// Returns whether it was written; without a data file, returns false.
    ///
    /// Blocks the thread until the state is on the disk.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::NotWritten`]: the file is unchanged, and a retry may succeed.
    pub fn save(&self) -> Result<bool, SnapshotError> {
        save(&self.server)
    }
}

pub(super) fn save(server: &Server) -> Result<bool, SnapshotError> {
    let Some(data) = &server.data else {
        return Ok(false);
    };
    let backend = server.backend();
    let mark = (
        backend.storage.revision(),
        backend.entropy.position().objects,
    );
    if !data.is_behind(mark.0, mark.1) {
        return Ok(false);
    }
    data.save(mark, || server.snapshot())?;
    Ok(true)
}
