//! The processes of a child, which end with their owner.

#[cfg(target_os = "linux")]
mod descendants;
#[cfg(target_os = "linux")]
mod orphans;

use std::{
    ffi::{OsStr, OsString},
    io,
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Child;

#[cfg(target_os = "linux")]
use self::descendants::Descendants;
#[cfg(target_os = "linux")]
pub use self::orphans::Orphans;

/// Kills the group `$0` and the processes with the variable `$1`, if it is not empty, when the input ends: its sender is gone.
const GUARD: &str = r#"read -r _
kill -s KILL -- "-$0"
[ -z "$1" ] || grep -lsxzF -- "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ id _; do kill -s KILL "$id"; done"#;

/// The number of times that processes with the mark are looked for, since one may have made another meanwhile.
const ROUNDS_MAX: usize = 100;

/// The process group of a child, and its descendants in other groups that have its mark or were noted. Dropping it kills them.
#[derive(Debug)]
pub struct ProcessGroup {
    id: Pid,
    /// The variable by which descendants are known that have left the group, as it stands in their environment.
    mark: OsString,
    #[cfg(target_os = "linux")]
    descendants: Descendants,
    /// Kills the child even if this program exits without dropping anything.
    _guard: Child,
}

// === impl ProcessGroup ===

impl ProcessGroup {
    /// Takes over the group that the process `id` leads, and the processes with the variable `mark`, `NAME=VALUE`, in their
    /// environment. Descendants that leave the group without the mark are known if they were [noted](Self::note); where there is no
    /// `/proc`, none is.
    ///
    /// # Errors
    ///
    /// No guard can be started; the group is killed.
    pub fn new(id: Pid, mark: Option<OsString>) -> io::Result<Self> {
        let mark = mark.unwrap_or_default();
        let guard = tokio::process::Command::new("sh")
            .args(["-c", GUARD])
            .arg(id.as_raw_nonzero().to_string())
            .arg(&mark)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        match guard {
            Ok(guard) => Ok(Self {
                id,
                mark,
                #[cfg(target_os = "linux")]
                descendants: Descendants::new(id),
                _guard: guard,
            }),
            Err(error) => {
                let _ = kill_process_group(id, Signal::KILL);
                Err(error)
            }
        }
    }

    /// Notes the child's descendants, as long as their parents live, so that they are known later. Returns whether there are new ones.
    pub fn note(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.descendants.note()
        }
        #[cfg(not(target_os = "linux"))]
        {
            false
        }
    }

    /// Sends a signal to all processes of the group, and to its descendants in others that are known.
    pub fn signal(&self, signal: Signal) {
        self.note();
        // The group may be empty. Its number is not reused while a member lives, nor soon after.
        let _ = kill_process_group(self.id, signal);
        for id in self.outside() {
            let _ = kill_process(id, signal);
        }
    }

    /// Returns the processes that may be in other groups.
    fn outside(&self) -> Vec<Pid> {
        #[cfg(target_os = "linux")]
        let mut found = self.descendants.alive();
        #[cfg(not(target_os = "linux"))]
        let mut found = Vec::new();
        found.extend(marked(&self.mark));
        found
    }

    /// Kills all of them, those too that are started meanwhile.
    pub fn kill(&self) {
        // What is stopped makes no more of them.
        for _ in 0..ROUNDS_MAX {
            self.signal(Signal::STOP);
            if !self.note() {
                break;
            }
        }
        for _ in 0..ROUNDS_MAX {
            self.signal(Signal::KILL);
            if self.outside().is_empty() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the processes with a variable in their environment; none if it is empty.
#[cfg(target_os = "linux")]
fn marked(mark: &OsStr) -> Vec<Pid> {
    use std::os::unix::ffi::OsStrExt as _;

    if mark.is_empty() {
        return Vec::new();
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let has_mark = |id: &Pid| {
        let environment = std::fs::read(format!("/proc/{}/environ", id.as_raw_nonzero()));
        let environment = environment.unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == mark.as_bytes())
    };
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(has_mark)
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn marked(_: &OsStr) -> Vec<Pid> {
    Vec::new()
}
