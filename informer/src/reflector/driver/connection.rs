//! The requests of a reflector, its open stream, and their time limits.

use std::{future::poll_fn, time::Duration};

use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::{
    flow::{Event, ObjectFlow, Page},
    reporter::Reporter,
};
use crate::{
    list_watch::{ListRequest, ListWatchError, WatchRequest},
    reflector::{
        ListGate, ReflectorOptions, Request,
        machine::{Moment, Step},
    },
};

/// The longest time that is waited for: the clock's arithmetic is safe up to it.
const WAIT_MAX: Duration = Duration::from_hours(24 * 365 * 30);

/// The requests to the server, and their time limits.
pub(super) struct Connection {
    gate: Option<ListGate>,
    /// The turn at the gate, held while a whole state is acquired.
    turn: Option<OwnedSemaphorePermit>,
    list_timeout: Duration,
    header_timeout: Duration,
    /// The least time between the beginnings of two watches.
    watch_interval_min: Duration,
    opened_at: Option<Instant>,
    began: Instant,
}

/// The result of a request, a read or a wait.
pub(super) enum Outcome {
    Listed(Page),
    Opened,
    Read(Event),
    Ended,
    Waited,
}

// === impl Connection ===

impl Connection {
    pub(super) fn new(gate: Option<ListGate>, options: &ReflectorOptions) -> Self {
        Self {
            gate,
            turn: None,
            list_timeout: options.list_timeout,
            header_timeout: options.header_timeout,
            watch_interval_min: Duration::ZERO,
            opened_at: None,
            began: Instant::now(),
        }
    }

    pub(super) fn set_watch_interval_min(&mut self, min: Duration) {
        self.watch_interval_min = min;
    }

    /// Returns the time as the machine counts it.
    pub(super) fn now(&self) -> Moment {
        self.began.elapsed()
    }

    /// Performs a step that the server or the clock ends.
    ///
    /// # Cancel safety
    ///
    /// A request under way is given up if dropped; an open stream stays open.
    pub(super) async fn perform(
        &mut self,
        flow: &mut dyn ObjectFlow,
        step: &Step,
        reporter: &mut Reporter,
    ) -> Result<Outcome, ListWatchError> {
        match step {
            Step::List(request) => {
                let page = self.list(flow, request, reporter).await?;
                Ok(Outcome::Listed(page))
            }
            Step::Open(request) => {
                self.open(flow, request, reporter).await?;
                Ok(Outcome::Opened)
            }
            Step::Read { until } => {
                let event = self.read(flow, *until).await.transpose()?;
                Ok(event.map_or(Outcome::Ended, Outcome::Read))
            }
            Step::Wait { until } => {
                match until {
                    Some(until) => sleep_until(later(self.began, *until)).await,
                    None => std::future::pending().await,
                }
                Ok(Outcome::Waited)
            }
            Step::Empty { .. } | Step::Stop => unreachable!("performed by the driver"),
        }
    }

    /// Waits for a turn at the gate, if there is one and none is held.
    pub(super) async fn take_turn(&mut self) {
        if let (Some(gate), None) = (&self.gate, &self.turn) {
            self.turn = Some(gate.enter().await);
        }
    }

    pub(super) fn end_turn(&mut self) {
        self.turn = None;
    }

    async fn list(
        &self,
        flow: &mut dyn ObjectFlow,
        request: &ListRequest,
        reporter: &mut Reporter,
    ) -> Result<Page, ListWatchError> {
        reporter.note_list_requested(request);
        tracing::debug!(rv = %request.resource_version, limit = request.limit, "listing");
        let limit = self.list_timeout;
        let listed = timeout(limit, flow.list(request)).await;
        within("whole page", limit, listed)
    }

    async fn open(
        &mut self,
        flow: &mut dyn ObjectFlow,
        request: &WatchRequest,
        reporter: &mut Reporter,
    ) -> Result<(), ListWatchError> {
        if let Some(opened_at) = self.opened_at
            && !self.watch_interval_min.is_zero()
        {
            sleep_until(later(opened_at, self.watch_interval_min)).await;
        }
        // Counted from the request, not from the answer: a server that answers late is not asked twice as soon.
        self.opened_at = Some(Instant::now());
        let kind = if request.send_initial_events {
            Request::StreamingList
        } else {
            Request::Watch
        };
        reporter.note_watch_requested(kind);
        tracing::debug!(rv = %request.resource_version, kind = ?kind, "opening a watch");
        let limit = self.header_timeout;
        let opened = timeout(limit, flow.open(request)).await;
        within("response", limit, opened)?;
        reporter.note_opened();
        Ok(())
    }

    async fn read(
        &self,
        flow: &mut dyn ObjectFlow,
        until: Moment,
    ) -> Option<Result<Event, ListWatchError>> {
        let limit = later(self.began, until);
        let began_at = self.now();
        // A stream that is always ready must not keep the other tasks of its thread waiting.
        tokio::task::consume_budget().await;
        let event = poll_fn(|cx| flow.poll_event(cx));
        timeout_at(limit, event).await.unwrap_or_else(|_| {
            Some(Err(ListWatchError::Timeout {
                what: "event or bookmark",
                limit: until.saturating_sub(began_at),
            }))
        })
    }
}

/// Returns the instant `time` after `start`, or the latest one at which the clock's arithmetic is safe.
fn later(start: Instant, time: Duration) -> Instant {
    start + time.min(WAIT_MAX)
}

/// Returns the outcome of something with a time limit.
fn within<T>(
    what: &'static str,
    limit: Duration,
    outcome: Result<Result<T, ListWatchError>, tokio::time::error::Elapsed>,
) -> Result<T, ListWatchError> {
    outcome.unwrap_or(Err(ListWatchError::Timeout { what, limit }))
}
