//! Makes the server do wrong as the plan says: its named rules, and what can be done behind the API.

use std::collections::BTreeMap;

use fakeserver::{
    FakeServer,
    faults::{FaultSpec, Faults as Rules, Filter, RuleGuard, When},
};

use crate::{
    plan::{Fault, FaultKind},
    proxy::Proxy,
    seed::Seed,
    trace::{Observation, Recorder},
};

/// The faults in force on one server, or on a proxy in front of one.
#[derive(Debug)]
pub struct Faults {
    place: Place,
    recorder: Recorder,
    /// Where what they do at random comes from.
    seed: u64,
    /// How the informers name themselves, in the order of the plan.
    clients: Vec<String>,
    guards: BTreeMap<usize, Vec<RuleGuard>>,
    /// How often something was done behind the API, by name: rules are counted by the server.
    done: BTreeMap<&'static str, u64>,
}

/// What does wrong.
#[derive(Debug)]
enum Place {
    Server(FakeServer),
    Proxy(Proxy),
}

// === impl Faults ===

impl Faults {
    /// No faults yet, in a run of this seed.
    pub fn new(server: &FakeServer, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self::at(Place::Server(server.clone()), seed, clients, recorder)
    }

    /// The same on a proxy, where faults are made that need no server of our own.
    pub fn of_proxy(proxy: &Proxy, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self::at(Place::Proxy(proxy.clone()), seed, clients, recorder)
    }

    fn at(place: Place, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self {
            place,
            recorder,
            seed: seed.get(),
            clients,
            guards: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// Goes on with a server that shares the rules of that which they were installed on.
    pub fn go_on_with(&mut self, server: &FakeServer) {
        self.place = Place::Server(server.clone());
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
        match (&self.place, fault.kind) {
            (Place::Server(server), FaultKind::Compact) => server.compact(),
            (Place::Server(server), FaultKind::Expire) => server.expire(),
            (Place::Server(server), FaultKind::Disconnect) => server.disconnect(),
            (Place::Proxy(proxy), FaultKind::Disconnect) => proxy.disconnect(),
            (Place::Server(server), FaultKind::Rollback { revisions }) => {
                server.roll_back(revisions);
            }
            _ => {
                let guards = self.clients_of(fault);
                let guards = guards.map(|client| self.install(fault, client)).collect();
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
        let fired = self.place.faults().fired();
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

    fn install(&self, fault: &Fault, client: &str) -> RuleGuard {
        let mut when = When::always().nth(fault.skip + 1);
        when.times = fault.times;
        // Not from its place in the plan, which moves when another fault is taken away.
        let seed = self.seed.wrapping_add(fault.at_ms);
        let spec = FaultSpec::new(fault.kind)
            .matching(Filter::any().client(client))
            .when(when.with_seed(seed));
        self.place.faults().install_spec(&spec)
    }
}

// === impl Place ===

impl Place {
    fn faults(&self) -> Rules {
        match self {
            Self::Server(server) => server.faults(),
            Self::Proxy(proxy) => proxy.faults().clone(),
        }
    }
}
