//! No write is repeated in a hot loop.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::Case;
use crate::{
    finding::{Finding, Promise},
    trace::{Effect, Write, WriteKey},
};

/// More writes of one key than this in one second are a hot loop. Five waits that double from 5 ms on are over after 155 ms,
/// and ten after 5 s.
const WRITES_MAX: usize = 20;
const WINDOW: Duration = Duration::from_secs(1);

/// The changes by others, each of which may have the subject look at its objects again, and write what is there already. The
/// server's controllers make in a moment what takes seconds in a cluster.
struct ForeignChanges<'a> {
    /// The revisions of those of resources that the subject watches.
    revisions: Vec<u64>,
    /// All writes of the subject, in the order in which they came.
    writes: &'a [Write],
    began_at: u64,
}

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let others = ForeignChanges::of(case);
    let mut keys: BTreeMap<&WriteKey, Vec<&Write>> = BTreeMap::new();
    for write in &case.outcome.trace.writes {
        keys.entry(&write.point.key).or_default().push(write);
    }
    let mut findings = Vec::new();
    for (key, writes) in keys {
        // Objects whose names the server completes are many of one key.
        if key.name.ends_with('*') {
            continue;
        }
        if let Some(at) = hot(&writes, &others) {
            let text = format!("{key} more than {WRITES_MAX} times within a second");
            findings.push(Finding::new(Promise::Rate, text).at(at));
        }
    }
    findings
}

/// Returns when the first second begins that has too many writes.
fn hot(writes: &[&Write], others: &ForeignChanges<'_>) -> Option<Duration> {
    let mut rest = writes;
    while let [first, later @ ..] = rest {
        let count = rest.partition_point(|write| write.at <= first.at + WINDOW);
        if count > WRITES_MAX && counted(&rest[..count], others) > WRITES_MAX {
            return Some(first.at);
        }
        rest = later;
    }
    None
}

/// Returns the number of writes, but for those that change nothing and follow changes by others.
fn counted(window: &[&Write], others: &ForeignChanges<'_>) -> usize {
    let is_nothing = |write: &&&Write| write.effect == Effect::Nothing;
    let nothing = window.iter().filter(is_nothing).count();
    window.len() - nothing.min(others.within(window))
}

// === impl ForeignChanges ===

impl<'a> ForeignChanges<'a> {
    fn of(case: &'a Case<'_>) -> Self {
        let trace = &case.outcome.trace;
        let changing = trace
            .writes
            .iter()
            .filter(|it| it.effect == Effect::Changed);
        let own: BTreeSet<u64> = changing.filter_map(|it| it.revision).collect();
        let changes = case.outcome.history.changes.iter();
        let watched = changes.filter(|it| trace.watched.contains(&it.kind.full_name()));
        let revisions = watched.map(|it| it.change.revision());
        Self {
            revisions: revisions.filter(|it| !own.contains(it)).collect(),
            writes: &trace.writes,
            began_at: case.outcome.history.began_at,
        }
    }

    /// Returns the number of changes during some writes, and in the second before them: the subject takes one after the other.
    fn within(&self, window: &[&Write]) -> usize {
        let (Some(first), Some(last)) = (window.first(), window.last()) else {
            return 0;
        };
        let before = self
            .writes
            .partition_point(|write| write.at + WINDOW <= first.at);
        let before = self.writes[..before].last();
        let since = before.map_or(self.began_at, |write| write.server_revision);
        let count = |revision| self.revisions.partition_point(|it| *it <= revision);
        count(last.server_revision).saturating_sub(count(since))
    }
}
