//! The steps of one container: its start, its run, its end and its restart.

use std::{mem, time::Duration};

use tokio::time::Instant;

use super::{
    ContainerEvent, ContainerEventKind, CurrentTime, KILLED, RestartBackoff, ScriptProvider,
    go_duration,
};
use crate::workloads::{
    kubelet::container::{CREATING, Container, ProbeFailure, State, backoff},
    stages::{Exit, Pull, Script},
};

/// The time after which a container that ran has not crashed in a row.
const STABLE_AFTER: Duration = Duration::from_mins(10);
/// The time between a failed pull and the state that says when it is tried again.
const CALMED_AFTER: Duration = Duration::from_secs(1);
/// The time between two looks for an image that is never pulled.
const LOOKED_FOR_AFTER: Duration = Duration::from_secs(10);

pub(super) fn is_due(at: Option<Instant>, now: CurrentTime<'_>) -> bool {
    at.is_some_and(|at| at <= now.at)
}

/// Takes the next step of a running container, and returns whether a step was due.
pub(super) fn run_on(
    container: &mut Container,
    now: CurrentTime<'_>,
    backoff: &RestartBackoff,
    events: &mut Vec<ContainerEvent>,
) -> bool {
    let fails = |probe: &ProbeFailure| probe.at <= now.at;
    // The end comes first: a container that has ended becomes neither ready nor unhealthy at that moment.
    if is_due(container.ends_at, now) {
        let exit = container.exit.clone().unwrap_or_default();
        end(container, &exit, now, backoff, events);
    } else if is_due(container.starts_up_at, now) {
        container.starts_up_at = None;
        container.has_started_up = true;
    } else if is_due(container.ready_at, now) {
        container.ready_at = None;
        container.is_ready = true;
    } else if container.is_ready && container.unready.is_some() {
        container.unready = None;
    } else if let Some(mut failing) = container.unready.filter(fails) {
        failing.pass(now.at);
        container.unready = Some(failing);
        events.push(ContainerEvent::to(
            container,
            ContainerEventKind::Unhealthy(failing.kind),
        ));
    } else if let Some(mut failing) = container.failing.filter(fails) {
        let goes_on = failing.pass(now.at);
        container.failing = Some(failing);
        events.push(ContainerEvent::to(
            container,
            ContainerEventKind::Unhealthy(failing.kind),
        ));
        if !goes_on {
            events.push(ContainerEvent::to(
                container,
                ContainerEventKind::Killed(failing.kind),
            ));
            let exit = Exit {
                code: KILLED,
                ..Exit::default()
            };
            end(container, &exit, now, backoff, events);
        }
    } else {
        return false;
    }
    true
}

/// Ends a container that runs, and has it start again if that is its policy.
fn end(
    container: &mut Container,
    exit: &Exit,
    now: CurrentTime<'_>,
    backoff: &RestartBackoff,
    events: &mut Vec<ContainerEvent>,
) {
    container.end(exit.code, exit.reason.as_deref(), now.text);
    events.push(ContainerEvent::to(
        container,
        ContainerEventKind::Exited(exit.code),
    ));
    if container.restarts_after(exit.code) && restart(container, now, backoff) {
        let what = ContainerEventKind::BackedOff(backoff.pod.clone());
        events.push(ContainerEvent::to(container, what));
    }
}

/// Starts a container whose time has come, or tries to; or sets that time. False if it has to wait.
pub(super) fn start(
    container: &mut Container,
    now: CurrentTime<'_>,
    first_backoff: Duration,
    director: &mut ScriptProvider<'_>,
    events: &mut Vec<ContainerEvent>,
) -> bool {
    let script = match director(container) {
        Ok(script) => script,
        Err(blocked) => {
            // The time of the start is computed again once the obstacle is gone, so that the container then takes its full start time.
            container.starts_at = None;
            container.state = State::waiting(blocked.reason, blocked.message);
            return false;
        }
    };
    let Some(at) = container.starts_at else {
        container.starts_at = Some(now.at + script.start_after);
        container.state = State::waiting(CREATING, "");
        pull(container, script.pulls(), events);
        return true;
    };
    if at > now.at {
        return false;
    }
    pull(container, script.pulls(), events);
    let was_pulled = mem::take(&mut container.is_pulling);
    match script.pull_error {
        Some(_) if script.pull == Pull::Forbidden => lack_image(container, now, events),
        Some(error) => fail_pull(container, error, now, first_backoff, events),
        None => {
            let image = container.image.clone();
            let what = if was_pulled {
                ContainerEventKind::Pulled(image, script.start_after)
            } else {
                ContainerEventKind::Present(image)
            };
            events.push(ContainerEvent::to(container, what));
            let usage = script.usage.clone();
            run(container, now, script);
            events.push(ContainerEvent::to(container, ContainerEventKind::Started));
            if !usage.is_empty() {
                events.push(ContainerEvent::to(
                    container,
                    ContainerEventKind::Uses(usage),
                ));
            }
        }
    }
    true
}

/// Begins to pull the image of a container for its next start, unless it is there or being pulled.
fn pull(container: &mut Container, pulls: bool, events: &mut Vec<ContainerEvent>) {
    if pulls && !container.is_pulling {
        container.is_pulling = true;
        let image = container.image.clone();
        events.push(ContainerEvent::to(
            container,
            ContainerEventKind::Pulling(image),
        ));
    }
}

/// Lets a container whose image could not be pulled wait for the next try.
fn fail_pull(
    container: &mut Container,
    error: String,
    now: CurrentTime<'_>,
    first_backoff: Duration,
    events: &mut Vec<ContainerEvent>,
) {
    let message = format!("Failed to pull image \"{}\": {error}", container.image);
    container.state = State::waiting("ErrImagePull", error);
    container.turns_at = Some(now.at + CALMED_AFTER);
    container.pulls += 1;
    container.tries += 1;
    let pause = backoff(first_backoff, container.pulls);
    // The state first shows `ErrImagePull` for a moment, and `ImagePullBackOff` for the rest of the pause.
    container.starts_at = Some(now.at + CALMED_AFTER + pause);
    events.push(ContainerEvent::to(
        container,
        ContainerEventKind::NotPulled(message),
    ));
}

/// Lets a container whose image is not there, and is never pulled, wait for the next look.
fn lack_image(container: &mut Container, now: CurrentTime<'_>, events: &mut Vec<ContainerEvent>) {
    let image = &container.image;
    let message = format!("Container image \"{image}\" is not present with pull policy of Never");
    container.state = State::waiting("ErrImageNeverPull", message.clone());
    container.tries += 1;
    container.starts_at = Some(now.at + LOOKED_FOR_AFTER);
    events.push(ContainerEvent::to(
        container,
        ContainerEventKind::NeverPulled(message),
    ));
}

/// Lets a container run.
fn run(container: &mut Container, now: CurrentTime<'_>, script: Script) {
    // Asked before the state changes: a container that runs has started.
    if container.has_started() {
        container.restart_count += 1;
    }
    if let State::Terminated(ended) = &container.state {
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
pub(super) fn resume(
    container: &mut Container,
    now: CurrentTime<'_>,
    director: &mut ScriptProvider<'_>,
) {
    let [was_ready, had_started_up] = [container.is_ready, container.has_started_up];
    match director(container) {
        Ok(script) => {
            container.follow(now.at, script);
            // The lines were logged at the start.
            container.lines.clear();
        }
        // It runs, although it could not be started now: it is only marked as resumed.
        Err(_) => container.ran_from = Some(now.at),
    }
    // `follow` begins the script anew; what the container had reached before stays.
    container.is_ready |= was_ready;
    container.has_started_up |= had_started_up;
}

/// Has a container that ended start again, at once for the first time, and after a growing pause for the others. True if
/// there is a pause.
fn restart(container: &mut Container, now: CurrentTime<'_>, own: &RestartBackoff) -> bool {
    let ran = container.ran_from.map(|from| now.at - from);
    if ran.is_some_and(|ran| ran >= STABLE_AFTER) {
        container.crashes = 0;
    }
    let pause = match container.crashes {
        0 => Duration::ZERO,
        crashes => backoff(own.first, crashes),
    };
    container.crashes += 1;
    container.starts_at = Some(now.at + pause);
    if pause.is_zero() {
        return false;
    }
    // The state tells of the back-off from now on, and `lastState` alone of the end.
    if let State::Terminated(ended) = &container.state {
        container.last = Some(ended.clone());
    }
    let (pause, name, pod) = (go_duration(pause), &container.name, &own.pod);
    let message = format!("back-off {pause} restarting failed container={name} pod={pod}");
    container.state = State::waiting("CrashLoopBackOff", message);
    true
}
