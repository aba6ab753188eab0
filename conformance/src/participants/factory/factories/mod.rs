//! A factory shares its informers, runs them together, and takes them from one generation to the next.
//!
//! - Requests that agree in list and transform have one informer, and others another one: the factory counts them so, none has
//!   two requests open, and objects have the transform of their view.
//! - A start leaves the informers alone that run, unless the machine wakes in that moment: silent watches are given up then. Between a shutdown and the next start there is no request, no task and no
//!   notification.
//! - A handler is notified legally through all generations: of what it does not know, and of nothing twice. When a shutdown has
//!   ended, it knows what the cache holds. Handlers of a former factory, of a released informer and those that have left hear
//!   nothing more.
//! - A wait for the sync of all informers ends when each has answered since the start, and not before.
//! - At the end each cache holds what the server has, and each handler has synced and knows it.

mod handlers;
mod requests;
mod waits;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use self::{handlers::Handlers, requests::Requests, waits::Waits};
use super::FactoryEvent;
use crate::{
    checkers::{Finding, clock_leaps::ClockLeaps},
    trace::{Member, Observation, Phase, Trace},
};

/// An informer by its list, and by the view whose transform it has.
type Informer = (Arc<str>, Option<usize>);

/// The state of a factory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Run {
    /// It was never started.
    #[default]
    New,
    Running,
    Stopping,
    Stopped,
}

/// The last reading of a cache.
struct CacheReading {
    has_synced: bool,
    synced_handlers: Vec<usize>,
    members: Vec<Member>,
}

#[derive(Default)]
struct Factory {
    run: Run,
    /// The informers that it keeps, with the views that have a handle.
    kept: BTreeMap<Informer, BTreeSet<usize>>,
    /// The informer of each view that has a handle.
    views: BTreeMap<usize, Informer>,
    handlers: Handlers,
    requests: Requests,
    waits: Waits,
    readings: BTreeMap<usize, CacheReading>,
}

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut factory = Factory::default();
    let mut findings = Vec::new();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        leaps.observe(at, observation);
        let texts = match observation {
            Observation::Phase(Phase::Shutdown) => factory.waits.unended(factory.run),
            _ => observation.event().map_or_else(Vec::new, |event| {
                factory.observe(event, leaps.is_waking(at))
            }),
        };
        findings.extend(texts.into_iter().map(|text| Finding::at(number, text)));
    }
    findings
}

// === impl Factory ===

impl Factory {
    /// Takes an observation, and describes the violations that it shows.
    fn observe(&mut self, event: &FactoryEvent, is_waking: bool) -> Vec<String> {
        let mut texts = self
            .requests
            .observe(event, self.run, &self.kept, is_waking);
        texts.extend(self.waits.observe(event, self.run, &self.kept));
        match event {
            FactoryEvent::Told {
                handler,
                key,
                change,
            } => texts.extend(self.handlers.hear(*handler, key, change, self.run)),
            FactoryEvent::Differs { text } => texts.push(text.clone()),
            FactoryEvent::Cached {
                view,
                has_synced,
                synced_handlers,
                members,
            } => {
                let reading = CacheReading {
                    has_synced: *has_synced,
                    synced_handlers: synced_handlers.clone(),
                    members: members.clone(),
                };
                texts.extend(self.read(*view, reading));
            }
            FactoryEvent::Wanted { view, members } => texts.extend(self.compare(*view, members)),
            _ => texts.extend(self.live(event)),
        }
        texts
    }

    /// Takes an observation of the factory's life.
    fn live(&mut self, event: &FactoryEvent) -> Option<String> {
        match event {
            FactoryEvent::Made => {
                self.run = Run::New;
                self.kept.clear();
                self.views.clear();
                self.readings.clear();
                self.handlers.end_all();
            }
            FactoryEvent::Requested {
                view,
                list,
                transforms,
                informer_count,
            } => {
                let informer = (Arc::clone(list), transforms.then_some(*view));
                self.kept.entry(informer.clone()).or_default().insert(*view);
                self.views.insert(*view, informer);
                return self.miscounted(*informer_count);
            }
            FactoryEvent::Joins { view, handler } => {
                if let Some(informer) = self.views.get(view) {
                    self.handlers.join(*handler, informer.clone(), self.run);
                }
            }
            FactoryEvent::Leaves { handler } => self.handlers.leave(*handler),
            FactoryEvent::Releases { view } => {
                if let Some(informer) = self.views.remove(view)
                    && let Some(holders) = self.kept.get_mut(&informer)
                {
                    holders.remove(view);
                }
                self.readings.remove(view);
            }
            FactoryEvent::Released {
                count,
                informer_count,
            } => return self.release(*count, *informer_count),
            FactoryEvent::Starts => {
                self.run = Run::Running;
                self.handlers.start();
            }
            FactoryEvent::Stops => self.run = Run::Stopping,
            FactoryEvent::Stopped { task_count } => {
                self.run = Run::Stopped;
                return (*task_count > 0).then(|| event.to_string());
            }
            _ => {}
        }
        None
    }

    fn release(&mut self, count: usize, informer_count: usize) -> Option<String> {
        let unused = self.kept.extract_if(.., |_, holders| holders.is_empty());
        let unused: Vec<Informer> = unused.map(|(informer, _)| informer).collect();
        for informer in &unused {
            self.handlers.end(informer);
        }
        if count != unused.len() {
            let want = unused.len();
            return Some(format!("{count} informers are released, {want} are unused"));
        }
        self.miscounted(informer_count)
    }

    fn miscounted(&self, informer_count: usize) -> Option<String> {
        let want = self.kept.len();
        (informer_count != want)
            .then(|| format!("the factory keeps {informer_count} informers, {want} are requested"))
    }

    fn read(&mut self, view: usize, reading: CacheReading) -> Vec<String> {
        let mut texts = Vec::new();
        for handler in &reading.synced_handlers {
            if !reading.has_synced || self.handlers.is_waiting(*handler) {
                texts.push(format!("handler {handler} of view {view} has synced early"));
            }
        }
        if self.run == Run::Stopped
            && let Some(informer) = self.views.get(&view)
        {
            texts.extend(self.handlers.compare(informer, &reading.members));
        }
        self.readings.insert(view, reading);
        texts
    }

    /// Compares the last reading of a view with the server's objects, and with what its handlers know.
    fn compare(&self, view: usize, wanted: &[Member]) -> Vec<String> {
        let (Some(reading), Some(informer)) = (self.readings.get(&view), self.views.get(&view))
        else {
            return Vec::new();
        };
        let mut texts = self.handlers.compare(informer, &reading.members);
        if !reading.has_synced {
            texts.push(format!("view {view} never synced"));
        }
        if reading.members != wanted {
            let got = &reading.members;
            texts.push(format!("view {view} holds {got:?}, the server {wanted:?}"));
        }
        texts
    }
}
