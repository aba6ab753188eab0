//! Cron jobs: a job at each time of a schedule, and no more ended jobs than are to be kept.

mod timing;

use std::time::Duration;

use fakeserver_kinds::batch::{self, cron_job::schedule::Schedule};
use fakeserver_server::{
    controllers::correlation::{Correlator, EventText},
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::{
        Propagation,
        deletion::{DeletionParameters, is_deleted},
    },
};
use fakeserver_value::read::text;
use jiff::{
    SignedDuration, Timestamp,
    tz::{TimeZone, TimeZoneDatabase},
};
use serde_json::{Value, json};

use self::timing::{ScheduledTime, Timing};
use super::objects::{ReconciledKind, enqueue_owners, has_condition};

const KIND: ReconciledKind = ReconciledKind {
    kind: &batch::cron_job::KIND,
    name: "CronJob",
    api_version: "batch/v1",
    component: "cronjob-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The annotation of a job with the time for which it was created.
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// The controller of cron jobs.
///
/// # Memory
///
/// The recent events about each cron job.
#[derive(Debug, Default)]
pub(super) struct CronJobs {
    events: Correlator,
}

/// A cron job, and its jobs.
struct CronJobSync<'a, 'b, 't> {
    cluster: &'a mut Cluster<'b, 't>,
    events: &'a mut Correlator,
    cron_job: Value,
    jobs: Vec<Value>,
}

impl Controller for CronJobs {
    fn name(&self) -> &'static str {
        "cron jobs"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(KIND.kind) {
            if change.after.is_none() {
                self.events.forget(change.subject().uid());
            }
            due.add(change.key().clone(), Duration::ZERO);
        } else if change.is_of(&batch::job::KIND) {
            enqueue_owners(&KIND, change, due);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let owned = cluster.index.dependents(stored.uid());
        let jobs = owned.filter(|(key, _)| key.resource() == batch::job::KIND.storage());
        let jobs = jobs.filter_map(|(key, _)| Some(cluster.get(key)?.to_value()));
        let mut reconciled = CronJobSync {
            jobs: jobs.collect(),
            cron_job: stored.to_value(),
            events: &mut self.events,
            cluster,
        };
        // The success of a job that is not kept counts, too.
        let jobs = reconciled.jobs.clone();
        reconciled.clean_up();
        reconciled.note_jobs(&jobs);
        let wait = reconciled.schedule();
        let status = reconciled.cron_job["status"].take();
        cluster.update(key, ACTOR.of_status(), |cron_job| {
            cron_job["status"] = status;
        });
        if let Some(wait) = wait {
            due.add(key.clone(), wait);
        }
    }
}

// === impl CronJobSync ===

impl CronJobSync<'_, '_, '_> {
    /// Deletes the oldest ended jobs beyond the history limits.
    fn clean_up(&mut self) {
        for (limit, condition) in [
            ("successfulJobsHistoryLimit", "Complete"),
            ("failedJobsHistoryLimit", "Failed"),
        ] {
            let Some(limit) = self.cron_job["spec"][limit].as_u64() else {
                continue;
            };
            let jobs = self.jobs.iter();
            let mut ended: Vec<Value> = jobs
                .filter(|job| has_condition(&job["status"], condition))
                .cloned()
                .collect();
            ended.sort_by_key(|job| {
                let start = text(&job["status"]["startTime"]).to_owned();
                (
                    start.is_empty(),
                    start,
                    text(&job["metadata"]["name"]).to_owned(),
                )
            });
            let kept = usize::try_from(limit).unwrap_or(usize::MAX);
            let surplus = ended.len().saturating_sub(kept);
            for job in &ended[..surplus] {
                self.delete(job);
            }
        }
    }

    /// Keeps the list of active jobs, and the time of the last success.
    fn note_jobs(&mut self, jobs: &[Value]) {
        for job in jobs {
            let name = text(&job["metadata"]["name"]);
            let is_active = self.is_active(job);
            let mut ends = ["Complete", "Failed"].into_iter();
            let Some(end) = ends.find(|end| has_condition(&job["status"], end)) else {
                if !is_active {
                    let message =
                        format!("Saw a job that the controller did not create or forgot: {name}");
                    self.warn("UnexpectedJob", &message);
                }
                continue;
            };
            if is_active {
                self.forget(&job["metadata"]["uid"]);
                let message = format!("Saw completed job: {name}, condition: {end}");
                self.record_event("SawCompletedJob", &message);
            }
            let time = |value: &Value| text(value).parse::<Timestamp>().ok();
            let ended = &job["status"]["completionTime"];
            let last = &mut self.cron_job["status"]["lastSuccessfulTime"];
            if end == "Complete" && time(ended) > time(last) {
                *last = ended.clone();
            }
        }
        let uids: Vec<Value> = (jobs.iter())
            .map(|job| job["metadata"]["uid"].clone())
            .collect();
        for active in self.active() {
            if !uids.contains(&active["uid"]) {
                self.forget(&active["uid"]);
                let message = format!("Active job went missing: {}", text(&active["name"]));
                self.record_event("MissingJob", &message);
            }
        }
    }

    /// Creates the job that is due, and returns the time until the next one.
    fn schedule(&mut self) -> Option<Duration> {
        let spec = self.cron_job["spec"].clone();
        if is_deleted(&self.cron_job) || spec["suspend"] == true {
            return None;
        }
        let zone = match spec["timeZone"].as_str() {
            Some(name) => TimeZoneDatabase::bundled().get(name).ok()?,
            None => TimeZone::UTC,
        };
        let schedule = text(&spec["schedule"]);
        let parsed = match Schedule::parse(schedule) {
            Ok(parsed) => parsed,
            Err(why) => {
                let message = format!("unparseable schedule: {schedule:?} : {why}");
                self.warn("UnparseableSchedule", &message);
                return None;
            }
        };
        let last = &self.cron_job["status"]["lastScheduleTime"];
        let created = &self.cron_job["metadata"]["creationTimestamp"];
        let deadline = spec["startingDeadlineSeconds"].as_i64();
        let timing = Timing {
            schedule: &parsed,
            zone: &zone,
            last: text(if last.is_null() { created } else { last })
                .parse()
                .ok()?,
            deadline: deadline.map(SignedDuration::from_secs),
        };
        let now = self.cluster.now();
        let scheduled = match timing.due(now) {
            Ok(scheduled) => scheduled,
            Err(why) => {
                let message = format!("invalid schedule: {schedule} : {why}");
                self.warn("InvalidSchedule", &message);
                return None;
            }
        };
        if let Some(scheduled) = scheduled {
            self.start(scheduled, &zone);
        }
        let wait = timing.wait(now)?;
        Some(wait)
    }

    /// Creates the job for a time, unless a running one forbids it.
    fn start(&mut self, scheduled: ScheduledTime, zone: &TimeZone) {
        if scheduled.misses_many {
            let message = "too many missed start times. Set or decrease \
                           .spec.startingDeadlineSeconds or check clock skew";
            self.warn("TooManyMissedTimes", message);
        }
        let owner = text(&self.cron_job["metadata"]["name"]);
        let name = format!("{owner}-{}", scheduled.at.as_second() / 60);
        let active = self.active();
        if active.iter().any(|job| job["name"] == *name) {
            return;
        }
        match text(&self.cron_job["spec"]["concurrencyPolicy"]) {
            "Forbid" if !active.is_empty() => {
                let message = "Not starting job because prior execution is running and \
                               concurrency policy is Forbid";
                return self.record_event("JobAlreadyActive", message);
            }
            "Replace" => {
                let jobs = self.jobs.clone();
                for job in jobs {
                    if self.is_active(&job) {
                        self.delete(&job);
                    }
                }
            }
            _ => {}
        }
        let job = self.job(&name, scheduled.at, zone);
        let jobs = batch::job::KIND.storage();
        let Some(created) = self.cluster.create(jobs, ACTOR, job) else {
            if let Some(why) = self.cluster.refusal.clone() {
                self.warn("FailedCreate", &format!("Error creating job: {why}"));
            }
            return;
        };
        self.record_event("SuccessfulCreate", &format!("Created job {name}"));
        let mut active = self.active();
        active.push(json!({
            "kind": "Job",
            "apiVersion": "batch/v1",
            "namespace": self.cron_job["metadata"]["namespace"],
            "name": name,
            "uid": created.uid(),
            "resourceVersion": created.revision().to_string(),
        }));
        let status = &mut self.cron_job["status"];
        status["active"] = active.into();
        status["lastScheduleTime"] = json!(scheduled.at.to_string());
    }

    /// Returns the job for a time.
    fn job(&self, name: &str, at: Timestamp, zone: &TimeZone) -> Value {
        let template = &self.cron_job["spec"]["jobTemplate"];
        let mut metadata = json!({
            "name": name,
            "namespace": self.cron_job["metadata"]["namespace"],
            "ownerReferences": [KIND.owner_reference(&self.cron_job)],
            "annotations": template["metadata"]["annotations"],
        });
        let time = if *zone == TimeZone::UTC {
            at.to_string()
        } else {
            at.display_with_offset(zone.to_offset(at)).to_string()
        };
        metadata["annotations"][SCHEDULED] = json!(time);
        if let Some(labels) = template["metadata"].get("labels") {
            metadata["labels"] = labels.clone();
        }
        json!({"metadata": metadata, "spec": template["spec"]})
    }

    fn active(&self) -> Vec<Value> {
        let active = self.cron_job["status"]["active"].as_array();
        active.cloned().unwrap_or_default()
    }

    fn is_active(&self, job: &Value) -> bool {
        let uid = &job["metadata"]["uid"];
        self.active().iter().any(|active| active["uid"] == *uid)
    }

    /// Removes a job from the list of active ones.
    fn forget(&mut self, uid: &Value) {
        let mut active = self.active();
        active.retain(|job| job["uid"] != *uid);
        self.cron_job["status"]["active"] = active.into();
    }

    /// Deletes a job, and its pods with it.
    fn delete(&mut self, job: &Value) {
        let name = text(&job["metadata"]["name"]);
        let namespace = self.cron_job["metadata"]["namespace"].as_str();
        let jobs = batch::job::KIND.storage().clone();
        let wanted = DeletionParameters {
            propagation: Some(Propagation::Background),
            ..DeletionParameters::default()
        };
        let key = ObjectKey::new(jobs, namespace, name);
        self.cluster.delete(&key, wanted);
        self.forget(&job["metadata"]["uid"]);
        self.jobs
            .retain(|other| other["metadata"]["uid"] != job["metadata"]["uid"]);
        self.record_event("SuccessfulDelete", &format!("Deleted job {name}"));
    }

    fn record_event(&mut self, reason: &str, message: &str) {
        self.record(&EventText::normal(reason, message));
    }

    fn warn(&mut self, reason: &str, message: &str) {
        self.record(&EventText::warning(reason, message));
    }

    fn record(&mut self, event: &EventText<'_>) {
        self.cluster
            .correlated_event(self.events, &KIND, &self.cron_job, event);
    }
}
