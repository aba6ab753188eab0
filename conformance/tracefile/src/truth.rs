//! The objects of a server, change by change.

use std::{collections::BTreeMap, io::Write, sync::Arc, time::Duration};

use fakeserver::{FakeServer, StoredObject};

use super::{header::ObjectName, writer::Writer};

/// A resource whose changes are written.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct FollowedResource {
    /// The group; empty for the core one.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name.
    pub resource: String,
    /// The kind.
    pub kind: String,
}

/// A change that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WrittenChange {
    /// The number of the event.
    pub event: usize,
    /// The number of the object.
    pub object: usize,
    /// Its name.
    pub name: ObjectName,
}

/// Writes the changes of a server, as far as they were not written.
#[derive(Debug)]
pub struct Truth {
    followed: Vec<FollowedResource>,
    server: Option<FakeServer>,
    revision: u64,
    /// The objects that there are, with their versions.
    alive: BTreeMap<ObjectName, u64>,
}

// === impl Truth ===

impl Truth {
    /// Creates the truth of some resources, without a server at first.
    pub fn new(followed: Vec<FollowedResource>) -> Self {
        Self {
            followed,
            server: None,
            revision: 0,
            alive: BTreeMap::new(),
        }
    }

    /// Lets go of the server.
    pub fn release(&mut self) {
        self.server = None;
    }

    /// Writes the changes since the last look, as those of an actor.
    pub fn look<W: Write>(
        &mut self,
        at: Duration,
        actor: usize,
        writer: &mut Writer<W>,
    ) -> Vec<WrittenChange> {
        let Some(server) = &self.server else {
            return Vec::new();
        };
        let now = server.revision();
        if now == self.revision {
            return Vec::new();
        }
        let mut changes = Vec::new();
        for (place, kind) in self.followed.iter().enumerate() {
            let history = server.history(&kind.group, &kind.version, &kind.resource, self.revision);
            changes.extend(history.into_iter().map(|change| (place, change)));
        }
        self.revision = now;
        // Each resource has a history of its own; the file has one order of revisions.
        changes.sort_by_key(|(_, change)| change.revision());
        let mut written = Vec::new();
        for (place, change) in changes {
            let Some(subject) = change.after().or(change.before()) else {
                continue;
            };
            let name = self.followed[place].name(subject);
            let after = change
                .after()
                .map(|after| self.followed[place].value(after));
            let revision = change.revision();
            written.push(self.write(writer, (at, actor), name, revision, after));
        }
        written
    }

    /// Continues with another server, which may have lost or gained objects.
    pub fn follow<W: Write>(
        &mut self,
        server: FakeServer,
        at: Duration,
        actor: usize,
        writer: &mut Writer<W>,
    ) -> Vec<WrittenChange> {
        // First the rest of the old server's changes: afterwards it is not asked any more.
        let mut written = self.look(at, actor, writer);
        let mut lost = std::mem::take(&mut self.alive);
        let mut others = Vec::new();
        for kind in &self.followed {
            for object in server.objects(&kind.group, &kind.version, &kind.resource) {
                let name = kind.name(&object);
                match lost.remove(&name) {
                    Some(known) if known == object.revision() => {
                        self.alive.insert(name, known);
                    }
                    _ => others.push((name, object.revision(), kind.value(&object))),
                }
            }
        }
        self.revision = server.revision();
        self.server = Some(server);
        let revision = self.revision;
        // Lost objects first: another object may have come under the name of one.
        for name in lost.into_keys() {
            written.push(self.write(writer, (at, actor), name, revision, None));
        }
        others.sort_by_key(|(_, revision, _)| *revision);
        for (name, revision, value) in others {
            written.push(self.write(writer, (at, actor), name, revision, Some(value)));
        }
        written
    }

    fn write<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        (at, actor): (Duration, usize),
        name: ObjectName,
        revision: u64,
        after: Option<serde_json::Value>,
    ) -> WrittenChange {
        match after {
            Some(_) => self.alive.insert(name.clone(), revision),
            None => self.alive.remove(&name),
        };
        let event = writer.change(at, actor, name.clone(), revision, after);
        WrittenChange {
            event,
            object: writer.object(name.clone()),
            name,
        }
    }
}

// === impl FollowedResource ===

impl FollowedResource {
    /// Creates a resource of these names.
    pub fn new(group: &str, version: &str, resource: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            kind: kind.to_owned(),
        }
    }

    fn name(&self, object: &Arc<StoredObject>) -> ObjectName {
        ObjectName {
            kind: self.kind.clone(),
            resource: match self.group.as_str() {
                "" => self.resource.clone(),
                group => format!("{}.{group}", self.resource),
            },
            namespace: object.namespace().map(ToOwned::to_owned),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
        }
    }

    /// Returns an object with its kind.
    fn value(&self, object: &Arc<StoredObject>) -> serde_json::Value {
        let mut value = object.to_value();
        value["kind"] = self.kind.clone().into();
        value["apiVersion"] = match self.group.as_str() {
            "" => self.version.clone().into(),
            group => format!("{group}/{}", self.version).into(),
        };
        value
    }
}
