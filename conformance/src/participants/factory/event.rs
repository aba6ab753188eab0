//! Observations of a factory of informers.

use std::sync::Arc;

use http::Uri;

use crate::{
    trace::{
        Ending, Event, Key, Lane, Member, NotifiedChange, Objects, answered, asked, ended, list,
        observations, synced,
    },
    tracefile::{EventKind, Role},
    transport::ExchangePart,
};

/// The number of the first request of a factory in trace files: those of informers have numbers of their own.
const FIRST_REQUEST: usize = 1_000_000;

observations! {
    /// An observation of a factory of informers. Views are numbered by their place in the plan, handlers in order of their
    /// joining.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "fields without docs are what their names say")]
    #[expect(clippy::exhaustive_enums, reason = "tests write them by hand")]
    pub enum FactoryEvent with (event, objects) {
        /// A factory without informers is made, in place of an earlier one if there is one.
        Made => ("factory is made") by lane();
        /// The informer of a view was requested.
        Requested {
            view: usize,
            /// The list that its informer requests.
            list: Arc<str>,
            /// True if the view has a transform of its own.
            transforms: bool,
            /// The number of informers that the factory keeps.
            informer_count: usize,
        } => (
            "view {view} requests {list}{}: {informer_count} informers",
            if *transforms { " transformed" } else { "" },
        )
            by lane();
        /// A handler is added to the informer of a view.
        Joins { view: usize, handler: usize } => ("factory's handler {handler} joins view {view}") by lane();
        /// A handler was removed.
        Leaves { handler: usize } => ("factory's handler {handler} leaves") by lane();
        /// The handles to the informer of a view were dropped, and unused informers are released.
        Releases { view: usize } => ("view {view} is released") by lane();
        /// Unused informers have been released.
        Released {
            /// The number of informers that ended.
            count: usize,
            /// The number of informers that the factory keeps.
            informer_count: usize,
        } => ("factory has released {count}: {informer_count} informers")
            by lane();
        /// The factory is started.
        Starts => ("factory starts") by lane();
        /// The start had the time to take effect.
        Started => ("factory has started") by lane();
        /// It is shut down.
        Stops => ("factory stops") by lane();
        /// The shutdown has ended.
        Stopped {
            /// The number of tasks that are left.
            task_count: usize,
        } => ("factory has stopped, {task_count} tasks left")
            by lane();
        /// A wait for the sync of all informers has ended.
        SyncWaitEnds {
            /// The number of starts before the wait began.
            start: usize,
            /// True if all have synced.
            has_synced: bool,
        } => ("wait for sync after start {start} ends: {}", synced(*has_synced))
            by lane();
        /// An informer sent a request.
        Asks {
            request: usize,
            /// The list, without parameters but selectors.
            list: Arc<str>,
            /// The kind of request.
            kind: FactoryRequest,
        } => ("factory asks {request}: {} {list}", kind.name())
            by lane() => asked(FIRST_REQUEST + request, kind.verb(), format!("{} {list}", kind.name()));
        /// The headers of an answer arrived.
        Answers { request: usize, status: u16 } => ("answer {request} of factory: {status}")
            by lane() => answered(FIRST_REQUEST + request, Some(*status), String::new());
        /// A request ended, or its answer.
        Ends { request: usize, ending: Ending } => ("request {request} of factory ends: {ending:?}")
            by lane() => ended(FIRST_REQUEST + request, ending.in_file());
        /// A handler was notified.
        Told {
            handler: usize,
            key: Key,
            /// The notification.
            change: NotifiedChange,
        } => ("factory's handler {handler}: {key} {change:?}")
            by lane();
        /// The cache of the informer of a view.
        Cached {
            view: usize,
            /// True if it has synced.
            has_synced: bool,
            /// The handlers that have synced.
            synced_handlers: Vec<usize>,
            /// Its objects, in order of the keys.
            members: Vec<Member>,
        } => (
            "cache of view {view} ({}, handlers {synced_handlers:?}):{}",
            synced(*has_synced),
            list(members),
        );
        /// The objects that the server has in the selection of a view, at the end.
        Wanted {
            view: usize,
            /// The objects, in order of the keys.
            members: Vec<Member>,
        } => ("server in view {view}:{}", list(members));
        /// An informer does not what its view asks for, or an act did not end.
        Differs { text: String } => ("factory differs: {text}") by lane();
    }
}

/// The kinds of requests of a factory's informers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum FactoryRequest {
    /// A list, or its first page.
    List,
    /// A later page of a list, which is asked for while the one before arrives.
    Page,
    /// A watch.
    Watch,
}

// === impl FactoryEvent ===

impl FactoryEvent {
    /// Returns what crossed the line of its client.
    pub(super) fn of_exchange(request: usize, crossing: &ExchangePart<'_>) -> Self {
        match crossing {
            ExchangePart::Asks(uri) => {
                let (list, kind) = list_of(uri);
                Self::Asks {
                    request,
                    list: list.into(),
                    kind,
                }
            }
            ExchangePart::Answers(status) => Self::Answers {
                request,
                status: *status,
            },
            ExchangePart::Ends(ending) => Self::Ends {
                request,
                ending: *ending,
            },
        }
    }
}

impl Event for FactoryEvent {
    fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        self.row_in_file(objects)
    }
}

// === impl FactoryRequest ===

impl FactoryRequest {
    const fn verb(self) -> &'static str {
        match self {
            Self::List | Self::Page => "list",
            Self::Watch => "watch",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Page => "next page of",
            Self::Watch => "watch",
        }
    }
}

/// Returns the path and the selectors of a request, and its kind.
fn list_of(uri: &Uri) -> (String, FactoryRequest) {
    let (mut list, mut kind) = (uri.path().to_owned(), FactoryRequest::List);
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match &*name {
            "labelSelector" | "fieldSelector" => {
                list.push(' ');
                list.push_str(&value);
            }
            "watch" => kind = FactoryRequest::Watch,
            "continue" => kind = FactoryRequest::Page,
            _ => {}
        }
    }
    (list, kind)
}

fn lane() -> Lane {
    Lane::Of("factory".to_owned(), Role::Client, None)
}
