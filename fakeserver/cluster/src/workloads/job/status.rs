//! The status of a job: counts, indexes and conditions.

use serde_json::{Value, json};

use super::{tally::Tally, verdict::Verdict};
use crate::workloads::objects::{Condition, has_condition, set_condition, truth};

/// Writes the status of a job that had not ended.
pub(super) fn write(job: &mut Value, tally: &Tally, decided: &Verdict, now: &str) {
    let is_indexed = job["spec"]["completionMode"] == "Indexed";
    let has_index_limit = !job["spec"]["backoffLimitPerIndex"].is_null();
    let is_suspended = *decided == Verdict::Suspended;
    let status = &mut job["status"];
    for (field, count) in [
        ("active", tally.active),
        ("ready", tally.ready),
        ("terminating", tally.terminating),
        ("succeeded", tally.succeeded),
        ("failed", tally.failed),
    ] {
        status[field] = json!(count);
    }
    if is_indexed {
        status["completedIndexes"] = json!(tally.completed_indexes.to_string());
    }
    if has_index_limit {
        status["failedIndexes"] = json!(tally.failed_indexes.to_string());
    }
    status["uncountedTerminatedPods"] = json!({});
    let was_suspended = has_condition(status, "Suspended");
    if is_suspended && !was_suspended {
        set(
            status,
            "Suspended",
            true,
            ("JobSuspended", "Job suspended"),
            now,
        );
        // The active deadline begins anew when the job is resumed.
        if let Some(status) = status.as_object_mut() {
            status.remove("startTime");
        }
    } else if !is_suspended && was_suspended {
        set(
            status,
            "Suspended",
            false,
            ("JobResumed", "Job resumed"),
            now,
        );
    }
    if status["startTime"].is_null() && !is_suspended {
        status["startTime"] = json!(now);
    }
    let (target, last, end) = match decided {
        Verdict::Complete(end) => ("SuccessCriteriaMet", "Complete", end),
        Verdict::Failed(end) => ("FailureTarget", "Failed", end),
        Verdict::Suspended | Verdict::Runs(_) => return,
    };
    let why = (end.reason, &*end.message);
    if !has_condition(status, target) {
        set(status, target, true, why, now);
    }
    // The target's condition tells the verdict at once; the final one waits for the last pod.
    if tally.active == 0 && tally.terminating == 0 {
        set(status, last, true, why, now);
        if last == "Complete" {
            status["completionTime"] = json!(now);
        }
    }
}

fn set(
    status: &mut Value,
    kind: &'static str,
    is_true: bool,
    (reason, message): (&str, &str),
    now: &str,
) {
    let condition = Condition {
        kind,
        status: truth(is_true),
        reason,
        message,
    };
    set_condition(status, condition, now, Some("lastProbeTime"));
}
