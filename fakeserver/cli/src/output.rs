//! Output files that command-line options name.

use std::{
    collections::BTreeSet,
    fs::{self, File, Metadata},
    io::{self, ErrorKind, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use clap::Args;
use flate2::{Compression, write::GzEncoder};

/// Options of files with results.
///
/// A file with content is somebody's: it is replaced only if that is asked for. Pipes and terminals have no content.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Replace files that exist; without it only new or empty ones are written.
    #[arg(long)]
    pub force: bool,
}

// === impl OutputArgs ===

impl OutputArgs {
    /// Fails if one of the files cannot be written, or is named twice. A program calls it before it begins its work.
    pub fn check<'a>(self, files: impl IntoIterator<Item = &'a Path>) -> Result<(), String> {
        let mut named = BTreeSet::new();
        for file in files {
            let old = fs::metadata(file);
            // Anything may go to a pipe or a terminal, in turns.
            let is_file = old.as_ref().map_or(true, Metadata::is_file);
            if is_file && !named.insert(place_of(file)) {
                return Err(format!("{} is to be written twice", file.display()));
            }
            match old {
                Ok(old) => self
                    .check_old(&old)
                    .map_err(|error| write_error(file, &error))?,
                Err(error) if error.kind() == ErrorKind::NotFound => check_folder(file)?,
                Err(error) => return Err(write_error(file, &error)),
            }
        }
        Ok(())
    }

    /// Writes a file as a whole.
    pub fn write(self, file: &Path, content: &[u8]) -> Result<(), String> {
        self.replace(file, content)
            .map_err(|error| write_error(file, &error))
    }

    fn replace(self, file: &Path, content: &[u8]) -> io::Result<()> {
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let mut opened = options.open(file)?;
        let old = opened.metadata()?;
        self.check_old(&old)?;
        if old.is_file() {
            opened.set_len(0)?;
        }
        opened.write_all(content)
    }

    fn check_old(self, old: &Metadata) -> io::Result<()> {
        let kind = old.file_type();
        if old.is_dir() || kind.is_block_device() {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "it is no file"));
        }
        if old.is_file() && old.len() > 0 && !self.force {
            let why = "it exists; --force replaces it";
            return Err(io::Error::new(ErrorKind::AlreadyExists, why));
        }
        Ok(())
    }
}

/// Creates a file that grows while a program runs, or replaces it. Only its owner can read a new one. By a name that ends in `.gz` it is compressed, and can be
/// read up to the last flush if the program is killed.
///
/// # Errors
///
/// The file cannot be created.
pub fn create(file: &Path) -> io::Result<Box<dyn Write + Send>> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let created = options.open(file)?;
    let is_compressed = file.extension().is_some_and(|ending| ending == "gz");
    Ok(if is_compressed {
        Box::new(GzEncoder::new(created, Compression::default()))
    } else {
        Box::new(created)
    })
}

/// Fails if a file that is read is to be replaced, which would be lost.
pub fn check_apart<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), String> {
    let inputs: BTreeSet<PathBuf> = inputs.into_iter().map(place_of).collect();
    let mut outputs = outputs.into_iter();
    match outputs.find(|output| inputs.contains(&place_of(output))) {
        Some(output) => Err(format!(
            "{} is read, and cannot be written to",
            output.display()
        )),
        None => Ok(()),
    }
}

/// Returns the path of a file, whether it is there or not, by whatever name it was given.
fn place_of(file: &Path) -> PathBuf {
    if let Ok(place) = file.canonicalize() {
        return place;
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    }
}

/// Fails if a file cannot be made for want of a folder.
fn check_folder(file: &Path) -> Result<(), String> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let (file, folder) = (file.display(), folder.display());
            Err(format!("cannot write {file}: there is no folder {folder}"))
        }
        _ => Ok(()),
    }
}

fn write_error(file: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", file.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const CAREFUL: OutputArgs = OutputArgs { force: false };
    const FORCED: OutputArgs = OutputArgs { force: true };

    #[test]
    fn a_missing_folder_is_reported_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        CAREFUL
            .check([&*folder.path().join("report"), Path::new("report")])
            .unwrap();
        let refused = CAREFUL
            .check([&*folder.path().join("none/report")])
            .unwrap_err();
        assert!(refused.contains("there is no folder"), "{refused}");
    }

    #[test]
    fn existing_files_are_replaced_on_request_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        CAREFUL.check([&*file]).unwrap();
        CAREFUL.write(&file, b"first one").unwrap();
        let refused = CAREFUL.check([&*file]).unwrap_err();
        assert!(
            refused.ends_with("report: it exists; --force replaces it"),
            "{refused}"
        );
        assert_eq!(CAREFUL.write(&file, b"second").unwrap_err(), refused);
        assert_eq!(fs::read(&file).unwrap(), b"first one");
        FORCED.check([&*file]).unwrap();
        FORCED.write(&file, b"second").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
    }

    #[test]
    fn a_file_is_written_once_and_not_while_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let again = folder.path().join("./one");
        FORCED.check([&*one, &*other]).unwrap();
        let refused = FORCED.check([&*one, &*other, &*again]).unwrap_err();
        assert!(refused.ends_with("one is to be written twice"), "{refused}");
        let null = Path::new("/dev/null");
        FORCED.check([null, null]).unwrap();

        check_apart([&*one], [&*other]).unwrap();
        fs::write(&one, "x").unwrap();
        symlink(&one, &other).unwrap();
        let refused = check_apart([&*one], [&*other]).unwrap_err();
        assert!(refused.contains("other is read"), "{refused}");
    }

    #[test]
    fn an_empty_file_has_nothing_to_lose() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        fs::write(&file, "").unwrap();
        CAREFUL.check([&*file]).unwrap();
        CAREFUL.write(&file, b"x").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }

    #[test]
    fn a_link_counts_as_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        symlink(&target, &link).unwrap();
        CAREFUL.check([&*link]).unwrap();
        CAREFUL.write(&link, b"x").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"x");
        CAREFUL.check([&*link]).unwrap_err();
        CAREFUL.write(&link, b"y").unwrap_err();
        FORCED.write(&link, b"y").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"y");
    }

    #[test]
    fn a_device_is_written_to_and_a_directory_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for output in [CAREFUL, FORCED] {
            let null = Path::new("/dev/null");
            output.check([null]).unwrap();
            output.write(null, b"x").unwrap();
            output.check([folder.path()]).unwrap_err();
            output.write(folder.path(), b"x").unwrap_err();
            let nowhere = folder.path().join("no/such");
            output.write(&nowhere, b"x").unwrap_err();
        }
    }
}
