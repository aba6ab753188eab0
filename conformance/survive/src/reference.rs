//! The subject's work without perturbation: two runs, and what they have in common.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    acceptance::{AcceptanceList, AcceptedFinding},
    end_state::{Difference, EndState, Mask},
    execute::Outcome,
    finding::{Finding, Promise},
    history::Counts,
    kinds::ObjectRef,
    plan::Plan,
    trace::{Event, RunTrace, Write, WritePoint},
    user_mask::UserMask,
};

/// The subject's work without perturbation.
#[derive(Debug)]
pub struct Reference {
    /// The writes that both runs have, in the order of the first one.
    pub writes: Vec<ReferenceWrite>,
    /// The state in the end.
    pub end: EndState,
    /// The fields that are different in the two runs.
    pub mask: Mask,
    /// The fields that may differ as the user says.
    pub(super) given: UserMask,
    /// The larger numbers of creations and deletions of each resource.
    pub counts: BTreeMap<String, Counts>,
    /// The resources that the subject watches.
    pub watched: Vec<String>,
    /// The resources that it lists from the server's cache.
    pub listed_from_cache: Vec<String>,
    /// True if the subject writes leases.
    pub has_leases: bool,
    /// The promises that it breaks without perturbation.
    pub findings: Vec<Finding>,
    /// Those that are accepted.
    pub left_out: Vec<AcceptedFinding>,
    /// The findings and differences that are accepted.
    pub accepted: AcceptanceList,
    /// The record of the first run.
    pub trace: RunTrace,
    /// The duration of the steps.
    pub took: std::time::Duration,
    /// The number of processors that one run keeps busy.
    pub busy: f64,
}

/// A write that changed something.
#[derive(Clone, Debug)]
pub struct ReferenceWrite {
    /// Its identity.
    pub point: WritePoint,
    /// The object, if it has a name of its own.
    pub object: Option<ObjectRef>,
    /// The place of the step during which it came, from 0.
    pub step: usize,
}

// === impl Reference ===

impl Reference {
    /// Joins two runs and the promises that they broke.
    pub fn of(runs: [&Outcome; 2], mut findings: Vec<Finding>) -> Self {
        let [first, second] = runs;
        // A plan can name only a write that comes each time.
        let again: BTreeSet<&WritePoint> = points(second).map(|write| &write.point).collect();
        let ends = runs.map(|run| EndState::of(&run.history, None));
        let differences = ends[0].differences(&ends[1], &Mask::default());
        findings.extend(
            differences
                .iter()
                .filter(|it| it.path.is_empty())
                .map(|it| {
                    let text = format!(
                        "{} differs in number between two runs without perturbation",
                        it.object
                    );
                    Finding::new(Promise::EndState, text)
                }),
        );
        let mask = Mask::learn(&differences);
        let [end, _] = ends;
        let mut counts = first.history.counts();
        for (resource, more) in second.history.counts() {
            let counts = counts.entry(resource).or_default();
            // The larger ones, so that a plan is not blamed for what one run did without it.
            counts.created = counts.created.max(more.created);
            counts.deleted = counts.deleted.max(more.deleted);
        }
        findings.sort();
        findings.dedup_by(|a, b| a.promise == b.promise && a.text == b.text);
        let writes = points(first)
            .filter(|write| again.contains(&write.point))
            .map(|write| ReferenceWrite {
                point: write.point.clone(),
                object: object_of(first, write),
                step: step_of(first, write),
            })
            .collect();
        Self {
            writes,
            end,
            mask,
            given: UserMask::default(),
            counts,
            watched: first.trace.watched.clone(),
            listed_from_cache: first.trace.listed_from_cache.clone(),
            has_leases: first.identities.iter().any(|of| !of.is_empty()),
            findings,
            left_out: Vec::new(),
            accepted: AcceptanceList::default(),
            trace: first.trace.clone(),
            took: first.took,
            busy: 0.0,
        }
    }

    /// Leaves out what is accepted, here and under plans.
    pub(super) fn accept(&mut self, accepted: &AcceptanceList) {
        let given = UserMask::of(&accepted.mask);
        // What the file names, too, is the file's.
        self.mask.0.retain(|(object, path)| {
            !given.hides(&Difference {
                object: object.clone(),
                path: path.clone(),
                text: String::new(),
            })
        });
        self.given = given;
        self.left_out = accepted.take(&Plan::default(), &mut self.findings);
        self.accepted = accepted.clone();
    }

    /// Returns how a state differs from another one that it should equal, but for what is masked.
    pub(super) fn differences(&self, expected: &EndState, found: &EndState) -> Vec<Difference> {
        let mut differences = expected.differences(found, &self.mask);
        differences.retain(|difference| !self.given.hides(difference));
        differences
    }

    /// Returns whether the subject writes the resource of an object, whose name begins with it.
    pub(super) fn writes_resource_of(&self, object: &str) -> bool {
        let resource = object.split(' ').next().unwrap_or_default();
        let mut writes = self.writes.iter();
        writes.any(|write| write.point.key.resource == resource)
    }
}

/// Returns the writes before the restart at the end that changed something.
fn points(run: &Outcome) -> impl Iterator<Item = &Write> {
    let restarted = run.trace.restarted_at.unwrap_or(std::time::Duration::MAX);
    let writes = run.trace.writes.iter();
    writes.filter(move |write| write.is_point() && write.at < restarted)
}

/// Returns the place of the last step that had begun when a write came.
fn step_of(run: &Outcome, write: &Write) -> usize {
    let before = run.trace.events.iter().filter(|(at, _)| *at <= write.at);
    let steps = before.filter_map(|(_, event)| match event {
        Event::Step { place, .. } => Some(*place),
        _ => None,
    });
    steps.max().unwrap_or_default()
}

/// Returns the object that a write is about.
fn object_of(run: &Outcome, write: &Write) -> Option<ObjectRef> {
    let key = &write.point.key;
    let changes = run.history.changes.iter();
    let mut same = changes.filter_map(|it| {
        let object = it.change.after().or(it.change.before())?;
        let is_same = it.kind.full_name() == key.resource
            && object.name() == key.name
            && object.namespace().unwrap_or_default() == key.namespace;
        is_same.then(|| ObjectRef {
            api_version: it.kind.api_version(),
            kind: it.kind.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
        })
    });
    same.next()
}
