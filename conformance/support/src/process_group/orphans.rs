//! The processes that a subject leaves behind, which become children of this one.

use std::{collections::BTreeMap, thread, time::Duration};

use procfs::process::Process;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use super::{
    GUARD,
    descendants::{children, has_ended, own_id, stat},
};

/// The times that processes which were killed get to end, and each of them.
const LOOKS_MAX: usize = 20;
const LOOK: Duration = Duration::from_millis(10);

/// The adoption of orphans: processes whose ancestors in this process's tree have ended.
#[derive(Debug)]
pub struct Orphans {
    /// The children from before, with the times at which they began: they are somebody else's.
    before: BTreeMap<i32, u64>,
}

// === impl Orphans ===

impl Orphans {
    /// Makes this process the parent of each descendant whose parent ends, from now on. Where the system refuses that, they are init's as
    /// ever, and are not found.
    pub fn adopt() -> Self {
        let _ = set_child_subreaper(Some(getpid()));
        let children = children(own_id()).into_iter();
        Self {
            before: children
                .filter_map(|id| Some((id, stat(id)?.starttime)))
                .collect(),
        }
    }

    /// Kills all that is left of what this process has started, and returns their names. Those that are about to end are not among
    /// them. Blocks for up to 200 ms: it is for the time after the runtime.
    #[expect(clippy::disallowed_methods, reason = "no runtime is left to block")]
    pub fn kill(self) -> Vec<String> {
        let mut left = self.left();
        for _ in 0..LOOKS_MAX {
            if left.is_empty() {
                return Vec::new();
            }
            thread::sleep(LOOK);
            left = self.left();
        }
        let mut names = Vec::new();
        // The children of those that are killed come next.
        for _ in 0..LOOKS_MAX {
            for (id, name) in std::mem::take(&mut left) {
                let _ = kill_process(id, Signal::KILL);
                let _ = waitpid(Some(id), WaitOptions::empty());
                names.push(name);
            }
            left = self.left();
            if left.is_empty() {
                break;
            }
        }
        names
    }

    /// Returns the children of this process that run, but for guards.
    fn left(&self) -> Vec<(Pid, String)> {
        let is_left = |id: &i32| {
            let Some(stat) = stat(*id) else { return false };
            self.before.get(id) != Some(&stat.starttime) && !has_ended(&stat) && !is_guard(*id)
        };
        let left = children(own_id()).into_iter().filter(is_left);
        left.filter_map(|id| Some((Pid::from_raw(id)?, stat(id)?.comm)))
            .collect()
    }
}

/// Returns whether a process is the guard of a group, which ends by itself.
fn is_guard(id: i32) -> bool {
    let words = Process::new(id).and_then(|process| process.cmdline());
    words.is_ok_and(|words| words.iter().any(|word| word == GUARD))
}
