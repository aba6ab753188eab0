//! The vocabulary of traces.

use std::{sync::Arc, time::Duration};

pub(crate) use tracefile::seconds;

use super::{
    change::Change,
    controlled::Controlled,
    election::ElectionEvent,
    factory::FactoryEvent,
    link::Link,
    notified::Notified,
    part::Part,
    report::{Counts, Report},
};
use crate::plan::{Resource, Selection};

/// An object's key as `namespace/name`, or its name alone if cluster-scoped.
pub type Key = Arc<str>;

/// One state of one object: uid and version.
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

/// An observation. Informers and handlers are numbered by their place in the plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Observation {
    /// The run enters a phase.
    Phase(Phase),
    /// The server answered an operation of the workload.
    Operation {
        /// The operation, in words.
        text: String,
        /// The HTTP status.
        status: u16,
        /// The version of the object in the answer, if it had one.
        revision: Option<u64>,
    },
    /// A fault of the plan begins.
    FaultBegins {
        /// Its place in the plan.
        fault: usize,
        /// Its name in reports.
        name: String,
        /// The informer that it hits; `None` for all.
        informer: Option<usize>,
        /// Its parameters.
        text: String,
    },
    /// A fault of the plan ends, or has happened if it is momentary.
    FaultEnds {
        /// Its place in the plan.
        fault: usize,
    },
    /// The number of effects of a rule of the server, at the end.
    Fired {
        /// The rule.
        rule: String,
        /// The number of effects.
        count: u64,
    },
    /// All informers share a gate, which lets so many of them list at a time.
    ListGate {
        /// The number of lists.
        width: usize,
    },
    /// An informer starts.
    InformerStarts {
        /// The informer.
        informer: usize,
        /// The selection that it mirrors.
        selection: Selection,
    },
    /// An informer is paused.
    InformerPauses {
        /// The informer.
        informer: usize,
    },
    /// An informer is resumed.
    InformerResumes {
        /// The informer.
        informer: usize,
    },
    /// A handler joins an informer.
    HandlerJoins {
        /// The informer.
        informer: usize,
        /// The number of the handler at its informer.
        handler: usize,
        /// True if it panics at times.
        panics: bool,
        /// True if its calls take time.
        is_slow: bool,
        /// True if changes that wait for it are merged.
        merges: bool,
    },
    /// A handler that joined requests resyncs.
    ResyncWanted {
        /// The informer.
        informer: usize,
        /// The number of the handler at its informer.
        handler: usize,
        /// The period.
        period: Duration,
    },
    /// A handler leaves and must not be notified any more.
    HandlerLeaves {
        /// The informer.
        informer: usize,
        /// The number of the handler at its informer.
        handler: usize,
    },
    /// An informer sent a request.
    Request {
        /// The informer.
        informer: usize,
        /// The number of the request in the run.
        request: usize,
        /// The request.
        kind: RequestKind,
    },
    /// A list asks for one object only, at the version that the informer holds: it checks that the server still has it.
    VersionCheck {
        /// The request.
        request: usize,
    },
    /// A watch asks the server to end it after a time.
    WatchTimeout {
        /// The request.
        request: usize,
        /// The time.
        timeout: Duration,
    },
    /// The headers of an answer arrived.
    Answer {
        /// The request.
        request: usize,
        /// The HTTP status.
        status: u16,
    },
    /// A refusal names a time to wait before the next request. Its header and its body may name two.
    AskedToWait {
        /// The request.
        request: usize,
        /// The time.
        wait: Duration,
    },
    /// The body of a list arrived completely.
    Page {
        /// The request.
        request: usize,
        /// The version of the list.
        revision: u64,
        /// True if there are more pages.
        has_more: bool,
        /// The objects of the page.
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
        /// The version up to which the watch is complete.
        revision: u64,
        /// True if it ends the initial events.
        ends_initial_events: bool,
    },
    /// An ERROR event of a watch arrived.
    ErrorEvent {
        /// The request.
        request: usize,
        /// The code of its status.
        status: u16,
    },
    /// Nobody listened at the server's address.
    Refused {
        /// The request.
        request: usize,
    },
    /// A complete line arrived that is neither an event nor a list.
    Garbled {
        /// The request.
        request: usize,
    },
    /// A body ended.
    Ended {
        /// The request.
        request: usize,
        /// The kind of end.
        ending: Ending,
    },
    /// A subject sent a request other than a list or watch of its selection: a write, for example.
    Called {
        /// The informer.
        informer: usize,
        /// The request, in words.
        text: String,
        /// The HTTP status of the answer; `None` if there was none.
        status: Option<u16>,
    },
    /// A handler was notified.
    Notified(Notified),
    /// A controller did something, or its queue.
    Controlled(Controlled),
    /// The registration of a handler says for the first time, or anew, whether the handler has been notified of the whole
    /// initial state.
    HandlerSync {
        /// The informer.
        informer: usize,
        /// The number of the handler at its informer.
        handler: usize,
        /// True if it says so.
        has_synced: bool,
    },
    /// A task begins to wait until an informer's cache shows a version.
    WaitBegins {
        /// The informer.
        informer: usize,
        /// The number of the wait at its informer.
        wait: usize,
        /// The version.
        revision: u64,
    },
    /// A task ends its wait for a version.
    WaitEnds {
        /// The informer.
        informer: usize,
        /// The number of the wait at its informer.
        wait: usize,
        /// The version of the cache then; `None` if the wait failed.
        shown: Option<u64>,
    },
    /// The content of an informer's cache at one moment.
    Cached {
        /// The informer.
        informer: usize,
        /// The version of the cache; `None` before the first list.
        revision: Option<u64>,
        /// True if the informer has synced.
        has_synced: bool,
        /// Its objects, in order of the keys.
        members: Vec<Member>,
    },
    /// An informer handed out a version of an object for the first time, or with another content than before.
    Read {
        /// The informer.
        informer: usize,
        /// The object.
        member: Member,
        /// The digest of its content; `None` if it cannot be decoded.
        digest: Option<u64>,
    },
    /// The objects that an informer says exist and cannot be decoded, at the moment of the last [`Cached`](Self::Cached).
    Undecodable {
        /// The informer.
        informer: usize,
        /// The version of the cache; `None` before the first list.
        revision: Option<u64>,
        /// The keys and the versions of the objects, in order of the keys.
        members: Vec<(Key, u64)>,
    },
    /// A part of an informer differs from the objects of its cache, or from what it has to do.
    Differs {
        /// The informer.
        informer: usize,
        /// The kind of part.
        part: Part,
        /// The name of the part, or the question that it answers.
        name: String,
        /// The difference.
        text: String,
    },
    /// The status of an informer, at some moment.
    Status {
        /// The informer.
        informer: usize,
        /// The state of its connection.
        link: Link,
        /// The number of its tasks.
        task_count: usize,
        /// The number of its handlers.
        handler_count: usize,
        /// The number of handlers that exist, called or not.
        held_handler_count: usize,
    },
    /// An informer reported something to its observer.
    Reported {
        /// The informer.
        informer: usize,
        /// The report.
        report: Report,
    },
    /// The numbers that an informer tells of itself, at the moment of the last [`Status`](Self::Status).
    Counted {
        /// The informer.
        informer: usize,
        /// The numbers.
        counts: Box<Counts>,
    },
    /// An informer has stopped.
    InformerStopped {
        /// The informer.
        informer: usize,
        /// The number of its tasks that have not ended.
        task_count: usize,
    },
    /// The tasks that waited for the sync of a cache, at the end.
    Waited {
        /// The informer.
        informer: usize,
        /// The number of tasks that were woken.
        woken_count: usize,
        /// The number of tasks that still wait.
        waiting_count: usize,
    },
    /// Subjects have not brought about their goal on the server.
    Undone {
        /// The difference.
        text: String,
    },
    /// The number of open watches according to the server.
    OpenWatches {
        /// The number of watches.
        count: usize,
        /// The number of running informers.
        informer_count: usize,
    },
    /// The number of tasks after everything was shut down.
    TasksLeft {
        /// The number of tasks.
        count: usize,
    },
    /// A process introduced itself, and is ready to start.
    Introduced {
        /// The informer.
        informer: usize,
        /// The checkers whose promises it does not make.
        withholds: Vec<String>,
    },
    /// A subject failed permanently, and the run was aborted.
    SubjectFailed {
        /// The informer.
        informer: usize,
        /// The kind of failure.
        failure: Failure,
        /// The behaviour, and the expected one.
        text: String,
    },
    /// Requests or steps without end at one moment; the run was given up.
    HotLoop {
        /// The loop, in words.
        text: String,
    },
    /// A change of the server's log, recorded at the end of the run.
    Changed(Change),
    /// The content of a version in the server's log, recorded at the end of the run.
    Stored {
        /// The resource.
        resource: Resource,
        /// The object.
        member: Member,
        /// The digest of its content, as informers of the resource read it; `None` if they cannot decode it.
        digest: Option<u64>,
    },
    /// The objects of the server at the end.
    Held {
        /// The resource.
        resource: Resource,
        /// All its objects.
        members: Vec<Member>,
    },
    /// An observation of the leader election beside the informers.
    Election(ElectionEvent),
    /// An observation of the factory beside the informers.
    Factory(FactoryEvent),
    /// A warning or an error in the log.
    Warned {
        /// The message.
        message: String,
        /// The fields, each after a space.
        fields: String,
    },
}

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// The cluster is prepared.
    Setup,
    /// Operations and faults.
    Safety,
    /// Faults have ended; caches have to converge.
    Recovery,
    /// All caches equal the server.
    Converged,
    /// The time for convergence is over.
    GivenUp,
    /// Informers and server shut down.
    Shutdown,
}

/// An object in a cache, a list or an event.
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

/// The request of an informer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// A list, or a page of one.
    List {
        /// The version in the request, as text.
        revision: String,
        /// True for a page that continues another one.
        is_continued: bool,
    },
    /// A watch.
    Watch {
        /// The version to begin after, as text.
        revision: String,
        /// True if the initial state is to be streamed first.
        is_streaming_list: bool,
    },
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Ending {
    /// Complete.
    Clean,
    /// Broken off.
    Broken,
    /// Dropped by the client.
    Dropped,
}

/// The failure of a process under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Failure {
    /// It ended.
    Ended,
    /// It broke the protocol.
    Misspoke,
    /// It does not answer.
    Unresponsive,
}

// === impl State ===

impl State {
    /// Creates the state of `uid` at `revision`.
    pub fn new(uid: impl Into<Arc<str>>, revision: u64) -> Self {
        Self {
            uid: uid.into(),
            revision,
        }
    }

    /// Reads a version from the wire. Text that is no number becomes 0, which is no version of any object, so that
    /// checkers report it.
    pub fn from_wire(uid: &str, resource_version: &str) -> Self {
        Self::new(uid, resource_version.parse().unwrap_or(0))
    }
}
