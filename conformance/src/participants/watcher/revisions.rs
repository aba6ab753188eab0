//! A watch without a list brings every change after the version at which it began, in order, or it ends.
//!
//! - Each change that it brings is the next one of its selection in the server's log, with the kind of event that it is there.
//! - Up to the version that it reaches, as it says, it has left out none. One that cannot be resumed reports that, and begins at a later version.
//! - Once nothing fails, it brings all changes within the limit of convergence.

use std::{collections::BTreeMap, ops::Bound, time::Duration};

use super::WatcherEvent;
use crate::{
    checkers::{Finding, anomalies::Anomalies},
    plan::Selection,
    trace::{Change, Member, Observation, Side, State, Trace},
};

/// A watch from its beginning to its end.
struct Watch {
    began: Duration,
    /// The version up to which it has brought everything.
    position: u64,
    /// The changes of its selection that it has to bring: kinds and objects, by revision.
    changes: BTreeMap<u64, (&'static str, Member)>,
}

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut log = BTreeMap::new();
    for observation in trace.observations() {
        if let Observation::Changed(change) = observation {
            // By revision: the log of a replaced leader is on record besides that of the last one.
            log.insert((change.resource, change.revision), change);
        }
    }
    let log: Vec<&Change> = log.into_values().collect();
    let anomalies = Anomalies::of(trace);
    let mut watches: BTreeMap<usize, Watch> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        let Some(event) = observation.event() else {
            continue;
        };
        if let WatcherEvent::Begins {
            watch,
            selection,
            revision,
        } = event
        {
            watches.insert(*watch, Watch::of(at, &log, selection, *revision));
            continue;
        }
        let watch = match event {
            WatcherEvent::Brings { watch, .. }
            | WatcherEvent::Reaches { watch, .. }
            | WatcherEvent::Settles { watch, .. } => *watch,
            _ => continue,
        };
        let Some(own) = watches.get_mut(&watch) else {
            continue;
        };
        if let Some(text) = own.observe(event) {
            // No fault hits one of these clients alone.
            let fault = anomalies.touching(usize::MAX, &(own.began..=at));
            let finding = Finding::at(number, format!("watch {watch}: {text}"));
            findings.push(finding.expected_of(fault));
        }
    }
    findings
}

// === impl Watch ===

impl Watch {
    fn of(began: Duration, log: &[&Change], selection: &Selection, revision: u64) -> Self {
        let of_resource = log
            .iter()
            .filter(|change| change.resource == selection.resource && change.revision > revision);
        let changes = of_resource.filter_map(|change| {
            let is_in = |side: &&Side| {
                selection.contains(&change.namespace, side.label.as_deref(), side.is_spoiled)
            };
            let before = change.before.as_ref().filter(is_in);
            let after = change.after.as_ref().filter(is_in);
            let kind = match (before, after) {
                (None, None) => return None,
                (None, Some(_)) => "ADDED",
                (Some(_), Some(_)) => "MODIFIED",
                (Some(_), None) => "DELETED",
            };
            let uid = after.or(before)?.uid.clone();
            let member = Member {
                key: change.key.clone(),
                state: State::new(uid, change.revision),
            };
            Some((change.revision, (kind, member)))
        });
        Self {
            began,
            position: revision,
            changes: changes.collect(),
        }
    }

    /// Takes an event, and describes the violation that it shows.
    fn observe(&mut self, event: &WatcherEvent) -> Option<String> {
        match event {
            WatcherEvent::Brings { kind, member, .. } => self.bring(kind, member),
            WatcherEvent::Reaches { revision, .. } | WatcherEvent::Settles { revision, .. } => {
                let left_out = self.left_out(*revision);
                self.position = self.position.max(*revision);
                left_out
            }
            _ => None,
        }
    }

    fn bring(&mut self, kind: &'static str, member: &Member) -> Option<String> {
        let revision = member.state.revision;
        if revision <= self.position {
            let position = self.position;
            return Some(format!("{kind} {member} comes after {position}"));
        }
        // Before the position moves on: the changes between the two were left out.
        let left_out = self.left_out(revision - 1);
        self.position = revision;
        let is_logged = self.changes.get(&revision) == Some(&(kind, member.clone()));
        left_out
            .or_else(|| (!is_logged).then(|| format!("{kind} {member} is not in the server's log")))
    }

    /// Describes the first change up to a revision that it has not brought.
    fn left_out(&self, revision: u64) -> Option<String> {
        let after = (Bound::Excluded(self.position), Bound::Unbounded);
        let (_, (kind, member)) = self.changes.range(after).next()?;
        (member.state.revision <= revision).then(|| format!("{kind} {member} was left out"))
    }
}
