//! The vocabulary of a trace.

use std::{sync::Arc, time::Duration};

use crate::plan::{Resource, Selection};

/// An object's key as `namespace/name`, or its name alone if cluster-scoped.
pub type Key = Arc<str>;

/// One state of one object: who it is, and its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: what convergence compares"
)]
pub struct State {
    /// The uid.
    pub uid: Arc<str>,
    /// The version.
    pub revision: u64,
}

/// One thing observed. Informers, handlers and requests are numbered: the first two by their place in the plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Observation {
    /// The run enters a phase.
    Phase(Phase),
    /// An operation of the workload was answered with this status.
    Operation {
        /// What was done, in words.
        text: String,
        /// The HTTP status.
        status: u16,
        /// The version of the object after it, if the answer had one.
        revision: Option<u64>,
    },
    /// A fault of the plan begins.
    FaultBegins {
        /// Its place in the plan.
        fault: usize,
        /// Its name in reports.
        name: String,
        /// Which informer it hits; everybody if `None`.
        informer: Option<usize>,
        /// What it is.
        text: String,
    },
    /// A fault of the plan ends, or what happens once has happened.
    FaultEnds {
        /// Its place in the plan.
        fault: usize,
    },
    /// How often each rule of the server had an effect, at the end.
    Fired {
        /// The rule.
        rule: String,
        /// How often.
        count: u64,
    },
    /// An informer starts.
    InformerStarts {
        /// Which.
        informer: usize,
        /// What it mirrors.
        selection: Selection,
    },
    /// A handler joins an informer.
    HandlerJoins {
        /// The informer.
        informer: usize,
        /// Which handler of it.
        handler: usize,
        /// Whether it panics now and then.
        panics: bool,
    },
    /// A handler that joined wants to hear of everything again from time to time.
    ResyncWanted {
        /// The informer.
        informer: usize,
        /// Which handler of it.
        handler: usize,
        /// How often.
        period: Duration,
    },
    /// A handler leaves; it may not hear anything any more.
    HandlerLeaves {
        /// The informer.
        informer: usize,
        /// Which handler of it.
        handler: usize,
    },
    /// An informer sent a request.
    Request {
        /// Which informer.
        informer: usize,
        /// The number of the request within the run.
        request: usize,
        /// What was asked.
        kind: RequestKind,
    },
    /// The headers of an answer arrived.
    Answer {
        /// The request.
        request: usize,
        /// The HTTP status.
        status: u16,
    },
    /// An answer that refuses says how long to wait before the next request.
    AskedToWait {
        /// The request.
        request: usize,
        /// How long.
        wait: Duration,
    },
    /// The body of a list arrived whole.
    Page {
        /// The request.
        request: usize,
        /// The version of the list.
        revision: u64,
        /// Whether there is more.
        has_more: bool,
        /// The objects in it.
        members: Vec<Member>,
    },
    /// An event of a watch arrived.
    Frame {
        /// The request.
        request: usize,
        /// `ADDED`, `MODIFIED` or `DELETED`.
        kind: &'static str,
        /// The object.
        member: Member,
    },
    /// A bookmark of a watch arrived.
    Bookmark {
        /// The request.
        request: usize,
        /// Up to where everything was sent.
        revision: u64,
        /// Whether it ends the initial events.
        ends_initial_events: bool,
    },
    /// An ERROR event of a watch arrived.
    ErrorEvent {
        /// The request.
        request: usize,
        /// The code in its status.
        status: u16,
    },
    /// Something whole arrived that is neither an event nor a list.
    Garbled {
        /// The request.
        request: usize,
    },
    /// A body ended.
    Ended {
        /// The request.
        request: usize,
        /// How.
        ending: Ending,
    },
    /// A subject asked for something else than a list or a watch of what it mirrors: it wrote, say.
    Called {
        /// Which informer's.
        informer: usize,
        /// What was asked, in words.
        text: String,
        /// The HTTP status of the answer; `None` if there was none.
        status: Option<u16>,
    },
    /// A handler was told something.
    Notified(Notified),
    /// An informer's cache as it was seen at some moment.
    Cached {
        /// Which informer.
        informer: usize,
        /// The version it says it stands at; `None` before the first list.
        revision: Option<u64>,
        /// Whether it says that it has synced.
        has_synced: bool,
        /// What it holds, in order of the keys.
        members: Vec<Member>,
    },
    /// An index of an informer differs from a recount of what it holds.
    IndexDiffers {
        /// Which informer.
        informer: usize,
        /// The index.
        index: String,
        /// In what.
        text: String,
    },
    /// An informer says that it is stopped, and how many of its tasks are left.
    InformerStopped {
        /// Which informer.
        informer: usize,
        /// How many of its tasks have not ended.
        task_count: usize,
    },
    /// What became of the tasks that waited for a cache to be complete.
    Waited {
        /// Whose cache.
        informer: usize,
        /// How many were told that it is.
        woken_count: usize,
        /// How many still wait.
        waiting_count: usize,
    },
    /// What subjects were to bring about on the server, and have not.
    Undone {
        /// What is lacking.
        text: String,
    },
    /// How many watches the server thinks are open.
    OpenWatches {
        /// So many.
        count: usize,
        /// How many informers are running.
        informer_count: usize,
    },
    /// How many tasks are left when everything was shut down.
    TasksLeft {
        /// So many.
        count: usize,
    },
    /// What is under test cannot be asked any more; the run was given up.
    SubjectFailed {
        /// Which informer.
        informer: usize,
        /// In what way.
        failure: Failure,
        /// What it did, and what was expected.
        text: String,
    },
    /// Requests or steps came without end at one moment; the run was given up.
    HotLoop {
        /// What came without end.
        text: String,
    },
    /// A state of the server's log, told at the end of the run.
    Changed(Change),
    /// What the server holds at the end.
    Held {
        /// Of which resource.
        resource: Resource,
        /// All objects of it.
        members: Vec<Member>,
    },
    /// A log line that says that something is not as it should be.
    Warned {
        /// The constant part.
        message: String,
        /// The fields, each after a space.
        fields: String,
    },
}

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// The cluster is made ready.
    Setup,
    /// Operations and faults.
    Safety,
    /// Faults have ended; caches have to converge.
    Recovery,
    /// All caches equal the server.
    Converged,
    /// The time to converge is over.
    GivenUp,
    /// Informers and server shut down.
    Shutdown,
}

/// An object as it is held or sent somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: a key and a state"
)]
pub struct Member {
    /// Its key.
    pub key: Key,
    /// Its state.
    pub state: State,
}

/// What an informer asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// A list, or a page of one.
    List {
        /// The version asked for, as written.
        revision: String,
        /// Whether it goes on where another page ended.
        is_continued: bool,
    },
    /// A watch.
    Watch {
        /// The version to begin after, as written.
        revision: String,
        /// Whether the initial state is to be streamed first.
        is_streaming_list: bool,
    },
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Ending {
    /// In good order.
    Clean,
    /// It broke off.
    Broken,
    /// The client gave it up.
    Dropped,
}

/// In what way a process under test cannot be asked any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Failure {
    /// It ended.
    Ended,
    /// It said what it may not.
    Misspoke,
    /// It does not answer.
    Unresponsive,
}

/// What a handler was told, and what the cache showed at that moment.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Notified {
    /// The informer.
    pub informer: usize,
    /// Which handler of it.
    pub handler: usize,
    /// The object's key.
    pub key: Key,
    /// What it heard.
    pub heard: Heard,
    /// What the cache held under that key while it heard it.
    pub cached: Option<State>,
}

/// What a handler heard of an object.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the methods of a handler"
)]
pub enum Heard {
    /// It is new.
    Added {
        /// Its state.
        new: State,
        /// Whether it belongs to the initial state.
        is_initial: bool,
    },
    /// It changed.
    Updated {
        /// From this.
        old: State,
        /// To this.
        new: State,
    },
    /// It is gone.
    Deleted {
        /// The last state that is known; with the version of the deletion if that was seen.
        last: Option<State>,
        /// Whether the deletion was missed and found out later.
        is_tombstone: bool,
    },
}

/// One change of the server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Change {
    /// Of which resource.
    pub resource: Resource,
    /// Its revision.
    pub revision: u64,
    /// The object's key.
    pub key: Key,
    /// The namespace; empty if cluster-scoped.
    pub namespace: Arc<str>,
    /// The uid before, with the label's value; `None` if there was no object.
    pub before: Option<(Arc<str>, Option<Arc<str>>)>,
    /// The uid after, with the label's value; `None` if there is no object.
    pub after: Option<(Arc<str>, Option<Arc<str>>)>,
}

// === impl State ===

impl State {
    /// The state of `uid` at `revision`.
    pub fn new(uid: impl Into<Arc<str>>, revision: u64) -> Self {
        Self {
            uid: uid.into(),
            revision,
        }
    }

    /// A state from a version as the wire writes it. What is no number becomes 0, which is no version of anything and
    /// which the checkers therefore report.
    pub fn from_wire(uid: &str, resource_version: &str) -> Self {
        Self::new(uid, resource_version.parse().unwrap_or(0))
    }
}

// === impl Notified ===

impl Notified {
    /// The state that it tells of: the new one, or the last one.
    pub fn state(&self) -> Option<&State> {
        match &self.heard {
            Heard::Added { new, .. } | Heard::Updated { new, .. } => Some(new),
            Heard::Deleted { last, .. } => last.as_ref(),
        }
    }
}

/// Shows a simulated time as seconds.
pub(crate) fn seconds(at: Duration) -> String {
    format!("{}.{:03}", at.as_secs(), at.subsec_millis())
}
