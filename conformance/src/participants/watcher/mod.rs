//! Clients beside the informers that follow a watch without a list, made of [`informer::watch::RetryWatcher`]: each begins at a
//! version of the server, resumes with its last one, and begins at the present one if that has expired.

mod event;
mod run;
mod revisions;

use rand::RngExt;
use serde::{Deserialize, Serialize};

pub use self::event::WatcherEvent;
use self::run::Watcher;
use super::participant::{Draft, Host, Part, Participant, PlanSection, simplify, within};
use crate::{
    checkers::Checker,
    plan::{Operator, Profile, Resource, Selection, swarm::pick},
};

/// The most watches of a plan.
const WATCHES_MAX: usize = 4;

const OPTIONS: [fn(&mut WatchPlan); 5] = [
    |watch| watch.selection.namespace = None,
    |watch| watch.selection.operator = Operator::default(),
    |watch| watch.selection.label = None,
    |watch| watch.behind = 0,
    |watch| watch.stop_ms = None,
];

/// Clients that follow a watch without a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WatcherPlan {
    /// The watches, each of a client of its own.
    pub watches: Vec<WatchPlan>,
}

/// A watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WatchPlan {
    /// The selection.
    pub selection: Selection,
    /// The time of its start.
    pub start_ms: u64,
    /// The number of revisions before the present one after which it begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub behind: u64,
    /// The time of its stop, if it is before the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_ms: Option<u64>,
}

/// An act; numbers are places in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Start(usize),
    Stop(usize),
}

// === impl WatcherPlan ===

impl PlanSection for WatcherPlan {
    type Act = Act;

    const OPTIONS: &'static [Part<Self>] = &[Part {
        len: |watcher| watcher.watches.len() * OPTIONS.len(),
        take: |watcher, range| simplify(&mut watcher.watches, &OPTIONS, &range),
    }];
    const PARTS: &'static [Part<Self>] = &[Part {
        len: |watcher| watcher.watches.len(),
        take: |watcher, range| drop(watcher.watches.drain(range)),
    }];

    fn made_valid(mut self, _profile: Profile, safety_ms: u64) -> Option<Self> {
        self.watches.truncate(WATCHES_MAX);
        for watch in &mut self.watches {
            watch.start_ms = within(watch.start_ms, safety_ms);
            let stop_ms = watch.stop_ms.map(|stop_ms| within(stop_ms, safety_ms));
            watch.stop_ms = stop_ms.filter(|stop_ms| *stop_ms >= watch.start_ms);
            if !watch.selection.resource.is_namespaced() {
                watch.selection.namespace = None;
            }
        }
        (!self.is_void()).then_some(self)
    }

    fn is_void(&self) -> bool {
        self.watches.is_empty()
    }

    fn map_moments(&mut self, new: &mut dyn FnMut(u64) -> u64) {
        for watch in &mut self.watches {
            watch.start_ms = new(watch.start_ms);
            watch.stop_ms = watch.stop_ms.map(&mut *new);
        }
    }

    fn acts(&self) -> Vec<(u64, Act)> {
        let watches = self.watches.iter().enumerate();
        let acts = watches.flat_map(|(place, watch)| {
            let stop = watch.stop_ms.map(|stop_ms| (stop_ms, Act::Stop(place)));
            [Some((watch.start_ms, Act::Start(place))), stop]
        });
        acts.flatten().collect()
    }
}

impl Participant for WatcherPlan {
    type Run = Watcher;

    const CHECKERS: &'static [Checker] = &[Checker::of_participant(
        "revisions",
        "a watch without a list brings every change after the version at which it began, in order, or it ends",
        revisions::check,
        |seen| matches!(seen.event(), Some(WatcherEvent::Brings { .. })),
    )];

    /// Draws one or two watches in a quarter of all runs.
    fn draw(draft: &Draft<'_>) -> Option<Self> {
        let rng = &mut draft.seed.stream("watcher");
        if !rng.random_bool(0.25) {
            return None;
        }
        let watches = (0..rng.random_range(1..=2)).map(|_| {
            let (resource, _) = pick(rng, draft.objects);
            let late_ms = rng.random_range(0..draft.safety_ms / 2);
            let start_ms = pick(rng, &[0, late_ms]);
            let stop_ms = rng.random_range(start_ms..=draft.safety_ms);
            let mut watch = WatchPlan::of(resource);
            watch.selection.label = rng.random_bool(0.4).then(|| "web".to_owned());
            watch.selection.operator = pick(rng, &Operator::ALL);
            watch.behind = pick(rng, &[0, 0, 3, 40]);
            watch.start_ms = start_ms;
            watch.stop_ms = rng.random_bool(0.2).then_some(stop_ms);
            watch
        });
        let watches = watches.collect();
        Some(Self { watches })
    }

    fn clients(&self) -> Vec<String> {
        (0..self.watches.len()).map(run::client).collect()
    }

    fn enter(&self, host: &mut Host<'_>) -> Watcher {
        Watcher::new(self, host)
    }
}

// === impl WatchPlan ===

impl WatchPlan {
    /// Creates a watch of all objects of a resource, from its start to the end of the run.
    pub fn of(resource: Resource) -> Self {
        Self {
            selection: Selection::all(resource),
            start_ms: 0,
            behind: 0,
            stop_ms: None,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
