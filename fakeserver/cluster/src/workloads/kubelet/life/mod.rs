//! The life of a pod's containers: a state machine that is told the time and a script, and says what happened.

mod steps;

use std::time::Duration;

use fakeserver_server::controllers::pods::Phase;
use serde_json::Value;
use tokio::time::Instant;

use self::steps::{is_due, resume, run_on, start};
use super::{
    container::{CREATING, Container, Restart, Role, State},
    fields::containers,
};
use crate::workloads::{
    objects::text,
    stages::{ProbeKind, Script, UsageStep},
};

/// The code of a container that did not end when it was told to.
pub(in crate::workloads) const KILLED: i64 = 137;
/// The reason of a container that refers to something that is not there.
pub(super) const CONFIG_ERROR: &str = "CreateContainerConfigError";
/// The reason of a container whose image has a name that is none.
pub(super) const INVALID_IMAGE: &str = "InvalidImageName";

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
    pausing: Pausing,
}

/// The pauses before containers start again.
#[derive(Clone, Debug, PartialEq)]
struct Pausing {
    /// The time of the first back-off, which each restart doubles.
    first: Duration,
    /// The pod, as messages call it.
    pod: String,
}

/// A container that cannot be created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lacking<'a> {
    pub(super) container: &'a str,
    pub(super) role: Role,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
}

/// Something that happened to a container, of which events tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) container: String,
    pub(super) role: Role,
    pub(super) what: What,
}

/// The kind of thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The pull of this image has begun.
    Pulling(String),
    /// This image was pulled, which took so long.
    Pulled(String, Duration),
    /// This image was there.
    Present(String),
    Started,
    /// It uses this from its start on.
    Uses(Vec<UsageStep>),
    /// It logged this.
    Logged(String),
    /// It ended with this code.
    Ended(i64),
    /// It is restarted after a pause, in the pod that is called so.
    BackedOff(String),
    /// Its image could not be pulled, for this reason.
    NotPulled(String),
    /// Its image is not there and is never pulled, as this message says.
    NeverPulled(String),
    /// The pull waits for its next try, as this message says.
    PullBackedOff(String),
    /// A probe of it has failed.
    Unhealthy(ProbeKind),
    /// It is killed for this probe.
    Killed(ProbeKind),
    /// It is killed for its new resources.
    Resized,
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
            pausing: Pausing {
                first: first_backoff,
                pod: called(pod),
            },
        };
        life.take_in(pod, now);
        life
    }

    /// Adds the containers of the specification that it does not know, which are ephemeral ones after the beginning. Those that
    /// wait take over an image that has changed.
    pub(super) fn take_in(&mut self, pod: &Value, now: Now<'_>) {
        let spec = &pod["spec"];
        let policy = Restart::of(text(&spec["restartPolicy"]));
        for (container, (_, wanted)) in self.containers.iter_mut().zip(containers(spec)) {
            if matches!(container.state, State::Waiting { .. }) {
                text(&wanted["image"]).clone_into(&mut container.image);
            }
        }
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

    /// Ends a container that runs, to start it again at once, and returns what has happened.
    pub(super) fn restart(&mut self, name: &str, now: Now<'_>) -> Vec<Happened> {
        let mut all = self.containers.iter_mut();
        let Some(container) = all.find(|it| it.name == name && it.is_running()) else {
            return Vec::new();
        };
        container.end(KILLED, None, now.text);
        container.starts_at = Some(now.at);
        [What::Resized, What::Ended(KILLED)]
            .map(|what| Happened::to(container, what))
            .into()
    }

    /// Returns a container that cannot be created.
    pub(super) fn lacks(&self) -> Option<Lacking<'_>> {
        self.containers
            .iter()
            .find_map(|container| match &container.state {
                State::Waiting {
                    reason: reason @ (CONFIG_ERROR | INVALID_IMAGE),
                    message,
                } => Some(Lacking {
                    container: &container.name,
                    role: container.role,
                    reason,
                    message,
                }),
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
        let pausing = &self.pausing;
        let container = &mut self.containers[number];
        if let Some(text) = container.next_line(now.at) {
            happened.push(Happened::to(container, What::Logged(text)));
            return true;
        }
        match &container.state {
            State::Running { .. } if container.ran_from.is_none() => {
                resume(container, now, director);
                true
            }
            State::Running { .. } => run_on(container, now, pausing, happened),
            State::Waiting { .. } if is_due(container.turns_at, now) => {
                container.turns_at = None;
                let message = format!("Back-off pulling image \"{}\"", container.image);
                container.state = State::waiting("ImagePullBackOff", message.clone());
                happened.push(Happened::to(container, What::PullBackedOff(message)));
                true
            }
            State::Ended(_) if container.starts_at.is_none() => false,
            _ if !may_start => false,
            _ => start(container, now, pausing.first, director, happened),
        }
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

    /// Returns whether the sandbox of its pod is there, which has the address: when volumes are mounted, before images are
    /// pulled.
    pub(super) fn has_sandbox(&self) -> bool {
        let is_being_created = |container: &Container| {
            let is_new = matches!(
                container.state,
                State::Waiting {
                    reason: CREATING,
                    ..
                }
            );
            is_new && !container.has_started()
        };
        self.phase() != Phase::Pending || !self.containers.iter().all(is_being_created)
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

/// Returns the name of a pod in messages of kubelets.
pub(super) fn called(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    let [name, namespace, uid] = ["name", "namespace", "uid"].map(|field| text(&metadata[field]));
    format!("{name}_{namespace}({uid})")
}

/// Returns a duration as Go prints it.
pub(super) fn go_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if duration < Duration::from_secs(1) && !duration.is_zero() {
        return format!("{}ms", duration.as_secs_f64() * 1e3);
    }
    let [hours, minutes] = [seconds / 3_600, seconds / 60 % 60];
    let rest = duration.as_secs_f64() % 60.0;
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

// === impl Lacking ===

impl Lacking<'_> {
    pub(super) fn is_invalid_image(self) -> bool {
        self.reason == INVALID_IMAGE
    }
}

// === impl Happened ===

impl Happened {
    fn to(container: &Container, what: What) -> Self {
        Self {
            container: container.name.clone(),
            role: container.role,
            what,
        }
    }
}

#[cfg(test)]
mod tests;
