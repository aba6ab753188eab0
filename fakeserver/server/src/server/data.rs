//! The state of a server as a value, and in its file.

use super::{FakeServer, assembly::Server};
use crate::store::snapshot::{Snapshot, SnapshotError};

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
    let drawn = backend.entropy.position().objects;
    if !data.is_behind(backend.storage.revision(), drawn) {
        return Ok(false);
    }
    data.save(|| server.snapshot())?;
    Ok(true)
}
