//! The program `fakeserver`, as users run it: with its own allocator, which is not that of the benches.

use std::{
    env::consts::EXE_SUFFIX,
    error::Error,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{child::Child, process::Usage};

/// The beginning of its first line once it listens.
const READY: &str = "listening on ";

/// A running program, which ends with this.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) url: String,
    child: Child,
}

// === impl Program ===

impl Program {
    /// Runs `fakeserver serve` with `arguments` at any port, until it listens.
    pub(crate) async fn serve(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let path = path()?;
        let mut command = Command::new(&path);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null());
        let mut child = Child::start(&mut command)?;
        let line = child.line().await?;
        let url = line.strip_prefix(READY);
        let url = url.ok_or_else(|| format!("{} does not listen: {line}", path.display()))?;
        Ok(Self {
            url: url.to_owned(),
            child,
        })
    }

    /// Returns its usage, as the operating system reports it.
    pub(crate) fn usage(&self) -> Result<Usage, Box<dyn Error>> {
        self.child.usage()
    }

    /// Forgets how much memory it had up to now.
    pub(crate) fn reset_peak(&self) -> Result<(), Box<dyn Error>> {
        self.child.reset_peak()
    }
}

/// Returns the path of the program: beside this one, where cargo puts both.
pub(crate) fn path() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let directory = own.parent().unwrap_or(Path::new("."));
    let path = directory.join(format!("fakeserver{EXE_SUFFIX}"));
    if path.is_file() {
        return Ok(path);
    }
    // Cargo names the directory of a profile after it, but for that of the profile `dev`.
    let profile = match directory.file_name().and_then(OsStr::to_str) {
        None | Some("debug") => String::new(),
        Some(profile) => format!("--profile {profile} "),
    };
    Err(format!(
        "{} is not there; build it with: cargo build {profile}-p fakeserver",
        path.display()
    )
    .into())
}
