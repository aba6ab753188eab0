//! The end of a command whose server was killed.

use std::{io, path::Path, process::Stdio};

use tokio::process::{Child, Command};

/// Removes the folder `$1`, if there is one, and asks the process `$0` to end as soon as the input ends, which it does when the server is
/// gone, however it has ended. A process that ignores that is killed two seconds later.
const SCRIPT: &str = r#"read -r _; rm -rf -- "$@"; kill -s TERM "$0"; sleep 2; kill -s KILL "$0""#;

/// A process that outlives the server if that is killed, and then ends its command. Dropping it ends it without effect.
#[derive(Debug)]
pub(super) struct OrphanGuard {
    _process: Child,
}

// === impl OrphanGuard ===

impl OrphanGuard {
    /// Starts to watch over the process `command`, and the folder that was made for it, if one was.
    ///
    /// # Errors
    ///
    /// The system has no shell, or starts no further process.
    pub(super) fn new(command: u32, folder: Option<&Path>) -> io::Result<Self> {
        // Interrupts of the terminal concern the other processes.
        let process = Command::new("sh")
            .args(["-c", SCRIPT])
            .arg(command.to_string())
            .args(folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { _process: process })
    }
}
