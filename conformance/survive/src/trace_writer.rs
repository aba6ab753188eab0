//! Writes the trace file of a run during the run.

use std::{collections::BTreeMap, fs::File, io, path::Path, time::Duration};

use fakeserver::FakeServer;
use serde_json::Value;
use tracefile::{EventKind, FollowedResource, Header, ObjectName, Role, Standstill, Truth, Writer};

use super::{
    client_view::{ClientView, Query},
    kinds::{ObjectKey, ServedKinds},
    trace::{Event, Write, WriteOutcome},
};

/// Writes the trace file of a run.
#[derive(Debug)]
pub(super) struct TraceWriter {
    writer: Writer<File>,
    truth: Truth,
    server: usize,
    user: usize,
    plan: usize,
    replicas: Vec<Replica>,
    request_count: usize,
    /// The request of each write.
    writes: BTreeMap<usize, usize>,
    fault_count: usize,
}

/// The part of one replica.
#[derive(Debug)]
struct Replica {
    actor: usize,
    view: ClientView,
    /// The event with which it was shown each object last.
    reads: BTreeMap<ObjectKey, usize>,
    queries: BTreeMap<usize, Query>,
}

// === impl TraceWriter ===

impl TraceWriter {
    /// Begins the file of a run.
    pub(super) fn begin(
        path: &Path,
        header: &Header,
        server: &FakeServer,
        kinds: &ServedKinds,
        replica_count: usize,
    ) -> io::Result<Self> {
        let mut writer = Writer::new(File::create(path)?, header);
        let kinds = kinds.resources().iter();
        // Events are stored once, and served in two groups.
        let kinds = kinds.filter(|it| it.group != "events.k8s.io");
        let followed = kinds
            .map(|it| FollowedResource::new(&it.group, &it.version, &it.resource, &it.kind))
            .collect();
        let mut own = Self {
            server: writer.actor("server", Role::Server, None),
            user: writer.actor("user", Role::Harness, None),
            plan: writer.actor("plan", Role::Harness, None),
            truth: Truth::new(followed),
            replicas: Vec::new(),
            request_count: 0,
            writes: BTreeMap::new(),
            fault_count: 0,
            writer,
        };
        for replica in 0..replica_count {
            let name = format!("replica {replica}");
            let actor = own.writer.actor(&name, Role::Process, None);
            own.replicas.push(Replica {
                actor,
                view: ClientView::default(),
                reads: BTreeMap::new(),
                queries: BTreeMap::new(),
            });
        }
        let at = Duration::ZERO;
        let actor = own.server;
        own.truth.follow(server.clone(), at, actor, &mut own.writer);
        Ok(own)
    }

    /// Writes what the server did since the last look.
    pub(super) fn look(&mut self, at: Duration) {
        self.truth.look(at, self.server, &mut self.writer);
    }

    /// Ends the file.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.truth.release();
        self.writer.finish()
    }

    /// Writes an event, apart from writes.
    pub(super) fn event(&mut self, at: Duration, event: &Event) {
        self.look(at);
        let replica = |replica: &usize| self.replicas[*replica].actor;
        let (actor, kind) = match event {
            Event::Step { place, text } => {
                let say = format!("step {}: {text}", place + 1);
                (self.user, EventKind::note(say))
            }
            Event::StepFailed { place, reason, .. } => {
                let say = format!("step {} failed: {reason}", place + 1);
                (self.user, EventKind::note(say))
            }
            Event::Started {
                replica: number,
                incarnation,
            } => {
                let say = format!("starts, process {incarnation}");
                (replica(number), EventKind::Start { say })
            }
            Event::Ended {
                replica: number,
                how,
                is_planned,
                ..
            } => {
                let say = match is_planned {
                    true => format!("{how}, by the plan"),
                    false => how.clone(),
                };
                let actor = replica(number);
                self.replicas[*number].view = ClientView::default();
                self.replicas[*number].reads.clear();
                let how = Standstill::Crash;
                (actor, EventKind::Stop { how, say })
            }
            Event::Stopped {
                replica: number,
                time,
            } => {
                let (how, say) = (Standstill::Pause, format!("is stopped for {time:?}"));
                (replica(number), EventKind::Stop { how, say })
            }
            Event::Woken { replica: number } => {
                let say = "is woken".to_owned();
                (replica(number), EventKind::Start { say })
            }
            Event::Frozen { resource } => {
                self.fault_count += 1;
                let kind = EventKind::Fault {
                    fault: self.fault_count,
                    say: format!("{resource} stand still"),
                    hits: None,
                };
                (self.plan, kind)
            }
            Event::Thawed => {
                let fault = self.fault_count;
                (self.plan, EventKind::Heal { fault })
            }
            Event::Perturbed(text) => (self.plan, EventKind::note(text)),
            Event::Wrote(_) => return,
        };
        self.say(at, actor, kind);
    }

    /// Writes a read, and returns the number of its request.
    pub(super) fn request(&mut self, at: Duration, replica: usize, query: Query) -> usize {
        self.look(at);
        let request = self.next_request();
        let actor = self.replicas[replica].actor;
        let kind = EventKind::Request {
            request,
            verb: query.verb.to_owned(),
            say: query.to_string(),
            object: None,
        };
        self.say(at, actor, kind);
        if let Some(mirrored) = query.mirrored()
            && self.replicas[replica].view.mirrors(&mirrored)
        {
            self.say(at, actor, EventKind::Mirror(mirrored));
        }
        self.replicas[replica].queries.insert(request, query);
        request
    }

    /// Writes the answer of a read.
    pub(super) fn answer(&mut self, at: Duration, request: usize, code: u16) {
        self.look(at);
        let kind = EventKind::Answer {
            request,
            code: Some(code),
            say: String::new(),
            revision: None,
        };
        self.say(at, self.server, kind);
    }

    /// Writes the end of a watch.
    pub(super) fn end_request(&mut self, at: Duration, replica: usize, request: usize) {
        let how = tracefile::Ending::Clean;
        self.replicas[replica].queries.remove(&request);
        self.say(at, self.server, EventKind::End { request, how });
    }

    /// Writes a document that a replica read: a list or an object.
    pub(super) fn document(
        &mut self,
        at: Duration,
        replica: usize,
        request: usize,
        document: &Value,
    ) {
        self.look(at);
        let Some(query) = self.replicas[replica].queries.remove(&request) else {
            return;
        };
        let revision = revision_of(document).unwrap_or_default();
        let Some(items) = document["items"].as_array() else {
            self.frame(at, replica, request, (&query, "READ"), document);
            return;
        };
        let versions: Vec<(usize, u64)> = items
            .iter()
            .filter_map(|item| Some((self.object(&query, item)?, revision_of(item)?)))
            .collect();
        let is_whole = document["metadata"]["continue"]
            .as_str()
            .is_none_or(str::is_empty)
            && !query.is_continued;
        let list = versions
            .iter()
            .flat_map(|(object, revision)| [*object as u64, *revision])
            .collect();
        let kind = EventKind::Page {
            request,
            revision,
            more: !is_whole,
            list,
        };
        let number = self.say(at, self.server, kind);
        let own = &mut self.replicas[replica];
        for item in items {
            own.reads
                .extend(place(&query, item).map(|place| (place, number)));
        }
        if let Some(mirrored) = query.mirrored() {
            let gone = own.view.listed(&mirrored, &versions, is_whole);
            self.believe(at, replica, Some(revision), &versions, gone);
        }
    }

    /// Writes an event of a watch.
    pub(super) fn watch_event(
        &mut self,
        at: Duration,
        replica: usize,
        request: usize,
        event: &Value,
    ) {
        self.look(at);
        let Some(query) = self.replicas[replica].queries.get(&request).cloned() else {
            return;
        };
        let (kind, object) = (event["type"].as_str().unwrap_or_default(), &event["object"]);
        match kind {
            "BOOKMARK" => {
                let kind = EventKind::Bookmark {
                    request,
                    revision: revision_of(object).unwrap_or_default(),
                    say: String::new(),
                };
                self.say(at, self.server, kind);
            }
            "ERROR" => {
                let code = object["code"].as_u64().unwrap_or_default();
                let say = format!("sends on {request}: ERROR {code}");
                self.say(at, self.server, EventKind::note(say));
            }
            _ => {
                self.frame(at, replica, request, (&query, kind), object);
            }
        }
    }

    fn frame(
        &mut self,
        at: Duration,
        replica: usize,
        request: usize,
        (query, change): (&Query, &str),
        value: &Value,
    ) {
        let (Some(object), Some(revision)) = (self.object(query, value), revision_of(value)) else {
            return;
        };
        let kind = EventKind::Frame {
            request,
            change: change.to_owned(),
            object,
            revision,
        };
        let number = self.say(at, self.server, kind);
        let own = &mut self.replicas[replica];
        own.reads
            .extend(place(query, value).map(|place| (place, number)));
        let Some(mirrored) = query.mirrored() else {
            return;
        };
        if change == "DELETED" {
            let gone = own.view.deleted(&mirrored, object);
            self.believe(at, replica, None, &[], gone);
        } else {
            let update = [(object, revision)];
            own.view.listed(&mirrored, &update, false);
            self.believe(at, replica, None, &update, Vec::new());
        }
    }

    fn believe(
        &mut self,
        at: Duration,
        replica: usize,
        revision: Option<u64>,
        set: &[(usize, u64)],
        gone: Vec<usize>,
    ) {
        if set.is_empty() && gone.is_empty() && revision.is_none() {
            return;
        }
        let set = set.iter();
        let kind = EventKind::Belief {
            revision,
            set: set
                .flat_map(|(object, revision)| [*object as u64, *revision])
                .collect(),
            gone,
            synced: None,
        };
        self.say(at, self.replicas[replica].actor, kind);
    }

    /// Writes a write, with the read that it was decided on.
    pub(super) fn write(&mut self, at: Duration, number: usize, write: &Write, place: &ObjectKey) {
        self.look(at);
        let request = self.next_request();
        self.writes.insert(number, request);
        let own = &self.replicas[write.replica];
        let causes = own.reads.get(place).copied();
        let seen = write.seen.as_ref();
        let seen = seen.map(|seen| format!(" (had read version {})", seen.revision));
        let kind = EventKind::Request {
            request,
            verb: write.point.key.verb.clone(),
            say: format!("{}{}", write.point, seen.unwrap_or_default()),
            object: None,
        };
        let event = tracefile::Event::new(at, own.actor, kind).with_causes(causes);
        self.writer.event(&event);
    }

    /// Writes the answer of a write.
    pub(super) fn end_write(&mut self, at: Duration, number: usize, result: &WriteOutcome) {
        self.look(at);
        let Some(request) = self.writes.get(&number) else {
            return;
        };
        let kind = EventKind::Answer {
            request: *request,
            code: result.code,
            say: result.message.clone(),
            revision: result.revision,
        };
        self.say(at, self.server, kind);
    }

    fn next_request(&mut self) -> usize {
        self.request_count += 1;
        self.request_count - 1
    }

    fn object(&mut self, query: &Query, value: &Value) -> Option<usize> {
        let (resource, namespace, name) = place(query, value)?;
        let name = ObjectName {
            kind: query.kind.clone(),
            resource,
            namespace: (!namespace.is_empty()).then_some(namespace),
            name,
            uid: value["metadata"]["uid"].as_str()?.to_owned(),
        };
        Some(self.writer.object(name))
    }

    fn say(&mut self, at: Duration, actor: usize, kind: EventKind) -> usize {
        self.writer.event(&tracefile::Event::new(at, actor, kind))
    }
}

/// Returns the place of an object that a read shows.
fn place(query: &Query, value: &Value) -> Option<ObjectKey> {
    let metadata = &value["metadata"];
    let namespace = metadata["namespace"].as_str().unwrap_or_default();
    let name = metadata["name"].as_str()?;
    Some((
        query.resource.clone(),
        namespace.to_owned(),
        name.to_owned(),
    ))
}

fn revision_of(value: &Value) -> Option<u64> {
    value["metadata"]["resourceVersion"].as_str()?.parse().ok()
}
