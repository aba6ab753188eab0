//! Observations as events of trace files.

use super::{
    member::Member,
    notified::{HandlerNotification, NotifiedChange},
};
use crate::{
    plan::{Resource, SPOILED, Selection},
    tracefile::{Ending, EventKind, MirroredSelection, Role, Standstill},
};

/// The lane of a trace file in which an observation is shown: the one whose doing it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Run,
    Server,
    Workload,
    Log,
    Informer(usize),
    /// The informer that sent a request.
    Asker(usize),
    Handler(usize, usize),
    Controller(usize, usize),
    /// A lane of a participant, by its name.
    Of(String, Role, Option<Concern>),
}

/// The parts of a participant that an event, or a finding, is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concern {
    One(usize),
    All,
}

/// The selection that an object was seen in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Informer(usize),
    /// That of the informer which sent a request.
    Request(usize),
    Resource(Resource),
}

/// The numbers of actors and objects in a trace file.
pub(crate) trait Objects {
    /// Returns the number of the actor of a lane; `None` for the run itself.
    fn actor(&mut self, lane: Lane) -> Option<usize>;

    /// Returns the number of an object.
    fn object(&mut self, source: Source, key: &str, uid: &str) -> usize;
}

pub(crate) fn started(say: &str) -> EventKind {
    EventKind::Start {
        say: say.to_owned(),
    }
}

pub(crate) fn stopped(how: Standstill, say: impl Into<String>) -> EventKind {
    let say = say.into();
    EventKind::Stop { how, say }
}

pub(crate) fn asked(request: usize, verb: &str, say: String) -> EventKind {
    EventKind::Request {
        request,
        verb: verb.to_owned(),
        say,
        object: None,
    }
}

pub(crate) fn answered(request: usize, code: Option<u16>, say: String) -> EventKind {
    EventKind::Answer {
        request,
        code,
        say,
        revision: None,
    }
}

pub(crate) const fn ended(request: usize, how: Ending) -> EventKind {
    EventKind::End { request, how }
}

/// Returns the objects of a list, and their versions, in a row.
pub(crate) fn numbered(objects: &mut dyn Objects, source: Source, members: &[Member]) -> Vec<u64> {
    let numbered = members.iter().flat_map(|member| {
        let object = objects.object(source, &member.key, &member.state.uid);
        [object as u64, member.state.revision]
    });
    numbered.collect()
}

/// Returns what a client mirrors: a type that refuses spoiled objects selects the others.
pub(super) fn mirrored(selection: &Selection) -> MirroredSelection {
    let refused = selection.is_strict.then(|| format!("!{SPOILED}"));
    let labels = selection.label_selector().into_iter();
    let parts: Vec<String> = labels.chain(refused).collect();
    MirroredSelection {
        resource: selection.resource.plural().to_owned(),
        namespace: selection.namespace.clone(),
        selector: (!parts.is_empty()).then(|| parts.join(",")),
    }
}

/// Shortens the paths in the text of an operation.
pub(super) fn short(text: &str) -> String {
    text.replace("/api/v1/namespaces/", "")
        .replace("/api/v1/", "")
}

pub(super) fn or_nothing(status: Option<u16>) -> String {
    status.map_or_else(|| "nothing".to_owned(), |status| status.to_string())
}

// === impl HandlerNotification ===

impl HandlerNotification {
    pub(super) fn in_file(&self, objects: &mut dyn Objects) -> EventKind {
        let (how, was, initial) = match &self.change {
            NotifiedChange::Added { is_initial, .. } => ("added", None, *is_initial),
            NotifiedChange::Updated { old, new } if old.uid != new.uid => {
                ("replaced", Some(old.revision), false)
            }
            NotifiedChange::Updated { old, .. } => ("updated", Some(old.revision), false),
            NotifiedChange::Deleted {
                is_tombstone: true, ..
            } => ("found gone", None, false),
            NotifiedChange::Deleted { .. } => ("deleted", None, false),
        };
        let state = self.state();
        let uid = state.map(|state| state.uid.as_ref()).unwrap_or_default();
        EventKind::Notified {
            object: objects.object(Source::Informer(self.informer), &self.key, uid),
            revision: state.map(|state| state.revision),
            how: how.to_owned(),
            was,
            initial,
        }
    }
}
