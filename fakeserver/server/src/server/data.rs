//! The state of a server as a value, and in its file.

use super::{FakeServer, assembly::Server};
use crate::store::snapshot::{Snapshot, SnapshotError};

// === impl FakeServer ===

impl FakeServer {
    /// The whole store as it is now, to begin another server [with](crate::FakeServerBuilder::with_snapshot), or to
    /// [write](Snapshot::write).
    ///
    /// # Memory
    ///
    /// It shares the objects with the store.
    pub fn snapshot(&self) -> Snapshot {
        self.server.snapshot()
    }

    /// Writes the state to the [data file](crate::FakeServerBuilder::with_data_file), unless it is there already. Gives
    /// whether anything was written; without a data file, nothing is.
    ///
    /// It returns when the state is on the disk, and blocks its thread until then.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::NotWritten`]: the file is as it was, and trying again may help.
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
