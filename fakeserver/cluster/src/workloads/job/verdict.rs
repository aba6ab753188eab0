//! The decision about a job: whether it continues, and with how many pods.

use std::time::Duration;

use serde_json::Value;

use super::{
    policies::success,
    tally::{Tally, waits_for_ends},
};
use crate::workloads::objects::number;

/// The next step for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Complete(JobEnd),
    Failed(JobEnd),
    /// The job is suspended: no pod is to run.
    Suspended,
    /// The job continues with this number of active pods.
    Runs(i64),
}

/// The reason why a job ends, as conditions have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobEnd {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

// === impl JobEnd ===

impl JobEnd {
    fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }

    /// Returns the reason that a condition tells.
    pub(super) fn reason_of(text: &str) -> Option<&'static str> {
        REASONS.into_iter().find(|reason| *reason == text)
    }
}

/// The reasons for which jobs end.
const REASONS: [&str; 7] = [
    "SuccessPolicy",
    "CompletionsReached",
    "PodFailurePolicy",
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "MaxFailedIndexesExceeded",
    "FailedIndexes",
];

/// Decides what becomes of a job that has been active for `age`.
pub(super) fn verdict(spec: &Value, tally: &Tally, age: Duration) -> Verdict {
    // Failures before successes, as upstream: a failure that ends the job outweighs enough successes.
    if let Some(end) = failure(spec, tally, age) {
        return Verdict::Failed(end);
    }
    let completions = spec["completions"].as_i64();
    let is_indexed = spec["completionMode"] == "Indexed";
    if is_indexed {
        let policy = &spec["successPolicy"];
        let rule = success(policy, &tally.completed_indexes, completions.unwrap_or(0));
        if let Some(at) = rule {
            let message = format!("Matched rules at index {at}");
            return Verdict::Complete(JobEnd::new("SuccessPolicy", message));
        }
    }
    let complete = || {
        let message = "Reached expected number of succeeded pods";
        Verdict::Complete(JobEnd::new("CompletionsReached", message))
    };
    let parallelism = number(&spec["parallelism"], 1);
    let left = match completions {
        Some(completions) if tally.succeeded >= completions => return complete(),
        Some(completions) => completions - tally.succeeded - tally.failed_indexes.count(),
        // Without a number, one success ends it, when all others have ended too.
        None if tally.succeeded > 0 && tally.active == 0 => return complete(),
        None if tally.succeeded > 0 => tally.active,
        None => parallelism,
    };
    // After completions: a suspended job with enough successes is complete.
    if spec["suspend"] == true {
        return Verdict::Suspended;
    }
    let stopping = if waits_for_ends(spec) {
        tally.terminating
    } else {
        0
    };
    Verdict::Runs((parallelism.min(left) - stopping).max(0))
}

fn failure(spec: &Value, tally: &Tally, age: Duration) -> Option<JobEnd> {
    if let Some(message) = &tally.fatal {
        return Some(JobEnd::new("PodFailurePolicy", message.clone()));
    }
    let backoff_limit = number(&spec["backoffLimit"], 6);
    let restarts_fail = spec["template"]["spec"]["restartPolicy"] == "OnFailure"
        && tally.restarts > 0
        && tally.restarts >= backoff_limit;
    let has_own_limit = !spec["backoffLimitPerIndex"].is_null();
    // With `backoffLimitPerIndex`, the default of `backoffLimit` is unlimited.
    let is_past =
        tally.failed > backoff_limit && !(has_own_limit && backoff_limit == i64::from(i32::MAX));
    if is_past || restarts_fail {
        let message = "Job has reached the specified backoff limit";
        return Some(JobEnd::new("BackoffLimitExceeded", message));
    }
    let deadline = spec["activeDeadlineSeconds"].as_u64();
    if deadline.is_some_and(|seconds| age >= Duration::from_secs(seconds)) {
        let message = "Job was active longer than specified deadline";
        return Some(JobEnd::new("DeadlineExceeded", message));
    }
    let most = spec["maxFailedIndexes"].as_i64();
    if most.is_some_and(|most| tally.failed_indexes.count() > most) {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(JobEnd::new("MaxFailedIndexesExceeded", message));
    }
    // Failed indexes take precedence over a success policy that the last index fulfils.
    let failed = tally.failed_indexes.count();
    let completions = number(&spec["completions"], 0);
    if failed > 0 && failed + tally.completed_indexes.count() >= completions {
        return Some(JobEnd::new("FailedIndexes", "Job has failed indexes"));
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workloads::job::indexes::Indexes;

    fn check(spec: &Value, [active, succeeded, failed, terminating]: [i64; 4]) -> Verdict {
        let tally = Tally {
            active,
            terminating,
            succeeded,
            failed,
            ..Tally::default()
        };
        verdict(spec, &tally, Duration::from_secs(50))
    }

    fn reason(verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Complete(end) | Verdict::Failed(end) => end.reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_job_runs_until_enough_have_succeeded_or_too_many_failed() {
        let spec = json!({"completions": 3, "parallelism": 2, "backoffLimit": 1});
        assert_eq!(check(&spec, [0, 0, 0, 0]), Verdict::Runs(2));
        assert_eq!(check(&spec, [1, 2, 1, 0]), Verdict::Runs(1));
        assert_eq!(check(&spec, [1, 1, 0, 1]), Verdict::Runs(2));
        assert_eq!(reason(check(&spec, [0, 3, 1, 0])), "CompletionsReached");
        assert_eq!(reason(check(&spec, [1, 2, 2, 0])), "BackoffLimitExceeded");
        let waits = json!({"completions": 3, "parallelism": 2, "podReplacementPolicy": "Failed"});
        assert_eq!(check(&waits, [1, 1, 0, 1]), Verdict::Runs(1));
        let queue = json!({"parallelism": 3});
        assert_eq!(check(&queue, [0, 0, 0, 0]), Verdict::Runs(3));
        assert_eq!(check(&queue, [2, 1, 0, 0]), Verdict::Runs(2));
        assert_eq!(reason(check(&queue, [0, 1, 0, 0])), "CompletionsReached");
        let suspended = json!({"completions": 3, "parallelism": 2, "suspend": true});
        assert_eq!(check(&suspended, [2, 1, 0, 0]), Verdict::Suspended);
        let late = json!({"activeDeadlineSeconds": 50});
        assert_eq!(reason(check(&late, [1, 0, 0, 0])), "DeadlineExceeded");
    }

    #[test]
    fn an_indexed_job_ends_when_no_index_is_left() {
        let mut spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed",
            "backoffLimitPerIndex": 0, "backoffLimit": i32::MAX});
        let tally = |completed: &str, failed: &str| Tally {
            succeeded: Indexes::parse(completed, 3).count(),
            completed_indexes: Indexes::parse(completed, 3),
            failed_indexes: Indexes::parse(failed, 3),
            ..Tally::default()
        };
        let check = |spec: &Value, completed: &str, failed: &str| {
            verdict(spec, &tally(completed, failed), Duration::ZERO)
        };
        assert_eq!(check(&spec, "0", "1"), Verdict::Runs(1));
        assert_eq!(reason(check(&spec, "0,2", "1")), "FailedIndexes");
        assert_eq!(reason(check(&spec, "0-2", "")), "CompletionsReached");
        spec["maxFailedIndexes"] = json!(1);
        assert_eq!(reason(check(&spec, "", "1-2")), "MaxFailedIndexesExceeded");
        spec["successPolicy"] = json!({"rules": [{"succeededIndexes": "1"}]});
        assert_eq!(reason(check(&spec, "1", "")), "SuccessPolicy");
        assert_eq!(reason(check(&spec, "1-2", "0")), "FailedIndexes");
    }
}
