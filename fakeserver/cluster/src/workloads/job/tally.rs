//! The pods of a job, counted: those that run, and those that have ended since the last look.

use std::collections::BTreeMap;

use fakeserver_server::controllers::pods::Phase;
use fakeserver_value::read::text;
use serde_json::Value;

use super::{
    indexes::Indexes,
    policies::{Failure, failure},
};
use crate::workloads::objects::number;

/// A pod of a job, as far as it matters.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    pub(super) phase: Phase,
    pub(super) is_ready: bool,
    pub(super) is_deleted: bool,
    /// True if it has not been counted.
    pub(super) is_tracked: bool,
    /// Its completion index.
    pub(super) index: Option<i64>,
    /// The number of failures of its index before it.
    pub(super) index_failures: i64,
    /// The pod, if it has ended or its restarts count.
    pub(super) object: Value,
}

/// The counts of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) active: i64,
    pub(super) ready: i64,
    pub(super) terminating: i64,
    /// All that have succeeded, also those that are gone; of an indexed job the number of indexes.
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// The restarts of containers in running pods.
    pub(super) restarts: i64,
    pub(super) completed_indexes: Indexes,
    pub(super) failed_indexes: Indexes,
    /// The indexes for which a pod runs, or is still stopping where that counts.
    pub(super) busy_indexes: Indexes,
    /// The number of failures of each index.
    pub(super) index_failures: BTreeMap<i64, i64>,
    /// The message of the rule that has failed the job.
    pub(super) fatal: Option<String>,
    /// The number of failures that were counted now.
    pub(super) new_failures: i64,
    /// The indexes of pods that have failed since the last look, whatever the policy for failures says, each with the number of
    /// its failures so far.
    pub(super) new_index_failures: BTreeMap<i64, i64>,
    pub(super) has_new_success: bool,
}

// === impl Member ===

impl Member {
    pub(super) fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_deleted
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Returns whether it has failed, for a job that waits until its pods have ended or not.
    fn has_failed(&self, waits: bool) -> bool {
        self.phase == Phase::Failed || (self.is_deleted && self.phase != Phase::Succeeded && !waits)
    }

    /// Returns whether it is to be counted now.
    pub(super) fn counts(&self, waits: bool) -> bool {
        self.is_tracked && (self.phase == Phase::Succeeded || self.has_failed(waits))
    }

    fn restarts(&self) -> i64 {
        let fields = ["initContainerStatuses", "containerStatuses"];
        let all = fields.iter().flat_map(|field| {
            self.object["status"][*field]
                .as_array()
                .into_iter()
                .flatten()
        });
        all.map(|status| number(&status["restartCount"], 0)).sum()
    }
}

/// Returns whether the place of a pod is free only when it has ended.
pub(super) fn waits_for_ends(spec: &Value) -> bool {
    match text(&spec["podReplacementPolicy"]) {
        "" => !spec["podFailurePolicy"].is_null(),
        policy => policy == "Failed",
    }
}

// === impl Tally ===

impl Tally {
    /// Counts the pods of a job, on top of what its status says of those that were counted before.
    pub(super) fn of(job: &Value, members: &[Member]) -> Self {
        let (spec, status) = (&job["spec"], &job["status"]);
        let end = number(&spec["completions"], 0);
        let is_indexed = spec["completionMode"] == "Indexed";
        let waits = waits_for_ends(spec);
        let mut tally = Self {
            succeeded: number(&status["succeeded"], 0),
            failed: number(&status["failed"], 0),
            completed_indexes: Indexes::parse(text(&status["completedIndexes"]), end),
            failed_indexes: Indexes::parse(text(&status["failedIndexes"]), end),
            ..Self::default()
        };
        for member in members {
            tally.count(member, waits);
            if member.counts(waits) {
                tally.count_end(spec, member);
            }
        }
        if is_indexed {
            tally.succeeded = tally.completed_indexes.count();
        }
        tally
    }

    fn count(&mut self, member: &Member, waits: bool) {
        if member.is_active() {
            self.active += 1;
            self.ready += i64::from(member.is_ready);
            self.restarts += member.restarts();
        } else if !member.is_finished() {
            self.terminating += 1;
        }
        if let Some(index) = member.index {
            if member.is_active() || (waits && !member.is_finished()) {
                self.busy_indexes.insert(index);
            }
            let own = member.index_failures + i64::from(member.has_failed(waits));
            let failures = self.index_failures.entry(index).or_default();
            // The highest: of several pods of an index the latest knows of the failures of the others.
            *failures = (*failures).max(own);
        }
    }

    /// Counts a pod that has ended, by the policy for failures.
    fn count_end(&mut self, spec: &Value, member: &Member) {
        if member.phase == Phase::Succeeded {
            self.has_new_success = true;
            match member.index {
                Some(index) => self.completed_indexes.insert(index),
                None => self.succeeded += 1,
            }
            return;
        }
        if let Some(index) = member.index {
            // Before the policy is asked: an ignored failure delays the next pod of its index as well.
            let failures = self.new_index_failures.entry(index).or_default();
            *failures = (*failures).max(member.index_failures + 1);
        }
        let effect = failure(&spec["podFailurePolicy"], &member.object);
        if effect == Failure::Ignored {
            return;
        }
        self.failed += 1;
        self.new_failures += 1;
        if let Failure::FailsJob(message) = &effect {
            self.fatal.get_or_insert_with(|| message.clone());
        }
        let Some(index) = member.index else { return };
        let limit = spec["backoffLimitPerIndex"].as_i64();
        if limit.is_some_and(|limit| member.index_failures >= limit)
            || effect == Failure::FailsIndex
        {
            self.failed_indexes.insert(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn member(phase: Phase, is_tracked: bool) -> Member {
        Member {
            phase,
            is_tracked,
            ..Member::default()
        }
    }

    #[test]
    fn ended_pods_are_counted_once() {
        let job = json!({"spec": {}, "status": {"succeeded": 2, "failed": 1}});
        let going = Member {
            is_deleted: true,
            ..member(Phase::Running, true)
        };
        let members = [
            member(Phase::Running, true),
            member(Phase::Succeeded, true),
            member(Phase::Succeeded, false),
            member(Phase::Failed, true),
            going,
        ];
        let tally = Tally::of(&job, &members);
        let counts = [
            tally.active,
            tally.terminating,
            tally.succeeded,
            tally.failed,
        ];
        assert_eq!(counts, [1, 1, 3, 3]);
        let waits = json!({"spec": {"podReplacementPolicy": "Failed"}, "status": {"failed": 1}});
        assert_eq!(Tally::of(&waits, &members).failed, 2);
    }

    #[test]
    fn an_index_fails_when_it_has_failed_too_often() {
        let job = json!({
            "spec": {"completionMode": "Indexed", "completions": 4, "backoffLimitPerIndex": 1},
            "status": {"completedIndexes": "0", "failedIndexes": ""},
        });
        let of_index = |index: i64, phase: Phase, failures: i64| Member {
            index: Some(index),
            index_failures: failures,
            ..member(phase, true)
        };
        let members = [
            of_index(1, Phase::Failed, 1),
            of_index(2, Phase::Failed, 0),
            of_index(3, Phase::Running, 0),
        ];
        let tally = Tally::of(&job, &members);
        assert_eq!(tally.succeeded, 1);
        assert_eq!(tally.failed_indexes.to_string(), "1");
        assert_eq!(tally.busy_indexes.to_string(), "3");
        assert_eq!(
            tally.index_failures,
            BTreeMap::from([(1, 2), (2, 1), (3, 0)])
        );
        assert_eq!(tally.new_index_failures, BTreeMap::from([(1, 2), (2, 1)]));
    }
}
