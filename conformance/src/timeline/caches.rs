//! The contents of caches in the last events.

use std::collections::BTreeMap;

use crate::{
    trace::{CacheView, Member},
    tracefile::EventKind,
};

/// The caches of informers.
#[derive(Default)]
pub(super) struct Caches {
    views: BTreeMap<usize, CacheView>,
    caches: BTreeMap<usize, CacheState>,
}

#[derive(Default, PartialEq)]
struct CacheState {
    revision: Option<u64>,
    has_synced: bool,
    holds: BTreeMap<u64, u64>,
}

// === impl Caches ===

impl Caches {
    pub(super) fn follow(&mut self, informer: usize, view: CacheView) {
        self.views.insert(informer, view);
    }

    /// Lets go of the view of a cache.
    pub(super) fn forget(&mut self, informer: usize) {
        self.views.remove(&informer);
    }

    /// Returns the contents of the caches that can be looked at.
    pub(super) fn views(&self) -> Vec<(usize, Option<u64>, Vec<Member>)> {
        let views = self.views.iter();
        let views = views.map(|(informer, view)| {
            let (revision, states) = view();
            let members = states.into_iter();
            let members = members.map(|(key, state)| Member { key, state });
            (*informer, revision, members.collect())
        });
        views.collect()
    }

    /// Returns the difference of a cache from its last event, if there is one. Its list is flat: an object and a
    /// version in turn.
    pub(super) fn difference(
        &mut self,
        informer: usize,
        revision: Option<u64>,
        synced: Option<bool>,
        list: &[u64],
    ) -> Option<EventKind> {
        let (pairs, _) = list.as_chunks::<2>();
        let before = self.caches.entry(informer).or_default();
        let now = CacheState {
            revision,
            has_synced: synced.unwrap_or(before.has_synced),
            holds: pairs.iter().map(|[object, at]| (*object, *at)).collect(),
        };
        if now == *before {
            return None;
        }
        let new = now.holds.iter();
        let new = new.filter(|(object, at)| before.holds.get(object) != Some(at));
        let set = new.flat_map(|(object, at)| [*object, *at]).collect();
        let gone = before.holds.keys();
        let gone = gone.filter(|object| !now.holds.contains_key(object));
        let gone = gone
            .map(|object| usize::try_from(*object).unwrap_or(usize::MAX))
            .collect();
        let synced = (now.has_synced != before.has_synced).then_some(now.has_synced);
        *before = now;
        Some(EventKind::Belief {
            revision,
            set,
            gone,
            synced,
        })
    }
}
