//! Makes the server do wrong as the plan says: its named rules, and what can be done behind the API.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{self, Effect, Filter, NamedRule, RuleGuard},
};
use http::StatusCode;

use crate::{
    plan::{Fault, FaultKind},
    trace::{Observation, Recorder},
};

/// The faults in force on one server.
#[derive(Debug)]
pub struct Faults {
    server: FakeServer,
    recorder: Recorder,
    /// How the informers name themselves, in the order of the plan.
    clients: Vec<String>,
    guards: BTreeMap<usize, Vec<RuleGuard>>,
    /// How often something was done behind the API, by name: rules are counted by the server.
    done: BTreeMap<&'static str, u64>,
}

// === impl Faults ===

impl Faults {
    /// No faults yet.
    pub fn new(server: &FakeServer, clients: Vec<String>, recorder: Recorder) -> Self {
        Self {
            server: server.clone(),
            recorder,
            clients,
            guards: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// Begins a fault, which has this place in its plan.
    pub fn begin(&mut self, place: usize, fault: &Fault) {
        let target = match fault.informer {
            Some(informer) => format!("informer {informer}"),
            None => "all informers".to_owned(),
        };
        self.recorder.record(Observation::FaultBegins {
            fault: place,
            name: fault.kind.name().to_owned(),
            informer: fault.informer,
            text: format!("{:?} for {target}", fault.kind),
        });
        match fault.kind {
            FaultKind::Compact => self.server.compact(),
            FaultKind::Expire => self.server.expire(),
            FaultKind::Disconnect => self.server.disconnect(),
            _ => {
                let guards = self.clients_of(fault);
                let guards = guards
                    .filter_map(|client| self.install(fault, client))
                    .collect();
                self.guards.insert(place, guards);
                return;
            }
        }
        *self.done.entry(fault.kind.name()).or_default() += 1;
        self.recorder
            .record(Observation::FaultEnds { fault: place });
    }

    /// Ends a fault; harmless if it has ended.
    pub fn end(&mut self, place: usize) {
        if self.guards.remove(&place).is_some() {
            self.recorder
                .record(Observation::FaultEnds { fault: place });
        }
    }

    /// Ends all faults.
    pub fn end_all(&mut self) {
        let places: Vec<usize> = self.guards.keys().copied().collect();
        for place in places {
            self.end(place);
        }
    }

    /// Records how often each of them had an effect.
    pub fn record_fired(&self) {
        let fired = self.server.faults().fired();
        for (rule, count) in fired.iter().chain(&self.done) {
            self.recorder.record(Observation::Fired {
                rule: (*rule).to_owned(),
                count: *count,
            });
        }
    }

    fn clients_of(&self, fault: &Fault) -> impl Iterator<Item = &str> {
        let informer = fault.informer;
        self.clients
            .iter()
            .enumerate()
            .filter(move |(place, _)| informer.is_none_or(|informer| informer == *place))
            .map(|(_, client)| client.as_str())
    }

    fn install(&self, fault: &Fault, client: &str) -> Option<RuleGuard> {
        let to = Target {
            server: &self.server,
            fault,
            client,
        };
        let guard = match fault.kind {
            FaultKind::CleanEnd => to.install(faults::clean_end()),
            FaultKind::ResetMidLine => to.install(faults::reset_mid_line()),
            FaultKind::Silence => to.install(faults::silence()),
            FaultKind::ExpiredEvent => to.install(faults::expired_event()),
            FaultKind::ExpiredStatus => to.install(faults::expired_status()),
            FaultKind::Throttle(seconds) => {
                to.install(faults::throttle(Duration::from_secs(seconds)))
            }
            FaultKind::ServerError(code) => {
                let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                to.install(faults::server_error(code))
            }
            FaultKind::Latency(ms) => {
                let late = Duration::from_millis(ms);
                to.install(faults::latency(late).and_frames(late / 10))
            }
            FaultKind::Hang => to.install(faults::hang()),
            FaultKind::WatchListIgnored => to.install(faults::watch_list_ignored()),
            FaultKind::WatchListRejected => to.install(faults::watch_list_rejected()),
            FaultKind::EndBeforeInitialEventsEnd => {
                to.install(faults::end_before_initial_events_end())
            }
            FaultKind::DropEvent => to.install(faults::drop_event()),
            FaultKind::DuplicateEvent => to.install(faults::duplicate_event()),
            FaultKind::ReorderEvents => to.install(faults::reorder_events()),
            FaultKind::BookmarkAhead => to.install(faults::bookmark_ahead()),
            FaultKind::Compact | FaultKind::Expire | FaultKind::Disconnect => return None,
        };
        Some(guard)
    }
}

/// Where a rule is to be installed, with its trigger.
struct Target<'a> {
    server: &'a FakeServer,
    fault: &'a Fault,
    client: &'a str,
}

// === impl Target ===

impl Target<'_> {
    fn install<E: Effect>(&self, rule: NamedRule<E>) -> RuleGuard {
        let mut rule = rule
            .matching(Filter::any().client(self.client))
            .nth(self.fault.skip + 1);
        if let Some(times) = self.fault.times {
            rule = rule.times(times);
        }
        self.server.faults().install(rule)
    }
}
