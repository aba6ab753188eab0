//! The requests of a reflector, its open stream, and their time limits.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::reporter::Reporter;
use crate::{
    known::Known,
    list_watch::{ListPage, ListRequest, ListWatch, ListWatchError, WatchEvent, WatchRequest},
    reflector::{
        ListGate, ReflectorOptions, Request,
        machine::{Moment, Step},
    },
};

/// The longest time that is waited for: the clock's arithmetic is safe up to it.
const WAIT_MAX: Duration = Duration::from_hours(24 * 365 * 30);

/// The way to the server.
pub(super) struct Connection<K, L: ListWatch<K>> {
    pub(super) list_watch: L,
    pub(super) known: Arc<dyn Known<K>>,
    pub(super) gate: Option<ListGate>,
    /// The turn at the gate, held while a whole state is acquired.
    turn: Option<OwnedSemaphorePermit>,
    list_timeout: Duration,
    header_timeout: Duration,
    /// The least time between the beginnings of two watches.
    watch_interval_min: Duration,
    opened_at: Option<Instant>,
    /// The open stream, while the machine reads.
    stream: Option<L::Stream>,
    began: Instant,
}

/// The result of a request, a read or a wait.
pub(super) enum Outcome<K> {
    Listed(ListPage<K>),
    Opened,
    Read(WatchEvent<K>),
    Ended,
    Waited,
}

// === impl Connection ===

impl<K, L: ListWatch<K>> Connection<K, L> {
    pub(super) fn new(
        list_watch: L,
        known: Arc<dyn Known<K>>,
        gate: Option<ListGate>,
        options: &ReflectorOptions,
    ) -> Self {
        Self {
            list_watch,
            known,
            gate,
            turn: None,
            list_timeout: options.list_timeout,
            header_timeout: options.header_timeout,
            watch_interval_min: Duration::ZERO,
            opened_at: None,
            stream: None,
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
        step: &Step,
        reporter: &mut Reporter,
    ) -> Result<Outcome<K>, ListWatchError> {
        match step {
            Step::List(request) => self.list(request, reporter).await.map(Outcome::Listed),
            Step::Open(request) => {
                self.open(request, reporter).await?;
                Ok(Outcome::Opened)
            }
            Step::Read { until } => {
                let event = self.read(*until).await.transpose()?;
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

    pub(super) fn close_stream(&mut self) {
        self.stream = None;
    }

    async fn list(
        &mut self,
        request: &ListRequest,
        reporter: &mut Reporter,
    ) -> Result<ListPage<K>, ListWatchError> {
        reporter.note_list_requested(request);
        tracing::debug!(rv = %request.resource_version, limit = request.limit, "listing");
        let limit = self.list_timeout;
        let listed = timeout(limit, self.list_watch.list(request, &self.known)).await;
        within("whole page", limit, listed)
    }

    async fn open(
        &mut self,
        request: &WatchRequest,
        reporter: &mut Reporter,
    ) -> Result<(), ListWatchError> {
        if let Some(opened_at) = self.opened_at
            && !self.watch_interval_min.is_zero()
        {
            sleep_until(later(opened_at, self.watch_interval_min)).await;
        }
        self.opened_at = Some(Instant::now());
        let kind = if request.send_initial_events {
            Request::StreamingList
        } else {
            Request::Watch
        };
        reporter.note_watch_requested(kind);
        tracing::debug!(rv = %request.resource_version, kind = ?kind, "opening a watch");
        let limit = self.header_timeout;
        let opened = timeout(limit, self.list_watch.watch(request, &self.known)).await;
        self.stream = Some(within("response", limit, opened)?);
        reporter.note_opened();
        Ok(())
    }

    async fn read(&mut self, until: Moment) -> Option<Result<WatchEvent<K>, ListWatchError>> {
        let limit = later(self.began, until);
        let asked_at = self.now();
        let stream = self
            .stream
            .as_mut()
            .expect("a stream was opened before it is read");
        // A stream that is always ready must not keep the other tasks of its thread waiting.
        tokio::task::consume_budget().await;
        timeout_at(limit, stream.next()).await.unwrap_or_else(|_| {
            Some(Err(ListWatchError::Timeout {
                what: "event or bookmark",
                limit: until.saturating_sub(asked_at),
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
