//! Observations become events of a trace file.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use fakeserver::FakeServer;

use super::{caches::Caches, causes::Causes};
use crate::{
    checkers::{self, Violation},
    plan::{Resource, SPOILED, Selection},
    trace::{CacheView, Heard, Member, Notified, Observation, Sink},
    tracefile::{
        Broken, Event, EventKind, Followed, Header, Mirrored, ObjectName, Role, Standstill, Truth,
        Writer, Written,
    },
};

/// Writes observations as events. With a server to follow, it writes each change of an object before the first
/// observation after it; with views of caches, their contents at each observation.
pub struct Teller<W> {
    pub(super) writer: Writer<W>,
    pub(super) causes: Causes,
    pub(super) server: usize,
    workload: usize,
    /// The resource that each informer mirrors.
    pub(super) resources: BTreeMap<usize, Resource>,
    /// The informer of each request.
    pub(super) requests: BTreeMap<usize, usize>,
    caches: Caches,
    truth: Truth,
    /// The number of events before the end of each observation.
    event_counts: Vec<usize>,
    /// The event at which recovery ended.
    judged: Option<usize>,
    last: Duration,
}

// === impl Teller ===

impl<W: Write> Teller<W> {
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

    fn broken(&self, violation: &Violation) -> Broken {
        let finding = &violation.finding;
        let asker = |request: usize| self.requests.get(&request).copied();
        let shown = finding.record.and_then(|record| {
            let count = *self.event_counts.get(record)?;
            let before = record
                .checked_sub(1)
                .map_or(0, |before| self.event_counts[before]);
            // An observation without an event of its own is told by what its informer did last.
            let last = (count == before)
                .then(|| self.causes.last_of(&finding.text, count, asker))
                .flatten();
            last.or(count.checked_sub(1))
        });
        let at = shown.or(self.judged);
        Broken {
            promise: violation.checker.to_owned(),
            finding: finding.text.clone(),
            expected: checkers::invariant(violation.checker).map(ToOwned::to_owned),
            at,
            causes: self.causes.of(at, &finding.text, asker),
            is_excused: violation.is_expected(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) -> usize {
        let number = self.writer.event_count();
        self.causes.take(number, event, &self.requests);
        self.writer.event(event)
    }

    pub(super) fn say(&mut self, at: Duration, actor: usize, kind: EventKind) {
        self.event(&Event::new(at, actor, kind));
    }

    pub(super) fn informer(&mut self, informer: usize) -> usize {
        let name = format!("informer {informer}");
        let actor = self.writer.actor(&name, Role::Client, None);
        self.causes.is_informer(actor, informer);
        actor
    }

    fn handler(&mut self, informer: usize, handler: usize) -> usize {
        let of = self.informer(informer);
        let name = format!("handler {informer}.{handler}");
        let actor = self.writer.actor(&name, Role::Handler, Some(of));
        self.causes.is_informer(actor, informer);
        actor
    }

    /// Returns the number of an object that an informer sees.
    pub(super) fn object(&mut self, informer: usize, key: &str, uid: &str) -> usize {
        let resource = self.resources.get(&informer);
        let resource = resource.copied().unwrap_or(Resource::Pods);
        let name = named(resource, key, uid);
        let object = self.writer.object(name);
        self.causes.is_called(object, key);
        object
    }

    /// Returns the objects of a list, and their versions, in a row.
    pub(super) fn list(&mut self, informer: usize, members: &[Member]) -> Vec<u64> {
        let numbered = members.iter().flat_map(|member| {
            let object = self.object(informer, &member.key, &member.state.uid);
            [object as u64, member.state.revision]
        });
        numbered.collect()
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
        let list = self.list(informer, members);
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

    fn changed(&mut self, written: Vec<Written>) {
        for Written {
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

    fn tell(&mut self, at: Duration, observation: &Observation) {
        match observation {
            Observation::Phase(phase) => {
                let say = format!("{phase:?}").to_lowercase();
                let number = self.event(&Event::of_run(at, EventKind::Phase { say: say.clone() }));
                if matches!(say.as_str(), "converged" | "givenup") {
                    self.judged = Some(number);
                }
            }
            Observation::Operation {
                text,
                status,
                revision,
            } => {
                let kind = EventKind::Operation {
                    say: short(text),
                    code: *status,
                    revision: *revision,
                };
                self.say(at, self.workload, kind);
            }
            Observation::FaultBegins {
                fault,
                informer,
                text,
                ..
            } => {
                let kind = EventKind::Fault {
                    fault: *fault,
                    say: text.clone(),
                    hits: informer.map(|informer| self.informer(informer)),
                };
                self.event(&Event::of_run(at, kind));
            }
            Observation::FaultEnds { fault } => {
                self.event(&Event::of_run(at, EventKind::Heal { fault: *fault }));
            }
            Observation::Notified(notified) => self.notified(at, notified),
            Observation::Cached {
                informer,
                revision,
                has_synced,
                members,
            } => self.believe(at, *informer, *revision, Some(*has_synced), members),
            Observation::Controlled(controlled) => self.controlled(at, controlled),
            Observation::Election(event) => self.election(at, event),
            Observation::Factory(event) => self.factory(at, event),
            Observation::Undone { text } => self.run_says(at, format!("undone: {text}")),
            Observation::HotLoop { text } => self.run_says(at, format!("without end: {text}")),
            other => self.tell_of_life(at, other),
        }
    }

    fn run_says(&mut self, at: Duration, say: String) {
        self.event(&Event::of_run(at, EventKind::note(say)));
    }

    /// Tells of the lives of informers and handlers.
    fn tell_of_life(&mut self, at: Duration, observation: &Observation) {
        let start = |say: &str| EventKind::Start {
            say: say.to_owned(),
        };
        let stop = |how, say: &str| EventKind::Stop {
            how,
            say: say.to_owned(),
        };
        let (actor, kind) = match observation {
            Observation::InformerStarts {
                informer,
                selection,
            } => {
                self.resources.insert(*informer, selection.resource);
                let actor = self.informer(*informer);
                self.say(at, actor, start(""));
                (actor, EventKind::Mirror(mirrored(selection)))
            }
            Observation::InformerPauses { informer } => {
                let kind = stop(Standstill::Pause, "is paused");
                (self.informer(*informer), kind)
            }
            Observation::InformerResumes { informer } => {
                (self.informer(*informer), start("is resumed"))
            }
            Observation::InformerStopped {
                informer,
                task_count,
            } => {
                self.caches.forget(*informer);
                let say = format!("stops, {task_count} tasks left");
                (self.informer(*informer), stop(Standstill::Stop, &say))
            }
            Observation::HandlerJoins {
                informer, handler, ..
            } => (self.handler(*informer, *handler), start("joins")),
            Observation::HandlerLeaves { informer, handler } => {
                let kind = stop(Standstill::Stop, "leaves");
                (self.handler(*informer, *handler), kind)
            }
            Observation::Differs {
                informer,
                part,
                name,
                text,
            } => {
                let say = format!("{} {name} differs: {text}", part.name());
                (self.informer(*informer), EventKind::note(say))
            }
            Observation::SubjectFailed { informer, text, .. } => {
                let kind = stop(Standstill::Crash, &format!("fails: {text}"));
                (self.informer(*informer), kind)
            }
            Observation::Warned { message, fields } => {
                let log = self.writer.actor("log", Role::Harness, None);
                (log, EventKind::note(format!("{message}{fields}")))
            }
            wire => return self.on_the_wire(at, wire),
        };
        self.say(at, actor, kind);
    }

    fn notified(&mut self, at: Duration, notified: &Notified) {
        let actor = self.handler(notified.informer, notified.handler);
        let (state, how, was, initial) = match &notified.heard {
            Heard::Added { new, is_initial } => (Some(new), "added", None, *is_initial),
            Heard::Updated { old, new } if old.uid != new.uid => {
                (Some(new), "replaced", Some(old.revision), false)
            }
            Heard::Updated { old, new } => (Some(new), "updated", Some(old.revision), false),
            Heard::Deleted {
                last,
                is_tombstone: true,
            } => (last.as_ref(), "found gone", None, false),
            Heard::Deleted { last, .. } => (last.as_ref(), "deleted", None, false),
        };
        let uid = state.map(|state| state.uid.as_ref()).unwrap_or_default();
        let kind = EventKind::Notified {
            object: self.object(notified.informer, &notified.key, uid),
            revision: state.map(|state| state.revision),
            how: how.to_owned(),
            was,
            initial,
        };
        self.say(at, actor, kind);
    }
}

impl<W: Write + Send> Sink for Teller<W> {
    fn observed(&mut self, at: Duration, observation: &Observation) {
        self.look(at);
        self.tell(at, observation);
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

/// Returns the resources that runs write.
fn followed() -> Vec<Followed> {
    let core = [
        ("namespaces", "Namespace"),
        ("secrets", "Secret"),
        ("pods", "Pod"),
        ("configmaps", "ConfigMap"),
        ("nodes", "Node"),
    ];
    let core = core.map(|(resource, kind)| Followed::new("", "v1", resource, kind));
    let leases = Followed::new("coordination.k8s.io", "v1", "leases", "Lease");
    core.into_iter().chain([leases]).collect()
}

/// Returns the name of an object of a resource, whose key is `namespace/name` or `name`.
pub(super) fn named(resource: Resource, key: &str, uid: &str) -> ObjectName {
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

/// Returns what a client mirrors: a type that refuses spoiled objects selects the others.
fn mirrored(selection: &Selection) -> Mirrored {
    let refused = selection.is_strict.then(|| format!("!{SPOILED}"));
    let parts: Vec<String> = selection
        .label_selector()
        .into_iter()
        .chain(refused)
        .collect();
    Mirrored {
        resource: selection.resource.plural().to_owned(),
        namespace: selection.namespace.clone(),
        selector: (!parts.is_empty()).then(|| parts.join(",")),
    }
}

/// Shortens the paths in an operation.
fn short(text: &str) -> String {
    text.replace("/api/v1/namespaces/", "")
        .replace("/api/v1/", "")
}
