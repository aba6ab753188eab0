//! Marks of entries: the process that has written them, and its liveness.

use std::{fs, process};

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of the extension that holds a mark.
pub(super) const EXTENSION: &str = "fakeserver";

/// The process that an entry of a kubeconfig belongs to.
///
/// An identifier of a process is used again sooner or later. Together with the boot of the machine and the time at which
/// the process started it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// The name of the server's own context.
    pub(super) context: String,
    /// The name of the machine; empty where `/proc` does not tell it, as are `boot` and `started`.
    host: String,
    boot: String,
    pub(super) pid: i32,
    /// In clock ticks since the boot.
    started: u64,
    /// The current context that the server's own has replaced; absent if there was none or if it was not replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<String>,
    /// The lists that were not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lists: Vec<String>,
}

/// The state of the process that a mark names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Dead,
    Alive,
    /// The process runs on another machine, or in another boot, and cannot be checked.
    Elsewhere {
        host: String,
    },
}

// === impl Mark ===

impl Mark {
    /// Returns the mark of this process for a server with this context.
    pub(super) fn of_this_process(context: &str) -> Self {
        let pid = i32::try_from(process::id()).unwrap_or_default();
        Self {
            context: context.to_owned(),
            host: kernel("hostname"),
            boot: kernel("random/boot_id"),
            pid,
            started: started(pid).unwrap_or_default(),
            previous: None,
            lists: Vec::new(),
        }
    }

    /// Reads the mark in `extensions`, if there is one.
    pub(super) fn read(extensions: &Value) -> Option<Self> {
        let mut extensions = extensions.as_array()?.iter();
        let own = extensions.find(|extension| extension["name"] == EXTENSION)?;
        Self::deserialize(&own["extension"]).ok()
    }

    /// Returns the list of extensions with nothing but this mark.
    pub(super) fn to_extensions(&self) -> Value {
        json!([{"name": EXTENSION, "extension": self}])
    }

    /// Tells whether both name the same process and the same server.
    pub(super) fn is_same_server(&self, other: &Self) -> bool {
        let process = |mark: &Self| (mark.pid, mark.started);
        process(self) == process(other)
            && self.context == other.context
            && self.host == other.host
            && self.boot == other.boot
    }

    /// Looks for the process.
    pub(super) fn owner(&self) -> Owner {
        if self.host != kernel("hostname") {
            return Owner::Elsewhere {
                host: self.host.clone(),
            };
        }
        let is_alive = self.boot == kernel("random/boot_id")
            && match started(self.pid) {
                Some(started) => started == self.started,
                // Without `/proc` the identifier alone has to do.
                None => self.boot.is_empty() && exists(self.pid),
            };
        if is_alive { Owner::Alive } else { Owner::Dead }
    }
}

/// Returns a value of `/proc/sys/kernel`; empty on systems without it.
fn kernel(name: &str) -> String {
    let value = fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    value.unwrap_or_default().trim().to_owned()
}

/// Returns when a process started, if it runs.
fn started(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name, in parentheses, may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    // A process that was killed and not yet waited for does not run.
    let is_dead = matches!(state, "Z" | "X" | "x");
    let started = fields.nth(18)?.parse().ok()?;
    (!is_dead).then_some(started)
}

fn exists(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}
