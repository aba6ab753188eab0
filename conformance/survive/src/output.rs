//! The output of one replica: its beginning and its end are kept, however much there is.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, PipeReader, PipeWriter, Read as _, Write as _},
    mem,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::net::unix::pipe::Receiver;

/// The number of bytes that are kept of the beginning, and as many of the end.
const KEPT_BYTES: usize = 1 << 20;
/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The output of a replica's processes, which write to one pipe.
#[derive(Clone, Debug)]
pub(super) struct Output {
    path: PathBuf,
    writer: Arc<PipeWriter>,
    /// The other end, which does not block.
    reader: Arc<PipeReader>,
    /// The same, for those who wait for it.
    receiver: Arc<Receiver>,
    kept: Arc<Mutex<OutputBuffer>>,
}

/// The beginning of an output in a file, and its end.
#[derive(Debug)]
struct OutputBuffer {
    file: File,
    written_bytes: usize,
    end: VecDeque<u8>,
    left_out_bytes: u64,
}

// === impl Output ===

impl Output {
    /// Makes the file and the pipe.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub(super) fn to_file(path: &Path) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self {
            path: path.to_owned(),
            writer: Arc::new(writer),
            receiver: Arc::new(Receiver::from_owned_fd(reader.try_clone()?.into())?),
            reader: Arc::new(reader),
            kept: Arc::new(Mutex::new(OutputBuffer {
                file: File::create(path)?,
                written_bytes: 0,
                end: VecDeque::new(),
                left_out_bytes: 0,
            })),
        })
    }

    /// Returns the file, which has the beginning at once, and the end when the output is [ended](Self::end).
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where a process writes.
    pub(super) fn writer(&self) -> io::Result<PipeWriter> {
        self.writer.try_clone()
    }

    /// Reads what the processes write, for ever.
    pub(super) async fn read(self) {
        while self.receiver.readable().await.is_ok() {
            self.take(|chunk| self.receiver.try_read(chunk));
        }
    }

    /// Takes what was written before, and completes the file.
    pub(super) fn end(&self) -> io::Result<()> {
        self.take(|chunk| (&*self.reader).read(chunk));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.end()
    }

    /// Takes what is in the pipe.
    fn take(&self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut chunk = vec![0; CHUNK_BYTES];
        // A process that floods does not keep this from its end.
        for _ in 0..KEPT_BYTES / CHUNK_BYTES {
            match read(&mut chunk) {
                Ok(count) if count > 0 => kept.add(&chunk[..count]),
                _ => return,
            }
        }
    }
}

// === impl OutputBuffer ===

impl OutputBuffer {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES - self.written_bytes;
        let (beginning, rest) = bytes.split_at(bytes.len().min(room));
        if !beginning.is_empty() && self.file.write_all(beginning).is_ok() {
            self.written_bytes += beginning.len();
        }
        self.end.extend(rest);
        let surplus = self.end.len().saturating_sub(KEPT_BYTES);
        self.end.drain(..surplus);
        self.left_out_bytes += surplus as u64;
    }

    fn end(&mut self) -> io::Result<()> {
        if self.left_out_bytes > 0 {
            let left_out = self.left_out_bytes;
            writeln!(self.file, "\n[... {left_out} bytes are left out here ...]")?;
        }
        let end = mem::take(&mut self.end);
        let (first, second) = end.as_slices();
        self.file.write_all(first)?;
        self.file.write_all(second)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_beginning_and_the_end_of_a_flood_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output.log");
        let mut kept = OutputBuffer {
            file: File::create(&path).unwrap(),
            written_bytes: 0,
            end: VecDeque::new(),
            left_out_bytes: 0,
        };
        kept.add(b"first ");
        for _ in 0..50 {
            kept.add(&vec![b'x'; CHUNK_BYTES]);
        }
        kept.add(b" last");
        kept.end().unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("first xxx") && text.ends_with("xxx last"));
        let left_out = 50 * CHUNK_BYTES + 11 - 2 * KEPT_BYTES;
        let note = format!("\n[... {left_out} bytes are left out here ...]\n");
        assert!(text.contains(&note));
        assert_eq!(text.len(), 2 * KEPT_BYTES + note.len());
    }

    #[tokio::test]
    async fn output_before_the_end_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::to_file(&folder.path().join("output.log")).unwrap();
        output.writer().unwrap().write_all(b"a panic").unwrap();
        output.end().unwrap();
        assert_eq!(fs::read_to_string(output.path()).unwrap(), "a panic");
    }
}
