//! The program `fakeserver`, as users run it: with its own allocator, which is not that of the benches.

use std::{
    env::consts::EXE_SUFFIX,
    error::Error,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{child::Child, process::Usage};

/// What it says when it is there.
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

    /// What the operating system says of it.
    pub(crate) fn usage(&self) -> Result<Usage, Box<dyn Error>> {
        self.child.usage()
    }
}

/// Where the program is: beside this one, where cargo puts both.
fn path() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let directory = own.parent().unwrap_or(Path::new("."));
    let path = directory.join(format!("fakeserver{EXE_SUFFIX}"));
    if path.is_file() {
        return Ok(path);
    }
    let release = if cfg!(debug_assertions) {
        ""
    } else {
        "--release "
    };
    Err(format!(
        "{} is not there; build it with: cargo build {release}-p fakeserver",
        path.display()
    )
    .into())
}
