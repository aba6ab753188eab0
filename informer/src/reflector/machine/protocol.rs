//! The protocol between the machine and its driver: steps, inputs and effects.

use std::time::Duration;

use crate::{
    list_watch::{ListRequest, WatchRequest},
    object::ResourceVersion,
    reflector::{Decision, FailureCause, control::Order},
};

/// The task of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Keeps a store equal to the server: begins with any state, and relists where a watch keeps failing.
    Mirror,
    /// Delivers every change, once and in order, from the most recent state on: a watch is tried again for as long as the
    /// server has its version, and relisted only then.
    Wait,
    /// As `Wait`, from a version on, and never lists: stops where only a list would help, and when the server refuses.
    Follow,
}

/// A time, as the time since the reflector began.
pub(in crate::reflector) type Moment = Duration;

/// The next action of the driver.
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

/// The result of a step.
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
        cause: FailureCause,
        retry_after: Option<Duration>,
    },
    /// The time to wait for has come.
    Waited,
    /// The store is empty.
    Emptied,
    /// The owner decided about the failure that was reported last.
    Decided {
        decision: Decision,
        cause: FailureCause,
        retry_after: Option<Duration>,
    },
    /// The owner requests it, at any time.
    Ordered(Order),
}

/// The kind of an event about an object, in the words of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Added,
    Modified,
    Deleted,
}

/// An action of the driver on what it has at hand, before the next step.
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
        cause: FailureCause,
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
