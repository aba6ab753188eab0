//! The state of a server as a value, and in the file that it is kept in.

use super::FakeServer;
use crate::{
    state::Server,
    store::snapshot::{Snapshot, SnapshotError},
};

// === impl FakeServer ===

impl FakeServer {
    /// The whole store as it is now, to begin another server [with](crate::FakeServerBuilder::with_snapshot), or to
    /// [write](Snapshot::write).
    ///
    /// # Memory
    ///
    /// It shares the objects with the store.
    pub fn snapshot(&self) -> Snapshot {
        self.core().snapshot()
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
    let core = &server.core;
    if !data.is_behind(core.storage.revision(), core.entropy.position().objects) {
        return Ok(false);
    }
    data.save(|| core.snapshot())?;
    Ok(true)
}
