//! Performs what the machine decides: requests, streams, deadlines, and writing to the store.

mod reports;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::{
    Cause, Failure, Phase, Reflector, ReflectorControl, ReflectorObserver, ReflectorOptions,
    Request,
    control::Order,
    machine::{Effect, EventKind, Input, Machine, Moment, Step},
    policy::ErrorPolicy,
    staging::Staging,
};
use crate::{
    entropy,
    known::Known,
    list_watch::{
        Arrived, ListPage, ListRequest, ListWatch, ListWatchError, WatchEvent, WatchRequest,
    },
    object::{DecodeError, ResourceVersion},
    store::{ReflectorStore, Replacement, StoreClosed},
};

/// A running reflector.
pub(super) struct Driver<K, L: ListWatch<K>, S> {
    list_watch: L,
    store: S,
    options: ReflectorOptions,
    known: Arc<dyn Known<K>>,
    observer: Arc<dyn ReflectorObserver>,
    policy: ErrorPolicy,
    control: ReflectorControl,
    machine: Machine,
    effects: Vec<Effect>,
    staging: Staging<K>,
    /// The open stream; only while the machine reads.
    stream: Option<L::Stream>,
    phase: Option<Phase>,
    /// Why it pauses, as it was logged; until it watches again.
    paused_for: Option<Option<Cause>>,
    began: Instant,
}

/// Why a reflector ended by itself.
#[derive(Debug)]
pub(super) enum Ended {
    StoreClosed(StoreClosed),
    /// The error policy said so.
    Stopped,
}

/// What came of a step.
enum Outcome<K, S> {
    Listed(Result<ListPage<K>, ListWatchError>),
    Opened(Result<S, ListWatchError>),
    Read(Option<Result<WatchEvent<K>, ListWatchError>>),
    Waited,
    Ordered(Order),
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
        let options = reflector.options;
        let seed = seed_for(
            options.seed.unwrap_or_else(entropy::seed),
            reflector.list_watch.resource().unwrap_or_default(),
        );
        Self {
            list_watch: reflector.list_watch,
            store: reflector.store,
            known: reflector.known,
            observer: reflector.observer,
            policy: reflector.policy,
            control: reflector.control,
            machine: Machine::new(options.clone(), seed),
            options,
            effects: Vec::new(),
            staging: Staging::new(),
            stream: None,
            phase: None,
            paused_for: None,
            began: Instant::now(),
        }
    }

    /// Goes on until the store is closed, or the error policy says stop.
    pub(super) async fn drive(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.step().await {
                return ended;
            }
        }
    }

    async fn step(&mut self) -> Result<(), Ended> {
        self.note_phase();
        let step = self.machine.step();
        if !matches!(step, Step::Read { .. }) {
            self.stream = None;
        }
        let outcome = match step {
            Step::Stop => return Err(Ended::Stopped),
            Step::Empty { version } => return self.empty(version).await,
            step => self.perform_unless_ordered(&step).await,
        };
        match outcome {
            Outcome::Listed(Ok(page)) => self.take_page(page).await,
            Outcome::Opened(Ok(stream)) => {
                self.stream = Some(stream);
                self.handle(Input::Opened, None, AtHand::Nothing).await
            }
            Outcome::Read(Some(Ok(event))) => self.take_event(event).await,
            Outcome::Read(None) => self.handle(Input::Ended, None, AtHand::Nothing).await,
            Outcome::Listed(Err(error))
            | Outcome::Opened(Err(error))
            | Outcome::Read(Some(Err(error))) => self.fail(&error).await,
            Outcome::Waited => self.handle(Input::Waited, None, AtHand::Nothing).await,
            Outcome::Ordered(order) => {
                self.handle(Input::Ordered(order), None, AtHand::Nothing)
                    .await
            }
        }
    }

    /// What is in flight when an order comes is given up.
    async fn perform_unless_ordered(&mut self, step: &Step) -> Outcome<K, L::Stream> {
        let control = self.control.clone();
        if let Some(order) = control.take() {
            return Outcome::Ordered(order);
        }
        tokio::select! {
            biased;
            // An order that comes meanwhile is taken before the next step.
            outcome = self.perform(step) => outcome,
            order = control.taken() => Outcome::Ordered(order),
        }
    }

    async fn perform(&mut self, step: &Step) -> Outcome<K, L::Stream> {
        match step {
            Step::List(request) => Outcome::Listed(self.list(request).await),
            Step::Open(request) => Outcome::Opened(self.open(request).await),
            Step::Read { until } => Outcome::Read(self.read(*until).await),
            Step::Wait { until } => {
                match until {
                    Some(until) => sleep_until(self.instant(*until)).await,
                    None => std::future::pending().await,
                }
                Outcome::Waited
            }
            Step::Empty { .. } | Step::Stop => unreachable!("performed by the caller"),
        }
    }

    async fn list(&mut self, request: &ListRequest) -> Result<ListPage<K>, ListWatchError> {
        self.observer.requested(Request::List);
        tracing::debug!(rv = %request.resource_version, limit = request.limit, "listing");
        let limit = self.options.list_timeout;
        let listed = timeout(limit, self.list_watch.list(request, &self.known)).await;
        within("whole page", limit, listed)
    }

    async fn open(&mut self, request: &WatchRequest) -> Result<L::Stream, ListWatchError> {
        let kind = if request.send_initial_events {
            Request::StreamingList
        } else {
            Request::Watch
        };
        self.observer.requested(kind);
        tracing::debug!(rv = %request.resource_version, kind = ?kind, "opening a watch");
        let limit = self.options.header_timeout;
        let opened = timeout(limit, self.list_watch.watch(request, &self.known)).await;
        within("response", limit, opened)
    }

    async fn read(&mut self, until: Moment) -> Option<Result<WatchEvent<K>, ListWatchError>> {
        let limit = self.instant(until);
        let stream = self
            .stream
            .as_mut()
            .expect("a stream was opened before it is read");
        // A stream that is always ready must not keep the other tasks of its thread waiting.
        tokio::task::consume_budget().await;
        let asked_at = self.began.elapsed();
        timeout_at(limit, stream.next()).await.unwrap_or_else(|_| {
            Some(Err(ListWatchError::Timeout {
                what: "event or bookmark",
                limit: until.saturating_sub(asked_at),
            }))
        })
    }

    /// Tells the store that nothing of the resource is left.
    async fn empty(&mut self, version: ResourceVersion) -> Result<(), Ended> {
        tracing::debug!(rv = %version, "emptying the store");
        let mut replacement = Replacement::new(Vec::new(), version);
        replacement.is_authoritative = true;
        self.store.replace(replacement).await?;
        self.handle(Input::Emptied, None, AtHand::Nothing).await
    }

    async fn take_page(&mut self, page: ListPage<K>) -> Result<(), Ended> {
        let refused = page.items.iter().filter_map(|item| item.as_ref().err());
        let refused: Vec<DecodeError> = refused.cloned().collect();
        for error in &refused {
            self.note_undecodable(error);
        }
        let input = Input::Page {
            version: &page.resource_version,
            continue_token: page.continue_token.as_deref(),
        };
        self.handle(input, None, AtHand::Page(page.items)).await?;
        self.consult_about_objects(refused);
        Ok(())
    }

    async fn take_event(&mut self, event: WatchEvent<K>) -> Result<(), Ended> {
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
        let mut refused = None;
        let version = match &arrived {
            Ok(object) => object.resource_version().clone(),
            Err(error) => {
                self.note_undecodable(error);
                refused = Some(error.clone());
                error.resource_version.clone()
            }
        };
        let input = Input::Event {
            kind,
            version: &version,
        };
        self.handle(input, None, AtHand::Event(kind, arrived))
            .await?;
        self.consult_about_objects(refused);
        Ok(())
    }

    async fn fail(&mut self, error: &ListWatchError) -> Result<(), Ended> {
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
        mut at_hand: AtHand<K>,
    ) -> Result<(), Ended> {
        let phase = self.machine.phase();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine
            .handle(self.began.elapsed(), input, &mut effects);
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
                } => {
                    let failure = Failure {
                        phase,
                        cause,
                        error,
                        attempt,
                        delay,
                    };
                    let failure = self.consult(failure);
                    self.note_failure(&failure);
                }
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
}

// === impl Ended ===

impl From<StoreClosed> for Ended {
    fn from(closed: StoreClosed) -> Self {
        Self::StoreClosed(closed)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StoreClosed(closed) => closed.fmt(f),
            Self::Stopped => f.write_str("the error policy said so"),
        }
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
