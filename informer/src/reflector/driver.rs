//! Performs what the machine decides: requests, streams, deadlines, and writing to the store.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{
    Cause, Failure, Phase, Reflector, ReflectorObserver, ReflectorOptions, Request,
    machine::{Effect, EventKind, Input, Machine, Moment, Step},
    staging::Staging,
};
use crate::{
    known::Known,
    list_watch::{Arrived, ListRequest, ListWatch, ListWatchError, WatchEvent, WatchRequest},
    object::DecodeError,
    store::{ReflectorStore, StoreClosed},
};

/// A running reflector.
pub(super) struct Driver<K, L: ListWatch<K>, S> {
    list_watch: L,
    store: S,
    options: ReflectorOptions,
    known: Arc<dyn Known<K>>,
    observer: Arc<dyn ReflectorObserver>,
    machine: Machine,
    effects: Vec<Effect>,
    staging: Staging<K>,
    /// The open stream; only while the machine reads.
    stream: Option<L::Stream>,
    phase: Option<Phase>,
    began: Instant,
}

/// The objects that came with an input.
enum AtHand<K> {
    Nothing,
    Page(Vec<Arrived<K>>),
    Event(EventKind, Arrived<K>),
}

// === impl Driver ===

impl<K, L, S> Driver<K, L, S>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
    S: ReflectorStore<K>,
{
    pub(super) fn new(reflector: Reflector<K, L, S>) -> Self {
        let mut options = reflector.options;
        options.seed = seed_for(
            options.seed,
            reflector.list_watch.resource().unwrap_or_default(),
        );
        Self {
            list_watch: reflector.list_watch,
            store: reflector.store,
            known: reflector.known,
            observer: reflector.observer,
            machine: Machine::new(options.clone()),
            options,
            effects: Vec::new(),
            staging: Staging::new(),
            stream: None,
            phase: None,
            began: Instant::now(),
        }
    }

    /// Goes on until the store is closed.
    pub(super) async fn drive(&mut self) -> StoreClosed {
        loop {
            if let Err(closed) = self.step().await {
                return closed;
            }
        }
    }

    async fn step(&mut self) -> Result<(), StoreClosed> {
        self.note_phase();
        let step = self.machine.step();
        if !matches!(step, Step::Read { .. }) {
            self.stream = None;
        }
        match step {
            Step::List(request) => self.list(&request).await,
            Step::Open(request) => self.open(&request).await,
            Step::Read { until } => self.read(until).await,
            Step::Wait { until } => {
                sleep_until(self.instant(until)).await;
                self.handle(Input::Waited, None, AtHand::Nothing).await
            }
        }
    }

    async fn list(&mut self, request: &ListRequest) -> Result<(), StoreClosed> {
        self.observer.requested(Request::List);
        tracing::debug!(rv = %request.resource_version, limit = request.limit, "listing");
        let limit = self.options.list_timeout;
        let listed = timeout(limit, self.list_watch.list(request, &self.known)).await;
        match within("whole page", limit, listed) {
            Ok(page) => {
                for error in page.items.iter().filter_map(|item| item.as_ref().err()) {
                    self.note_undecodable(error);
                }
                let input = Input::Page {
                    version: &page.resource_version,
                    continue_token: page.continue_token.as_deref(),
                };
                self.handle(input, None, AtHand::Page(page.items)).await
            }
            Err(error) => self.fail(&error).await,
        }
    }

    async fn open(&mut self, request: &WatchRequest) -> Result<(), StoreClosed> {
        let kind = if request.send_initial_events {
            Request::StreamingList
        } else {
            Request::Watch
        };
        self.observer.requested(kind);
        tracing::debug!(rv = %request.resource_version, kind = ?kind, "opening a watch");
        let limit = self.options.header_timeout;
        let opened = timeout(limit, self.list_watch.watch(request, &self.known)).await;
        match within("response", limit, opened) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.handle(Input::Opened, None, AtHand::Nothing).await
            }
            Err(error) => self.fail(&error).await,
        }
    }

    async fn read(&mut self, until: Moment) -> Result<(), StoreClosed> {
        let limit = self.instant(until);
        let stream = self
            .stream
            .as_mut()
            .expect("a stream was opened before it is read");
        // A stream that is always ready must not keep the other tasks of its thread waiting.
        tokio::task::consume_budget().await;
        let asked_at = self.began.elapsed();
        match timeout_at(limit, stream.next()).await {
            Ok(Some(Ok(event))) => self.take_event(event).await,
            Ok(Some(Err(error))) => self.fail(&error).await,
            Ok(None) => self.handle(Input::Ended, None, AtHand::Nothing).await,
            Err(_) => {
                let error = ListWatchError::Timeout {
                    what: "event or bookmark",
                    limit: until.saturating_sub(asked_at),
                };
                self.fail(&error).await
            }
        }
    }

    async fn take_event(&mut self, event: WatchEvent<K>) -> Result<(), StoreClosed> {
        let (kind, arrived) = match event {
            WatchEvent::Added(arrived) => (EventKind::Added, arrived),
            WatchEvent::Modified(arrived) => (EventKind::Modified, arrived),
            WatchEvent::Deleted(arrived) => (EventKind::Deleted, arrived),
            WatchEvent::Bookmark {
                resource_version,
                is_end_of_initial_events,
            } => {
                let input = Input::Bookmark {
                    version: &resource_version,
                    is_end_of_initial_events,
                };
                return self.handle(input, None, AtHand::Nothing).await;
            }
            WatchEvent::Error(status) => return self.fail(&status.into()).await,
        };
        let version = match &arrived {
            Ok(object) => object.resource_version().clone(),
            Err(error) => {
                self.note_undecodable(error);
                error.resource_version.clone()
            }
        };
        let input = Input::Event {
            kind,
            version: &version,
        };
        self.handle(input, None, AtHand::Event(kind, arrived)).await
    }

    async fn fail(&mut self, error: &ListWatchError) -> Result<(), StoreClosed> {
        let input = Input::Failed {
            cause: Cause::of(error),
            retry_after: error.retry_after(),
        };
        self.handle(input, Some(error), AtHand::Nothing).await
    }

    /// Tells the machine, and performs what it says.
    async fn handle(
        &mut self,
        input: Input<'_>,
        error: Option<&ListWatchError>,
        at_hand: AtHand<K>,
    ) -> Result<(), StoreClosed> {
        let phase = self.machine.phase();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine
            .handle(self.began.elapsed(), input, &mut effects);
        let mut at_hand = at_hand;
        for effect in effects.drain(..) {
            match effect {
                Effect::Stage => match std::mem::replace(&mut at_hand, AtHand::Nothing) {
                    AtHand::Nothing => {}
                    AtHand::Page(items) => self.staging.extend(items),
                    AtHand::Event(EventKind::Deleted, arrived) => self.staging.remove(&arrived),
                    AtHand::Event(_, arrived) => self.staging.put(arrived),
                },
                Effect::Deliver => {
                    if let AtHand::Event(kind, arrived) =
                        std::mem::replace(&mut at_hand, AtHand::Nothing)
                    {
                        self.deliver(kind, arrived).await?;
                    }
                }
                Effect::Discard => self.staging.discard(),
                Effect::Commit {
                    version,
                    is_authoritative,
                } => {
                    tracing::debug!(rv = %version, is_authoritative, "replacing the store");
                    let replacement = self.staging.take(version, is_authoritative);
                    self.store.replace(replacement).await?;
                }
                Effect::Bookmark { version } => self.store.bookmark(version).await?,
                Effect::ReportFailure {
                    cause,
                    attempt,
                    delay,
                } => self.note_failure(&Failure {
                    phase,
                    cause,
                    error,
                    attempt,
                    delay,
                }),
                Effect::ReportWentBack {
                    from,
                    to,
                    is_accepted,
                } => {
                    tracing::warn!(rv = %from, to_rv = %to, is_accepted, "the server went back");
                    self.observer.version_went_back(&from, &to, is_accepted);
                }
            }
        }
        self.effects = effects;
        Ok(())
    }

    async fn deliver(&mut self, kind: EventKind, arrived: Arrived<K>) -> Result<(), StoreClosed> {
        match (kind, arrived) {
            (EventKind::Added, Ok(object)) => self.store.add(object).await,
            (EventKind::Modified, Ok(object)) => self.store.update(object).await,
            (EventKind::Deleted, Ok(object)) => self.store.delete(object).await,
            (EventKind::Added | EventKind::Modified, Err(error)) => {
                self.store.undecodable(error).await
            }
            (EventKind::Deleted, Err(error)) => self.store.delete_undecodable(error).await,
        }
    }

    fn instant(&self, moment: Moment) -> Instant {
        // A limit that is beyond the clock's range is none that anybody lives to see.
        let latest = self.began + Duration::from_hours(24 * 365 * 30);
        self.began
            .checked_add(moment)
            .map_or(latest, |instant| instant.min(latest))
    }

    fn note_phase(&mut self) {
        let phase = self.machine.phase();
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            self.observer.phase_changed(phase);
        }
    }

    fn note_failure(&self, failure: &Failure<'_>) {
        let error = failure.error.map(|error| error as &dyn std::error::Error);
        let delay_ms = failure.delay.as_millis();
        let (cause, attempt) = (failure.cause, failure.attempt);
        if matches!(cause, Cause::Expired | Cause::EndedEarly) {
            tracing::debug!(error, %cause, attempt, delay_ms, "trying again");
        } else {
            tracing::warn!(error, %cause, attempt, delay_ms, "trying again");
        }
        self.observer.failed(failure);
    }

    fn note_undecodable(&self, error: &DecodeError) {
        // What the decoder says quotes the object; its place in the object does not.
        let (line, column) = (error.source.line(), error.source.column());
        tracing::warn!(key = %error.key, rv = %error.resource_version, line, column, "cannot decode an object");
        self.observer.undecodable(error);
    }
}

/// The seed of one reflector: those of a program share the options' seed, and must not act in step (FNV-1a).
fn seed_for(seed: u64, resource: &str) -> u64 {
    let basis = seed ^ 0xcbf2_9ce4_8422_2325;
    resource.bytes().fold(basis, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The outcome of something with a time limit.
fn within<T>(
    what: &'static str,
    limit: Duration,
    outcome: Result<Result<T, ListWatchError>, tokio::time::error::Elapsed>,
) -> Result<T, ListWatchError> {
    outcome.unwrap_or(Err(ListWatchError::Timeout { what, limit }))
}
