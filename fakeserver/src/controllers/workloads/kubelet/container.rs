//! One container of a pod: its state, and the times at which that changes.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

use super::fields::ContainerField;
use crate::controllers::workloads::{
    objects::{number, text},
    stages::{Exit, Readiness, Script},
};

/// The longest back-off, in units of the first one: 5 minutes for one of 10 s.
const BACKOFFS_MAX: u32 = 30;

/// The part of a pod that a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It has to succeed before those after it start.
    Init,
    /// It has to have started before those after it start, and runs as long as they do.
    Sidecar,
    Main,
    /// It was added to a running pod, and nothing depends on it.
    Ephemeral,
}

/// The ends after which a container starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    Always,
    OnFailure,
    Never,
}

/// The state of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting {
        reason: &'static str,
        message: String,
    },
    Running {
        /// As statuses write times.
        since: String,
    },
    Ended(Ended),
}

/// The end of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: i64,
    pub(super) reason: String,
    pub(super) started: String,
    pub(super) finished: String,
}

/// A container, as its kubelet knows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) role: Role,
    policy: Restart,
    pub(super) state: State,
    /// Its end before the last start.
    pub(super) last: Option<Ended>,
    pub(super) restart_count: u32,
    /// The number of runs and pulls that are over.
    pub(super) tries: u32,
    /// The number of pulls that failed one after the other.
    pub(super) pulls: u32,
    /// The number of ends one after the other that were followed by a restart.
    pub(super) crashes: u32,
    pub(super) is_ready: bool,
    /// The end that its script says.
    pub(super) exit: Option<Exit>,
    pub(super) ran_from: Option<Instant>,
    pub(super) starts_at: Option<Instant>,
    /// The time at which a failed pull begins to wait for the next.
    pub(super) turns_at: Option<Instant>,
    pub(super) ready_at: Option<Instant>,
    pub(super) ends_at: Option<Instant>,
    /// The lines that it is to log, the next one first.
    pub(super) lines: VecDeque<(Instant, String)>,
}

/// Returns the wait before a try after `failures` failed ones, of which the first was followed by `first`.
pub(super) fn backoff(first: Duration, failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
    first * factor.min(BACKOFFS_MAX)
}

// === impl Restart ===

impl Restart {
    /// Returns the policy of that name.
    pub(super) fn of(policy: &str) -> Self {
        match policy {
            "OnFailure" => Self::OnFailure,
            "Never" => Self::Never,
            _ => Self::Always,
        }
    }
}

// === impl State ===

impl State {
    pub(super) fn waiting(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Waiting {
            reason,
            message: message.into(),
        }
    }

    /// Reads the state in a status. One that waits begins anew.
    fn of(state: &Value) -> Self {
        if let Some(running) = state.get("running") {
            let since = text(&running["startedAt"]).to_owned();
            return Self::Running { since };
        }
        match state.get("terminated") {
            Some(ended) => Self::Ended(Ended::of(ended)),
            None => Self::waiting("ContainerCreating", ""),
        }
    }
}

// === impl Ended ===

impl Ended {
    fn of(ended: &Value) -> Self {
        Self {
            code: number(&ended["exitCode"], 0),
            reason: text(&ended["reason"]).to_owned(),
            started: text(&ended["startedAt"]).to_owned(),
            finished: text(&ended["finishedAt"]).to_owned(),
        }
    }
}

// === impl Container ===

impl Container {
    /// Creates a container that is as the status of its pod says.
    pub(super) fn of(container: &Value, role: Role, policy: Restart, status: &Value) -> Self {
        let field = ContainerField::of(role);
        let statuses = status[field.status_name()].as_array();
        let own = statuses
            .into_iter()
            .flatten()
            .find(|status| status["name"] == container["name"]);
        let own = own.unwrap_or(&Value::Null);
        let own_policy = match role {
            Role::Sidecar => Restart::Always,
            Role::Ephemeral => Restart::Never,
            // One that has succeeded has done its work, whatever the policy of the pod.
            Role::Init if policy == Restart::Always => Restart::OnFailure,
            _ => policy,
        };
        let last = own["lastState"].get("terminated").map(Ended::of);
        let restart_count = u32::try_from(number(&own["restartCount"], 0)).unwrap_or_default();
        let mut container = Self {
            name: text(&container["name"]).to_owned(),
            image: text(&container["image"]).to_owned(),
            role,
            policy: own_policy,
            state: State::of(&own["state"]),
            last,
            restart_count,
            tries: restart_count,
            pulls: 0,
            crashes: 0,
            is_ready: own["ready"] == true,
            exit: None,
            ran_from: None,
            starts_at: None,
            turns_at: None,
            ready_at: None,
            ends_at: None,
            lines: VecDeque::new(),
        };
        if container.has_started() && !container.is_running() {
            container.tries += 1;
        }
        container
    }

    /// Does from now on what a script says.
    pub(super) fn follow(&mut self, now: Instant, script: Script) {
        self.ran_from = Some(now);
        self.ends_at = script.exit.as_ref().map(|exit| now + exit.after);
        self.exit = script.exit;
        let lines = script.lines.into_iter();
        self.lines = lines.map(|line| (now + line.after, line.text)).collect();
        self.lines.make_contiguous().sort_by_key(|(at, _)| *at);
        self.is_ready = script.readiness == Readiness::After(Duration::ZERO);
        self.ready_at = match script.readiness {
            Readiness::After(time) if !self.is_ready => Some(now + time),
            _ => None,
        };
    }

    /// Returns whether it ends by itself where no stage says so. `ends` says that of its pod.
    pub(super) fn ends(&self, ends: bool) -> bool {
        match self.role {
            Role::Init => true,
            Role::Main => ends,
            Role::Sidecar | Role::Ephemeral => false,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    /// Returns whether it has run, now or before.
    pub(super) fn has_started(&self) -> bool {
        !matches!(self.state, State::Waiting { .. }) || self.last.is_some()
    }

    /// Returns whether a container of this policy starts again after that end.
    pub(super) fn restarts_after(&self, code: i64) -> bool {
        match self.policy {
            Restart::Always => true,
            Restart::OnFailure => code != 0,
            Restart::Never => false,
        }
    }

    pub(super) fn has_ended_for_good(&self) -> bool {
        matches!(self.state, State::Ended(_)) && self.starts_at.is_none()
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.state, State::Ended(ended) if ended.code != 0)
    }

    pub(super) fn has_failed_for_good(&self) -> bool {
        self.has_failed() && self.starts_at.is_none()
    }

    /// Returns whether those that come after it may start.
    pub(super) fn lets_others_start(&self) -> bool {
        match self.role {
            Role::Init => self.has_ended_for_good() && !self.has_failed(),
            Role::Sidecar => self.has_started(),
            Role::Main | Role::Ephemeral => true,
        }
    }

    /// Ends it now. A code other than 0 has the reason `Error`, unless the script says another.
    pub(super) fn end(&mut self, code: i64, reason: Option<&str>, now: &str) {
        let own = if code == 0 { "Completed" } else { "Error" };
        let started = match &self.state {
            State::Running { since } => since.clone(),
            _ => now.to_owned(),
        };
        let ended = Ended {
            code,
            reason: reason.unwrap_or(own).to_owned(),
            started,
            finished: now.to_owned(),
        };
        self.state = State::Ended(ended);
        self.tries += 1;
        self.is_ready = false;
        self.ready_at = None;
        self.ends_at = None;
        self.lines.clear();
    }

    /// Takes the next line that it logs by `now`, and before it ends.
    pub(super) fn next_line(&mut self, now: Instant) -> Option<String> {
        let limit = self.ends_at.map_or(now, |end| end.min(now));
        if self.lines.front()?.0 > limit {
            return None;
        }
        self.lines.pop_front().map(|(_, text)| text)
    }

    /// Returns the times at which something happens to it, its start among them if it may start.
    pub(super) fn times(&self, may_start: bool) -> impl Iterator<Item = Instant> {
        let start = self.starts_at.filter(|_| may_start);
        let line = self.lines.front().map(|(at, _)| *at);
        [start, self.turns_at, self.ready_at, self.ends_at, line]
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_doubles_up_to_thirty_times_the_first() {
        let seconds = |failures| backoff(Duration::from_secs(10), failures).as_secs();
        assert_eq!(
            [1, 2, 3, 5, 6, 99].map(seconds),
            [10, 20, 40, 160, 300, 300]
        );
    }
}
