//! What the machine and its driver say to each other.

use std::time::Duration;

use crate::{
    list_watch::{ListRequest, WatchRequest},
    object::ResourceVersion,
    reflector::{Cause, Decision, control::Order},
};

/// A time, as the time since the reflector began.
pub(in crate::reflector) type Moment = Duration;

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::reflector) enum Step {
    /// Ask for a page.
    List(ListRequest),
    /// Open a watch.
    Open(WatchRequest),
    /// Wait for the next item of the open stream, but not longer than until then.
    Read { until: Moment },
    /// Wait, at the longest until then; for ever if there is no such time.
    Wait { until: Option<Moment> },
    /// Empty the store, which is at this version.
    Empty { version: ResourceVersion },
    /// End.
    Stop,
}

/// What came of the step.
#[derive(Clone, Copy, Debug)]
pub(in crate::reflector) enum Input<'a> {
    /// A page came.
    Page {
        version: &'a ResourceVersion,
        continue_token: Option<&'a str>,
    },
    /// The watch is open.
    Opened,
    /// An event about an object came.
    Event {
        kind: EventKind,
        version: &'a ResourceVersion,
    },
    /// A bookmark came.
    Bookmark {
        version: &'a ResourceVersion,
        is_end_of_initial_events: bool,
    },
    /// The stream ended in good order.
    Ended,
    /// The request or the stream failed, or its time was up.
    Failed {
        cause: Cause,
        retry_after: Option<Duration>,
    },
    /// The time to wait for has come.
    Waited,
    /// The store is empty.
    Emptied,
    /// The owner decided about the failure that was reported last.
    Decided {
        decision: Decision,
        cause: Cause,
        retry_after: Option<Duration>,
    },
    /// The owner says so, at any time.
    Ordered(Order),
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::reflector) enum EventKind {
    Added,
    Modified,
    Deleted,
}

/// What the driver is to do with what it has at hand, before the next step.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::reflector) enum Effect {
    /// Put the objects at hand into staging.
    Stage,
    /// Write the event at hand to the store.
    Deliver,
    /// Empty the staging.
    Discard,
    /// Replace the store's state by the staging.
    Commit {
        version: ResourceVersion,
        is_authoritative: bool,
    },
    /// Tell the store that all up to this version was delivered.
    Bookmark { version: ResourceVersion },
    /// Tell the observer of a failure.
    ReportFailure {
        cause: Cause,
        attempt: u32,
        delay: Duration,
    },
    /// Tell the observer that the server went back.
    ReportWentBack {
        from: ResourceVersion,
        to: ResourceVersion,
        is_accepted: bool,
    },
}
