//! One candidate at work: reads and writes the lease as the machine decides, and keeps the deadlines.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::{
    LeaderElectionOptions, LeaseCandidate, LeaseLock,
    lease_lock::HeldLease,
    machine::{Decision, Machine, Observation},
    record::Record,
};
use crate::{backoff::Jitter, entropy::fnv1a};

/// One candidate.
#[derive(Debug)]
pub(super) struct Candidate {
    lock: LeaseLock,
    options: LeaderElectionOptions,
    machine: Machine,
    held: Option<HeldLease>,
    jitter: Jitter,
    /// The candidate of a coordinated election: it stands no more before the lease is given back.
    standing: Option<Box<LeaseCandidate>>,
    /// Until when this candidate leads, if it does not renew before.
    leads_until: watch::Sender<Instant>,
}

/// The outcome of an attempt.
enum Attempt {
    Leads,
    Left {
        holder: String,
    },
    /// A coordinator wants another to lead.
    HandsOver {
        preferred: String,
    },
    /// The coordinator has granted the lease to this candidate, which does not lead by that grant: the record gives it back.
    Stale(Record),
}

/// The end of a leadership.
enum End {
    Lost,
    /// The lease is still held, and is to be given back when the work has ended.
    HandsOver,
}

// === impl Candidate ===

impl Candidate {
    pub(super) fn new(lock: LeaseLock, identity: &str, options: LeaderElectionOptions) -> Self {
        Self {
            machine: Machine::new(identity, &options),
            standing: None,
            jitter: Jitter::new(fnv1a(identity)),
            lock,
            options,
            held: None,
            leads_until: watch::Sender::new(Instant::now()),
        }
    }

    /// Leaves it to the server which candidate may take the lease.
    pub(super) fn coordinated(mut self, candidate: LeaseCandidate) -> Self {
        self.machine = self.machine.coordinated();
        self.standing = Some(Box::new(candidate));
        self
    }

    /// Takes over what was seen of the lease before, so that a wait for its end has begun then.
    pub(super) fn remember(&mut self, seen: Observation) {
        self.machine.remember(seen);
    }

    /// Shows until when this candidate leads.
    pub(super) fn leads_until(&self) -> watch::Receiver<Instant> {
        self.leads_until.subscribe()
    }

    /// Tries until the lease is this candidate's.
    pub(super) async fn acquire(&mut self) {
        loop {
            match self.attempt().await {
                Ok(Attempt::Leads) if Instant::now() < self.deadline() => {
                    info!(key = self.lock.key(), "leading");
                    return;
                }
                // The machine slept, for example. Others may take the lease by now.
                Ok(Attempt::Leads) => {
                    debug!(key = self.lock.key(), "the answer came after the deadline");
                }
                Ok(Attempt::Left { holder } | Attempt::HandsOver { preferred: holder }) => {
                    debug!(key = self.lock.key(), holder, "another leads");
                }
                Ok(Attempt::Stale(record)) => self.refuse(&record).await,
                Err(error) if error.is_conflict() => {
                    debug!(key = self.lock.key(), "another was faster");
                }
                Err(error) => warn!(key = self.lock.key(), %error, "cannot reach for the lease"),
            }
            self.machine.forget_attempts();
            let jitter = LeaderElectionOptions::JITTER * self.jitter.share();
            sleep(self.options.retry_period.mul_f64(1.0 + jitter)).await;
        }
    }

    /// Renews until the lease is lost, or until `stop`, and then gives it back if that is wanted. Either way `lost` fires at once: a request
    /// under way is not waited for.
    pub(super) async fn lead(
        mut self,
        lost: CancellationToken,
        stop: CancellationToken,
        gives_back: Arc<AtomicBool>,
    ) {
        let leading = async {
            tokio::select! {
                biased;
                // Another task has seen that the deadline is over.
                () = lost.cancelled() => End::Lost,
                end = self.renew() => end,
            }
        };
        let ended = stop.run_until_cancelled(leading).await;
        // Before anything is sent: work that relies on the lease has to end before another copy can have it.
        lost.cancel();
        match ended {
            Some(End::Lost) => {
                warn!(key = self.lock.key(), "no longer leading");
                return;
            }
            Some(End::HandsOver) => {
                info!(key = self.lock.key(), "a better candidate is to lead");
                // Until then, the work may go on.
                stop.cancelled().await;
            }
            None => {}
        }
        if gives_back.load(Ordering::Relaxed) {
            // The candidate is withdrawn before the lease is given back, or the server might grant the lease to it again.
            if let Some(candidate) = &self.standing {
                Box::pin(candidate.withdraw()).await;
            }
            self.release().await;
        }
    }

    pub(super) fn transitions(&self) -> u32 {
        u32::try_from(self.machine.transitions()).unwrap_or_default()
    }

    /// Renews until the lease is lost, or is to be handed over.
    async fn renew(&mut self) -> End {
        loop {
            let next = Instant::now() + self.options.retry_period;
            let deadline = self.deadline();
            sleep_until(next.min(deadline)).await;
            if Instant::now() >= deadline {
                // Nothing is sent any more: a write that took effect later would keep others waiting.
                return End::Lost;
            }
            match timeout_at(deadline, self.attempt()).await {
                Ok(Ok(Attempt::Leads)) => {}
                Ok(Ok(Attempt::Left { holder })) => {
                    debug!(key = self.lock.key(), holder, "another took the lease");
                    return End::Lost;
                }
                Ok(Ok(Attempt::HandsOver { preferred })) => {
                    debug!(key = self.lock.key(), preferred, "another is preferred");
                    return End::HandsOver;
                }
                // The term that this candidate led by is over. It ends before the lease is given back: that takes time, and
                // the next one may lead as soon as the grant has expired.
                Ok(Ok(Attempt::Stale(_))) => {
                    debug!(key = self.lock.key(), "the lease was granted again");
                    return End::Lost;
                }
                Ok(Err(error)) => debug!(key = self.lock.key(), %error, "cannot renew the lease"),
                Err(_) => return End::Lost,
            }
        }
    }

    async fn release(&mut self) {
        let limit = self.options.request_timeout();
        match timeout(limit, self.give_back()).await {
            Ok(Ok(true)) => info!(key = self.lock.key(), "gave the lease back"),
            Ok(Ok(false)) => debug!(key = self.lock.key(), "the lease is another's"),
            Ok(Err(error)) => debug!(key = self.lock.key(), %error, "cannot give the lease back"),
            Err(_) => debug!(key = self.lock.key(), "no answer to giving the lease back"),
        }
    }

    /// Gives the lease back. Returns false if it was not this leadership's any more.
    async fn give_back(&mut self) -> Result<bool, kube::Error> {
        let wall = self.options.clock.now();
        if let Some(record) = self.machine.release(wall) {
            match self.lock.write(self.held.as_ref(), &record).await {
                Err(error) if is_conflict(&error) => {}
                outcome => return outcome.map(|_| true),
            }
        }
        // The last renewal failed or was given up: it may have taken effect all the same.
        let Some((found, held)) = self.lock.get().await? else {
            return Ok(false);
        };
        let Some(record) = self.machine.release_of(&found, wall) else {
            return Ok(false);
        };
        self.lock.write(Some(&held), &record).await?;
        Ok(true)
    }

    /// Takes or renews the lease if that is allowed.
    async fn attempt(&mut self) -> Result<Attempt, AttemptError> {
        let begun = Instant::now();
        // Without a read first: a renewal in time costs one request.
        if let Some(record) = self.machine.renewal(begun, self.options.clock.now()) {
            match self.write(begun, record).await {
                // The lease was written to, perhaps by an earlier attempt of this candidate whose answer was lost.
                Err(error) if error.is_conflict() => {}
                outcome => return outcome.map(|()| Attempt::Leads),
            }
        }
        let limit = self.options.request_timeout();
        self.machine.on_asked(Instant::now());
        let found = timeout(limit, self.lock.get())
            .await
            .map_err(|_| AttemptError::NoAnswer)??;
        let (record, held) = found.unzip();
        self.held = held;
        let now = Instant::now();
        match self.machine.on_read(now, self.options.clock.now(), record) {
            Decision::Take(record) => {
                self.write(now, record).await?;
                Ok(Attempt::Leads)
            }
            Decision::Leave { holder, left } => {
                let left_ms = left.as_millis();
                debug!(key = self.lock.key(), holder, left_ms, "the lease is held");
                Ok(Attempt::Left { holder })
            }
            Decision::Await { holder } => Ok(Attempt::Left { holder }),
            Decision::HandOver { preferred } => Ok(Attempt::HandsOver { preferred }),
            Decision::GiveBack(record) => Ok(Attempt::Stale(record)),
        }
    }

    /// Gives back a lease that this candidate does not lead by. If that fails, the lease is read again.
    async fn refuse(&self, record: &Record) {
        let limit = self.options.request_timeout();
        match timeout(limit, self.lock.write(self.held.as_ref(), record)).await {
            Ok(Ok(_)) => debug!(key = self.lock.key(), "gave an old grant back"),
            Ok(Err(error)) => {
                debug!(key = self.lock.key(), %error, "cannot give an old grant back");
            }
            Err(_) => debug!(
                key = self.lock.key(),
                "no answer to giving an old grant back"
            ),
        }
    }

    async fn write(&mut self, begun: Instant, record: Record) -> Result<(), AttemptError> {
        // If this is dropped half-way, the lease is read before the next write.
        let mut machine = self.machine.clone();
        self.machine.on_write_begun(record.clone());
        let limit = self.options.request_timeout();
        let written = timeout(limit, self.lock.write(self.held.as_ref(), &record)).await;
        let held = written.map_err(|_| AttemptError::NoAnswer)??;
        machine.on_written(begun, record);
        self.machine = machine;
        self.held = Some(held);
        self.leads_until
            .send_replace(begun + self.options.renew_deadline);
        Ok(())
    }

    fn deadline(&self) -> Instant {
        *self.leads_until.borrow()
    }
}

/// The reason why an attempt failed. All of them may pass.
#[derive(Debug, thiserror::Error)]
enum AttemptError {
    #[error(transparent)]
    Server(#[from] kube::Error),
    #[error("no answer in time")]
    NoAnswer,
}

// === impl AttemptError ===

impl AttemptError {
    /// Returns whether another client has written or created the lease since it was read.
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Server(error) if is_conflict(error))
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}
