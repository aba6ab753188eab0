//! The files in a folder of the operating system.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    disk::{Disk, DiskFile, FileName},
    scan::is_head,
};

/// The number of bytes by which a file is recognized.
const HEAD_BYTES: u64 = 64;

/// The files `FILE`, `FILE.new`, `FILE.log` and `FILE.log.new`.
#[derive(Debug)]
pub struct Directory {
    file: PathBuf,
    /// Returns whether a snapshot may begin with these bytes.
    is_snapshot: fn(&[u8]) -> bool,
}

// === impl Directory ===

impl Directory {
    /// Names the files. `file` has no links; `is_snapshot` tells whether a snapshot may begin with some bytes, or is cut off
    /// within them.
    pub fn new(file: PathBuf, is_snapshot: fn(&[u8]) -> bool) -> Self {
        Self { file, is_snapshot }
    }

    /// Returns the path of a file.
    pub fn path(&self, name: FileName) -> PathBuf {
        let ending = match name {
            FileName::Snapshot => return self.file.clone(),
            FileName::NextSnapshot => ".new",
            FileName::Log => ".log",
            FileName::NextLog => ".log.new",
        };
        let mut path = self.file.as_os_str().to_owned();
        path.push(ending);
        path.into()
    }

    /// Removes what a killed process has left, and fails if it is another program's.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`]: there is a file of another origin.
    pub fn clean(&self) -> io::Result<()> {
        self.check_log()?;
        self.clear(FileName::NextSnapshot)?;
        self.clear(FileName::NextLog)
    }

    /// Fails if the name of the log is another file's.
    fn check_log(&self) -> io::Result<()> {
        let path = self.path(FileName::Log);
        match read_head(&path)? {
            Some(head) if !is_head(&head) => Err(foreign(&path, "log")),
            _ => Ok(()),
        }
    }

    /// Removes a file that is to be created, if this crate has left it.
    fn clear(&self, name: FileName) -> io::Result<()> {
        let path = self.path(name);
        let Some(head) = read_head(&path)? else {
            return Ok(());
        };
        let (is_own, kind) = match name {
            FileName::Snapshot | FileName::NextSnapshot => ((self.is_snapshot)(&head), "snapshot"),
            FileName::Log | FileName::NextLog => (is_head(&head), "log"),
        };
        if !is_own {
            return Err(foreign(&path, kind));
        }
        fs::remove_file(path)
    }
}

impl Disk for Directory {
    type File = File;

    fn read(&self, name: FileName, from: u64) -> io::Result<Option<Vec<u8>>> {
        let mut file = match File::open(self.path(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn create(&self, name: FileName) -> io::Result<File> {
        self.clear(name)?;
        let mut options = File::options();
        // `create_new` follows no link that somebody has put there. Only the owner can read it, as secrets are in it.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.path(name))
    }

    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: FileName) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn sync_names(&self) -> io::Result<()> {
        let folder = self.file.parent().filter(|path| *path != Path::new(""));
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl DiskFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(self, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        // The length of the file is data in this sense.
        self.flush()?;
        self.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}

/// Returns the first bytes of a file; `None` if it does not exist.
fn read_head(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match File::open(path) {
        Ok(file) => {
            let mut head = Vec::new();
            file.take(HEAD_BYTES).read_to_end(&mut head)?;
            Ok(Some(head))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn foreign(path: &Path, kind: &str) -> io::Error {
    let why = format!("{} is no {kind}: move it away", path.display());
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}
