//! The descendants of a child by their parents, noted while these live: one that has left the group and has no mark is known by
//! nothing else once its parent has ended.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use procfs::process::{Process, Stat};
use rustix::process::{Pid, WaitOptions, getpid, waitpid};

/// The descendants of a child that were seen.
#[derive(Debug)]
pub(super) struct Descendants {
    leader: i32,
    /// Their start times, which distinguish them from later processes with the same numbers.
    processes: Mutex<BTreeMap<i32, u64>>,
}

// === impl Descendants ===

impl Descendants {
    pub(super) fn new(leader: Pid) -> Self {
        Self {
            leader: leader.as_raw_nonzero().get(),
            processes: Mutex::default(),
        }
    }

    /// Looks for new ones, and forgets those that have ended. Returns whether there are new ones.
    pub(super) fn note(&self) -> bool {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.retain(|id, began| is_alive(*id, *began));
        let mut parents: Vec<i32> = processes.keys().copied().collect();
        parents.push(self.leader);
        let mut is_new = false;
        while let Some(parent) = parents.pop() {
            for id in children(parent) {
                if let Some(stat) = stat(id).filter(|stat| stat.ppid == parent)
                    && processes.insert(id, stat.starttime).is_none()
                {
                    is_new = true;
                    parents.push(id);
                }
            }
        }
        is_new
    }

    /// Returns those that live.
    pub(super) fn alive(&self) -> Vec<Pid> {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.retain(|id, began| is_alive(*id, *began));
        processes
            .keys()
            .copied()
            .filter_map(Pid::from_raw)
            .collect()
    }
}

/// Returns whether a process still runs. One that has ended, and whose parent this process has become, is waited for.
fn is_alive(id: i32, began: u64) -> bool {
    let Some(stat) = stat(id).filter(|stat| stat.starttime == began) else {
        return false;
    };
    let has_ended = has_ended(&stat);
    if has_ended && stat.ppid == own_id() {
        let _ = waitpid(Pid::from_raw(id), WaitOptions::NOHANG);
    }
    !has_ended
}

pub(super) fn has_ended(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X')
}

pub(super) fn stat(id: i32) -> Option<Stat> {
    Process::new(id).and_then(|process| process.stat()).ok()
}

/// Returns the children of all threads of a process; none where the system does not tell.
pub(super) fn children(id: i32) -> Vec<i32> {
    let tasks = Process::new(id).and_then(|process| process.tasks());
    let tasks = tasks.into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| task.children().ok());
    children
        .flatten()
        .filter_map(|id| id.try_into().ok())
        .collect()
}

pub(super) fn own_id() -> i32 {
    getpid().as_raw_nonzero().get()
}
