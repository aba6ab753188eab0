//! Injects the faults of a plan into a server or a proxy.

use std::collections::BTreeMap;

use fakeserver::{
    FakeServer,
    faults::{
        Action, Fault, FaultSpec, Faults, Filter, RequestFacts, RequestVerdict, Rule, RuleGuard,
        Trigger,
    },
};

use crate::{
    plan::{PlannedFault, in_words},
    proxy::Proxy,
    seed::Seed,
    trace::{Observation, Recorder},
};

/// Begins and ends the faults of a plan on one server, or on a proxy in front of one.
#[derive(Debug)]
pub struct FaultInjector {
    place: InjectionPoint,
    recorder: Recorder,
    recording: Recording,
    /// The seed of random choices of faults.
    seed: u64,
    /// The client names of the informers, in the order of the plan; then those of clients that faults of all hit, too.
    clients: Vec<String>,
    guards: BTreeMap<usize, Vec<RuleGuard>>,
    /// The number of actions behind the API, by the name of the fault. The server counts rules itself.
    done: BTreeMap<&'static str, u64>,
}

/// The clients of an injector in words, and the observations of its faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording {
    pub(crate) one: &'static str,
    pub(crate) all: &'static str,
    /// Returns the beginning of the fault at a place, with its parameters in words.
    pub(crate) begins: fn(usize, &PlannedFault, String) -> Observation,
    /// Returns the end of the fault at a place.
    pub(crate) ends: fn(usize) -> Observation,
}

const OF_INFORMERS: Recording = Recording {
    one: "informer",
    all: "all informers",
    begins: |fault, planned, text| Observation::FaultBegins {
        fault,
        name: planned.kind.name().to_owned(),
        informer: planned.informer,
        text,
    },
    ends: |fault| Observation::FaultEnds { fault },
};

/// The place at which faults are injected.
#[derive(Debug)]
enum InjectionPoint {
    Server(FakeServer),
    Proxy(Proxy),
}

/// Returns the action behind the API that is all of a fault, which then happens at one moment.
pub(crate) fn action(fault: Fault) -> Option<Action> {
    match fault.rule().on_request(&RequestFacts::default()) {
        RequestVerdict::Perform(action) => Some(action),
        _ => None,
    }
}

// === impl FaultInjector ===

impl FaultInjector {
    /// Returns an injector into a server, in a run of this seed.
    pub fn new(server: &FakeServer, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self::at(
            InjectionPoint::Server(server.clone()),
            seed,
            clients,
            recorder,
        )
    }

    /// Returns an injector into a proxy, for faults that need no server of our own.
    pub fn of_proxy(proxy: &Proxy, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self::at(
            InjectionPoint::Proxy(proxy.clone()),
            seed,
            clients,
            recorder,
        )
    }

    fn at(place: InjectionPoint, seed: Seed, clients: Vec<String>, recorder: Recorder) -> Self {
        Self {
            place,
            recorder,
            recording: OF_INFORMERS,
            seed: seed.get(),
            clients,
            guards: BTreeMap::new(),
            done: BTreeMap::new(),
        }
    }

    /// Records the faults as those of other clients than informers.
    #[must_use]
    pub(crate) fn recording(mut self, recording: Recording) -> Self {
        self.recording = recording;
        self
    }

    /// Continues with a server that shares the rules of the previous one.
    pub fn go_on_with(&mut self, server: &FakeServer) {
        self.place = InjectionPoint::Server(server.clone());
    }

    /// Begins the fault at `place` in its plan.
    pub fn begin(&mut self, place: usize, planned: &PlannedFault) {
        self.record_beginning(place, planned);
        match (&self.place, action(planned.kind)) {
            (InjectionPoint::Server(server), Some(Action::Compact)) => server.compact(),
            (InjectionPoint::Server(server), Some(Action::Expire)) => server.expire(),
            (InjectionPoint::Server(server), Some(Action::Disconnect)) => server.disconnect(),
            (InjectionPoint::Proxy(proxy), Some(Action::Disconnect)) => proxy.disconnect(),
            (InjectionPoint::Server(server), Some(Action::RollBack { revisions })) => {
                server.roll_back(revisions);
            }
            _ => {
                let clients = self.clients_of(planned);
                let guards = clients.map(|client| self.install(planned, client));
                let guards = guards.collect();
                self.guards.insert(place, guards);
                return;
            }
        }
        // An action has happened by now: it has no rule that counts, and ends in its moment.
        *self.done.entry(planned.kind.name()).or_default() += 1;
        self.record_end(place);
    }

    /// Ends a fault, unless it has ended.
    pub fn end(&mut self, place: usize) {
        if self.guards.remove(&place).is_some() {
            self.record_end(place);
        }
    }

    /// Ends all faults.
    pub fn end_all(&mut self) {
        let places: Vec<usize> = self.guards.keys().copied().collect();
        for place in places {
            self.end(place);
        }
    }

    /// Records the number of firings of each fault.
    pub fn record_fired(&self) {
        let fired = self.place.faults().fired();
        for (rule, count) in fired.iter().chain(&self.done) {
            self.recorder.record(Observation::Fired {
                rule: (*rule).to_owned(),
                count: *count,
            });
        }
    }

    fn record_beginning(&self, place: usize, planned: &PlannedFault) {
        let Recording {
            one, all, begins, ..
        } = self.recording;
        let target = match planned.informer {
            Some(client) => format!("{one} {client}"),
            None => all.to_owned(),
        };
        let text = format!("{} for {target}", in_words(&planned.kind));
        self.recorder.record(begins(place, planned, text));
    }

    fn record_end(&self, place: usize) {
        self.recorder.record((self.recording.ends)(place));
    }

    fn clients_of(&self, planned: &PlannedFault) -> impl Iterator<Item = &str> {
        let informer = planned.informer;
        self.clients
            .iter()
            .enumerate()
            .filter(move |(place, _)| informer.is_none_or(|informer| informer == *place))
            .map(|(_, client)| client.as_str())
    }

    fn install(&self, planned: &PlannedFault, client: &str) -> RuleGuard {
        let mut trigger = Trigger::always().nth(planned.skip + 1);
        trigger.times = planned.times;
        // The place in the plan changes when another fault is removed; the time does not.
        let seed = self.seed.wrapping_add(planned.at_ms);
        let spec = FaultSpec::new(planned.kind)
            .matching(Filter::any().client(client))
            .when(trigger.with_seed(seed));
        self.place.faults().install_spec(&spec)
    }
}

// === impl InjectionPoint ===

impl InjectionPoint {
    fn faults(&self) -> Faults {
        match self {
            Self::Server(server) => server.faults(),
            Self::Proxy(proxy) => proxy.faults().clone(),
        }
    }
}
