//! Observations of a factory of informers.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use super::{Ending, Heard, Key, Member};

/// An observation of a factory of informers. Views are numbered by their place in the plan, handlers in order of their
/// joining.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "tests write them by hand")]
pub enum FactoryEvent {
    /// A factory without informers is made, in place of an earlier one if there is one.
    Made,
    /// The informer of a view was requested.
    Requested {
        /// The view.
        view: usize,
        /// The list that its informer requests.
        list: Arc<str>,
        /// True if the view has a transform of its own.
        transforms: bool,
        /// The number of informers that the factory keeps.
        informer_count: usize,
    },
    /// A handler is added to the informer of a view.
    Joins {
        /// The view.
        view: usize,
        /// The handler.
        handler: usize,
    },
    /// A handler was removed.
    Leaves {
        /// The handler.
        handler: usize,
    },
    /// The handles to the informer of a view were dropped, and unused informers are released.
    Releases {
        /// The view.
        view: usize,
    },
    /// Unused informers have been released.
    Released {
        /// The number of informers that ended.
        count: usize,
        /// The number of informers that the factory keeps.
        informer_count: usize,
    },
    /// The factory is started.
    Starts,
    /// The start had the time to take effect.
    Started,
    /// It is shut down.
    Stops,
    /// The shutdown has ended.
    Stopped {
        /// The number of tasks that are left.
        task_count: usize,
    },
    /// A wait for the sync of all informers has ended.
    SyncWaitEnds {
        /// The number of starts before the wait began.
        start: usize,
        /// True if all have synced.
        has_synced: bool,
    },
    /// An informer sent a request.
    Asks {
        /// The number of the request.
        request: usize,
        /// The list, without parameters but selectors.
        list: Arc<str>,
        /// The kind of request.
        kind: FactoryRequest,
    },
    /// The headers of an answer arrived.
    Answers {
        /// The number of the request.
        request: usize,
        /// The HTTP status.
        status: u16,
    },
    /// A request ended, or its answer.
    Ends {
        /// The number of the request.
        request: usize,
        /// The kind of end.
        ending: Ending,
    },
    /// A handler was notified.
    Told {
        /// The handler.
        handler: usize,
        /// The object.
        key: Key,
        /// The notification.
        heard: Heard,
    },
    /// The cache of the informer of a view.
    Cached {
        /// The view.
        view: usize,
        /// True if it has synced.
        has_synced: bool,
        /// The handlers that have synced.
        synced_handlers: Vec<usize>,
        /// Its objects, in order of the keys.
        members: Vec<Member>,
    },
    /// The objects that the server has in the selection of a view, at the end.
    Wanted {
        /// The view.
        view: usize,
        /// The objects, in order of the keys.
        members: Vec<Member>,
    },
    /// An informer does not what its view asks for, or an act did not end.
    Differs {
        /// The difference.
        text: String,
    },
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

impl Display for FactoryEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Made => f.write_str("factory is made"),
            Self::Requested {
                view,
                list,
                transforms,
                informer_count,
            } => {
                let transform = if *transforms { " transformed" } else { "" };
                write!(
                    f,
                    "view {view} requests {list}{transform}: {informer_count} informers"
                )
            }
            Self::Joins { view, handler } => {
                write!(f, "factory's handler {handler} joins view {view}")
            }
            Self::Leaves { handler } => write!(f, "factory's handler {handler} leaves"),
            Self::Releases { view } => write!(f, "view {view} is released"),
            Self::Released {
                count,
                informer_count,
            } => write!(
                f,
                "factory has released {count}: {informer_count} informers"
            ),
            Self::Starts => f.write_str("factory starts"),
            Self::Started => f.write_str("factory has started"),
            Self::Stops => f.write_str("factory stops"),
            Self::Stopped { task_count } => {
                write!(f, "factory has stopped, {task_count} tasks left")
            }
            Self::SyncWaitEnds { start, has_synced } => {
                let synced = if *has_synced { "synced" } else { "not synced" };
                write!(f, "wait for sync after start {start} ends: {synced}")
            }
            Self::Told {
                handler,
                key,
                heard,
            } => write!(f, "factory's handler {handler}: {key} {heard:?}"),
            Self::Differs { text } => write!(f, "factory differs: {text}"),
            other => fmt_state(other, f),
        }
    }
}

/// Formats observations of requests and of caches.
fn fmt_state(event: &FactoryEvent, f: &mut Formatter<'_>) -> fmt::Result {
    match event {
        FactoryEvent::Asks {
            request,
            list,
            kind,
        } => {
            let verb = match kind {
                FactoryRequest::List => "list",
                FactoryRequest::Page => "next page of",
                FactoryRequest::Watch => "watch",
            };
            write!(f, "factory asks {request}: {verb} {list}")
        }
        FactoryEvent::Answers { request, status } => {
            write!(f, "answer {request} of factory: {status}")
        }
        FactoryEvent::Ends { request, ending } => {
            write!(f, "request {request} of factory ends: {ending:?}")
        }
        FactoryEvent::Cached {
            view,
            has_synced,
            synced_handlers,
            members,
        } => {
            let synced = if *has_synced { "synced" } else { "not synced" };
            write!(
                f,
                "cache of view {view} ({synced}, handlers {synced_handlers:?}):"
            )?;
            fmt_members(members, f)
        }
        FactoryEvent::Wanted { view, members } => {
            write!(f, "server in view {view}:")?;
            fmt_members(members, f)
        }
        other => write!(f, "{other:?}"),
    }
}

fn fmt_members(members: &[Member], f: &mut Formatter<'_>) -> fmt::Result {
    members.iter().try_for_each(|member| write!(f, " {member}"))
}
