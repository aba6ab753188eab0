//! Performs what the machine decides: requests, streams, deadlines, and writing to the store.

mod effects;
mod reports;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::{
    Cause, ListGate, Phase, Reflector, ReflectorControl, ReflectorObserver, ReflectorOptions,
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
    gate: Option<ListGate>,
    /// Its turn at the gate; only while it gets a whole state.
    turn: Option<OwnedSemaphorePermit>,
    machine: Machine,
    effects: Vec<Effect>,
    staging: Staging<K>,
    /// The list that is under way, if there is one.
    listing: Option<Tally>,
    /// The open stream; only while the machine reads.
    stream: Option<L::Stream>,
    watching: Option<Tally>,
    phase: Option<Phase>,
    /// Whether it was logged that it pauses, and why; until it watches again.
    is_pause_logged: bool,
    paused_for: Option<Cause>,
    began: Instant,
}

/// What came of a list or a watch so far.
#[derive(Clone, Copy)]
struct Tally {
    began: Instant,
    items: u64,
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
            gate: reflector.gate,
            turn: None,
            machine: Machine::new(options.clone(), seed, &reflector.last_version),
            options,
            effects: Vec::new(),
            staging: Staging::new(),
            listing: None,
            stream: None,
            watching: None,
            phase: None,
            is_pause_logged: false,
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
            self.note_watched();
        }
        if !self.machine.is_acquiring() {
            self.turn = None;
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
                self.watching = Some(Tally::new());
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
        // To go on is news only to who waits: a request is not given up for that.
        let is_news = |order| order == Order::Pause || matches!(step, Step::Wait { .. });
        if let Some(order) = control.take().filter(|order| is_news(*order)) {
            return Outcome::Ordered(order);
        }
        let ordered = async {
            loop {
                let order = control.taken().await;
                if is_news(order) {
                    return order;
                }
            }
        };
        tokio::select! {
            biased;
            // An order that comes meanwhile is taken before the next step.
            outcome = self.perform(step) => outcome,
            order = ordered => Outcome::Ordered(order),
        }
    }

    async fn perform(&mut self, step: &Step) -> Outcome<K, L::Stream> {
        if let Some(gate) = &self.gate
            && self.turn.is_none()
            && self.machine.is_acquiring()
        {
            self.turn = Some(gate.enter().await);
        }
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
        if request.continue_token.is_none() {
            self.listing = Some(Tally::new());
        }
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
        if let Some(listing) = &mut self.listing {
            listing.items += page.items.len() as u64;
        }
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
        if let Some(watching) = &mut self.watching {
            watching.items += 1;
        }
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

    fn instant(&self, moment: Moment) -> Instant {
        // A limit that is beyond the clock's range is none that anybody lives to see.
        let latest = self.began + Duration::from_hours(24 * 365 * 30);
        self.began
            .checked_add(moment)
            .map_or(latest, |instant| instant.min(latest))
    }
}

// === impl Tally ===

impl Tally {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            items: 0,
        }
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
