//! The status of a deployment: the counts of its sets, and the progress of the roll-out.

use std::time::Duration;

use fakeserver_value::read::text;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    REVISION,
    rollout::{ReplicaSetState, Rollout},
};
use crate::workloads::{
    objects::{Condition, has_condition, number, set_condition},
    replica_failure::copy_failure,
};

/// The field of a condition that tells when anything of it was last changed.
const UPDATED: &str = "lastUpdateTime";
const PROGRESSING: &str = "Progressing";
/// The reasons of the condition while the deployment is paused, and from then on until there is progress.
const PAUSED: &str = "DeploymentPaused";
const RESUMED: &str = "DeploymentResumed";
/// The deadline that stands for none.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// Writes the status of a deployment, and its revision. Returns after which time it has to be looked at in any case.
pub(super) fn set_status(
    deployment: &mut Value,
    old: &[ReplicaSetState],
    own: Option<&ReplicaSetState>,
    rollout: Rollout,
    revision: i64,
    now: Timestamp,
) -> Option<Duration> {
    if own.is_some() {
        // The annotation is written through the status endpoint, where it does not increase the generation.
        deployment["metadata"]["annotations"][REVISION] = json!(revision.to_string());
    }
    let deadline = deployment["spec"]["progressDeadlineSeconds"].as_i64();
    let generation = deployment["metadata"]["generation"].clone();
    let status = &mut deployment["status"];
    // Before the counts are written: progress is their difference.
    let before = progress(status);
    let all = || old.iter().chain(own);
    let sum = |part: fn(&ReplicaSetState) -> i64| all().map(part).sum::<i64>();
    let replicas = sum(|set| set.replicas);
    let available = sum(|set| set.available);
    let updated = own.map_or(0, |set| set.replicas);
    let wanted = sum(|set| set.wanted).max(rollout.wanted);
    status["observedGeneration"] = generation;
    status["replicas"] = json!(replicas);
    status["updatedReplicas"] = json!(updated);
    status["readyReplicas"] = json!(sum(|set| set.ready));
    status["availableReplicas"] = json!(available);
    status["terminatingReplicas"] = json!(sum(|set| set.terminating));
    status["unavailableReplicas"] = json!((wanted - available).max(0));
    let now_text = in_seconds(now);
    let is_available = available >= rollout.wanted - rollout.unavailable;
    set_condition(status, availability(is_available), &now_text, Some(UPDATED));
    // The failure of the current set counts more than those of old ones.
    let mut failures = own.into_iter().chain(old);
    copy_failure(status, failures.find_map(|set| set.failure.as_ref()));
    let is_complete =
        updated == rollout.wanted && replicas == rollout.wanted && available >= rollout.wanted;
    // While it is paused the condition is that of `set_pause`, and no deadline runs.
    let own = own.filter(|_| !rollout.is_paused)?;
    let is_further = progress(status) != before;
    set_progress(status, &own.name, is_complete, is_further, &now_text);
    if is_complete {
        return None;
    }
    expire(status, &own.name, deadline?, now)
}

/// Sets the condition of a paused or resumed deployment, unless its roll-out has failed or has no deadline.
#[doc(alias = "checkPausedConditions")]
pub(super) fn set_pause(deployment: &mut Value, now: Timestamp) {
    let is_paused = deployment["spec"]["paused"] == true;
    let deadline = deployment["spec"]["progressDeadlineSeconds"].as_i64();
    if deadline.is_none_or(|deadline| deadline >= NO_DEADLINE) {
        return;
    }
    let status = &mut deployment["status"];
    let reason = progressing(status).map(|condition| text(&condition["reason"]).to_owned());
    let (reason, message) = match reason.as_deref() {
        Some("ProgressDeadlineExceeded") => return,
        Some(PAUSED) if !is_paused => (RESUMED, "Deployment is resumed"),
        Some(PAUSED) => return,
        _ if is_paused => (PAUSED, "Deployment is paused"),
        _ => return,
    };
    let condition = Condition {
        kind: PROGRESSING,
        status: "Unknown",
        reason,
        message,
    };
    set_condition(status, condition, &in_seconds(now), Some(UPDATED));
}

/// Returns the counts that show progress of a roll-out.
fn progress(status: &Value) -> [i64; 4] {
    [
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
    ]
    .map(|field| number(&status[field], 0))
}

fn availability(is_available: bool) -> Condition<'static> {
    if is_available {
        Condition {
            kind: "Available",
            status: "True",
            reason: "MinimumReplicasAvailable",
            message: "Deployment has minimum availability.",
        }
    } else {
        Condition {
            kind: "Available",
            status: "False",
            reason: "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
        }
    }
}

fn progressing(status: &mut Value) -> Option<&mut Value> {
    let conditions = status["conditions"].as_array_mut()?;
    conditions
        .iter_mut()
        .find(|condition| condition["type"] == PROGRESSING)
}

/// Tells how far the roll-out to `set` is. What was complete stays so until there is another template.
fn set_progress(status: &mut Value, set: &str, is_complete: bool, is_further: bool, now: &str) {
    let done = format!("ReplicaSet \"{set}\" has successfully progressed.");
    let going = format!("ReplicaSet \"{set}\" is progressing.");
    let is_true = has_condition(status, PROGRESSING);
    let message = progressing(status).map(|condition| condition["message"].clone());
    let was_done = is_true && message.as_ref().is_some_and(|message| *message == done);
    let has_given_up = !is_true && message.is_some();
    if !is_complete && (was_done || (has_given_up && !is_further)) {
        return;
    }
    let (reason, message) = if is_complete {
        ("NewReplicaSetAvailable", &done)
    } else {
        ("ReplicaSetUpdated", &going)
    };
    let condition = Condition {
        kind: PROGRESSING,
        status: "True",
        reason,
        message,
    };
    set_condition(status, condition, now, Some(UPDATED));
    // Even if the condition says the same: the deadline counts from the last progress.
    if let Some(condition) = progressing(status).filter(|_| is_further) {
        condition[UPDATED] = json!(now);
    }
}

/// Fails a roll-out that made no progress within `deadline` seconds, or returns the time until then.
fn expire(status: &mut Value, set: &str, deadline: i64, now: Timestamp) -> Option<Duration> {
    let condition = progressing(status)?;
    // Only a roll-out under way can time out: one that has completed or failed keeps its reason.
    if !matches!(text(&condition["reason"]), "ReplicaSetUpdated" | RESUMED) {
        return None;
    }
    let since: Timestamp = text(&condition[UPDATED]).parse().ok()?;
    let end = since
        .checked_add(SignedDuration::from_secs(deadline))
        .ok()?;
    if end > now {
        return Duration::try_from(end.duration_since(now)).ok();
    }
    let message = format!("ReplicaSet \"{set}\" has timed out progressing.");
    let condition = Condition {
        kind: PROGRESSING,
        status: "False",
        reason: "ProgressDeadlineExceeded",
        message: &message,
    };
    set_condition(status, condition, &in_seconds(now), Some(UPDATED));
    None
}

/// Prints a time as objects write it.
fn in_seconds(time: Timestamp) -> String {
    let whole = Timestamp::from_second(time.as_second());
    whole.unwrap_or(time).to_string()
}
