//! The program `fakeserver`, as users run it: with its own allocator, which is not that of the benches.

use std::{
    env::consts::EXE_SUFFIX,
    error::Error,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::process;

/// How long it may take to be there.
const DEADLINE: Duration = Duration::from_mins(2);
/// What it says when it is.
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
        let mut child = Command::new(&path)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(DEADLINE, lines.next_line()).await??;
        let url = line.as_deref().and_then(|line| line.strip_prefix(READY));
        let url = url.ok_or_else(|| format!("{} does not listen", path.display()))?;
        Ok(Self {
            url: url.to_owned(),
            child,
        })
    }

    /// What the operating system says of it.
    pub(crate) fn usage(&self) -> Result<process::Usage, Box<dyn Error>> {
        let pid = self.child.id().ok_or("the server has ended")?;
        process::usage_of(pid.try_into()?)
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
