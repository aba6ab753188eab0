//! The life of a pod's containers: a state machine that is told the time and a script, and says what happened.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{
    container::{Container, Restart, Role, State, backoff},
    fields::containers,
};
use crate::controllers::workloads::{
    objects::text,
    pods::Phase,
    stages::{Readiness, Script, UsageStep},
};

/// The code of a container that did not end when it was told to.
pub(in crate::controllers::workloads) const KILLED: i64 = 137;
/// The reason of a container that refers to something that is not there.
pub(super) const CONFIG_ERROR: &str = "CreateContainerConfigError";
/// The time after which a container that ran has not crashed in a row.
const STABLE_AFTER: Duration = Duration::from_mins(10);
/// The time between a failed pull and the state that says when it is tried again.
const CALMED_AFTER: Duration = Duration::from_secs(1);

/// The containers of a pod, as their kubelet knows them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Life {
    /// Init containers and sidecars in their order, then the others, then ephemeral ones.
    pub(super) containers: Vec<Container>,
    /// The time at which it has been active for as long as it may.
    deadline: Option<Instant>,
    pub(super) is_past_deadline: bool,
    /// True if its containers were told to end.
    is_stopped: bool,
    /// The time of the first back-off, which each restart doubles.
    first_backoff: Duration,
}

/// Something that happened to a container, of which events tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) container: String,
    pub(super) what: What,
}

/// The kind of thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Started,
    /// It started, and is never ready.
    StartedUnready,
    /// It uses this from its start on.
    Uses(Vec<UsageStep>),
    /// It logged this.
    Logged(String),
    /// It ended with this code.
    Ended(i64),
    /// It is restarted after a pause.
    BackedOff,
    /// Its image could not be pulled, for this reason.
    NotPulled(String),
    /// The pull waits for its next try, as this message says.
    PullBackedOff(String),
}

/// Says what a container does from its next start, or why it cannot start.
pub(super) type Director<'a> = dyn FnMut(&Container) -> Result<Script, Blocked> + 'a;

/// The reason for which a container cannot start yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocked {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The time at which a life goes on: as a deadline, and as statuses write it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<'a> {
    pub(super) at: Instant,
    pub(super) text: &'a str,
}

// === impl Life ===

impl Life {
    /// Creates the life of a pod that is as its status says.
    pub(super) fn of(pod: &Value, first_backoff: Duration, now: Now<'_>) -> Self {
        let spec = &pod["spec"];
        let limit = spec["activeDeadlineSeconds"].as_u64();
        let mut life = Self {
            containers: Vec::new(),
            deadline: limit.map(|seconds| now.at + Duration::from_secs(seconds)),
            is_past_deadline: false,
            is_stopped: false,
            first_backoff,
        };
        life.take_in(pod, now);
        life
    }

    /// Adds the containers of the specification that it does not know, which are ephemeral ones after the beginning.
    pub(super) fn take_in(&mut self, pod: &Value, now: Now<'_>) {
        let spec = &pod["spec"];
        let policy = Restart::of(text(&spec["restartPolicy"]));
        let known = self.containers.len();
        for (field, container) in containers(spec).skip(known) {
            let role = field.role_of(container);
            let mut container = Container::of(container, role, policy, &pod["status"]);
            if matches!(&container.state, State::Ended(ended) if container.restarts_after(ended.code))
            {
                container.starts_at = Some(now.at);
            }
            self.containers.push(container);
        }
    }

    /// Goes on until nothing more happens now, and returns what has happened.
    pub(super) fn advance(&mut self, now: Now<'_>, director: &mut Director<'_>) -> Vec<Happened> {
        let mut happened = Vec::new();
        if self.deadline.is_some_and(|deadline| deadline <= now.at) && !self.is_over() {
            self.is_past_deadline = true;
            happened.extend(self.stop(now, KILLED));
        }
        while !self.is_over()
            && (0..self.containers.len())
                .any(|number| self.step(number, now, director, &mut happened))
        {}
        if self.is_over() {
            for container in self.containers.iter_mut().filter(|it| it.is_running()) {
                container.end(0, None, now.text);
                happened.push(Happened::to(container, What::Ended(0)));
            }
        }
        happened
    }

    /// Ends all containers that run with this code, and returns what has happened. None starts any more.
    pub(super) fn stop(&mut self, now: Now<'_>, code: i64) -> Vec<Happened> {
        let mut happened = Vec::new();
        self.is_stopped = true;
        for container in &mut self.containers {
            container.starts_at = None;
            if container.is_running() {
                container.end(code, None, now.text);
                happened.push(Happened::to(container, What::Ended(code)));
            }
        }
        happened
    }

    /// Returns what a container lacks that cannot be created.
    pub(super) fn lacks(&self) -> Option<&str> {
        self.containers
            .iter()
            .find_map(|container| match &container.state {
                State::Waiting {
                    reason: CONFIG_ERROR,
                    message,
                } => Some(&**message),
                _ => None,
            })
    }

    /// Returns the time at which something happens next, if nothing else changes.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let all = self.containers.iter().enumerate();
        let own = all.flat_map(|(number, container)| container.times(self.may_start(number)));
        own.chain(self.deadline).min()
    }

    /// Takes the next step of a container. False if there is none now.
    fn step(
        &mut self,
        number: usize,
        now: Now<'_>,
        director: &mut Director<'_>,
        happened: &mut Vec<Happened>,
    ) -> bool {
        let may_start = self.may_start(number);
        let first_backoff = self.first_backoff;
        let container = &mut self.containers[number];
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now.at);
        if let Some(text) = container.next_line(now.at) {
            happened.push(Happened::to(container, What::Logged(text)));
            return true;
        }
        match &container.state {
            State::Running { .. } if container.ran_from.is_none() => {
                resume(container, now, director);
            }
            State::Running { .. } if is_due(container.ends_at) => {
                let exit = container.exit.clone().unwrap_or_default();
                container.end(exit.code, exit.reason.as_deref(), now.text);
                happened.push(Happened::to(container, What::Ended(exit.code)));
                if container.restarts_after(exit.code) && restart(container, now, first_backoff) {
                    happened.push(Happened::to(container, What::BackedOff));
                }
            }
            State::Running { .. } if is_due(container.ready_at) => {
                container.ready_at = None;
                container.is_ready = true;
            }
            State::Running { .. } => return false,
            State::Waiting { .. } if is_due(container.turns_at) => {
                container.turns_at = None;
                let message = format!("Back-off pulling image \"{}\"", container.image);
                container.state = State::waiting("ImagePullBackOff", message.clone());
                happened.push(Happened::to(container, What::PullBackedOff(message)));
            }
            State::Ended(_) if container.starts_at.is_none() => return false,
            _ if !may_start => return false,
            _ => return start(container, now, first_backoff, director, happened),
        }
        true
    }

    /// Returns whether a container need not wait for others.
    fn may_start(&self, number: usize) -> bool {
        let role = self.containers[number].role;
        let before = match role {
            Role::Init | Role::Sidecar => &self.containers[..number],
            Role::Main | Role::Ephemeral => &self.containers[..],
        };
        before.iter().all(Container::lets_others_start)
    }

    /// Returns whether all that are to end have ended for good, or never can.
    pub(super) fn is_over(&self) -> bool {
        let mut inits = self.of_role(Role::Init);
        let mut mains = self.of_role(Role::Main);
        self.is_stopped
            || inits.any(Container::has_failed_for_good)
            || mains.all(Container::has_ended_for_good)
    }

    fn of_role(&self, role: Role) -> impl Iterator<Item = &Container> {
        self.containers
            .iter()
            .filter(move |container| container.role == role)
    }

    /// Returns the phase of the pod.
    pub(super) fn phase(&self) -> Phase {
        if self.is_over() {
            let mut all = self.containers.iter();
            let has_failed = self.is_past_deadline
                || all.any(|it| {
                    it.role != Role::Ephemeral && it.role != Role::Sidecar && it.has_failed()
                });
            return if has_failed {
                Phase::Failed
            } else {
                Phase::Succeeded
            };
        }
        if self.of_role(Role::Main).any(Container::has_started) {
            Phase::Running
        } else {
            Phase::Pending
        }
    }
}

/// Starts a container whose time has come, or tries to; or sets that time. False if it has to wait.
fn start(
    container: &mut Container,
    now: Now<'_>,
    first_backoff: Duration,
    director: &mut Director<'_>,
    happened: &mut Vec<Happened>,
) -> bool {
    let script = match director(container) {
        Ok(script) => script,
        Err(blocked) => {
            container.starts_at = None;
            container.state = State::waiting(blocked.reason, blocked.message);
            return false;
        }
    };
    let Some(at) = container.starts_at else {
        container.starts_at = Some(now.at + script.start_after);
        container.state = State::waiting("ContainerCreating", "");
        return true;
    };
    if at > now.at {
        return false;
    }
    let mut usage = Vec::new();
    let what = if let Some(error) = script.pull_error {
        let message = format!("Failed to pull image \"{}\": {error}", container.image);
        container.state = State::waiting("ErrImagePull", error);
        container.turns_at = Some(now.at + CALMED_AFTER);
        container.pulls += 1;
        container.tries += 1;
        let pause = backoff(first_backoff, container.pulls);
        container.starts_at = Some(now.at + CALMED_AFTER + pause);
        What::NotPulled(message)
    } else {
        let is_unready = script.readiness == Readiness::Never;
        usage.clone_from(&script.usage);
        run(container, now, script);
        if is_unready {
            What::StartedUnready
        } else {
            What::Started
        }
    };
    happened.push(Happened::to(container, what));
    if !usage.is_empty() {
        happened.push(Happened::to(container, What::Uses(usage)));
    }
    true
}

/// Lets a container run.
fn run(container: &mut Container, now: Now<'_>, script: Script) {
    if container.has_started() {
        container.restart_count += 1;
    }
    if let State::Ended(ended) = &container.state {
        container.last = Some(ended.clone());
    }
    container.state = State::Running {
        since: now.text.to_owned(),
    };
    container.starts_at = None;
    container.turns_at = None;
    container.pulls = 0;
    container.follow(now.at, script);
}

/// Continues with a container of which the status says that it runs.
fn resume(container: &mut Container, now: Now<'_>, director: &mut Director<'_>) {
    let was_ready = container.is_ready;
    match director(container) {
        Ok(script) => {
            container.follow(now.at, script);
            // It has logged them when it started.
            container.lines.clear();
        }
        Err(_) => container.ran_from = Some(now.at),
    }
    container.is_ready |= was_ready;
}

/// Has a container that ended start again, at once for the first time, and after a growing pause for the others. True if
/// there is a pause.
fn restart(container: &mut Container, now: Now<'_>, first_backoff: Duration) -> bool {
    let ran = container.ran_from.map(|from| now.at - from);
    if ran.is_some_and(|ran| ran >= STABLE_AFTER) {
        container.crashes = 0;
    }
    let pause = match container.crashes {
        0 => Duration::ZERO,
        crashes => backoff(first_backoff, crashes),
    };
    container.crashes += 1;
    container.starts_at = Some(now.at + pause);
    if pause.is_zero() {
        return false;
    }
    if let State::Ended(ended) = &container.state {
        container.last = Some(ended.clone());
    }
    let (seconds, name) = (pause.as_secs(), &container.name);
    let message = format!("back-off {seconds}s restarting failed container={name}");
    container.state = State::waiting("CrashLoopBackOff", message);
    true
}

// === impl Happened ===

impl Happened {
    fn to(container: &Container, what: What) -> Self {
        Self {
            container: container.name.clone(),
            what,
        }
    }
}

#[cfg(test)]
mod tests;
