//! Observations of watches without a list.

use crate::{
    plan::{Resource, Selection},
    trace::{
        Ending, Event, Lane, Member, Objects, Source, answered, asked, ended, observations, started,
    },
    tracefile::{EventKind, Role},
};

/// The number of the first request in trace files: those of informers have numbers of their own.
const FIRST_REQUEST: usize = 3_000_000;

observations! {
    /// An observation of a watch without a list. Watches are numbered by their place in the plan, requests by watch.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "fields without docs are what their names say")]
    #[expect(clippy::exhaustive_enums, reason = "tests write them by hand")]
    pub enum WatcherEvent with (event, objects) {
        /// A watch begins.
        Begins {
            watch: usize,
            selection: Selection,
            /// The version after which it begins.
            revision: u64,
        } => ("watch {watch} of {} begins after {revision}", selection.resource.plural())
            by lane(*watch) => started(&event.to_string());
        /// A watch sent a request.
        Asks {
            watch: usize,
            request: usize,
            /// The version in the request.
            revision: String,
        } => ("watch {watch} asks {request}: from \"{revision}\"")
            by lane(*watch) => asked(number(*watch, *request), "watch", format!("watch from \"{revision}\""));
        /// The headers of an answer arrived.
        Answers { watch: usize, request: usize, status: u16 } => ("answer {request} of watch {watch}: {status}")
            by lane(*watch) => answered(number(*watch, *request), Some(*status), String::new());
        /// A request ended, or its answer.
        Ends { watch: usize, request: usize, ending: Ending } => ("request {request} of watch {watch} ends: {ending:?}")
            by lane(*watch) => ended(number(*watch, *request), ending.in_file());
        /// A watch returned a change.
        Brings {
            watch: usize,
            /// `ADDED`, `MODIFIED` or `DELETED`.
            kind: &'static str,
            resource: Resource,
            /// The object.
            member: Member,
        } => ("watch {watch} brings {kind} {member}")
            by lane(*watch) => EventKind::Note {
                say: format!("{kind} {}", member.key),
                object: Some(objects.object(Source::Resource(*resource), &member.key, &member.state.uid)),
                revision: Some(member.state.revision),
            };
        /// A watch has returned all changes up to a version, as it says.
        Reaches { watch: usize, revision: u64 } => ("watch {watch} has brought all up to {revision}") by lane(*watch);
        /// A watch cannot be resumed.
        Fails { watch: usize, text: String } => ("watch {watch} fails: {text}") by lane(*watch);
        /// The run is over, and a watch had the time to return everything.
        Settles {
            watch: usize,
            /// The last revision of the server.
            revision: u64,
        } => ("watch {watch} should have brought all up to {revision}");
    }
}

// === impl WatcherEvent ===

impl Event for WatcherEvent {
    fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        self.row_in_file(objects)
    }
}

fn lane(watch: usize) -> Lane {
    Lane::Of(format!("watch {watch}"), Role::Client, None)
}

/// Returns the number of a request in trace files.
fn number(watch: usize, request: usize) -> usize {
    FIRST_REQUEST + 100_000 * watch + request
}
