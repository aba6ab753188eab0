//! One container of a pod: its state, and the times at which that changes.

use std::{collections::VecDeque, time::Duration};

use fakeserver_value::read::text;
use serde_json::Value;
use tokio::time::Instant;

use super::fields::ContainerField;
use crate::workloads::{
    backoff,
    objects::number,
    stages::{Exit, Failures, ProbeKind, Script},
};

/// The reason of a container that is to start.
pub(super) const CREATING: &str = "ContainerCreating";
/// The longest back-off, in units of the first one: 5 minutes for one of 10 s.
const BACKOFFS_MAX: u32 = 30;

/// The part of a pod that a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An init container: it has to succeed before later containers start.
    Init,
    /// A sidecar: it has to have started before later containers start, and runs as long as they do.
    Sidecar,
    Main,
    /// An ephemeral container: it was added to a running pod, and no other container depends on it.
    Ephemeral,
}

/// The ends after which a container starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    Always,
    OnFailure,
    Never,
}

/// A rule by which a container starts again whatever its policy is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RestartRule {
    codes: Vec<i64>,
    /// True if it is about the codes that are listed, false if about all others.
    is_listed: bool,
}

/// A probe that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbeFailure {
    pub(super) kind: ProbeKind,
    pub(super) at: Instant,
    pub(super) period: Duration,
    /// The number of failures after which the container is killed; `None` if it is not.
    pub(super) left: Option<u32>,
}

/// The state of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting {
        reason: &'static str,
        message: String,
    },
    Running {
        /// The time as statuses write it.
        since: String,
    },
    Terminated(Termination),
}

/// The end of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Termination {
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
    rules: Vec<RestartRule>,
    pub(super) state: State,
    /// Its end before the last start.
    pub(super) last: Option<Termination>,
    pub(super) restart_count: u32,
    /// The number of runs and pulls that are over.
    pub(super) tries: u32,
    /// The number of pulls that failed one after the other.
    pub(super) pulls: u32,
    /// The number of ends one after the other that were followed by a restart.
    pub(super) crashes: u32,
    pub(super) is_ready: bool,
    /// True if it runs and its startup probe has succeeded.
    pub(super) has_started_up: bool,
    /// True if the image is being pulled for the next start.
    pub(super) is_pulling: bool,
    /// The end that its script says.
    pub(super) exit: Option<Exit>,
    pub(super) ran_from: Option<Instant>,
    pub(super) starts_at: Option<Instant>,
    /// The time at which a failed pull begins to wait for the next.
    pub(super) turns_at: Option<Instant>,
    pub(super) starts_up_at: Option<Instant>,
    pub(super) ready_at: Option<Instant>,
    /// The next failure of its readiness probe, while it is not ready.
    pub(super) unready: Option<ProbeFailure>,
    /// The next failure of a probe for which it is killed.
    pub(super) failing: Option<ProbeFailure>,
    pub(super) ends_at: Option<Instant>,
    /// The lines that it is to log, the next one first.
    pub(super) lines: VecDeque<(Instant, String)>,
}

/// Returns the wait before a try after `failures` failed ones, of which the first was followed by `first`.
pub(super) fn backoff(first: Duration, failures: u32) -> Duration {
    backoff::backoff(first, failures, first * BACKOFFS_MAX)
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

// === impl RestartRule ===

impl RestartRule {
    /// Reads those of a container.
    fn all_of(container: &Value) -> Vec<Self> {
        let rules = container["restartPolicyRules"].as_array();
        let rules = rules.into_iter().flatten();
        rules
            .filter(|rule| rule["action"] == "Restart")
            .map(|rule| {
                let codes = rule["exitCodes"]["values"].as_array();
                Self {
                    codes: codes
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_i64)
                        .collect(),
                    is_listed: rule["exitCodes"]["operator"] == "In",
                }
            })
            .collect()
    }

    fn is_about(&self, code: i64) -> bool {
        self.codes.contains(&code) == self.is_listed
    }
}

// === impl ProbeFailure ===

impl ProbeFailure {
    /// Creates that of a container that starts now.
    fn from(failures: Failures, now: Instant) -> Self {
        let Failures {
            kind,
            first,
            period,
            limit,
        } = failures;
        Self {
            kind,
            at: now + first,
            period,
            left: limit,
        }
    }

    /// Goes on to the next failure after this one. False if it was the last.
    pub(super) fn pass(&mut self, now: Instant) -> bool {
        self.at = now + self.period;
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.left != Some(0)
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

    /// Reads the state in a status. A waiting container begins again.
    fn of(state: &Value) -> Self {
        if let Some(running) = state.get("running") {
            let since = text(&running["startedAt"]).to_owned();
            return Self::Running { since };
        }
        match state.get("terminated") {
            Some(ended) => Self::Terminated(Termination::of(ended)),
            None => Self::waiting(CREATING, ""),
        }
    }
}

// === impl Termination ===

impl Termination {
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
        let own_policy = match (role, container["restartPolicy"].as_str()) {
            (Role::Sidecar, _) => Restart::Always,
            (Role::Ephemeral, _) => Restart::Never,
            (_, Some(own)) => Restart::of(own),
            // A container that has succeeded is done, whatever the restart policy of the pod.
            (Role::Init, None) if policy == Restart::Always => Restart::OnFailure,
            _ => policy,
        };
        let last = own["lastState"].get("terminated").map(Termination::of);
        let restart_count = u32::try_from(number(&own["restartCount"], 0)).unwrap_or_default();
        let mut container = Self {
            name: text(&container["name"]).to_owned(),
            image: text(&container["image"]).to_owned(),
            role,
            policy: own_policy,
            rules: RestartRule::all_of(container),
            state: State::of(&own["state"]),
            last,
            restart_count,
            tries: restart_count,
            pulls: 0,
            crashes: 0,
            is_ready: own["ready"] == true,
            has_started_up: own["started"] == true,
            is_pulling: false,
            exit: None,
            ran_from: None,
            starts_at: None,
            turns_at: None,
            starts_up_at: None,
            ready_at: None,
            unready: None,
            failing: None,
            ends_at: None,
            lines: VecDeque::new(),
        };
        // `restartCount` counts the runs before the last one, which is over as well.
        if container.has_started() && !container.is_running() {
            container.tries += 1;
        }
        container
    }

    /// Follows a script from now on.
    pub(super) fn follow(&mut self, now: Instant, script: Script) {
        self.ran_from = Some(now);
        self.ends_at = script.exit.as_ref().map(|exit| now + exit.after);
        self.exit = script.exit;
        let lines = script.lines.into_iter();
        self.lines = lines.map(|line| (now + line.after, line.text)).collect();
        self.lines.make_contiguous().sort_by_key(|(at, _)| *at);
        (self.has_started_up, self.starts_up_at) = script.startup.from(now);
        // Ephemeral containers have no readiness.
        (self.is_ready, self.ready_at) = match self.role {
            Role::Ephemeral => (false, None),
            _ => script.readiness.from(now),
        };
        self.unready = script
            .unready
            .map(|failures| ProbeFailure::from(failures, now));
        self.failing = script
            .failures
            .map(|failures| ProbeFailure::from(failures, now));
    }

    /// Returns whether the container ends by itself without a stage.
    pub(super) fn ends(&self) -> bool {
        match self.role {
            Role::Init => true,
            Role::Main => self.policy != Restart::Always,
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

    /// Returns whether it starts again after that end.
    pub(super) fn restarts_after(&self, code: i64) -> bool {
        // Rules come before the policy: by them a container restarts that otherwise never does.
        if self.rules.iter().any(|rule| rule.is_about(code)) {
            return true;
        }
        match self.policy {
            Restart::Always => true,
            Restart::OnFailure => code != 0,
            Restart::Never => false,
        }
    }

    pub(super) fn has_ended_for_good(&self) -> bool {
        matches!(self.state, State::Terminated(_)) && self.starts_at.is_none()
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.state, State::Terminated(ended) if ended.code != 0)
    }

    pub(super) fn has_failed_for_good(&self) -> bool {
        self.has_failed() && self.starts_at.is_none()
    }

    /// Returns whether those that come after it may start.
    pub(super) fn lets_others_start(&self) -> bool {
        match self.role {
            Role::Init => self.has_ended_for_good() && !self.has_failed(),
            // One that crashed after its first start holds up no other container.
            Role::Sidecar => self.has_started() && (self.has_started_up || !self.is_running()),
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
        let ended = Termination {
            code,
            reason: reason.unwrap_or(own).to_owned(),
            started,
            finished: now.to_owned(),
        };
        self.state = State::Terminated(ended);
        self.tries += 1;
        self.is_ready = false;
        self.has_started_up = false;
        self.starts_up_at = None;
        self.ready_at = None;
        self.unready = None;
        self.failing = None;
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
        let probes = [self.unready, self.failing].map(|probe| probe.map(|failing| failing.at));
        let changes = [
            self.turns_at,
            self.starts_up_at,
            self.ready_at,
            self.ends_at,
        ];
        let all = [start, line].into_iter().chain(probes).chain(changes);
        all.flatten()
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
