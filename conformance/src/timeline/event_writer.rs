//! Observations become events of a trace file.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use fakeserver::FakeServer;

use super::{caches::Caches, causes::Causes};
use crate::{
    checkers::{Checker, Violation},
    participants,
    plan::Resource,
    trace::{
        CacheView, Lane, Member, Objects, Observation, Phase, Sink, Source, numbered, started,
    },
    tracefile::{
        BrokenPromise, Event, EventKind, FollowedResource, Header, ObjectName, Role, Truth, Writer,
        WrittenChange,
    },
};

/// Writes observations as events. With a server to follow, it writes each change of an object before the first
/// observation after it; with views of caches, their contents at each observation.
pub struct EventWriter<W> {
    writer: Writer<W>,
    causes: Causes,
    server: usize,
    workload: usize,
    /// The resource that each informer mirrors.
    resources: BTreeMap<usize, Resource>,
    /// The informer of each request.
    requests: BTreeMap<usize, usize>,
    caches: Caches,
    truth: Truth,
    /// The number of events before the end of each observation.
    event_counts: Vec<usize>,
    /// The event at which recovery ended.
    judged: Option<usize>,
    last: Duration,
}

// === impl EventWriter ===

impl<W: Write> EventWriter<W> {
    /// Begins a trace file.
    pub fn new(out: W, header: &Header) -> Self {
        let mut writer = Writer::new(out, header);
        let server = writer.actor("server", Role::Server, None);
        let workload = writer.actor("workload", Role::Harness, None);
        Self {
            writer,
            causes: Causes::default(),
            server,
            workload,
            resources: BTreeMap::new(),
            requests: BTreeMap::new(),
            caches: Caches::default(),
            truth: Truth::new(followed()),
            event_counts: Vec::new(),
            judged: None,
            last: Duration::ZERO,
        }
    }

    pub(super) fn into_inner(self) -> W {
        self.writer.into_inner()
    }

    /// Writes the broken promises, the first one first, and the last line.
    pub(super) fn end(&mut self, violations: &[Violation]) -> io::Result<()> {
        let mut violations: Vec<&Violation> = violations.iter().collect();
        // Violations that a fault explains come last.
        violations.sort_by_key(|violation| {
            let record = violation.finding.record;
            (violation.is_expected(), record.is_none(), record)
        });
        for violation in violations {
            let broken = self.broken(violation);
            self.writer.broken(&broken);
        }
        self.caches = Caches::default();
        self.truth.release();
        self.writer.finish()
    }

    fn broken(&self, violation: &Violation) -> BrokenPromise {
        let finding = &violation.finding;
        let asker = |request: usize| self.requests.get(&request).copied();
        let event_of_record = finding.record.and_then(|record| {
            let count = *self.event_counts.get(record)?;
            let before = record
                .checked_sub(1)
                .map_or(0, |before| self.event_counts[before]);
            // An observation without an event of its own is shown at the last event of its informer.
            let last = (count == before)
                .then(|| self.causes.last_of(&finding.text, count, asker))
                .flatten();
            last.or(count.checked_sub(1))
        });
        let at = event_of_record.or(self.judged);
        BrokenPromise {
            promise: violation.checker.to_owned(),
            finding: finding.text.clone(),
            expected: promise(violation.checker).map(ToOwned::to_owned),
            at,
            causes: self.causes.of(at, &finding.text, asker),
            is_excused: violation.is_expected(),
        }
    }

    fn event(&mut self, event: &Event) -> usize {
        let number = self.writer.event_count();
        self.causes.take(number, event, &self.requests);
        self.writer.event(event)
    }

    fn say(&mut self, at: Duration, actor: usize, kind: EventKind) {
        self.event(&Event::new(at, actor, kind));
    }

    fn informer(&mut self, informer: usize) -> usize {
        self.belongs(&format!("informer {informer}"), Role::Client, informer)
    }

    /// Returns the number of an actor that is an informer, or a part of it.
    fn belongs(&mut self, name: &str, role: Role, informer: usize) -> usize {
        let of = (role != Role::Client).then(|| self.informer(informer));
        let actor = self.writer.actor(name, role, of);
        self.causes.is_informer(actor, informer);
        actor
    }

    /// Returns the informer that sent a request.
    fn asker(&self, request: usize) -> usize {
        self.requests.get(&request).copied().unwrap_or_default()
    }

    /// Writes what a cache shows otherwise than before.
    fn believe(
        &mut self,
        at: Duration,
        informer: usize,
        revision: Option<u64>,
        synced: Option<bool>,
        members: &[Member],
    ) {
        let list = numbered(self, Source::Informer(informer), members);
        if let Some(kind) = self.caches.difference(informer, revision, synced, &list) {
            let actor = self.informer(informer);
            self.say(at, actor, kind);
        }
    }

    /// Looks at the server and at the caches, which may have changed since the last observation.
    fn look(&mut self, now: Duration) {
        let written = self.truth.look(now, self.server, &mut self.writer);
        // A cache changes with what arrives, which is observed: it has changed with the last observation.
        let at = if written.is_empty() { self.last } else { now };
        self.changed(written);
        for (informer, revision, members) in self.caches.views() {
            self.believe(at, informer, revision, None, &members);
        }
    }

    fn changed(&mut self, written: Vec<WrittenChange>) {
        for WrittenChange {
            event,
            object,
            name,
            ..
        } in written
        {
            self.causes.is_called(object, &name.key());
            self.causes.changed(event, object);
        }
    }

    fn write_observation(&mut self, at: Duration, observation: &Observation) {
        match observation {
            Observation::InformerStarts {
                informer,
                selection,
            } => {
                self.resources.insert(*informer, selection.resource);
                let actor = self.informer(*informer);
                self.say(at, actor, started(""));
            }
            Observation::InformerStopped { informer, .. } => self.caches.forget(*informer),
            Observation::Request {
                informer, request, ..
            } => drop(self.requests.insert(*request, *informer)),
            Observation::Cached {
                informer,
                revision,
                has_synced,
                members,
            } => self.believe(at, *informer, *revision, Some(*has_synced), members),
            _ => {}
        }
        let Some((actor, kind)) = observation.in_file(self) else {
            return;
        };
        let mut event = Event::of_run(at, kind);
        event.actor = actor;
        if let Observation::Called { informer, text, .. } = observation {
            event = event.with_causes(self.causes.read_before(*informer, text));
        }
        let number = self.event(&event);
        if let Observation::Phase(Phase::Converged | Phase::GivenUp) = observation {
            self.judged = Some(number);
        }
    }
}

impl<W: Write> Objects for EventWriter<W> {
    fn actor(&mut self, lane: Lane) -> Option<usize> {
        Some(match lane {
            Lane::Run => return None,
            Lane::Server => self.server,
            Lane::Workload => self.workload,
            Lane::Log => self.writer.actor("log", Role::Harness, None),
            Lane::Informer(informer) => self.informer(informer),
            Lane::Asker(request) => self.informer(self.asker(request)),
            Lane::Handler(informer, handler) => {
                let name = format!("handler {informer}.{handler}");
                self.belongs(&name, Role::Handler, informer)
            }
            Lane::Controller(informer, controller) => {
                let of = self.informer(informer);
                let name = format!("control {informer}.{controller}");
                self.writer.actor(&name, Role::Controller, Some(of))
            }
            Lane::Of(name, role, concern) => {
                let actor = self.writer.actor(&name, role, None);
                if let Some(concern) = concern {
                    self.causes.concerns(actor, concern);
                }
                actor
            }
        })
    }

    fn object(&mut self, source: Source, key: &str, uid: &str) -> usize {
        let resource = match source {
            Source::Informer(informer) => self.resources.get(&informer).copied(),
            Source::Request(request) => self.resources.get(&self.asker(request)).copied(),
            Source::Resource(resource) => Some(resource),
        };
        let name = named(resource.unwrap_or(Resource::Pods), key, uid);
        let object = self.writer.object(name);
        self.causes.is_called(object, key);
        object
    }
}

impl<W: Write + Send> Sink for EventWriter<W> {
    fn observed(&mut self, at: Duration, observation: &Observation) {
        self.look(at);
        self.write_observation(at, observation);
        self.event_counts.push(self.writer.event_count());
        self.last = at;
    }

    fn follow_server(&mut self, at: Duration, server: FakeServer) {
        let written = self.truth.follow(server, at, self.server, &mut self.writer);
        self.changed(written);
    }

    fn follow_cache(&mut self, informer: usize, view: CacheView) {
        self.caches.follow(informer, view);
    }
}

/// Returns the promise of a checker in words.
fn promise(name: &str) -> Option<&'static str> {
    let mut checkers = participants::checkers();
    checkers
        .find(|checker| checker.name == name)
        .and_then(Checker::promise)
}

/// Returns the resources that runs write.
fn followed() -> Vec<FollowedResource> {
    let core = [
        ("namespaces", "Namespace"),
        ("secrets", "Secret"),
        ("pods", "Pod"),
        ("configmaps", "ConfigMap"),
        ("nodes", "Node"),
    ];
    let core = core.map(|(resource, kind)| FollowedResource::new("", "v1", resource, kind));
    let leases = FollowedResource::new("coordination.k8s.io", "v1", "leases", "Lease");
    core.into_iter().chain([leases]).collect()
}

/// Returns the name of an object of a resource, whose key is `namespace/name` or `name`.
fn named(resource: Resource, key: &str, uid: &str) -> ObjectName {
    let (namespace, name) = match key.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name),
        None => (None, key),
    };
    ObjectName {
        kind: resource.kind().to_owned(),
        resource: resource.plural().to_owned(),
        namespace,
        name: name.to_owned(),
        uid: uid.to_owned(),
    }
}
