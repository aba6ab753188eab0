//! The vocabulary of traces: the table of observations.

use std::time::Duration;

use super::{
    change::Change,
    exchange::{Ending, Failure, Phase, RequestKind},
    in_file::{
        Lane, Source, answered, ended, mirrored, numbered, or_nothing, short, started, stopped,
    },
    link::Link,
    member::{Key, Member},
    notified::HandlerNotification,
    part::Part,
    participant_event::ParticipantEvent,
    report::{Counts, Report},
    table::observations,
    text::{hex, list, or_none, selected, synced, versions},
};
use crate::{
    plan::{Resource, Selection},
    tracefile::{self, EventKind, Standstill, seconds},
};

observations! {
    /// An observation. Informers and handlers are numbered by their place in the plan.
    #[derive(Clone, Debug, PartialEq)]
    #[expect(missing_docs, reason = "fields without docs are what their names say")]
    #[non_exhaustive]
    pub enum Observation with (observation, objects) {
        /// The run enters a phase.
        Phase(phase: Phase) => ("phase {phase:?}")
            by Lane::Run => EventKind::Phase { say: format!("{phase:?}").to_lowercase() };
        /// The server answered an operation of the workload.
        Operation {
            /// The operation, in words.
            text: String,
            status: u16,
            /// The version of the object in the answer, if it had one.
            revision: Option<u64>,
        } => ("operation {text} -> {status} {}", or_none(revision.as_ref()))
            by Lane::Workload => EventKind::Operation {
                say: short(text),
                code: *status,
                revision: *revision,
            };
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
        } => ("fault {fault} begins: {text}")
            by Lane::Run => EventKind::Fault {
                fault: *fault,
                say: text.clone(),
                hits: informer.and_then(|informer| objects.actor(Lane::Informer(informer))),
            };
        /// A fault of the plan ends, or has happened if it is momentary.
        FaultEnds {
            /// Its place in the plan.
            fault: usize,
        } => ("fault {fault} ends")
            by Lane::Run => EventKind::Heal { fault: *fault };
        /// The number of effects of a rule of the server, at the end.
        Fired {
            /// The rule.
            rule: String,
            /// The number of effects.
            count: u64,
        } => ("fired {rule} {count}");
        /// All informers share a gate, which limits the number of concurrent lists.
        ListGate {
            /// The number of lists.
            width: usize,
        } => ("a gate lets {width} informers list at a time");
        /// An informer starts.
        InformerStarts {
            informer: usize,
            /// The selection that it mirrors.
            selection: Selection,
        } => ("informer {informer} starts: {}", selected(selection))
            by Lane::Informer(*informer) => EventKind::Mirror(mirrored(selection));
        /// An informer is paused.
        InformerPauses { informer: usize } => ("informer {informer} is paused")
            by Lane::Informer(*informer) => stopped(Standstill::Pause, "is paused");
        /// An informer is resumed.
        InformerResumes { informer: usize } => ("informer {informer} is resumed")
            by Lane::Informer(*informer) => started("is resumed");
        /// A handler joins an informer.
        HandlerJoins {
            informer: usize,
            handler: usize,
            /// True if it panics at times.
            panics: bool,
            /// True if its calls take time.
            is_slow: bool,
            /// True if changes that wait for it are merged.
            merges: bool,
        } => ("handler {informer}.{handler} joins")
            by Lane::Handler(*informer, *handler) => started("joins");
        /// A handler that joined requests resyncs.
        ResyncWanted {
            informer: usize,
            handler: usize,
            /// The period.
            period: Duration,
        } => ("handler {informer}.{handler} wants resyncs every {} s", seconds(*period));
        /// A handler leaves and must not be notified any more.
        HandlerLeaves { informer: usize, handler: usize } => ("handler {informer}.{handler} leaves")
            by Lane::Handler(*informer, *handler) => stopped(Standstill::Stop, "leaves");
        /// An informer sent a request.
        Request { informer: usize, request: usize, kind: RequestKind } => ("request {request} of {informer}: {kind}")
            by Lane::Informer(*informer) => kind.in_file(*request);
        /// A list asks for one object only, at the version that the informer holds: it checks that the server still has it.
        VersionCheck { request: usize } => ("request {request} checks its version");
        /// A watch asks the server to end it after a time.
        WatchTimeout {
            request: usize,
            /// The time.
            timeout: Duration,
        } => ("request {request} is to end after {} s", seconds(*timeout));
        /// The headers of an answer arrived.
        Answer { request: usize, status: u16 } => ("answer {request}: {status}")
            by Lane::Server => answered(*request, Some(*status), String::new());
        /// A refusal names a time to wait before the next request. Its header and its body may name two.
        AskedToWait { request: usize, wait: Duration } => ("answer {request} asks to wait for {} s", seconds(*wait));
        /// The body of a list arrived completely.
        Page {
            request: usize,
            /// The version of the list.
            revision: u64,
            /// True if there are more pages.
            has_more: bool,
            /// The objects of the page.
            members: Vec<Member>,
        } => ("page {request} at {revision}{}:{}", if *has_more { " and more" } else { "" }, list(members))
            by Lane::Server => EventKind::Page {
                request: *request,
                revision: *revision,
                more: *has_more,
                list: numbered(objects, Source::Request(*request), members),
            };
        /// An event of a watch arrived.
        Frame {
            request: usize,
            /// `ADDED`, `MODIFIED` or `DELETED`.
            kind: &'static str,
            /// The object.
            member: Member,
        } => ("frame {request}: {kind} {member}")
            by Lane::Server => EventKind::Frame {
                request: *request,
                change: (*kind).to_owned(),
                object: objects.object(Source::Request(*request), &member.key, &member.state.uid),
                revision: member.state.revision,
            };
        /// A bookmark of a watch arrived.
        Bookmark {
            request: usize,
            /// The version up to which the watch is complete.
            revision: u64,
            /// True if it ends the initial events.
            ends_initial_events: bool,
        } => (
            "frame {request}: {} {revision}",
            if *ends_initial_events { "end of initial events" } else { "bookmark" },
        )
            by Lane::Server => EventKind::Bookmark {
                request: *request,
                revision: *revision,
                say: if *ends_initial_events { "the end of the initial events" } else { "" }.to_owned(),
            };
        /// An ERROR event of a watch arrived.
        ErrorEvent {
            request: usize,
            /// The code of its status.
            status: u16,
        } => ("frame {request}: ERROR {status}")
            by Lane::Server => EventKind::note(format!("sends on {request}: ERROR {status}"));
        /// The connection was refused: no process listened at the server's address.
        Refused { request: usize } => ("request {request} is refused")
            by Lane::Server => ended(*request, tracefile::Ending::Refused);
        /// A complete line arrived that is neither an event nor a list.
        Garbled { request: usize } => ("frame {request}: garbled")
            by Lane::Server => EventKind::note(format!("sends on {request}: no event"));
        /// A body ended.
        Ended { request: usize, ending: Ending } => ("ended {request}: {ending}")
            by if *ending == Ending::Dropped { Lane::Asker(*request) } else { Lane::Server }
            => ended(*request, ending.in_file());
        /// A subject sent a request other than a list or watch of its selection: a write, for example.
        Called {
            informer: usize,
            /// The request, in words.
            text: String,
            /// The HTTP status of the answer; `None` if there was none.
            status: Option<u16>,
        } => ("call of {informer}: {text} -> {}", or_none(status.as_ref()))
            by Lane::Informer(*informer)
            => EventKind::note(format!("calls {text}, answered {}", or_nothing(*status)));
        /// A handler was notified.
        Notified(notified: HandlerNotification) => ("{notified}")
            by Lane::Handler(notified.informer, notified.handler) => notified.in_file(objects);
        /// The registration of a handler reports, first or with another value, whether the handler was notified of the whole
        /// initial state.
        HandlerSync {
            informer: usize,
            handler: usize,
            /// True if it says so.
            has_synced: bool,
        } => ("handler {informer}.{handler} {}", synced(*has_synced));
        /// A task begins to wait until an informer's cache shows a version.
        WaitBegins { informer: usize, wait: usize, revision: u64 } => ("wait {informer}.{wait} begins: for {revision}");
        /// A task ends its wait for a version.
        WaitEnds {
            informer: usize,
            wait: usize,
            /// The version of the cache then; `None` if the wait failed.
            shown: Option<u64>,
        } => ("wait {informer}.{wait} ends at {}", or_none(shown.as_ref()));
        /// The content of an informer's cache at one moment.
        Cached {
            informer: usize,
            /// The version of the cache; `None` before the first list.
            revision: Option<u64>,
            /// True if the informer has synced.
            has_synced: bool,
            /// Its objects, in order of the keys.
            members: Vec<Member>,
        } => (
            "cache {informer} at {} {}:{}",
            or_none(revision.as_ref()),
            synced(*has_synced),
            list(members),
        );
        /// An informer handed out a version of an object for the first time, or with another content than before.
        Read {
            informer: usize,
            /// The object.
            member: Member,
            /// The digest of its content; `None` if it cannot be decoded.
            digest: Option<u64>,
        } => ("informer {informer} reads {member} as {}", hex(*digest));
        /// The objects that an informer says exist and cannot be decoded, at the moment of the last [`Cached`](Self::Cached).
        Undecodable {
            informer: usize,
            /// The version of the cache; `None` before the first list.
            revision: Option<u64>,
            /// The keys and the versions of the objects, in order of the keys.
            members: Vec<(Key, u64)>,
        } => (
            "informer {informer} at {} cannot decode:{}",
            or_none(revision.as_ref()),
            versions(members),
        );
        /// A part of an informer differs from the objects of its cache, or from what it has to do.
        Differs {
            informer: usize,
            /// The kind of part.
            part: Part,
            /// The name of the part, or the question that it answers.
            name: String,
            text: String,
        } => ("{} {informer}.{name} differs: {text}", part.name())
            by Lane::Informer(*informer)
            => EventKind::note(format!("{} {name} differs: {text}", part.name()));
        /// The status of an informer, at some moment.
        Status {
            informer: usize,
            /// The state of its connection.
            link: Link,
            /// The number of its tasks.
            task_count: usize,
            /// The number of its handlers.
            handler_count: usize,
            /// The number of handlers that exist, called or not.
            held_handler_count: usize,
        } => (
            "informer {informer} is {link}, tasks {task_count}, handlers {handler_count} of {held_handler_count} held"
        );
        /// An informer reported something to its observer.
        Reported { informer: usize, report: Report } => ("informer {informer} {report}");
        /// The numbers that an informer tells of itself, at the moment of the last [`Status`](Self::Status).
        Counted {
            informer: usize,
            /// The numbers.
            counts: Box<Counts>,
        } => ("informer {informer} counts {counts}");
        /// An informer has stopped.
        InformerStopped {
            informer: usize,
            /// The number of its tasks that have not ended.
            task_count: usize,
        } => ("informer {informer} stopped, tasks left {task_count}")
            by Lane::Informer(*informer)
            => stopped(Standstill::Stop, format!("stops, {task_count} tasks left"));
        /// The tasks that waited for the sync of a cache, at the end.
        Waited {
            informer: usize,
            /// The number of tasks that were woken.
            woken_count: usize,
            /// The number of tasks that still wait.
            waiting_count: usize,
        } => ("waiters of {informer}: {woken_count} woken, {waiting_count} still wait");
        /// Subjects have not brought about their goal on the server.
        Undone { text: String } => ("undone: {text}") by Lane::Run;
        /// The number of open watches according to the server.
        OpenWatches {
            /// The number of watches.
            count: usize,
            /// The number of running informers.
            informer_count: usize,
        } => ("open watches {count} of {informer_count} informers");
        /// The number of tasks after everything was shut down.
        TasksLeft {
            /// The number of tasks.
            count: usize,
        } => ("tasks left {count}");
        /// A process introduced itself, and is ready to start.
        Introduced {
            informer: usize,
            /// The checkers whose promises it does not make.
            withholds: Vec<String>,
        } => ("informer {informer} is ready, and withholds {withholds:?}");
        /// A subject failed permanently, and the run was aborted.
        SubjectFailed {
            informer: usize,
            /// The kind of failure.
            failure: Failure,
            /// The behaviour, and the expected one.
            text: String,
        } => ("informer {informer} failed: {text}")
            by Lane::Informer(*informer)
            => stopped(Standstill::Crash, format!("fails: {text}"));
        /// Requests or steps without end at one moment; the run was given up.
        HotLoop {
            /// The loop, in words.
            text: String,
        } => ("hot loop: {text}")
            by Lane::Run => EventKind::note(format!("without end: {text}"));
        /// A change of the server's log, recorded at the end of the run.
        Changed(change: Change) => ("{change}");
        /// The content of a version in the server's log, recorded at the end of the run.
        Stored {
            resource: Resource,
            /// The object.
            member: Member,
            /// The digest of its content, as informers of the resource read it; `None` if they cannot decode it.
            digest: Option<u64>,
        } => ("server has {} {member} as {}", resource.plural(), hex(*digest));
        /// The objects of the server at the end.
        Held {
            resource: Resource,
            /// All its objects.
            members: Vec<Member>,
        } => ("server holds {}:{}", resource.plural(), list(members));
        /// An observation of a participant beside the informers.
        Participant(event: ParticipantEvent) => ("{event}");
        /// A warning or an error in the log.
        Warned {
            /// The message.
            message: String,
            /// The fields, each after a space.
            fields: String,
        } => ("warned: {message}{fields}")
            by Lane::Log => EventKind::note(format!("{message}{fields}"));
    }
}
