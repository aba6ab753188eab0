//! The process group of a child, which ends with its owner.

use std::{io, process::Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group of a child and its descendants. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    id: Pid,
    /// Kills the child even if this program exits without dropping anything.
    _guard: Child,
}

// === impl ProcessGroup ===

impl ProcessGroup {
    /// Takes over the group that the process `id` leads.
    ///
    /// # Errors
    ///
    /// No guard can be started; the group is killed.
    pub(crate) fn new(id: Pid) -> io::Result<Self> {
        let guard = tokio::process::Command::new("sh")
            .arg("-c")
            // The input ends when the sender is gone.
            .arg("read -r _; kill -s KILL -- \"-$0\"")
            .arg(id.as_raw_nonzero().to_string())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        match guard {
            Ok(guard) => Ok(Self { id, _guard: guard }),
            Err(error) => {
                let _ = kill_process_group(id, Signal::KILL);
                Err(error)
            }
        }
    }

    /// Sends a signal to all processes of the group.
    ///
    /// # Errors
    ///
    /// None of them is left.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process_group(self.id, signal)?)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The group may be empty. Its number is not reused while a member lives, nor soon after.
        let _ = kill_process_group(self.id, Signal::KILL);
    }
}
