//! Writes a trace file, line by line.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    delta::delta,
    event::{BrokenPromise, Event, EventKind, NewState},
    header::{Actor, Header, ObjectName, Role},
};

/// Writes a trace file. Each line reaches `W` by one write and is flushed, so that the file of a run that is killed ends with a whole
/// line.
///
/// The first failure is kept, and told by [`finish`](Self::finish).
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    failure: Option<io::Error>,
    actors: BTreeMap<String, usize>,
    objects: BTreeMap<ObjectName, usize>,
    uids: BTreeMap<String, usize>,
    /// The last content of each object.
    contents: BTreeMap<usize, Value>,
    event_count: usize,
}

/// The declaration of an object.
#[derive(Serialize)]
struct ObjectLine<'a> {
    object: usize,
    #[serde(flatten)]
    name: &'a ObjectName,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<usize>,
}

// === impl Writer ===

impl<W: Write> Writer<W> {
    /// Begins a file.
    pub fn new(out: W, header: &Header) -> Self {
        let mut writer = Self {
            out,
            failure: None,
            actors: BTreeMap::new(),
            objects: BTreeMap::new(),
            uids: BTreeMap::new(),
            contents: BTreeMap::new(),
            event_count: 0,
        };
        writer.line(header);
        writer
    }

    /// Returns the number of an actor, which is declared if it is new.
    pub fn actor(&mut self, name: &str, role: Role, of: Option<usize>) -> usize {
        if let Some(actor) = self.actors.get(name) {
            return *actor;
        }
        let actor = self.actors.len();
        self.actors.insert(name.to_owned(), actor);
        self.line(&Actor {
            actor,
            name: name.to_owned(),
            role,
            of,
        });
        actor
    }

    /// Returns the number of an object, which is declared if it is new.
    pub fn object(&mut self, name: ObjectName) -> usize {
        self.owned_object(name, None)
    }

    fn owned_object(&mut self, name: ObjectName, owner: Option<usize>) -> usize {
        if let Some(object) = self.objects.get(&name) {
            return *object;
        }
        let object = self.objects.len();
        self.line(&ObjectLine {
            object,
            name: &name,
            owner,
        });
        if !name.uid.is_empty() {
            self.uids.entry(name.uid.clone()).or_insert(object);
        }
        self.objects.insert(name, object);
        object
    }

    /// Writes an event, and returns its number.
    pub fn event(&mut self, event: &Event) -> usize {
        self.line(event);
        self.event_count += 1;
        self.event_count - 1
    }

    /// Writes a change of an object, which is `after` now, or gone. Its text is written once, and then by its
    /// differences.
    pub fn change(
        &mut self,
        at: Duration,
        actor: usize,
        name: ObjectName,
        revision: u64,
        after: Option<Value>,
    ) -> usize {
        // Before the object is declared: its declaration names the owner.
        let owner = after.as_ref().and_then(|after| self.owner(after));
        let object = self.owned_object(name, owner);
        let state = match (self.contents.get(&object), &after) {
            (_, None) => NewState::Gone(true),
            (Some(before), Some(after)) => delta(before, after),
            (None, Some(after)) => NewState::New(after.clone()),
        };
        match after {
            Some(after) => self.contents.insert(object, after),
            None => self.contents.remove(&object),
        };
        let kind = EventKind::Change {
            object,
            revision,
            state,
        };
        self.event(&Event::new(at, actor, kind))
    }

    /// Writes a broken promise.
    pub fn broken(&mut self, broken: &BrokenPromise) {
        self.line(broken);
    }

    /// Returns the number of events so far.
    pub fn event_count(&self) -> usize {
        self.event_count
    }

    /// Writes the last line, which tells that the run has ended.
    ///
    /// # Errors
    ///
    /// A line could not be written.
    pub fn finish(&mut self) -> io::Result<()> {
        let last = json!({"end": self.event_count});
        self.line(&last);
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Returns what was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Returns the object that owns another one as its controller, or at all.
    fn owner(&self, object: &Value) -> Option<usize> {
        let owners = object["metadata"]["ownerReferences"].as_array()?;
        let is_controller = |owner: &&Value| owner["controller"].as_bool() == Some(true);
        let owner = owners.iter().find(is_controller).or(owners.first())?;
        self.uids.get(owner["uid"].as_str()?).copied()
    }

    fn line(&mut self, line: &impl Serialize) {
        // After a failure nothing is written: a line in the middle of another one would make the file unreadable.
        if self.failure.is_some() {
            return;
        }
        let mut bytes = serde_json::to_vec(line).expect("lines have string keys only");
        bytes.push(b'\n');
        let written = self.out.write_all(&bytes);
        self.failure = written.and_then(|()| self.out.flush()).err();
    }
}
