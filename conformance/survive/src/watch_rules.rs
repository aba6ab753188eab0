//! Rules of the fake server: watches of the subject that freeze, merge changes or end.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fakeserver::faults::{
    EventType, FrameFacts, FrameVerdict, ReadBound, RequestFacts, RequestVerdict, Rule,
};

use super::kinds::full_name;

/// The user as whom the subject is served.
pub(super) const SUBJECT: &str = "survive:subject";
/// The time within which changes of an object are merged.
pub(super) const MERGE_WITHIN: Duration = Duration::from_millis(1_500);

/// The resources whose changes are withheld, and the revisions from which on. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct WithheldResources(Arc<Mutex<BTreeMap<String, u64>>>);

/// Holds what is newer on watches of frozen resources, and serves the older state where a client asks for any.
#[derive(Debug)]
pub(super) struct FreezeRule(pub(super) WithheldResources);

/// Merges changes of an object on watches of one resource.
#[derive(Debug)]
pub(super) struct MergeRule {
    pub(super) resource: String,
}

/// Ends watches of the resources that the subject is cut off.
#[derive(Debug)]
pub(super) struct CutRule(pub(super) WithheldResources);

// === impl WithheldResources ===

impl WithheldResources {
    /// Lets a resource stand still at `revision`, unless it does already.
    pub(super) fn freeze(&self, resource: &str, revision: u64) {
        self.lock().entry(resource.to_owned()).or_insert(revision);
    }

    /// Lets everything go on. Returns the resources that stood still.
    pub(super) fn thaw(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock()).into_keys().collect()
    }

    /// Returns the revision at which a resource stands still.
    pub(super) fn since(&self, resource: &str) -> Option<u64> {
        self.lock().get(resource).copied()
    }

    /// Returns whether anything stands still.
    pub(super) fn is_something(&self) -> bool {
        !self.lock().is_empty()
    }

    fn of(&self, request: &RequestFacts) -> Option<u64> {
        if request.user != SUBJECT {
            return None;
        }
        self.since(&full_name(&request.resource, &request.group))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl FreezeRule ===

impl Rule for FreezeRule {
    fn name(&self) -> &'static str {
        "survive_freeze"
    }

    fn on_request(&mut self, request: &RequestFacts) -> RequestVerdict {
        // Any other read is promised the most recent state, or one at a version.
        let takes_any = matches!(request.verb, "get" | "list") && request.resource_version == "0";
        match self.0.of(request) {
            Some(revision) if takes_any => RequestVerdict::BoundRead(ReadBound::Revision(revision)),
            _ => RequestVerdict::Pass,
        }
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if self.holds(frame) {
            FrameVerdict::Hold
        } else {
            FrameVerdict::Pass
        }
    }

    fn holds(&mut self, frame: &FrameFacts<'_>) -> bool {
        // Initial events of a watch belong to a read of the most recent state.
        !frame.is_initial
            && self
                .0
                .of(frame.watch)
                .is_some_and(|revision| frame.revision > revision)
    }
}

// === impl MergeRule ===

impl Rule for MergeRule {
    fn name(&self) -> &'static str {
        "survive_merge"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let watch = frame.watch;
        // A deletion is never merged away: a server ends a watch rather than leave one out. Nor is an addition: a client that has
        // seen a later version of another object may conclude that a missing object does not exist.
        let is_meant = watch.user == SUBJECT
            && frame.event == EventType::Modified
            && !frame.is_initial
            && full_name(&watch.resource, &watch.group) == self.resource;
        if is_meant {
            // Frames wait one after the other; each is shown so long after its change.
            let age = frame.age.unwrap_or_default();
            FrameVerdict::Coalesce(MERGE_WITHIN.saturating_sub(age))
        } else {
            FrameVerdict::Pass
        }
    }
}

// === impl CutRule ===

impl Rule for CutRule {
    fn name(&self) -> &'static str {
        "survive_cut"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        match self.0.of(frame.watch) {
            Some(_) => FrameVerdict::End,
            None => FrameVerdict::Pass,
        }
    }
}
