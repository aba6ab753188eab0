//! Performs what the machine decides: one logical watch across many connections.

use std::sync::Arc;

use futures::StreamExt;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tracing::debug;

use super::{
    RetryWatcherError, WatchOptions,
    machine::{After, Machine, Step, Verdict},
};
use crate::{
    known::Known,
    list_watch::{Arrived, ListWatch, ListWatchError, WatchEvent, WatchRequest},
    object::ResourceVersion,
    reflector::Cause,
};

type Outcome<K> = Result<WatchEvent<K>, RetryWatcherError>;

/// The state of one logical watch, without the `ListWatch` that it goes through.
pub(super) struct Watching<K, L: ListWatch<K>> {
    machine: Machine,
    options: WatchOptions,
    known: Arc<dyn Known<K>>,
    /// The open stream; only while the machine reads.
    stream: Option<L::Stream>,
    /// What failed last, if nothing has come since.
    failure: Option<ListWatchError>,
}

// === impl Watching ===

impl<K, L: ListWatch<K>> Watching<K, L> {
    pub(super) fn new(
        from: ResourceVersion,
        options: WatchOptions,
        known: Arc<dyn Known<K>>,
    ) -> Result<Self, RetryWatcherError> {
        if !from.is_resumable() {
            return Err(RetryWatcherError::StartVersion(from));
        }
        Ok(Self {
            machine: Machine::new(from, options.clone()),
            options,
            known,
            stream: None,
            failure: None,
        })
    }

    /// The next change, or why there will be none.
    pub(super) async fn next(&mut self, list_watch: &L) -> Option<Outcome<K>> {
        loop {
            let outcome = match self.machine.step(Instant::now()) {
                Step::Over => return None,
                Step::Wait { until } => {
                    sleep_until(until).await;
                    None
                }
                Step::Open(request) => self.open(list_watch, &request).await,
                Step::Read { until } => self.read(until).await,
            };
            if outcome.is_some() {
                return outcome;
            }
        }
    }

    pub(super) fn resource_version(&self) -> &ResourceVersion {
        self.machine.last()
    }

    pub(super) fn take_failure(&mut self) -> Option<ListWatchError> {
        self.failure.take()
    }

    async fn open(&mut self, list_watch: &L, request: &WatchRequest) -> Option<Outcome<K>> {
        debug!(rv = %request.resource_version, "opening a watch");
        let limit = self.options.header_timeout;
        match timeout(limit, list_watch.watch(request, &self.known)).await {
            Ok(Ok(stream)) => {
                self.stream = Some(stream);
                self.machine.on_opened(Instant::now(), request);
                None
            }
            Ok(Err(error)) => self.fail(error),
            Err(_) => self.fail(ListWatchError::Timeout {
                what: "response",
                limit,
            }),
        }
    }

    async fn read(&mut self, until: Instant) -> Option<Outcome<K>> {
        let stream = self
            .stream
            .as_mut()
            .expect("a stream was opened before it is read");
        // A stream that is always ready must not keep the other tasks of its thread waiting.
        tokio::task::consume_budget().await;
        let asked = Instant::now();
        match timeout_at(until, stream.next()).await {
            Ok(Some(Ok(event))) => self.take_event(event),
            Ok(Some(Err(error))) => self.fail(error),
            Ok(None) => {
                self.stream = None;
                self.machine.on_ended(Instant::now());
                None
            }
            Err(_) => self.fail(ListWatchError::Timeout {
                what: "event or bookmark",
                limit: until.saturating_duration_since(asked),
            }),
        }
    }

    fn take_event(&mut self, event: WatchEvent<K>) -> Option<Outcome<K>> {
        let version = match &event {
            WatchEvent::Added(arrived)
            | WatchEvent::Modified(arrived)
            | WatchEvent::Deleted(arrived) => version_of(arrived).clone(),
            WatchEvent::Bookmark {
                resource_version, ..
            } => {
                self.failure = None;
                self.machine.on_bookmark(Instant::now(), resource_version);
                return None;
            }
            WatchEvent::Error(status) => return self.fail(status.clone().into()),
        };
        match self.machine.on_event(Instant::now(), &version) {
            Verdict::Deliver => {
                self.failure = None;
                Some(Ok(event))
            }
            Verdict::Skip => None,
            Verdict::Untold => {
                self.stream = None;
                Some(Err(RetryWatcherError::Untold {
                    version: self.machine.last().clone(),
                    source: ListWatchError::Protocol {
                        what: "an event without a version".to_owned(),
                        source: None,
                    },
                }))
            }
        }
    }

    fn fail(&mut self, error: ListWatchError) -> Option<Outcome<K>> {
        self.stream = None;
        let cause = Cause::of(&error);
        let version = self.machine.last().clone();
        let verdict = self
            .machine
            .on_failed(Instant::now(), cause, error.retry_after());
        let over = match verdict {
            After::Retry(delay) => {
                debug!(rv = %version, %cause, delay_ms = delay.as_millis(), "watching again");
                self.failure = Some(error);
                return None;
            }
            After::Expired => RetryWatcherError::Expired {
                version,
                source: error,
            },
            After::Untold => RetryWatcherError::Untold {
                version,
                source: error,
            },
            After::Refused => RetryWatcherError::Refused(error),
        };
        Some(Err(over))
    }
}

fn version_of<K>(arrived: &Arrived<K>) -> &ResourceVersion {
    match arrived {
        Ok(object) => object.resource_version(),
        Err(error) => &error.resource_version,
    }
}
