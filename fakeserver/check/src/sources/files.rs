//! The texts of files.

use std::{fs::File, io::Read, path::Path};

use fakeserver_server::store::manifests::FileError;

use super::{FILE_MAX_BYTES, SourceError};

/// Reads a file.
///
/// # Errors
///
/// It cannot be read, or is larger than the limit.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    let opened = File::open(path).map_err(|source| FileError::NotRead {
        path: path.to_owned(),
        source,
    })?;
    read_all(path, opened)
}

/// Reads a stream to its end.
///
/// # Errors
///
/// It cannot be read, or is longer than the limit.
pub(super) fn read_all(path: &Path, stream: impl Read) -> Result<Vec<u8>, SourceError> {
    let mut text = Vec::new();
    let limit = FILE_MAX_BYTES as u64 + 1;
    let read = stream.take(limit).read_to_end(&mut text);
    read.map_err(|source| FileError::NotRead {
        path: path.to_owned(),
        source,
    })?;
    if text.len() > FILE_MAX_BYTES {
        return Err(SourceError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(text)
}
