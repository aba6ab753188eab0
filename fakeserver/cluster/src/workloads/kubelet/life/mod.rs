//! The lifecycle of a pod's containers: a state machine without a clock. Its inputs are the time and scripts, its outputs events.

mod steps;

use std::time::Duration;

use fakeserver_server::controllers::pods::Phase;
use fakeserver_value::read::text;
use serde_json::Value;
use tokio::time::Instant;

use self::steps::{is_due, resume, run_on, start};
use super::{
    container::{CREATING, Container, Restart, Role, State},
    fields::containers,
};
use crate::workloads::stages::{ProbeKind, Script, UsageStep};

/// The exit code of a container that was killed after its grace period.
pub(in crate::workloads) const KILLED: i64 = 137;
/// The reason of a container that refers to a missing object.
pub(super) const CONFIG_ERROR: &str = "CreateContainerConfigError";
/// The reason of a container whose image name is invalid.
pub(super) const INVALID_IMAGE: &str = "InvalidImageName";

/// The containers of a pod, as their kubelet knows them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodLifecycle {
    /// Init containers and sidecars in their order, then the others, then ephemeral ones.
    pub(super) containers: Vec<Container>,
    /// The time at which `activeDeadlineSeconds` ends.
    deadline: Option<Instant>,
    pub(super) is_past_deadline: bool,
    /// True if the containers were stopped.
    is_stopped: bool,
    backoff: RestartBackoff,
}

/// The pauses before containers start again.
#[derive(Clone, Debug, PartialEq)]
struct RestartBackoff {
    /// The time of the first back-off, which each restart doubles.
    first: Duration,
    /// The pod, as messages call it.
    pod: String,
}

/// A container that cannot be created.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockedContainer<'a> {
    pub(super) container: &'a str,
    pub(super) role: Role,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
}

/// A change of a container, which events and logs report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContainerEvent {
    pub(super) container: String,
    pub(super) role: Role,
    pub(super) what: ContainerEventKind,
}

/// The kind of a change, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ContainerEventKind {
    /// The pull of this image has begun.
    Pulling(String),
    /// This image was pulled in this time.
    Pulled(String, Duration),
    /// This image was present on the node.
    Present(String),
    Started,
    /// The usage of the container from its start on.
    Uses(Vec<UsageStep>),
    /// The container logged this text.
    Logged(String),
    /// The container ended with this exit code.
    Exited(i64),
    /// The container is restarted after a pause. The text names its pod.
    BackedOff(String),
    /// The image could not be pulled, for this reason.
    NotPulled(String),
    /// The image is absent, and its policy forbids a pull, as this message says.
    NeverPulled(String),
    /// The pull waits for its next try, as this message says.
    PullBackedOff(String),
    /// A probe of the container has failed.
    Unhealthy(ProbeKind),
    /// The container is killed because of this probe.
    Killed(ProbeKind),
    /// The container is killed for a resize.
    Resized,
    /// The container is killed because its image has changed.
    Redefined,
}

/// Returns the script of a container's next start, or why the container cannot start.
pub(super) type ScriptProvider<'a> = dyn FnMut(&Container) -> Result<Script, StartBlocker> + 'a;

/// The reason for which a container cannot start yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartBlocker {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The current time: as an instant, and as statuses write it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentTime<'a> {
    pub(super) at: Instant,
    pub(super) text: &'a str,
}

// === impl PodLifecycle ===

impl PodLifecycle {
    /// Restores the lifecycle of a pod from its status.
    pub(super) fn of(pod: &Value, first_backoff: Duration, now: CurrentTime<'_>) -> Self {
        let spec = &pod["spec"];
        let limit = spec["activeDeadlineSeconds"].as_u64();
        let mut life = Self {
            containers: Vec::new(),
            deadline: limit.map(|seconds| now.at + Duration::from_secs(seconds)),
            is_past_deadline: false,
            is_stopped: false,
            backoff: RestartBackoff {
                first: first_backoff,
                pod: called(pod),
            },
        };
        life.take_in(pod, now);
        life
    }

    /// Adds the containers of the specification that it does not know, which are ephemeral ones after the beginning. All take
    /// over an image that has changed, for their next start.
    pub(super) fn take_in(&mut self, pod: &Value, now: CurrentTime<'_>) {
        let spec = &pod["spec"];
        let policy = Restart::of(text(&spec["restartPolicy"]));
        // Both are in the order of the specification: containers are only ever added, and at its end.
        for (container, (_, wanted)) in self.containers.iter_mut().zip(containers(spec)) {
            text(&wanted["image"]).clone_into(&mut container.image);
        }
        let count = self.containers.len();
        for (field, container) in containers(spec).skip(count) {
            let role = field.role_of(container);
            let mut container = Container::of(container, role, policy, &pod["status"]);
            // A status does not say when a back-off ends: a container that is to start again does so at once.
            if matches!(&container.state, State::Terminated(ended) if container.restarts_after(ended.code))
            {
                container.starts_at = Some(now.at);
            }
            self.containers.push(container);
        }
    }

    /// Takes all steps that are due, and returns their events.
    pub(super) fn advance(
        &mut self,
        now: CurrentTime<'_>,
        director: &mut ScriptProvider<'_>,
    ) -> Vec<ContainerEvent> {
        let mut events = Vec::new();
        // Before any step: at its deadline a pod starts no container any more.
        if self.deadline.is_some_and(|deadline| deadline <= now.at) && !self.is_over() {
            self.is_past_deadline = true;
            events.extend(self.stop(now, KILLED));
        }
        // A step can make another one due, as the end of an init container does: all are tried until none is.
        while !self.is_over()
            && (0..self.containers.len())
                .any(|number| self.step(number, now, director, &mut events))
        {}
        // What still runs are sidecars and ephemeral containers, for which a pod does not wait.
        if self.is_over() {
            for container in self.containers.iter_mut().filter(|it| it.is_running()) {
                container.end(0, None, now.text);
                events.push(ContainerEvent::to(container, ContainerEventKind::Exited(0)));
            }
        }
        events
    }

    /// Ends all running containers with this exit code, and returns the events. No container starts any more.
    pub(super) fn stop(&mut self, now: CurrentTime<'_>, code: i64) -> Vec<ContainerEvent> {
        let mut events = Vec::new();
        self.is_stopped = true;
        for container in &mut self.containers {
            container.starts_at = None;
            if container.is_running() {
                container.end(code, None, now.text);
                events.push(ContainerEvent::to(
                    container,
                    ContainerEventKind::Exited(code),
                ));
            }
        }
        events
    }

    /// Ends a running container for an immediate restart because of a resize, and returns the events.
    pub(super) fn restart(&mut self, name: &str, now: CurrentTime<'_>) -> Vec<ContainerEvent> {
        self.restart_for(name, now, ContainerEventKind::Resized)
    }

    /// Ends a running container whose image has changed for an immediate restart, and returns the events.
    pub(super) fn redefine(&mut self, name: &str, now: CurrentTime<'_>) -> Vec<ContainerEvent> {
        let mut all = self.containers.iter();
        // An init container is done before its image matters again.
        let is_kept = |it: &Container| it.name == name && it.role != Role::Init;
        if all.any(is_kept) {
            self.restart_for(name, now, ContainerEventKind::Redefined)
        } else {
            Vec::new()
        }
    }

    fn restart_for(
        &mut self,
        name: &str,
        now: CurrentTime<'_>,
        why: ContainerEventKind,
    ) -> Vec<ContainerEvent> {
        let mut all = self.containers.iter_mut();
        let Some(container) = all.find(|it| it.name == name && it.is_running()) else {
            return Vec::new();
        };
        container.end(KILLED, None, now.text);
        container.starts_at = Some(now.at);
        [why, ContainerEventKind::Exited(KILLED)]
            .map(|what| ContainerEvent::to(container, what))
            .into()
    }

    /// Returns a container that cannot be created.
    pub(super) fn lacks(&self) -> Option<BlockedContainer<'_>> {
        self.containers
            .iter()
            .find_map(|container| match &container.state {
                State::Waiting {
                    reason: reason @ (CONFIG_ERROR | INVALID_IMAGE),
                    message,
                } => Some(BlockedContainer {
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

    /// Takes the next step of a container, and returns whether a step was due.
    fn step(
        &mut self,
        number: usize,
        now: CurrentTime<'_>,
        director: &mut ScriptProvider<'_>,
        events: &mut Vec<ContainerEvent>,
    ) -> bool {
        let may_start = self.may_start(number);
        let backoff = &self.backoff;
        let container = &mut self.containers[number];
        // Before the end: a line of the same moment was logged before the container ended.
        if let Some(text) = container.next_line(now.at) {
            events.push(ContainerEvent::to(
                container,
                ContainerEventKind::Logged(text),
            ));
            return true;
        }
        match &container.state {
            // Restored from a status: the container runs, but follows no script yet.
            State::Running { .. } if container.ran_from.is_none() => {
                resume(container, now, director);
                true
            }
            State::Running { .. } => run_on(container, now, backoff, events),
            State::Waiting { .. } if is_due(container.turns_at, now) => {
                container.turns_at = None;
                let message = format!("Back-off pulling image \"{}\"", container.image);
                container.state = State::waiting("ImagePullBackOff", message.clone());
                events.push(ContainerEvent::to(
                    container,
                    ContainerEventKind::PullBackedOff(message),
                ));
                true
            }
            State::Terminated(_) if container.starts_at.is_none() => false,
            _ if !may_start => false,
            _ => start(container, now, backoff.first, director, events),
        }
    }

    /// Returns whether a container need not wait for others.
    fn may_start(&self, number: usize) -> bool {
        let role = self.containers[number].role;
        let before = match role {
            Role::Init | Role::Sidecar => &self.containers[..number],
            // All of them, since main containers hold up no other: init containers and sidecars remain.
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
            // Sidecars and ephemeral containers do not count: they end because the pod is over.
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

// === impl BlockedContainer ===

impl BlockedContainer<'_> {
    pub(super) fn is_invalid_image(self) -> bool {
        self.reason == INVALID_IMAGE
    }
}

// === impl ContainerEvent ===

impl ContainerEvent {
    fn to(container: &Container, what: ContainerEventKind) -> Self {
        Self {
            container: container.name.clone(),
            role: container.role,
            what,
        }
    }
}

#[cfg(test)]
mod tests;
