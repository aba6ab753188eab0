//! Performs the machine's decisions: requests, streams, deadlines, and writes to the store.

mod flow;
mod connection;
mod reporter;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use tokio_util::sync::CancellationToken;

use self::{
    connection::{Connection, Outcome},
    flow::{Event, Flow, ObjectFlow, Page},
    reporter::Reporter,
};
use super::{
    Decision, Failure, FailureCause, Phase, Reflector, ReflectorControl,
    control::Order,
    machine::{Effect, EventKind, Input, Machine, Mode, Step},
    policy::ErrorPolicy,
};
use crate::{
    entropy,
    list_watch::{ListWatch, ListWatchError},
    object::{DecodeError, ResourceVersion},
    store::{ReflectorStore, StoreClosed},
};

/// A running reflector.
pub(crate) struct Driver<K, L: ListWatch<K>, S> {
    flow: Flow<K, L, S>,
    engine: Engine,
}

/// The part of a driver that does not depend on the type of the objects.
struct Engine {
    connection: Connection,
    machine: Machine,
    effects: Vec<Effect>,
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
pub(crate) enum EndReason {
    StoreClosed(StoreClosed),
    /// The error policy or the mode ended it.
    Stopped,
}

/// The result of a step, or the order that interrupted it.
enum StepResult {
    Outcome(Result<Outcome, ListWatchError>),
    Ordered(Order),
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
            held,
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
            flow: Flow::new(list_watch, store, held),
            engine: Engine {
                connection: Connection::new(gate, &options),
                machine: Machine::new(mode, options, seed, &last_version),
                effects: Vec::new(),
                policy,
                control,
                reporter: Reporter::new(observer),
            },
        }
    }

    /// Opens watches at least `min` apart, from beginning to beginning.
    #[must_use]
    pub(crate) fn with_watch_interval_min(mut self, min: Duration) -> Self {
        self.engine.connection.set_watch_interval_min(min);
        self
    }

    /// Runs until `stop`, until the store is closed, or until the error policy says stop.
    pub(super) async fn run(&mut self, stop: CancellationToken) {
        self.engine.run(&mut self.flow, stop).await;
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
    pub(crate) async fn step(&mut self) -> Result<Progress, EndReason> {
        self.engine.step(&mut self.flow).await
    }

    pub(crate) fn store(&self) -> &S {
        &self.flow.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut S {
        &mut self.flow.store
    }

    /// Returns the version of the last state, change or bookmark.
    pub(crate) fn resource_version(&self) -> &ResourceVersion {
        self.engine.machine.last_version()
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.engine.machine.phase() == Phase::Stopped
    }

    /// Returns the name of the resource, if its `ListWatch` gives one.
    pub(crate) fn resource(&self) -> Option<&str> {
        self.flow.list_watch.resource()
    }
}

// === impl Engine ===

impl Engine {
    async fn run(&mut self, flow: &mut dyn ObjectFlow, stop: CancellationToken) {
        let ended = async {
            loop {
                if let Err(ended) = self.step(flow).await {
                    return ended;
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => tracing::debug!("reflector stopped"),
            ended = ended => tracing::debug!(reason = %ended, "reflector ended"),
        }
    }

    async fn step(&mut self, flow: &mut dyn ObjectFlow) -> Result<Progress, EndReason> {
        self.reporter.note_phase(self.machine.phase());
        let step = self.machine.step();
        // The old stream is closed before the next request is sent, so that a reflector never has two.
        if !matches!(step, Step::Read { .. }) {
            flow.close();
            self.reporter.note_watched();
        }
        // The turn ends before a delay, or others would wait at the gate for a reflector that only waits itself.
        if !self.machine.is_acquiring() {
            self.connection.end_turn();
        }
        let performed = match step {
            Step::Stop => return Err(EndReason::Stopped),
            Step::Empty { version } => return self.empty(flow, version).await,
            step => self.perform_unless_ordered(flow, &step).await,
        };
        let input = match performed {
            StepResult::Outcome(Ok(Outcome::Listed(page))) => {
                return self.take_page(flow, page).await;
            }
            StepResult::Outcome(Ok(Outcome::Read(event))) => {
                return self.take_event(flow, event).await;
            }
            StepResult::Outcome(Err(error)) => return self.fail(flow, error).await,
            StepResult::Outcome(Ok(Outcome::Opened)) => Input::Opened,
            StepResult::Outcome(Ok(Outcome::Ended)) => Input::Ended,
            StepResult::Outcome(Ok(Outcome::Waited)) => Input::Waited,
            StepResult::Ordered(order) => Input::Ordered(order),
        };
        self.handle(flow, input, None).await?;
        Ok(Progress::Other)
    }

    /// Performs `step`. An order that arrives meanwhile interrupts it.
    async fn perform_unless_ordered(
        &mut self,
        flow: &mut dyn ObjectFlow,
        step: &Step,
    ) -> StepResult {
        // An order to resume interrupts a wait, but no request.
        let is_news = |order| order == Order::Pause || matches!(step, Step::Wait { .. });
        if let Some(order) = self.control.take().filter(|order| is_news(*order)) {
            return StepResult::Ordered(order);
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
            connection.perform(flow, step, reporter).await
        };
        tokio::select! {
            biased;
            // An order that comes meanwhile is taken before the next step.
            outcome = performed => StepResult::Outcome(outcome),
            order = ordered => StepResult::Ordered(order),
        }
    }

    async fn empty(
        &mut self,
        flow: &mut dyn ObjectFlow,
        version: ResourceVersion,
    ) -> Result<Progress, EndReason> {
        tracing::debug!(rv = %version, "emptying the store");
        flow.empty(version).await?;
        self.handle(flow, Input::Emptied, None).await?;
        Ok(Progress::Other)
    }

    async fn take_page(
        &mut self,
        flow: &mut dyn ObjectFlow,
        page: Page,
    ) -> Result<Progress, EndReason> {
        self.reporter.note_page(page.len);
        for error in &page.undecodable {
            self.reporter.note_undecodable(error);
        }
        let input = Input::Page {
            version: &page.resource_version,
            continue_token: page.continue_token.as_deref(),
        };
        self.handle(flow, input, None).await?;
        // Asked after the page is staged: a decision to relist discards it, and one to go on must find it there.
        self.consult_about_objects(flow, page.undecodable);
        Ok(Progress::Received(None))
    }

    async fn take_event(
        &mut self,
        flow: &mut dyn ObjectFlow,
        event: Event,
    ) -> Result<Progress, EndReason> {
        self.reporter.note_event();
        let (kind, version, undecodable) = match event {
            Event::Object {
                kind,
                version,
                undecodable,
            } => (kind, version, undecodable),
            Event::Bookmark {
                version,
                is_end_of_initial_events,
            } => {
                let input = Input::Bookmark {
                    version: &version,
                    is_end_of_initial_events,
                };
                self.handle(flow, input, None).await?;
                return Ok(Progress::Received(None));
            }
            Event::Error(status) => return self.fail(flow, status.into()).await,
        };
        if let Some(error) = &undecodable {
            self.reporter.note_undecodable(error);
        }
        let input = Input::Event {
            kind,
            version: &version,
        };
        self.handle(flow, input, None).await?;
        self.consult_about_objects(flow, undecodable);
        Ok(Progress::Received(Some(kind)))
    }

    async fn fail(
        &mut self,
        flow: &mut dyn ObjectFlow,
        error: ListWatchError,
    ) -> Result<Progress, EndReason> {
        let input = Input::Failed {
            cause: FailureCause::of(&error),
            retry_after: error.retry_after(),
        };
        self.handle(flow, input, Some(&error)).await?;
        Ok(Progress::Failed(error))
    }

    /// Gives `input` to the machine, and performs the effects.
    async fn handle(
        &mut self,
        flow: &mut dyn ObjectFlow,
        input: Input<'_>,
        error: Option<&ListWatchError>,
    ) -> Result<(), EndReason> {
        let phase = self.machine.phase();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine
            .handle(self.connection.now(), input, &mut effects);
        // In the machine's order: the last page is staged before the list is committed.
        for effect in effects.drain(..) {
            match effect {
                Effect::Stage => flow.stage(),
                Effect::Deliver => flow.deliver().await?,
                Effect::Discard => flow.discard(),
                Effect::Commit {
                    version,
                    is_authoritative,
                } => {
                    tracing::debug!(rv = %version, is_authoritative, "replacing the store");
                    self.reporter.note_listed(&version);
                    flow.commit(version, is_authoritative).await?;
                }
                Effect::Bookmark { version } => flow.bookmark(version).await?,
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
                    let failure = self.consult(flow, failure);
                    // The policy first: observers are to see the delay that follows, not the one that was overruled.
                    self.reporter.note_failure(&failure, self.machine.phase());
                }
                Effect::ReportWentBack {
                    from,
                    to,
                    is_accepted,
                } => self.reporter.note_went_back(&from, &to, is_accepted),
            }
        }
        flow.release();
        self.effects = effects;
        Ok(())
    }

    /// Asks the policy about a failure, and follows it. Returns the failure with the policy's decision.
    fn consult<'a>(&mut self, flow: &mut dyn ObjectFlow, failure: Failure<'a>) -> Failure<'a> {
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
            flow.discard();
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
    fn consult_about_objects(
        &mut self,
        flow: &mut dyn ObjectFlow,
        refused: impl IntoIterator<Item = DecodeError>,
    ) {
        if !self.policy.is_set() {
            return;
        }
        for error in refused {
            let phase = self.machine.phase();
            let error = ListWatchError::Decode(error);
            let failure = Failure {
                phase,
                cause: FailureCause::Undecodable,
                error: Some(&error),
                attempt: self.machine.attempt(),
                delay: Duration::ZERO,
            };
            self.consult(flow, failure);
            if self.machine.phase() != phase {
                return;
            }
        }
    }
}

// === impl EndReason ===

impl From<StoreClosed> for EndReason {
    fn from(closed: StoreClosed) -> Self {
        Self::StoreClosed(closed)
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StoreClosed(closed) => closed.fmt(f),
            Self::Stopped => f.write_str("the error policy said so"),
        }
    }
}

/// Returns the seed of one reflector (FNV-1a): those of a program share the options' seed, and must not act in step.
fn seed_for(seed: u64, resource: &str) -> u64 {
    let basis = seed ^ 0xcbf2_9ce4_8422_2325;
    resource.bytes().fold(basis, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
