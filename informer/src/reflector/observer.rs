//! Reports of a reflector.

use std::time::Duration;

use super::FailureCause;
use crate::{
    list_watch::ListWatchError,
    object::{DecodeError, ResourceVersion},
};

/// Hears how a reflector is doing. All methods do nothing by default.
///
/// Calls come from the reflector's task, in order, and must not block.
#[doc(alias = "WatchErrorHandler")]
#[doc(alias = "WatchErrorHandlerWithContext")]
pub trait ReflectorObserver: Send + Sync + 'static {
    /// The reflector does something else now.
    fn phase_changed(&self, phase: Phase) {
        let _ = phase;
    }

    /// A request is about to be made.
    fn requested(&self, request: Request) {
        let _ = request;
    }

    /// A list is whole.
    fn listed(&self, list: ListSummary<'_>) {
        let _ = list;
    }

    /// Reports that a watch has ended, for any reason.
    fn watched(&self, watch: WatchSummary) {
        let _ = watch;
    }

    /// A request or a stream failed.
    fn failed(&self, failure: &Failure<'_>) {
        let _ = failure;
    }

    /// A version of an object arrived that cannot be decoded.
    fn undecodable(&self, error: &DecodeError) {
        let _ = error;
    }

    /// The server named an earlier version than one that was seen before. Only the most recent state, consistently read, is
    /// accepted then.
    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        let _ = (from, to, is_accepted);
    }
}

/// The phase of a reflector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Waits for the first page, or the next one.
    Listing,
    /// Waits for the response to a watch, or checks that the server still has the version to watch from.
    Connecting,
    /// Receives the present state as the first events of a watch.
    Streaming,
    /// Receives changes; the store holds a whole state.
    Watching,
    /// Waits before it tries again.
    BackingOff {
        /// The cause.
        cause: FailureCause,
        /// For how long.
        delay: Duration,
    },
    /// Sends no requests, or only a probe now and then. See [`PauseOptions`](super::PauseOptions).
    Paused {
        /// The cause; `None` if its owner asked for it.
        cause: Option<FailureCause>,
        /// The delay until the next probe; `None` if there is none until it is resumed.
        probe_after: Option<Duration>,
    },
    /// Has ended, since the error policy said so.
    Stopped,
}

/// A request to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Request {
    /// One page of a list.
    List,
    /// A watch that begins with the present state.
    StreamingList,
    /// A watch from a version on.
    Watch,
}

/// A list that was whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSummary<'a> {
    /// The version at which it is exact.
    pub resource_version: &'a ResourceVersion,
    /// The number of objects, those that cannot be decoded among them.
    pub items: u64,
    /// The time from the first page to the last, with all delays in between.
    pub duration: Duration,
}

/// A watch that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchSummary {
    /// The number of events and bookmarks.
    pub items: u64,
    /// The lifetime.
    pub duration: Duration,
}

/// A request or a stream that failed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// The phase of the reflector.
    pub phase: Phase,
    /// The class of the failure.
    pub cause: FailureCause,
    /// The error, if there was one: a watch that ended at once in good order has none.
    pub error: Option<&'a ListWatchError>,
    /// The number of consecutive delays, this one included.
    pub attempt: u32,
    /// The delay before the next attempt; zero if it tries something else at once.
    pub delay: Duration,
}

/// Hears nothing.
impl ReflectorObserver for () {}
