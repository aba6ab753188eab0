//! Stages: rules of a user that change pods and other objects after a delay.
//!
//! Stages follow kwok's: a stage selects objects, waits, and has effects. For pods the effects are not a status but the
//! behaviour of containers, from which the kubelet derives the status.

mod script;
mod select;
mod objects;
mod yaml;

use std::{fmt, time::Duration};

use fakeserver_kinds::metrics::usage::Amount;
use serde_json::Value;

use self::select::Selector;
pub(super) use self::{
    objects::ObjectStages,
    script::{Exit, FailingProbe, Failures, Line, ProbeKind, Pull, Readiness, Script, UsageStep},
    select::Selected,
};

/// A rule about the behaviour of pods, or the status of objects of another kind.
///
/// A stage of pods sets the behaviour of their containers: how long they take to start, whether their images can be pulled, whether
/// they become ready, what they log and use, and how they end. The first stage that selects a container, and has not been [used up](Self::with_times)
/// by it, holds for its next start. Properties that the stage does not set have their defaults.
///
/// A stage of another kind happens to each object that it selects, once: after a delay it changes the object's status, or
/// deletes it. It happens again when the object was not selected for a while.
///
/// # Examples
///
/// ```
/// # mod fakeserver { pub use fakeserver_cluster::*; pub use fakeserver_server::*; }
/// use std::time::Duration;
///
/// use fakeserver::{Controllers, FakeServer, Stage, Workloads};
/// use serde_json::json;
///
/// let crash_loop = Stage::of_pods("crash-loop")
///     .with_label("app", "web")
///     .with_exit(Duration::from_secs(3), 1);
/// let ready = Stage::of("ready", "example.com/v1", "Website")
///     .with_delay(Duration::from_secs(2))
///     .with_status(json!({"ready": true}));
/// let workloads = Workloads::default().with_stages([crash_loop, ready]);
/// let controllers = Controllers::default().with_workloads(workloads);
/// let server = FakeServer::builder().with_controllers(controllers).build();
/// # drop(server);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Stage {
    name: String,
    selector: Selector,
    delay: Option<Duration>,
    jitter: Duration,
    next: StageOutcome,
}

/// The effects of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StageOutcome {
    /// The number of starts of each container that it holds for.
    times: Option<u32>,
    pull_error: Option<String>,
    readiness: Option<Readiness>,
    failing: Option<FailingProbe>,
    exit: Option<Exit>,
    lines: Vec<Line>,
    usage: Vec<UsageStep>,
    status: Option<Value>,
    is_deleted: bool,
}

/// An error in a file of stages. A retry does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct StageError {
    /// The place: the number of the document, and the name of the stage if it has one.
    place: String,
    why: String,
}

// === impl Stage ===

impl Stage {
    /// Creates a stage of all pods, which says nothing yet.
    pub fn of_pods(name: impl Into<String>) -> Self {
        Self::of(name, "v1", "Pod")
    }

    /// Creates a stage of all objects of a kind, whichever the version is, which says nothing yet.
    pub fn of(name: impl Into<String>, api_version: &str, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            selector: Selector::of(api_version, kind.into()),
            delay: None,
            jitter: Duration::ZERO,
            next: StageOutcome::default(),
        }
    }

    /// Reads the stages of a file: documents of YAML, as `docs/stages.md` describes them.
    ///
    /// # Errors
    ///
    /// A document is no stage, has a field that stages do not have, or an expression that cannot be compiled. The error
    /// names the document.
    pub fn parse(text: &str) -> Result<Vec<Self>, StageError> {
        yaml::parse(text)
    }

    /// Returns its name, which errors tell.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Selects objects of one namespace only.
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.selector.namespace = Some(namespace.into());
        self
    }

    /// Selects objects with this label only. Several labels select those that have all of them.
    pub fn with_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.selector.labels.insert(name.into(), value.into());
        self
    }

    /// Selects objects that a controller of this kind and name manages. A name may end with `*`.
    pub fn with_owner(mut self, kind: impl Into<String>, name: impl Into<String>) -> Self {
        self.selector.owner = Some([kind.into(), name.into()]);
        self
    }

    /// Selects containers of this name only.
    pub fn with_container(mut self, name: impl Into<String>) -> Self {
        self.selector.container = Some(name.into());
        self
    }

    /// Selects containers of this image only. `*` stands for any text.
    pub fn with_image(mut self, image: impl Into<String>) -> Self {
        self.selector.image = Some(image.into());
        self
    }

    /// Selects objects for which an expression of CEL is true. It may name `object`. One that fails is not true.
    ///
    /// # Errors
    ///
    /// The expression cannot be compiled.
    pub fn with_expression(mut self, expression: impl Into<String>) -> Result<Self, StageError> {
        let expression = expression.into();
        select::compile(&expression).map_err(|why| StageError::new(&self.name, why))?;
        self.selector.expression = Some(expression);
        Ok(self)
    }

    /// Sets the time until it happens: of a pod, until its containers start. The default of pods is that of
    /// [`Workloads::with_pod_start`](super::Workloads::with_pod_start), that of others zero.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Sets the time that the delay is longer at most, by the server's seed.
    pub fn with_jitter(mut self, jitter: Duration) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the number of starts, or pulls, of each container that it holds for; after that the next stage does. The default
    /// is all.
    pub fn with_times(mut self, times: u32) -> Self {
        self.next.times = Some(times);
        self
    }

    /// Sets the reason for which the image cannot be pulled. It is not there, so that a container whose policy is never to pull
    /// waits with the reason `ErrImageNeverPull`, whatever this one is.
    pub fn with_pull_error(mut self, why: impl Into<String>) -> Self {
        self.next.pull_error = Some(why.into());
        self
    }

    /// Sets the time from the start of a container until it is ready; `None` if it never is.
    pub fn with_readiness(mut self, after: Option<Duration>) -> Self {
        self.next.readiness = Some(after.map_or(Readiness::Never, Readiness::After));
        self
    }

    /// Lets the liveness probe of a container fail from so long after its start: it is killed when the probe has failed as
    /// often as its `failureThreshold` says, and starts again by the policy of its pod. One without such a probe has one with
    /// the defaults of its fields.
    pub fn with_failing_liveness(mut self, after: Duration) -> Self {
        let kind = ProbeKind::Liveness;
        self.next.failing = Some(FailingProbe { kind, after });
        self
    }

    /// Lets the startup probe of a container fail from its start: it has not started, and is killed as by a
    /// [failing liveness probe](Self::with_failing_liveness).
    pub fn with_failing_startup(mut self) -> Self {
        let (kind, after) = (ProbeKind::Startup, Duration::ZERO);
        self.next.failing = Some(FailingProbe { kind, after });
        self
    }

    /// Sets the end of a container: the time after its start, and its code.
    pub fn with_exit(mut self, after: Duration, code: u8) -> Self {
        let code = code.into();
        self.next.exit = Some(Exit {
            after,
            code,
            reason: None,
        });
        self
    }

    /// Sets the reason in the status of a container that has ended, `OOMKilled` for example. Without an
    /// [end](Self::with_exit) it ends at once, with code 137.
    pub fn with_exit_reason(mut self, reason: impl Into<String>) -> Self {
        let killed = Exit {
            code: super::kubelet::KILLED,
            ..Exit::default()
        };
        self.next.exit.get_or_insert(killed).reason = Some(reason.into());
        self
    }

    /// Adds lines to the log of a container, so long after each start that the stage holds for. What would be logged after its
    /// end is not. Those of a container that ran before the server began are not logged again.
    ///
    /// # Memory
    ///
    /// A container has a copy of the lines that it is still to log.
    pub fn with_log(mut self, after: Duration, text: impl Into<String>) -> Self {
        let text = text.into();
        self.next.lines.push(Line { after, text });
        self
    }

    /// Sets the processor time that a container uses so long after its start, until a later time that is set: a quantity
    /// such as `250m` of cores. Metrics have it unless annotations of the pod say otherwise; a container that ran before the
    /// server began has its usage without a stage.
    ///
    /// # Errors
    ///
    /// The amount is no quantity, or negative.
    pub fn with_cpu(self, after: Duration, amount: &str) -> Result<Self, StageError> {
        let amount = Amount::of_cpu(amount);
        self.with_usage(after, amount)
    }

    /// Sets the memory that a container uses so long after its start, until a later time that is set: a quantity such as
    /// `64Mi`. The rest is as for [processor time](Self::with_cpu).
    ///
    /// # Errors
    ///
    /// The amount is no quantity, or negative.
    pub fn with_memory(self, after: Duration, amount: &str) -> Result<Self, StageError> {
        let amount = Amount::of_memory(amount);
        self.with_usage(after, amount)
    }

    /// Sets the status of an object of another kind by a JSON merge patch.
    pub fn with_status(mut self, status: Value) -> Self {
        self.next.status = Some(status);
        self
    }

    /// Deletes an object of another kind.
    pub fn with_deletion(mut self) -> Self {
        self.next.is_deleted = true;
        self
    }

    fn with_usage(
        mut self,
        after: Duration,
        amount: Result<Amount, String>,
    ) -> Result<Self, StageError> {
        let amount = amount.map_err(|why| StageError::new(&self.name, why))?;
        self.next.usage.push(UsageStep { after, amount });
        self.next.usage.sort_by_key(|step| step.after);
        Ok(self)
    }

    /// Returns whether it is about pods.
    fn is_of_pods(&self) -> bool {
        self.selector.is_of("v1", "Pod")
    }

    /// Returns a part of the jitter, as a number between 0 and 1 says that is drawn if there is any.
    fn jitter(&self, draw: &mut impl FnMut() -> f64) -> Duration {
        if self.jitter.is_zero() {
            return Duration::ZERO;
        }
        self.jitter.mul_f64(draw())
    }

    /// Applies the effects of the stage to the script of start number `attempt`, from 0, if the stage holds for that start.
    fn apply(&self, attempt: u32, draw: &mut impl FnMut() -> f64, script: &mut Script) -> bool {
        if self.next.times.is_some_and(|times| attempt >= times) {
            return false;
        }
        if let Some(delay) = self.delay {
            script.start_after = delay;
        }
        script.start_after += self.jitter(draw);
        script.pull_error.clone_from(&self.next.pull_error);
        if let Some(readiness) = self.next.readiness {
            script.readiness = readiness;
            // The stage's time alone counts: a startup probe must not delay readiness beyond it.
            script.startup = Readiness::After(Duration::ZERO);
            script.is_told_ready = true;
        }
        script.failing = self.next.failing;
        // A stage without an end leaves the one that the pod's annotation or policy sets.
        if let Some(exit) = &self.next.exit {
            script.exit = Some(exit.clone());
        }
        script.lines.clone_from(&self.next.lines);
        script.usage.clone_from(&self.next.usage);
        true
    }
}

// === impl StageError ===

impl StageError {
    fn new(place: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self {
            place: place.to_string(),
            why: why.to_string(),
        }
    }
}

/// Changes the script of a container's start number `attempt` by the first stage that selects the container and holds for that
/// start.
pub(super) fn direct(
    stages: &[Selected],
    pod: &Value,
    [container, image]: [&str; 2],
    attempt: u32,
    mut draw: impl FnMut() -> f64,
    script: &mut Script,
) {
    let mut selecting = stages
        .iter()
        .filter(|selected| selected.stage.is_of_pods())
        .filter(|selected| selected.selects_container(container, image) && selected.selects(pod));
    // `any` ends with the first stage that holds; those after it have no effect.
    selecting.any(|selected| selected.stage.apply(attempt, &mut draw, script));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script() -> Script {
        Script::starting(Duration::from_secs(1))
    }

    #[test]
    fn the_first_stage_that_holds_for_a_start_counts() {
        let stages = [
            Stage::of_pods("pull")
                .with_image("*/i:*")
                .with_times(2)
                .with_pull_error("gone"),
            Stage::of_pods("crash")
                .with_label("app", "web")
                .with_exit(Duration::ZERO, 3),
            Stage::of_pods("slow").with_delay(Duration::from_secs(9)),
        ];
        let stages: Vec<Selected> = stages.into_iter().map(Selected::new).collect();
        let pod = json!({"metadata": {"labels": {"app": "web"}}});
        let check = |container: [&str; 2], pod: &Value, attempt: u32| {
            let mut script = script();
            direct(&stages, pod, container, attempt, || 0.0, &mut script);
            (
                script.pull_error.is_some(),
                script.exit.is_some(),
                script.start_after.as_secs(),
            )
        };
        assert_eq!(check(["c", "r/i:1"], &pod, 1), (true, false, 1));
        assert_eq!(check(["c", "r/i:1"], &pod, 2), (false, true, 1));
        assert_eq!(check(["c", "other"], &pod, 0), (false, true, 1));
        assert_eq!(check(["c", "other"], &json!({}), 0), (false, false, 9));
    }
}
