//! Runs the steps of the user in order, and the restart at the end.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver::{CelExpression, CelInput};
use serde_json::{Value, json};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{
    kinds::ObjectRef,
    plan::{Perturbation, Plan},
    run::{QUIET_WITHIN, Run, TICK},
    subject::Order,
    trace::Event,
    watch_rules::MERGE_WITHIN,
    workload::{Action, PatchType, Step, Workload},
};

/// The longest wait for the subject to read or write at all.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// The time that a watch takes to end by the change that it does not show.
const CUT_OFF: Duration = Duration::from_millis(300);
/// The quiet in the end, and that after the restart.
const LAST_QUIET: Duration = Duration::from_secs(1);

/// The steps of a run.
pub(super) struct StepRunner<'a> {
    pub(super) run: &'a Arc<Run>,
    pub(super) workload: &'a Workload,
    pub(super) plan: &'a Plan,
    /// The compiled expressions of the steps that have one.
    pub(super) waits: &'a [Option<CelExpression>],
}

// === impl StepRunner ===

impl StepRunner<'_> {
    /// Goes through the steps, and waits in the end until nothing is written any more.
    pub(super) async fn perform(&self) {
        let run = self.run;
        if !run.until(READY_WITHIN, || run.recorder.is_ready()).await {
            let reason = self.not_ready(READY_WITHIN);
            run.recorder.note(Event::StepFailed {
                place: 0,
                reason,
                is_refused: false,
            });
            return;
        }
        let mut is_cut = false;
        for (place, step) in self.workload.steps.iter().enumerate() {
            // What came between two changes that are seen as one is left out.
            if is_cut && !step.action.is_change() {
                continue;
            }
            // A user's change must not meet an object that the plan has deleted and is about to create again.
            if step.action.is_change() {
                run.until(QUIET_WITHIN, || !run.is_remaking()).await;
            }
            let cut = self.cut_at(place);
            if let Some(resource) = cut {
                run.recorder
                    .note(Event::Perturbed(format!("cut off {resource}")));
                run.cut.freeze(resource, 0);
            }
            run.recorder.note(Event::Step {
                place,
                text: step.to_string(),
            });
            if let Err(reason) = self.step(place, step).await {
                run.recorder.note(Event::StepFailed {
                    place,
                    reason,
                    is_refused: step.action.is_change(),
                });
                if matches!(step.action, Action::Quiet(_)) {
                    // It was waited for long enough: neither will it be quiet in the end.
                    return;
                }
                break;
            }
            if is_cut {
                run.reconnect();
            }
            is_cut = cut.is_some();
            if is_cut {
                // The change itself ends the watch.
                sleep(CUT_OFF).await;
            }
        }
        run.reconnect();
        run.until(QUIET_WITHIN, || !run.is_held()).await;
        self.end().await;
    }

    /// Returns the resource that the subject is cut off from a step on.
    fn cut_at(&self, place: usize) -> Option<&str> {
        let mut perturbations = self.plan.perturbations.iter();
        perturbations.find_map(|it| match it {
            Perturbation::Skip { step, resource } if *step == place => Some(resource.as_str()),
            _ => None,
        })
    }

    /// Waits until nothing is written, restarts the subject, and waits until nothing is written again.
    async fn end(&self) {
        let run = self.run;
        let quiet = self.workload.longest_quiet().unwrap_or_default();
        let quiet = quiet.max(LAST_QUIET);
        // Before the restart, so that writes of the old process are not taken for those of the new one.
        if let Err(reason) = self.quiet(quiet).await {
            run.recorder.note(Event::StepFailed {
                place: self.workload.steps.len(),
                reason,
                is_refused: false,
            });
            return;
        }
        // Before the orders: writes from here on are those of the restarted subject.
        run.recorder.restart_begins();
        run.recorder
            .note(Event::Perturbed("restart in the end".to_owned()));
        for orders in run.orders.get().into_iter().flatten() {
            let (done, is_done) = oneshot::channel();
            if orders.send(Order::Restart(done)).await.is_ok() {
                let _ = is_done.await;
            }
        }
        run.until(READY_WITHIN, || run.recorder.is_ready()).await;
        run.recorder.restart_quiet();
        let _ = self.quiet(quiet).await;
    }

    async fn step(&self, place: usize, step: &Step) -> Result<(), String> {
        let run = self.run;
        match &step.action {
            Action::Apply(objects) => {
                for object in objects {
                    run.apply(object)?;
                }
                run.recorder.restart_quiet();
                Ok(())
            }
            Action::Patch {
                object,
                media_type,
                body,
                status,
            } => {
                let mut path = run.world.path(object)?;
                if *status {
                    path.push_str("/status");
                }
                let text = body.to_string().into_bytes();
                if *media_type == PatchType::Merge && !status {
                    // As with an apply: the object may be deleted before the answer is here.
                    run.merge_applied(object, body);
                }
                // Read before the request: a server does not tell which operation of a patch failed.
                let before = run.world.object(object);
                let answer = self.request("PATCH", &path, media_type.media_type(), text);
                let answer = answer.await;
                answer.map_err(|reason| match (media_type, before) {
                    (PatchType::Json, Some(before)) => reason + &failing_operation(before, body),
                    _ => reason,
                })
            }
            Action::Delete {
                object,
                propagation,
            } => {
                let path = run.world.path(object)?;
                let options = json!({
                    "kind": "DeleteOptions",
                    "apiVersion": "v1",
                    "propagationPolicy": propagation.as_deref().unwrap_or("Background"),
                });
                self.request(
                    "DELETE",
                    &path,
                    "application/json",
                    options.to_string().into(),
                )
                .await
            }
            Action::Wait { object, within, .. } => {
                let wait = self.waits[place].as_ref();
                let wait = wait.expect("expressions of waits are compiled");
                self.wait(object, wait, *within).await
            }
            Action::Quiet(time) => self.quiet(*time).await,
        }
    }

    async fn wait(
        &self,
        object: &ObjectRef,
        until: &CelExpression,
        within: Duration,
    ) -> Result<(), String> {
        let mut last = String::new();
        let is_true = || {
            let found = self.run.world.object(object).unwrap_or_default();
            let now = CelInput::Timestamp(self.run.world.clock.now_text());
            let inputs = BTreeMap::from([("object", CelInput::Json(found)), ("now", now)]);
            until.evaluate(&inputs)
        };
        let deadline = Instant::now() + within;
        loop {
            match is_true() {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(other) => last = format!("it is {other}"),
                Err(error) => last.clone_from(&error.to_string()),
            }
            if Instant::now() >= deadline {
                return Err(format!("not true within {within:?}: {last}"));
            }
            sleep(TICK).await;
        }
    }

    async fn quiet(&self, time: Duration) -> Result<(), String> {
        // What is merged comes later.
        let time = time + self.delay();
        let (run, within) = (self.run, QUIET_WITHIN + time);
        if run.until(within, || run.recorder.is_quiet(time)).await {
            return Ok(());
        }
        if !run.recorder.is_ready() {
            return Err(self.not_ready(within));
        }
        Err(format!(
            "the subject was not quiet for {time:?} within {within:?}"
        ))
    }

    /// Tells of a subject that was not ready in time.
    fn not_ready(&self, within: Duration) -> String {
        let all = match self.workload.replicas {
            1 => "the subject",
            _ => "one of the subject's replicas",
        };
        let readiness = self.run.recorder.readiness();
        format!("within {within:?} of its start {all} {readiness}")
    }

    /// Sends a request as the user, after which the subject has something to do.
    async fn request(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<(), String> {
        let answer = self.run.world.request(method, path, media_type, body);
        let answer = answer.await;
        self.run.recorder.restart_quiet();
        answer
    }

    /// Returns by how much the plan delays what the subject sees.
    fn delay(&self) -> Duration {
        let merges = |it: &Perturbation| matches!(it, Perturbation::Merge { .. });
        if self.plan.perturbations.iter().any(merges) {
            MERGE_WITHIN * 2
        } else {
            Duration::ZERO
        }
    }
}

/// Returns the words for the operation of a patch that fails, which a server does not tell.
fn failing_operation(mut object: Value, patch: &Value) -> String {
    let operations: Result<json_patch::Patch, _> = serde_json::from_value(patch.clone());
    match operations.map(|operations| json_patch::patch(&mut object, &operations)) {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) => format!(
            ": operation {} ({}) fails at {:?}: {}",
            error.operation + 1,
            patch[error.operation],
            error.path.to_string(),
            error.kind
        ),
        Err(error) => format!(": it is no list of operations: {error}"),
    }
}
