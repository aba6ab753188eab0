//! One candidate: it stands, leads, loses and stands again, until it is stopped.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::FutureExt;
use informer::leader_election::{
    LeaderElectionOptions, LeaderElector, Leadership, LeaseCandidate, LeaseLock, WallClock,
};
use tokio::{sync::oneshot, time::Instant};

use super::{Candidacy, ElectionEvent, ElectionPlan, StopKind, line::CandidateLine, run::LEASE};
use crate::{
    participants::PANICKED,
    plan::NAMESPACES,
    task::TaskSet,
    trace::{Observation, Recorder},
};

/// The time of day at which a run begins, in seconds since 1970.
const TIME_OF_DAY_S: i64 = 1_700_000_000;

/// The version of all candidates, which emulate older ones.
const BINARY_VERSION: &str = "1.100.0";

/// A candidate that does not stand yet.
pub(super) struct CandidateRun {
    candidacy: Candidacy,
    elector: LeaderElector,
    recorder: Recorder,
    held: HeldLeadership,
}

/// The present leadership of a candidate, if there is one. Clones share it.
#[derive(Clone, Default)]
struct HeldLeadership(Arc<Mutex<Option<Arc<Leadership>>>>);

/// A candidate that stands. Its task ends with this.
pub(super) struct RunningCandidate {
    candidacy: Candidacy,
    recorder: Recorder,
    line: CandidateLine,
    held: HeldLeadership,
    stop: oneshot::Sender<StopKind>,
    task: TaskSet,
}

/// Creates the elector of a candidate, whose wall clock is as wrong as its plan says. The run began at `began`.
pub(super) fn elector(
    plan: &ElectionPlan,
    candidacy: Candidacy,
    client: kube::Client,
    began: Instant,
) -> LeaderElector {
    let passed = i64::try_from(began.elapsed().as_secs()).unwrap_or_default();
    let now = TIME_OF_DAY_S + passed + plan.candidates[candidacy.candidate].clock_ahead_s;
    let mut options = LeaderElectionOptions::default();
    options.lease_duration = Duration::from_millis(plan.lease_ms);
    options.renew_deadline = Duration::from_millis(plan.renew_ms);
    options.retry_period = Duration::from_millis(plan.retry_ms);
    options.clock = WallClock::simulated(u32::try_from(now).unwrap_or_default());
    let lock = LeaseLock::new(client, NAMESPACES[0], LEASE);
    let elector = if plan.is_coordinated {
        let emulates = plan.candidates[candidacy.candidate].emulates;
        let candidate = LeaseCandidate::new(lock, candidacy.name(), BINARY_VERSION)
            .expect("a candidate has a name")
            .with_emulation_version(format!("1.{emulates}.1"))
            .with_clock(options.clock);
        LeaderElector::coordinated(candidate, options)
    } else {
        LeaderElector::with_options(lock, candidacy.name(), options)
    };
    elector.expect("the durations of a plan go together")
}

// === impl CandidateRun ===

impl CandidateRun {
    pub(super) fn new(candidacy: Candidacy, elector: LeaderElector, recorder: Recorder) -> Self {
        Self {
            candidacy,
            elector,
            recorder,
            held: HeldLeadership::default(),
        }
    }

    /// Begins to stand, as a client of `line`, when the tasks of `before` have ended.
    pub(super) fn stand(self, line: CandidateLine, before: Option<TaskSet>) -> RunningCandidate {
        let (stop, stopped) = oneshot::channel();
        RunningCandidate {
            candidacy: self.candidacy,
            recorder: self.recorder.clone(),
            line,
            held: self.held.clone(),
            stop,
            task: TaskSet::of(self.run_to_end(before, stopped)),
        }
    }

    /// Runs until it is stopped, and records a panic.
    async fn run_to_end(self, before: Option<TaskSet>, stopped: oneshot::Receiver<StopKind>) {
        let (candidacy, recorder) = (self.candidacy, self.recorder.clone());
        let run = AssertUnwindSafe(self.run(before, stopped));
        if run.catch_unwind().await.is_err() {
            recorder.record(Observation::Warned {
                message: PANICKED.to_owned(),
                fields: format!(" {candidacy}"),
            });
        }
    }

    async fn run(self, before: Option<TaskSet>, mut stopped: oneshot::Receiver<StopKind>) {
        let candidacy = self.candidacy;
        let before = async {
            if let Some(before) = before {
                before.wait().await;
            }
        };
        // When a machine wakes, a stop may come before the first step of this task: then it never stands.
        tokio::select! {
            biased;
            _ = &mut stopped => return,
            () = before => {}
        }
        loop {
            self.record(ElectionEvent::Stands { candidacy });
            let leadership = tokio::select! {
                biased;
                _ = &mut stopped => return,
                leadership = self.elector.acquire() => Arc::new(leadership),
            };
            self.record(ElectionEvent::Leads {
                candidacy,
                transitions: leadership.transitions(),
            });
            self.held.set(Some(leadership.clone()));
            let kind = tokio::select! {
                biased;
                kind = &mut stopped => Some(kind.unwrap_or(StopKind::Crash)),
                () = leadership.lost() => None,
            };
            self.held.set(None);
            let leadership = Arc::into_inner(leadership).expect("the other handle is gone");
            match kind {
                None => self.record(ElectionEvent::Lost { candidacy }),
                Some(kind) => return self.give_up(leadership, kind).await,
            }
        }
    }

    async fn give_up(&self, leadership: Leadership, kind: StopKind) {
        let token = leadership.token();
        let record_end = async {
            token.cancelled().await;
            self.record(ElectionEvent::GaveUp {
                candidacy: self.candidacy,
            });
        };
        match kind {
            StopKind::Release => {
                tokio::join!(leadership.release(), record_end);
            }
            StopKind::Drop => {
                drop(leadership);
                record_end.await;
            }
            StopKind::Crash => drop(leadership),
        }
    }

    fn record(&self, event: ElectionEvent) {
        self.recorder.record(event);
    }
}

// === impl HeldLeadership ===

impl HeldLeadership {
    fn set(&self, leadership: Option<Arc<Leadership>>) {
        *self.0.lock().expect("no holder panics") = leadership;
    }

    /// Reads the present leadership, if there is one.
    fn read<T>(&self, read: impl FnOnce(&Leadership) -> T) -> Option<T> {
        let held = self.0.lock().expect("no holder panics");
        held.as_deref().map(read)
    }
}

// === impl RunningCandidate ===

impl RunningCandidate {
    /// Returns true if it leads.
    pub(super) fn leads(&self) -> bool {
        self.held.read(Leadership::is_held) == Some(true)
    }

    /// Records the state of its leadership, if it has one.
    pub(super) fn observe(&self) {
        let status = self.held.read(|leadership| ElectionEvent::Status {
            candidacy: self.candidacy,
            is_held: leadership.is_held(),
            is_cancelled: leadership.token().is_cancelled(),
        });
        if let Some(status) = status {
            self.recorder.record(status);
        }
    }

    /// Stops it, and returns the task that ends.
    pub(super) fn stop(self, kind: StopKind) -> TaskSet {
        let candidacy = self.candidacy;
        self.recorder
            .record(ElectionEvent::Stops { candidacy, kind });
        if kind == StopKind::Crash {
            self.line.sever();
        }
        // The task has not ended before.
        let _ = self.stop.send(kind);
        self.task
    }
}
