//! The operations on the disk, as traits: tests let each of them fail, and crash between any two.

use std::io;

/// A file of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: a snapshot, a log, and what is to replace them"
)]
pub enum FileName {
    /// The snapshot.
    Snapshot,
    /// The snapshot that is to replace it.
    NextSnapshot,
    /// The log.
    Log,
    /// The log that is to replace it.
    NextLog,
}

/// The folder of the files. An operation on names is on the disk after [`sync_names`](Self::sync_names).
pub trait Disk: Send + Sync + 'static {
    /// An open file.
    type File: DiskFile;

    /// Reads a file from a byte on. Returns `None` if it does not exist.
    fn read(&self, name: FileName, from: u64) -> io::Result<Option<Vec<u8>>>;

    /// Creates an empty file, and replaces one that this crate has left there.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`]: there is a file of another origin.
    fn create(&self, name: FileName) -> io::Result<Self::File>;

    /// Renames a file, and replaces the one of the new name.
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()>;

    /// Removes a file, if it exists.
    fn remove(&self, name: FileName) -> io::Result<()>;

    /// Waits until all names are on the disk.
    fn sync_names(&self) -> io::Result<()>;
}

/// An open file.
pub trait DiskFile: Send + 'static {
    /// Writes some of `bytes` behind what was written, and returns their number.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until all that was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to a length. The next write is behind that.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// Writes all of `bytes`.
pub(crate) fn write_all(file: &mut impl DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
