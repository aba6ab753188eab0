//! Trace files on the disk, compressed or not.

use std::{
    fs,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use flate2::read::MultiGzDecoder;

/// The bytes that a file compressed by gzip begins with.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Reads the text of a trace, compressed or not, without the part of a character that it may end with if the run was killed.
pub fn read_text(file: &Path) -> io::Result<String> {
    let mut bytes = fs::read(file)?;
    if bytes.starts_with(GZIP_MAGIC) {
        bytes = unpacked(&bytes)?;
    }
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Unpacks a file, up to the place where it ends without an end if the run was killed.
fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match MultiGzDecoder::new(packed).read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(bytes),
    }
}
