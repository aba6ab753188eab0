//! Performs the machine's decisions: requests, streams, deadlines, and writes to the store.

mod connection;
mod reporter;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use self::{
    connection::{Connection, Outcome},
    reporter::Reporter,
};
use super::{
    Decision, Failure, FailureCause, Phase, Reflector, ReflectorControl,
    control::Order,
    machine::{Effect, EventKind, Input, Machine, Mode, Step},
    policy::ErrorPolicy,
    staging::Staging,
};
use crate::{
    entropy,
    list_watch::{Arrived, ListPage, ListWatch, ListWatchError, WatchEvent},
    object::{DecodeError, ResourceVersion},
    store::{Delta, ReflectorStore, Replacement, StoreClosed},
};

/// A running reflector.
pub(crate) struct Driver<K, L: ListWatch<K>, S> {
    connection: Connection<K, L>,
    machine: Machine,
    effects: Vec<Effect>,
    staging: Staging<K>,
    store: S,
    policy: ErrorPolicy,
    control: ReflectorControl,
    reporter: Reporter,
}

/// The result of one step.
#[derive(Debug)]
pub(crate) enum Progress {
    /// A page, an event about an object (of this kind), or a bookmark arrived.
    Received(Option<EventKind>),
    /// The request or the stream failed.
    Failed(ListWatchError),
    /// Anything else: a stream opened or ended, a delay passed.
    Other,
}

/// The reason why a reflector ended by itself.
#[derive(Debug)]
pub(crate) enum Ended {
    StoreClosed(StoreClosed),
    /// The error policy or the mode ended it.
    Stopped,
}

/// The result of a step, or the order that interrupted it.
enum Performed<K> {
    Outcome(Result<Outcome<K>, ListWatchError>),
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
    pub(super) fn new(reflector: Reflector<K, L, S>, mode: Mode) -> Self {
        let Reflector {
            list_watch,
            store,
            options,
            known,
            observer,
            policy,
            control,
            gate,
            last_version,
        } = reflector;
        let seed = seed_for(
            options.seed.unwrap_or_else(entropy::seed),
            list_watch.resource().unwrap_or_default(),
        );
        Self {
            connection: Connection::new(list_watch, known, gate, &options),
            machine: Machine::new(mode, options, seed, &last_version),
            effects: Vec::new(),
            staging: Staging::new(),
            store,
            policy,
            control,
            reporter: Reporter::new(observer),
        }
    }

    /// Opens watches at least `min` apart, from beginning to beginning.
    #[must_use]
    pub(crate) fn with_watch_interval_min(mut self, min: Duration) -> Self {
        self.connection.set_watch_interval_min(min);
        self
    }

    /// Runs until the store is closed, or the error policy says stop.
    pub(super) async fn drive(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.step().await {
                return ended;
            }
        }
    }

    /// Performs one step.
    ///
    /// # Errors
    ///
    /// The reflector has ended; so does every later call.
    ///
    /// # Cancel safety
    ///
    /// If dropped while the store is not waited for, the next call performs the same step again: a request is repeated,
    /// and an open stream is read further.
    pub(crate) async fn step(&mut self) -> Result<Progress, Ended> {
        self.reporter.note_phase(self.machine.phase());
        let step = self.machine.step();
        if !matches!(step, Step::Read { .. }) {
            self.connection.close_stream();
            self.reporter.note_watched();
        }
        if !self.machine.is_acquiring() {
            self.connection.end_turn();
        }
        let performed = match step {
            Step::Stop => return Err(Ended::Stopped),
            Step::Empty { version } => return self.empty(version).await,
            step => self.perform_unless_ordered(&step).await,
        };
        let input = match performed {
            Performed::Outcome(Ok(Outcome::Listed(page))) => return self.take_page(page).await,
            Performed::Outcome(Ok(Outcome::Read(event))) => return self.take_event(event).await,
            Performed::Outcome(Err(error)) => return self.fail(error).await,
            Performed::Outcome(Ok(Outcome::Opened)) => Input::Opened,
            Performed::Outcome(Ok(Outcome::Ended)) => Input::Ended,
            Performed::Outcome(Ok(Outcome::Waited)) => Input::Waited,
            Performed::Ordered(order) => Input::Ordered(order),
        };
        self.handle(input, None, AtHand::Nothing).await?;
        Ok(Progress::Other)
    }

    pub(crate) fn store(&self) -> &S {
        &self.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// Returns the version of the last state, change or bookmark.
    pub(crate) fn resource_version(&self) -> &ResourceVersion {
        self.machine.last_version()
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.machine.phase() == Phase::Stopped
    }

    /// Returns the name of the resource, if its `ListWatch` gives one.
    pub(crate) fn resource(&self) -> Option<&str> {
        self.connection.list_watch.resource()
    }

    /// Performs `step`. An order that arrives meanwhile interrupts it.
    async fn perform_unless_ordered(&mut self, step: &Step) -> Performed<K> {
        // An order to resume interrupts a wait, but no request.
        let is_news = |order| order == Order::Pause || matches!(step, Step::Wait { .. });
        if let Some(order) = self.control.take().filter(|order| is_news(*order)) {
            return Performed::Ordered(order);
        }
        let control = &self.control;
        let ordered = async {
            loop {
                let order = control.taken().await;
                if is_news(order) {
                    return order;
                }
            }
        };
        let is_acquiring = self.machine.is_acquiring();
        let (connection, reporter) = (&mut self.connection, &mut self.reporter);
        let performed = async {
            if is_acquiring {
                connection.take_turn().await;
            }
            connection.perform(step, reporter).await
        };
        tokio::select! {
            biased;
            // An order that comes meanwhile is taken before the next step.
            outcome = performed => Performed::Outcome(outcome),
            order = ordered => Performed::Ordered(order),
        }
    }

    /// Writes to the store that nothing of the resource is left.
    async fn empty(&mut self, version: ResourceVersion) -> Result<Progress, Ended> {
        tracing::debug!(rv = %version, "emptying the store");
        let mut replacement = Replacement::new(Vec::new(), version);
        replacement.is_authoritative = true;
        self.store.write(Delta::ReplacedAll(replacement)).await?;
        self.handle(Input::Emptied, None, AtHand::Nothing).await?;
        Ok(Progress::Other)
    }

    async fn take_page(&mut self, page: ListPage<K>) -> Result<Progress, Ended> {
        self.reporter.note_page(page.items.len());
        let refused = page.items.iter().filter_map(|item| item.as_ref().err());
        let refused: Vec<DecodeError> = refused.cloned().collect();
        for error in &refused {
            self.reporter.note_undecodable(error);
        }
        let input = Input::Page {
            version: &page.resource_version,
            continue_token: page.continue_token.as_deref(),
        };
        self.handle(input, None, AtHand::Page(page.items)).await?;
        self.consult_about_objects(refused);
        Ok(Progress::Received(None))
    }

    async fn take_event(&mut self, event: WatchEvent<K>) -> Result<Progress, Ended> {
        self.reporter.note_event();
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
                self.handle(input, None, AtHand::Nothing).await?;
                return Ok(Progress::Received(None));
            }
            WatchEvent::Error(status) => return self.fail(status.into()).await,
        };
        let mut refused = None;
        let version = match &arrived {
            Ok(object) => object.resource_version().clone(),
            Err(error) => {
                self.reporter.note_undecodable(error);
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
        Ok(Progress::Received(Some(kind)))
    }

    async fn fail(&mut self, error: ListWatchError) -> Result<Progress, Ended> {
        let input = Input::Failed {
            cause: FailureCause::of(&error),
            retry_after: error.retry_after(),
        };
        self.handle(input, Some(&error), AtHand::Nothing).await?;
        Ok(Progress::Failed(error))
    }

    /// Gives `input` to the machine, and performs the effects.
    async fn handle(
        &mut self,
        input: Input<'_>,
        error: Option<&ListWatchError>,
        mut at_hand: AtHand<K>,
    ) -> Result<(), Ended> {
        let phase = self.machine.phase();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine
            .handle(self.connection.now(), input, &mut effects);
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
                        self.store.write(delta_of(kind, arrived)).await?;
                    }
                }
                Effect::Discard => self.staging.discard(),
                Effect::Commit {
                    version,
                    is_authoritative,
                } => {
                    tracing::debug!(rv = %version, is_authoritative, "replacing the store");
                    self.reporter.note_listed(&version);
                    let replacement = self.staging.take(version, is_authoritative);
                    self.store.write(Delta::ReplacedAll(replacement)).await?;
                }
                Effect::Bookmark { version } => {
                    self.store.write(Delta::Bookmark(version)).await?;
                }
                Effect::ReportFailure {
                    cause,
                    attempt,
                    delay,
                } => {
                    let failure = self.consult(Failure {
                        phase,
                        cause,
                        error,
                        attempt,
                        delay,
                    });
                    self.reporter.note_failure(&failure, self.machine.phase());
                }
                Effect::ReportWentBack {
                    from,
                    to,
                    is_accepted,
                } => self.reporter.note_went_back(&from, &to, is_accepted),
            }
        }
        self.effects = effects;
        Ok(())
    }

    /// Asks the policy about a failure, and follows it. Returns the failure as it is then.
    fn consult<'a>(&mut self, failure: Failure<'a>) -> Failure<'a> {
        let decision = self.policy.decide(&failure);
        if decision == Decision::Default {
            return failure;
        }
        tracing::debug!(cause = %failure.cause, decision = ?decision, "decided by the error policy");
        let input = Input::Decided {
            decision,
            cause: failure.cause,
            retry_after: failure.error.and_then(ListWatchError::retry_after),
        };
        let mut effects = Vec::new();
        self.machine
            .handle(self.connection.now(), input, &mut effects);
        // A decision has no other effect on what came before.
        if effects.contains(&Effect::Discard) {
            self.staging.discard();
        }
        Failure {
            attempt: self.machine.attempt(),
            delay: match self.machine.phase() {
                Phase::BackingOff { delay, .. } => delay,
                Phase::Paused { probe_after, .. } => probe_after.unwrap_or_default(),
                _ => Duration::ZERO,
            },
            ..failure
        }
    }

    /// Asks the policy about objects that cannot be decoded. The first decision counts.
    fn consult_about_objects(&mut self, refused: impl IntoIterator<Item = DecodeError>) {
        if !self.policy.is_set() {
            return;
        }
        for error in refused {
            let phase = self.machine.phase();
            let error = ListWatchError::Decode(error);
            self.consult(Failure {
                phase,
                cause: FailureCause::Undecodable,
                error: Some(&error),
                attempt: self.machine.attempt(),
                delay: Duration::ZERO,
            });
            if self.machine.phase() != phase {
                return;
            }
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

fn delta_of<K>(kind: EventKind, arrived: Arrived<K>) -> Delta<K> {
    match (kind, arrived) {
        (EventKind::Added | EventKind::Modified, Ok(object)) => Delta::Upserted(object),
        (EventKind::Added | EventKind::Modified, Err(error)) => Delta::Undecodable(error),
        (EventKind::Deleted, Ok(object)) => Delta::Deleted(object),
        (EventKind::Deleted, Err(error)) => Delta::DeletedUndecodable(error),
    }
}

/// Returns the seed of one reflector (FNV-1a): those of a program share the options' seed, and must not act in step.
fn seed_for(seed: u64, resource: &str) -> u64 {
    let basis = seed ^ 0xcbf2_9ce4_8422_2325;
    resource.bytes().fold(basis, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
