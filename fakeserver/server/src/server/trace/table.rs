//! The numbers of actors and objects, and the lines that they appear in.

use std::collections::BTreeMap;

use fakeserver_kinds::core::secret;
use fakeserver_value::{apply::LAST_APPLIED_CONFIGURATION, resource::GroupResource};
use fakeserver_versions::KubernetesVersion;
use serde::Serialize;
use serde_json::Value;

use super::{
    delta::delta,
    line::{ActorLine, End, Event, EventKind, Header, NewState, ObjectLine, Versions},
};
use crate::store::{Change, StoredObject};

/// The maximum number of clients that are actors of their own. Further ones are one actor.
const CLIENTS_MAX: usize = 1_000;
/// The name of the actor of all further clients.
const OTHERS: &str = "other clients";
/// The text in place of the value of a secret.
const HIDDEN: &str = "(left out)";
/// The number of the server.
const SERVER: usize = 0;

/// The kind of an object and its version: `Deployment` of `apps/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypeName {
    pub(super) kind: String,
    pub(super) api_version: String,
}

/// The numbers that a trace has given so far, and the lines that are to be written. Those of objects are kept as long as the
/// objects are there.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The clients by name.
    actors: BTreeMap<String, usize>,
    /// The objects by uid.
    objects: BTreeMap<String, TracedObject>,
    /// True if the values of secrets are written.
    pub(super) shows_secrets: bool,
    next_object: usize,
    next_request: usize,
    event_count: u64,
    micros: u64,
    lines: Vec<u8>,
}

/// An object in the trace.
#[derive(Debug, Clone, Copy)]
struct TracedObject {
    number: usize,
    /// The revision of the version that was written last.
    revision: u64,
}

// === impl Table ===

impl Table {
    /// Takes the lines that are to be written.
    pub(super) fn take_lines(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }

    /// Begins the trace.
    pub(super) fn begin(
        &mut self,
        kubernetes: KubernetesVersion,
        title: &str,
        command: Option<&str>,
    ) {
        self.put(&Header {
            format: "conformance-trace",
            version: "1.0",
            program: concat!("fakeserver ", env!("CARGO_PKG_VERSION")),
            title,
            command,
            versions: Versions {
                kubernetes: kubernetes.name(),
            },
        });
        self.put(&ActorLine {
            actor: SERVER,
            name: "server",
            role: "server",
        });
    }

    /// Ends the trace.
    pub(super) fn end(&mut self) {
        let end = self.event_count;
        self.put(&End { end });
    }

    /// Adds an event of the server at a time, which is that of the event before if that is later.
    pub(super) fn add(&mut self, micros: u64, kind: EventKind<'_>) {
        self.event(micros, Some(SERVER), kind);
    }

    /// Adds an event of the run itself.
    pub(super) fn add_of_run(&mut self, micros: u64, kind: EventKind<'_>) {
        self.event(micros, None, kind);
    }

    /// Adds a request of a client, and returns its number.
    pub(super) fn ask(&mut self, micros: u64, client: &str, verb: &str, say: &str) -> usize {
        let actor = self.client(client);
        let request = self.next_request;
        self.next_request += 1;
        let kind = EventKind::Request { request, verb, say };
        self.event(micros, Some(actor), kind);
        request
    }

    /// Adds a change: the whole object if the version before is not in the trace, the difference to it else.
    pub(super) fn change(&mut self, micros: u64, change: &Change, name: &TypeName) {
        let revision = change.revision();
        let Some(after) = change.after() else {
            let gone = change.before().map(|before| before.uid());
            if let Some(traced) = gone.and_then(|uid| self.objects.remove(uid)) {
                self.changed(micros, traced.number, revision, NewState::Gone(true));
            }
            return;
        };
        let hides = !self.shows_secrets && change.resource() == secret::KIND.storage();
        let versioned = |object: &StoredObject| {
            let mut value = versioned(object, name);
            if hides {
                hide_values(&mut value);
            }
            value
        };
        let object = versioned(after);
        let traced = self.objects.get(after.uid()).copied();
        let before = change.before().filter(|before| {
            traced.is_some_and(|traced| {
                traced.revision == before.revision() && before.uid() == after.uid()
            })
        });
        let difference = before.map(|before| {
            delta(
                &unversioned(versioned(before)),
                &unversioned(object.clone()),
            )
        });
        let number = match traced {
            Some(traced) => traced.number,
            None => self.object(change.resource(), after, &object, name),
        };
        let traced = TracedObject { number, revision };
        self.objects.insert(after.uid().to_owned(), traced);
        let state = difference.unwrap_or(NewState::New(object));
        self.changed(micros, number, revision, state);
    }

    fn changed(&mut self, micros: u64, object: usize, revision: u64, state: NewState) {
        let kind = EventKind::Change {
            object,
            revision,
            state,
        };
        self.add(micros, kind);
    }

    /// Declares an object, and returns its number.
    fn object(
        &mut self,
        resource: &GroupResource,
        object: &StoredObject,
        value: &Value,
        name: &TypeName,
    ) -> usize {
        let number = self.next_object;
        self.next_object += 1;
        let owners = value["metadata"]["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        let owner = owners.find_map(|owner| self.objects.get(owner["uid"].as_str()?));
        let owner = owner.map(|owner| owner.number);
        self.put(&ObjectLine {
            object: number,
            kind: &name.kind,
            resource: &resource.to_string(),
            namespace: object.namespace(),
            name: object.name(),
            uid: object.uid(),
            owner,
        });
        number
    }

    /// Returns the number of a client, which is declared if it is new.
    fn client(&mut self, name: &str) -> usize {
        let name = if name.is_empty() {
            "a client without a name"
        } else {
            name
        };
        if let Some(number) = self.actors.get(name) {
            return *number;
        }
        let name = if self.actors.len() < CLIENTS_MAX {
            name
        } else {
            OTHERS
        };
        if let Some(number) = self.actors.get(name) {
            return *number;
        }
        let actor = self.actors.len() + 1;
        self.put(&ActorLine {
            actor,
            name,
            role: "client",
        });
        self.actors.insert(name.to_owned(), actor);
        actor
    }

    fn event(&mut self, micros: u64, actor: Option<usize>, kind: EventKind<'_>) {
        self.micros = self.micros.max(micros);
        self.event_count += 1;
        let micros = self.micros;
        self.put(&Event {
            micros,
            actor,
            kind,
        });
    }

    fn put(&mut self, line: &impl Serialize) {
        serde_json::to_writer(&mut self.lines, line).expect("a line is JSON");
        self.lines.push(b'\n');
    }
}

/// Returns a stored object with its kind and the version of it.
fn versioned(object: &StoredObject, name: &TypeName) -> Value {
    let mut value = object.to_value();
    if !name.kind.is_empty() {
        value["kind"] = name.kind.as_str().into();
        value["apiVersion"] = name.api_version.as_str().into();
    }
    value
}

/// Leaves the values out of a secret, and out of the configuration that kubectl keeps in an annotation.
fn hide_values(secret: &mut Value) {
    let parts = ["/data", "/stringData", "/metadata/annotations"];
    for part in parts {
        let Some(Value::Object(entries)) = secret.pointer_mut(part) else {
            continue;
        };
        for (key, value) in entries {
            if part != "/metadata/annotations" || key == LAST_APPLIED_CONFIGURATION {
                *value = HIDDEN.into();
            }
        }
    }
}

fn unversioned(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    object
}
