//! Jobs: run pods until enough of them have succeeded, or too many have failed.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    objects::{
        BURST, Condition, ReconciledKind, count, enqueue_owners, has_condition, number,
        set_condition, text,
    },
    pods::{Phase, Pod},
};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::{batch, core},
    store::ObjectKey,
    write::{
        Propagation,
        deletion::{Wanted, is_deleted},
    },
};

const KIND: ReconciledKind = ReconciledKind {
    kind: &batch::job::KIND,
    name: "Job",
    api_version: "batch/v1",
    component: "job-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// The controller of jobs.
#[derive(Debug)]
pub(super) struct Jobs;

/// The progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    active: i64,
    ready: i64,
    succeeded: i64,
    failed: i64,
    terminating: i64,
}

/// The next step for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Complete,
    Failed,
    /// The job runs, with this number of active pods wanted.
    Runs(i64),
}

impl Controller for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(&core::pod::KIND) {
            enqueue_owners(&KIND, change, due);
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let job = stored.to_value();
        if is_deleted(&job) {
            return;
        }
        let status = &job["status"];
        if has_condition(status, "Complete") || has_condition(status, "Failed") {
            expire(cluster, key, &job, due);
            return;
        }
        let pods = cluster.index.pods.of_controller(stored.uid());
        let progress = Progress::of(&pods);
        let verdict = progress.verdict(&job["spec"]);
        let wanted = match verdict {
            Verdict::Runs(wanted) => wanted,
            Verdict::Complete | Verdict::Failed => 0,
        };
        scale(cluster, &job, &pods, progress.active, wanted);
        let now = cluster.now_text();
        cluster.update(key, ACTOR.of_status(), |job| {
            report(job, progress, verdict, &now);
        });
    }
}

// === impl Progress ===

impl Progress {
    fn of(pods: &[Arc<Pod>]) -> Self {
        let all = |which: fn(&Pod) -> bool| count(pods.iter().filter(|pod| which(pod)).count());
        Self {
            active: all(Pod::is_active),
            ready: all(|pod| pod.is_active() && pod.is_ready),
            succeeded: all(|pod| pod.phase == Phase::Succeeded),
            failed: all(|pod| pod.phase == Phase::Failed),
            terminating: all(|pod| pod.is_deleted && !pod.is_finished()),
        }
    }

    fn verdict(self, spec: &Value) -> Verdict {
        if self.failed > number(&spec["backoffLimit"], 6) {
            return Verdict::Failed;
        }
        let parallelism = number(&spec["parallelism"], 1);
        let left = match spec["completions"].as_i64() {
            Some(completions) if self.succeeded >= completions => return Verdict::Complete,
            Some(completions) => completions - self.succeeded,
            // Without a number, one success ends it, when all others have ended too.
            None if self.succeeded > 0 && self.active == 0 => return Verdict::Complete,
            None if self.succeeded > 0 => self.active,
            None => parallelism,
        };
        if spec["suspend"] == true {
            return Verdict::Runs(0);
        }
        // What is stopping has its place until it has stopped.
        Verdict::Runs((parallelism.min(left) - self.terminating).max(0))
    }
}

fn scale(cluster: &mut Cluster<'_, '_>, job: &Value, pods: &[Arc<Pod>], active: i64, wanted: i64) {
    let missing = usize::try_from(wanted - active).unwrap_or_default();
    for _ in 0..missing.min(BURST) {
        let mut pod = KIND.pod(job, &job["spec"]["template"]);
        let name = text(&job["metadata"]["name"]);
        pod["metadata"]["generateName"] = json!(format!("{name}-"));
        if cluster.create_pod(&KIND, job, pod).is_none() {
            return;
        }
    }
    let surplus = usize::try_from(active - wanted).unwrap_or_default();
    let running = pods.iter().filter(|pod| pod.is_active());
    for pod in running.take(surplus) {
        cluster.delete(pod.key(), Wanted::default());
        let message = format!("Deleted pod: {}", pod.name());
        cluster.event(&KIND, job, "SuccessfulDelete", &message);
    }
}

fn report(job: &mut Value, progress: Progress, verdict: Verdict, now: &str) {
    let is_suspended = job["spec"]["suspend"] == true;
    let status = &mut job["status"];
    if status["startTime"].is_null() && !is_suspended {
        status["startTime"] = json!(now);
    }
    let has_ended = !matches!(verdict, Verdict::Runs(_));
    let counts = [
        ("active", if has_ended { 0 } else { progress.active }),
        ("ready", if has_ended { 0 } else { progress.ready }),
        ("terminating", progress.terminating),
        ("succeeded", progress.succeeded),
        ("failed", progress.failed),
    ];
    for (field, count) in counts {
        status[field] = json!(count);
    }
    status["uncountedTerminatedPods"] = json!({});
    let conditions: &[(&str, &str, &str)] = match verdict {
        Verdict::Runs(_) => &[],
        Verdict::Complete => {
            status["completionTime"] = json!(now);
            let message = "Reached expected number of succeeded pods";
            &[
                ("SuccessCriteriaMet", "CompletionsReached", message),
                ("Complete", "CompletionsReached", message),
            ]
        }
        Verdict::Failed => {
            let message = "Job has reached the specified backoff limit";
            &[
                ("FailureTarget", "BackoffLimitExceeded", message),
                ("Failed", "BackoffLimitExceeded", message),
            ]
        }
    };
    for (kind, reason, message) in conditions {
        let condition = Condition {
            kind,
            is_true: true,
            reason,
            message,
        };
        set_condition(status, condition, now, Some("lastProbeTime"));
    }
}

/// Deletes a job that has ended, when its time has come.
fn expire(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, job: &Value, due: &mut Due<'_>) {
    let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_u64() else {
        return;
    };
    let conditions = job["status"]["conditions"].as_array().into_iter().flatten();
    let mut ended =
        conditions.filter(|each| each["type"] == "Complete" || each["type"] == "Failed");
    let ended = ended.next().map(|each| text(&each["lastTransitionTime"]));
    let Some(Ok(ended)) = ended.map(str::parse::<jiff::Timestamp>) else {
        return;
    };
    let since = cluster.now().duration_since(ended);
    let left =
        Duration::from_secs(seconds).saturating_sub(Duration::try_from(since).unwrap_or_default());
    if left.is_zero() {
        let wanted = Wanted {
            propagation: Some(Propagation::Foreground),
            ..Wanted::default()
        };
        cluster.delete(key, wanted);
    } else {
        due.add(key.clone(), left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdict on a job with these numbers of pods that are active, have succeeded, have failed, and are
    /// stopping.
    fn check(spec: &Value, [active, succeeded, failed, terminating]: [i64; 4]) -> Verdict {
        let progress = Progress {
            active,
            ready: active,
            succeeded,
            failed,
            terminating,
        };
        progress.verdict(spec)
    }

    #[test]
    fn a_job_runs_until_enough_have_succeeded_or_too_many_failed() {
        let spec = json!({"completions": 3, "parallelism": 2, "backoffLimit": 1});
        assert_eq!(check(&spec, [0, 0, 0, 0]), Verdict::Runs(2));
        assert_eq!(check(&spec, [1, 2, 1, 0]), Verdict::Runs(1));
        assert_eq!(check(&spec, [1, 1, 0, 1]), Verdict::Runs(1));
        assert_eq!(check(&spec, [0, 3, 1, 0]), Verdict::Complete);
        assert_eq!(check(&spec, [1, 2, 2, 0]), Verdict::Failed);
        let queue = json!({"parallelism": 3});
        assert_eq!(check(&queue, [0, 0, 0, 0]), Verdict::Runs(3));
        assert_eq!(check(&queue, [2, 1, 0, 0]), Verdict::Runs(2));
        assert_eq!(check(&queue, [0, 1, 0, 0]), Verdict::Complete);
        let suspended = json!({"completions": 3, "parallelism": 2, "suspend": true});
        assert_eq!(check(&suspended, [2, 1, 0, 0]), Verdict::Runs(0));
    }
}
