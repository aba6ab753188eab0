//! A controller reconciles each object after its last change, one reconcile of it at a time, and sees that state or a newer one.
//!
//! No more reconciles run at once than there are workers, and none after the controller has stopped.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::event::{ControllerEvent, QueueEvent};
use crate::{
    checkers::{Finding, clock_leaps::ClockLeaps},
    trace::{Key, Member, Observation, State, Trace},
};

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut controllers: BTreeMap<(usize, usize), Controller> = BTreeMap::new();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            for own in controllers.values_mut() {
                own.wake(at);
            }
        }
        if let Some(own) = observation.event::<ControllerEvent>() {
            let place = (own.informer, own.controller);
            let text = controllers.entry(place).or_default().take(at, &own.event);
            findings.extend(text.map(|text| Finding::at(number, format!("{own}: {text}"))));
        }
        if let Observation::Cached {
            informer, members, ..
        } = observation
        {
            for ((of, controller), own) in &mut controllers {
                if of == informer
                    && let Some(text) = own.compare(at, members, trace.lateness())
                {
                    let text = format!("controller {of}.{controller} {text}");
                    findings.push(Finding::at(number, text));
                }
            }
        }
    }
    findings
}

/// The reconciles of one controller.
#[derive(Default)]
struct Controller {
    worker_count: usize,
    is_stopping: bool,
    has_stopped: bool,
    running: BTreeSet<Key>,
    items: BTreeMap<Key, Item>,
}

/// An object that a controller was notified of or has reconciled.
#[derive(Default)]
struct Item {
    /// The state in the last notification; `None` after a deletion.
    notified: Option<State>,
    /// The time of a notification after which no reconcile has begun yet.
    wanted_since: Option<Duration>,
    /// The state in the cache at the beginning of the last reconcile.
    cached: Option<State>,
    /// The time since when the cache has shown another state than that, without a reconcile.
    differs_since: Option<Duration>,
}

// === impl Controller ===

impl Controller {
    /// Takes an event, and describes the violation that it shows.
    fn take(&mut self, at: Duration, event: &QueueEvent) -> Option<String> {
        match event {
            QueueEvent::Starts(plan) => self.worker_count = plan.worker_count.get(),
            QueueEvent::Heard { key, state, .. } => {
                let item = self.items.entry(key.clone()).or_default();
                item.notified.clone_from(state);
                item.wanted_since.get_or_insert(at);
            }
            QueueEvent::Begins { key, cached } => return self.begin(key, cached.as_ref()),
            QueueEvent::Ends { key, .. } => {
                self.running.remove(key);
            }
            QueueEvent::Stops(_) => self.is_stopping = true,
            QueueEvent::Stopped => {
                self.has_stopped = true;
                let running = self.running.first();
                return running.map(|key| format!("{key} is still reconciled"));
            }
            QueueEvent::Operated { .. }
            | QueueEvent::Stands(_)
            | QueueEvent::Releases
            | QueueEvent::Drained { .. } => {}
        }
        None
    }

    /// Puts off what there was no time for, since the machine fell asleep.
    fn wake(&mut self, at: Duration) {
        for item in self.items.values_mut() {
            item.wanted_since = item.wanted_since.map(|_| at);
            item.differs_since = item.differs_since.map(|_| at);
        }
    }

    fn begin(&mut self, key: &Key, cached: Option<&State>) -> Option<String> {
        let item = self.items.entry(key.clone()).or_default();
        item.wanted_since = None;
        item.differs_since = None;
        item.cached = cached.cloned();
        if self.has_stopped {
            return Some("it has stopped".to_owned());
        }
        if !self.running.insert(key.clone()) {
            return Some("it is being reconciled already".to_owned());
        }
        if self.running.len() > self.worker_count {
            let text = format!("there are only {} workers", self.worker_count);
            return Some(text);
        }
        match (&item.notified, cached) {
            (Some(notified), Some(cached)) if cached.revision < notified.revision => {
                Some(format!("it was notified of {notified} before"))
            }
            _ => None,
        }
    }

    /// Compares the states of the last reconciles with a cache, and describes a difference that nothing explains.
    fn compare(&mut self, at: Duration, members: &[Member], lateness: Duration) -> Option<String> {
        // All workers may be busy with other objects.
        if self.is_stopping || self.running.len() >= self.worker_count {
            return None;
        }
        let mut cached: BTreeMap<&Key, &State> = BTreeMap::new();
        for Member { key, state } in members {
            cached.insert(key, state);
            self.items.entry(key.clone()).or_default();
        }
        let running = &self.running;
        let mut text = None;
        for (key, item) in &mut self.items {
            let state = cached.get(key).copied();
            if item.cached.as_ref() == state || running.contains(key) {
                item.differs_since = None;
                continue;
            }
            // No time passes between a notification and the next reconcile while a worker waits.
            let since = item.wanted_since.or(item.differs_since).unwrap_or(at);
            item.differs_since.get_or_insert(at);
            if since + lateness < at {
                text.get_or_insert_with(|| {
                    format!("has not reconciled {key}, although a worker waits")
                });
            }
        }
        text
    }
}
