//! Jobs: run pods until enough of them have succeeded, or too many have failed.
//!
//! The rules are those of the job controller of 1.36. A pod keeps its finalizer until it is counted, and is counted and let
//! go in one transaction, so that `uncountedTerminatedPods` is always empty.

mod indexes;
mod pauses;
mod policies;
mod tally;
mod verdict;
mod status;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{batch, core};
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::{
        Propagation,
        deletion::{DeletionParameters, is_deleted, without},
    },
};
use fakeserver_value::{object::selectors::LabelSelector, read::text};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::{
    pauses::Pauses,
    tally::{Member, Tally},
    verdict::{JobEnd, Verdict, verdict},
};
use super::{
    objects::{BURST, COALESCED, ReconciledKind, claim, enqueue_owners, has_condition, selector},
    selectors::Selectors,
};
use crate::workloads::Workloads;

const KIND: ReconciledKind = ReconciledKind {
    kind: &batch::job::KIND,
    name: "Job",
    api_version: "batch/v1",
    component: "job-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The value of `managedBy` of the jobs that are this controller's.
const MANAGER: &str = "kubernetes.io/job-controller";
/// The finalizer of a pod that has not been counted.
#[doc(alias = "JobTrackingFinalizer")]
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const INDEX_FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";

/// The controller of jobs.
///
/// # Memory
///
/// The selector of each job, and an entry for each job of which a pod has failed since one succeeded, or for each index of it
/// that has failed.
#[derive(Debug)]
pub(super) struct Jobs {
    /// The selectors of all jobs, for adopting pods.
    selectors: Selectors,
    first_pause: Duration,
    pauses: BTreeMap<ObjectKey, Pauses>,
}

impl Controller for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            let after = change.after.as_ref();
            let selects = after.and_then(|(job, _)| selector(&job.to_value()));
            self.selectors.set(key, selects);
            if after.is_none() {
                self.pauses.remove(key);
            }
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(&core::pod::KIND) {
            enqueue_owners(&KIND, change, due);
            let pod = index.pods.get(key);
            // The finalizer of a pod without a job has to go, too, and no other controller removes it.
            if pod
                .is_some_and(|pod| is_tracked(pod) && (pod.is_deleted || pod.controller.is_none()))
            {
                due.add(key.clone(), Duration::ZERO);
            }
            if pod.is_some_and(|pod| pod.controller.is_none()) {
                for job in self.selectors.selecting(&KIND, change) {
                    due.add(job.clone(), COALESCED);
                }
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        if key.resource() == core::pod::KIND.storage() {
            release_orphan(cluster, key);
            return;
        }
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let job = stored.to_value();
        // Another controller manages such a job.
        if !matches!(text(&job["spec"]["managedBy"]), "" | MANAGER) {
            return;
        }
        let pods = cluster.index.pods.of_controller(stored.uid());
        let is_over = ["Complete", "Failed"]
            .iter()
            .any(|kind| has_condition(&job["status"], kind));
        if is_deleted(&job) || is_over {
            // A pod that ends after the verdict is not counted, but the finalizer must not hold it back.
            for pod in &pods {
                release(cluster, pod);
            }
            if is_over {
                expire(cluster, key, &job, due);
            }
            return;
        }
        let pods = match self.selectors.get(key) {
            Some(selects) => claim_pods(cluster, &job, selects),
            None => pods,
        };
        self.run(cluster, key, &job, &pods, due);
    }
}

// === impl Jobs ===

impl Jobs {
    pub(super) fn new(options: &Workloads) -> Self {
        Self {
            selectors: Selectors::default(),
            first_pause: options.restart_backoff,
            pauses: BTreeMap::new(),
        }
    }

    /// Advances a job that has not ended.
    fn run(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        job: &Value,
        pods: &[Arc<Pod>],
        due: &mut KeyQueue<'_>,
    ) {
        let spec = &job["spec"];
        let members: Vec<Member> = pods.iter().map(|pod| member(pod, spec)).collect();
        let mut tally = Tally::of(job, &members);
        let age = age(cluster, job);
        // A verdict in the status is final: it must not change while the last pods end.
        let decided = verdict_of(job).unwrap_or_else(|| verdict(spec, &tally, age));
        let waits = tally::waits_for_ends(spec);
        let counted = pods
            .iter()
            .zip(&members)
            .filter(|(_, member)| member.counts(waits));
        for (pod, _) in counted {
            release(cluster, pod);
        }
        let now = Instant::now();
        // Before the pauses are read: a failure that was counted just now delays its own replacement.
        self.note_failures(key, spec, &tally, now);
        let pauses = self.pauses.get(key);
        let wanted = match &decided {
            Verdict::Runs(wanted) => *wanted,
            Verdict::Suspended | Verdict::Complete(_) | Verdict::Failed(_) => 0,
        };
        // Before pauses: surplus pods go during a pause, too, which only delays creations.
        if tally.active > wanted {
            let is_failed = matches!(decided, Verdict::Failed(_));
            remove(cluster, job, pods, &mut tally, (wanted, is_failed));
        } else if let Some(pause) = pauses.and_then(|pauses| pauses.of_all(now)) {
            due.add(key.clone(), pause);
        } else {
            let waiting = pauses.map(|pauses| pauses.of_indexes(now));
            let waiting = waiting.unwrap_or_default();
            create(cluster, job, &tally, (wanted, &waiting));
            if let Some(pause) = waiting.values().min() {
                due.add(key.clone(), *pause);
            }
        }
        // No change wakes a job at its deadline.
        if let Some(deadline) = spec["activeDeadlineSeconds"].as_u64() {
            let left = Duration::from_secs(deadline).saturating_sub(age);
            if !left.is_zero() {
                due.add(key.clone(), left);
            }
        }
        let now = cluster.now_text();
        cluster.update(key, ACTOR.of_status(), |job| {
            status::write(job, &tally, &decided, &now);
        });
        record_event(cluster, job, &decided);
    }

    /// Notes the failures that were counted now. Those of a job without a limit for each index are forgotten after a success.
    fn note_failures(&mut self, key: &ObjectKey, spec: &Value, tally: &Tally, now: Instant) {
        let has_index_limit = !spec["backoffLimitPerIndex"].is_null();
        let new = u32::try_from(tally.new_failures).unwrap_or(u32::MAX);
        if has_index_limit && !tally.new_index_failures.is_empty() {
            let pauses = self.pauses.entry(key.clone()).or_default();
            pauses.note_indexes(&tally.new_index_failures, self.first_pause, now);
        } else if !has_index_limit && new > 0 {
            let pauses = self.pauses.entry(key.clone()).or_default();
            pauses.note(new, self.first_pause, now);
        } else if !has_index_limit && tally.has_new_success {
            self.pauses.remove(key);
        }
    }
}

/// Returns the pods of a job, after it has adopted those that it selects, and released those that it does not select any more.
fn claim_pods(
    cluster: &mut Cluster<'_, '_>,
    job: &Value,
    selects: &LabelSelector,
) -> Vec<Arc<Pod>> {
    let mut pods = claim(cluster, &KIND, job, selects, |pod| !pod.is_deleted);
    for pod in &mut pods {
        if pod.controller.is_none() && !is_tracked(pod) {
            // An adopted pod is still to be counted.
            cluster.update(pod.key(), ACTOR, |pod| {
                let finalizers = &mut pod["metadata"]["finalizers"];
                let mut all = finalizers.as_array().cloned().unwrap_or_default();
                all.push(json!(TRACKING));
                *finalizers = all.into();
            });
        }
        if let Some(current) = cluster.index.pods.get(pod.key()) {
            *pod = Arc::clone(current);
        }
    }
    pods
}

fn is_tracked(pod: &Pod) -> bool {
    pod.finalizers.iter().any(|finalizer| finalizer == TRACKING)
}

fn member(pod: &Pod, spec: &Value) -> Member {
    let restarts_count = spec["template"]["spec"]["restartPolicy"] == "OnFailure";
    // Parsing is what costs: a pod that was counted is read only if its restarts or its index matter.
    let is_read = is_tracked(pod) || restarts_count || !spec["backoffLimitPerIndex"].is_null();
    let object = if is_read {
        pod.stored.to_value()
    } else {
        Value::Null
    };
    let failures = text(&object["metadata"]["annotations"][INDEX_FAILURES]).parse();
    Member {
        phase: pod.phase,
        is_ready: pod.is_ready,
        is_deleted: pod.is_deleted,
        is_tracked: is_tracked(pod),
        index: pod.label(INDEX).parse().ok(),
        index_failures: failures.unwrap_or_default(),
        object,
    }
}

/// Returns the time for which a job has been active.
fn age(cluster: &Cluster<'_, '_>, job: &Value) -> Duration {
    let started = text(&job["status"]["startTime"]).parse::<jiff::Timestamp>();
    let age = started.map(|started| cluster.now().duration_since(started));
    age.ok()
        .and_then(|age| Duration::try_from(age).ok())
        .unwrap_or_default()
}

/// Returns the verdict that the status of a job tells already, though its pods have not all ended.
fn verdict_of(job: &Value) -> Option<Verdict> {
    let conditions = job["status"]["conditions"].as_array()?;
    conditions.iter().find_map(|condition| {
        let message = text(&condition["message"]).to_owned();
        let reason = JobEnd::reason_of(text(&condition["reason"]))?;
        let end = JobEnd { reason, message };
        match text(&condition["type"]) {
            "SuccessCriteriaMet" => Some(Verdict::Complete(end)),
            "FailureTarget" => Some(Verdict::Failed(end)),
            _ => None,
        }
    })
}

/// Lets a pod go that was counted, or is not to be.
fn release(cluster: &mut Cluster<'_, '_>, pod: &Pod) {
    if is_tracked(pod) {
        cluster.update(pod.key(), ACTOR, |pod| without(pod, TRACKING));
    }
}

/// Lets a pod go whose job does not count it any more.
fn release_orphan(cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
    let Some(pod) = cluster.index.pods.get(key).cloned() else {
        return;
    };
    let owner = pod
        .controller
        .as_ref()
        .filter(|owner| owner.kind == KIND.name);
    let job = owner.and_then(|owner| {
        let job = cluster.get(&KIND.key(key.namespace(), &owner.name))?;
        (job.uid() == owner.uid).then_some(job)
    });
    if job.is_none() {
        release(cluster, &pod);
    }
}

/// Creates missing pods. An index in its back-off gets no pod, and its place stays reserved.
fn create(
    cluster: &mut Cluster<'_, '_>,
    job: &Value,
    tally: &Tally,
    (wanted, waiting): (i64, &BTreeMap<i64, Duration>),
) {
    let missing = usize::try_from(wanted - tally.active)
        .unwrap_or_default()
        .min(BURST);
    let spec = &job["spec"];
    let is_indexed = spec["completionMode"] == "Indexed";
    let mut indexes = (0..spec["completions"].as_i64().unwrap_or_default()).filter(|index| {
        let taken = [
            &tally.completed_indexes,
            &tally.failed_indexes,
            &tally.busy_indexes,
        ];
        !taken.iter().any(|indexes| indexes.contains(*index))
    });
    for _ in 0..missing {
        let mut pod = KIND.pod(job, &spec["template"]);
        let mut finalizers = pod["metadata"]["finalizers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        // Without the finalizer a pod that is deleted at once would never be counted.
        finalizers.push(json!(TRACKING));
        pod["metadata"]["finalizers"] = finalizers.into();
        let name = text(&job["metadata"]["name"]);
        pod["metadata"]["generateName"] = json!(format!("{name}-"));
        if is_indexed {
            let Some(index) = indexes.next() else { return };
            // `continue` uses up one of the missing pods, so that no later index takes the place.
            if waiting.contains_key(&index) {
                continue;
            }
            set_index(&mut pod, name, index);
            if !spec["backoffLimitPerIndex"].is_null() {
                let failures = tally
                    .index_failures
                    .get(&index)
                    .copied()
                    .unwrap_or_default();
                pod["metadata"]["annotations"][INDEX_FAILURES] = json!(failures.to_string());
            }
        }
        if cluster.create_pod(&KIND, job, pod).is_none() {
            return;
        }
    }
}

/// Tells a pod its completion index.
fn set_index(pod: &mut Value, job: &str, index: i64) {
    let text = json!(index.to_string());
    let metadata = &mut pod["metadata"];
    metadata["generateName"] = json!(format!("{job}-{index}-"));
    metadata["annotations"][INDEX] = text.clone();
    metadata["labels"][INDEX] = text;
    let spec = &mut pod["spec"];
    if spec["hostname"].is_null() {
        spec["hostname"] = json!(format!("{job}-{index}"));
    }
    let variable = json!({
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": format!("metadata.labels['{INDEX}']")}},
    });
    for field in ["initContainers", "containers"] {
        for container in spec[field].as_array_mut().into_iter().flatten() {
            match container["env"].as_array_mut() {
                // A variable of the template takes precedence.
                Some(all) if all.iter().any(|it| it["name"] == variable["name"]) => {}
                Some(all) => all.push(variable.clone()),
                None => container["env"] = json!([variable]),
            }
        }
    }
}

/// Deletes active pods until as many are left as are wanted, those of least use first. They count as failures only if the
/// job has failed.
fn remove(
    cluster: &mut Cluster<'_, '_>,
    job: &Value,
    pods: &[Arc<Pod>],
    tally: &mut Tally,
    (wanted, is_failed): (i64, bool),
) {
    let surplus = usize::try_from(tally.active - wanted).unwrap_or_default();
    let mut active: Vec<&Arc<Pod>> = pods.iter().filter(|pod| pod.is_active()).collect();
    active.sort_by_key(|pod| pod.usefulness());
    for pod in active.into_iter().take(surplus) {
        // Released uncounted: a pod that the job itself takes away is no failure, unless the job has failed.
        release(cluster, pod);
        cluster.delete(pod.key(), DeletionParameters::default());
        let message = format!("Deleted pod: {}", pod.name());
        cluster.event(&KIND, job, "SuccessfulDelete", &message);
        tally.active -= 1;
        tally.ready -= i64::from(pod.is_ready);
        tally.terminating += 1;
        tally.failed += i64::from(is_failed);
    }
}

/// Records events about the decision on a job; `job` is its state before the decision.
fn record_event(cluster: &mut Cluster<'_, '_>, job: &Value, decided: &Verdict) {
    let status = &job["status"];
    let was_suspended = has_condition(status, "Suspended");
    match decided {
        Verdict::Runs(_) if was_suspended => cluster.event(&KIND, job, "Resumed", "Job resumed"),
        Verdict::Suspended if !was_suspended => {
            cluster.event(&KIND, job, "Suspended", "Job suspended");
        }
        Verdict::Complete(_) if !has_condition(status, "SuccessCriteriaMet") => {
            cluster.event(&KIND, job, "Completed", "Job completed");
        }
        Verdict::Failed(end) if !has_condition(status, "FailureTarget") => {
            cluster.warning(&KIND, job, end.reason, &end.message);
        }
        _ => {}
    }
}

/// Deletes a job that has ended, when its time has come.
fn expire(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, job: &Value, due: &mut KeyQueue<'_>) {
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
        let wanted = DeletionParameters {
            propagation: Some(Propagation::Foreground),
            ..DeletionParameters::default()
        };
        cluster.delete(key, wanted);
    } else {
        due.add(key.clone(), left);
    }
}
