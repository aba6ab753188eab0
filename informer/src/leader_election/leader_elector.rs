//! A candidate, and what it holds once it leads.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    LeaderElectionError, LeaderElectionOptions, LeaseCandidate, LeaseLock, driver::Candidate,
    machine::Observation,
};
use crate::task::TaskSet;

/// A candidate in an election.
#[doc(alias = "NewLeaderElector")]
#[derive(Clone, Debug)]
pub struct LeaderElector {
    lock: LeaseLock,
    identity: String,
    options: LeaderElectionOptions,
    /// Present if the server decides who leads.
    candidate: Option<LeaseCandidate>,
}

/// Proof of leading, for as long as it [is held](Self::is_held). A task renews the lease behind it.
///
/// Dropping it ends that task, which gives the lease back if the runtime keeps running; [`release`](Self::release)
/// waits for it. Stop the work before either.
#[must_use = "dropping it gives the leadership up"]
pub struct Leadership {
    lost: CancellationToken,
    tasks: TaskSet,
    transitions: u32,
    leads_until: watch::Receiver<Instant>,
    /// True if the lease is given back at the end.
    gives_back: Arc<AtomicBool>,
}

/// The right to write of a leadership, for others to look at. A clone shows the same.
#[derive(Clone, Debug)]
pub(crate) struct Fence {
    lost: CancellationToken,
    leads_until: watch::Receiver<Instant>,
}

// === impl LeaderElector ===

impl LeaderElector {
    /// A candidate for `lock` by the name of `identity`, which no other candidate has: the pod's name, say.
    ///
    /// # Errors
    ///
    /// [`LeaderElectionError::NoIdentity`] if the name is empty.
    pub fn new(lock: LeaseLock, identity: impl Into<String>) -> Result<Self, LeaderElectionError> {
        Self::with_options(lock, identity, LeaderElectionOptions::default())
    }

    /// The same, with options.
    ///
    /// # Errors
    ///
    /// [`LeaderElectionError`], if they do not go together, or the name is empty.
    pub fn with_options(
        lock: LeaseLock,
        identity: impl Into<String>,
        options: LeaderElectionOptions,
    ) -> Result<Self, LeaderElectionError> {
        let identity = identity.into();
        if identity.is_empty() {
            return Err(LeaderElectionError::NoIdentity);
        }
        options.check()?;
        Ok(Self {
            lock,
            identity,
            options,
            candidate: None,
        })
    }

    /// An elector that leaves it to the API server which candidate leads, coordinated leader election (KEP-4355): it takes the lease
    /// only when the server has granted it, and gives it up when the server prefers another. `candidate` stands from
    /// [`acquire`](Self::acquire) on until the leadership ends.
    ///
    /// # Errors
    ///
    /// [`LeaderElectionError`], if the options do not go together.
    #[doc(alias = "CoordinatedLeaderElection")]
    pub fn coordinated(
        candidate: LeaseCandidate,
        options: LeaderElectionOptions,
    ) -> Result<Self, LeaderElectionError> {
        let lock = candidate.lock().clone();
        let elector = Self::with_options(lock, candidate.identity(), options)?;
        Ok(Self {
            candidate: Some(candidate),
            ..elector
        })
    }

    /// Waits until this candidate leads, for as long as it takes: a limit is the caller's. What fails is logged and tried
    /// again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, this candidate does not lead. It may have taken the lease the moment before; that runs out then.
    #[doc(alias = "Run")]
    #[doc(alias = "RunOrDie")]
    pub async fn acquire(&self) -> Leadership {
        self.acquire_after(None).await
    }

    /// Does the same after the lease was seen: the wait for its end has begun then.
    pub(crate) async fn acquire_after(&self, seen: Option<Observation>) -> Leadership {
        let tasks = TaskSet::new();
        let mut candidate = self.candidate_in(&tasks);
        if let Some(seen) = seen {
            candidate.remember(seen);
        }
        candidate.acquire().await;
        let leadership = Leadership {
            lost: CancellationToken::new(),
            tasks,
            transitions: candidate.transitions(),
            leads_until: candidate.leads_until(),
            gives_back: Arc::new(AtomicBool::new(self.options.release_on_cancel)),
        };
        let stop = leadership.tasks.stop_token().clone();
        let gives_back = Arc::clone(&leadership.gives_back);
        let lead = candidate.lead(leadership.lost.clone(), stop, gives_back);
        leadership.tasks.spawn(lead);
        leadership
    }

    /// Creates the candidate. In a coordinated election it stands from now on, in a task of `tasks`.
    fn candidate_in(&self, tasks: &TaskSet) -> Candidate {
        let candidate = Candidate::new(self.lock.clone(), &self.identity, self.options.clone());
        let Some(standing) = self.candidate.clone() else {
            return candidate;
        };
        let (own, stop) = (standing.clone(), tasks.stop_token().clone());
        tasks.spawn(async move { own.run(stop).await });
        candidate.coordinated(standing)
    }

    /// The name of this candidate.
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

// === impl Leadership ===

impl Leadership {
    /// Returns whether it has not been lost yet. After the deadline it has, also if the process stood still until now, and the task
    /// that renews has not noticed.
    #[doc(alias = "IsLeader")]
    pub fn is_held(&self) -> bool {
        self.fence().is_open()
    }

    pub(crate) fn fence(&self) -> Fence {
        Fence {
            lost: self.lost.clone(),
            leads_until: self.leads_until.clone(),
        }
    }

    /// Sets whether the lease is given back when the leadership ends, in place of what the options say.
    pub(crate) fn set_gives_back(&self, gives_back: bool) {
        self.gives_back.store(gives_back, Ordering::Relaxed);
    }

    /// Resolves when it is lost: another took the lease, or it could not be renewed in time. The work must stop at once.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    #[doc(alias = "OnStoppedLeading")]
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Fires when it is lost or given up, for work that takes a token.
    pub fn token(&self) -> CancellationToken {
        self.lost.child_token()
    }

    /// Returns the number of changes of the lease's holder when it was acquired: larger for each later leader.
    pub fn transitions(&self) -> u32 {
        self.transitions
    }

    /// Ends the leadership. The lease is given back, unless the options say otherwise or it was lost before, so that
    /// another candidate leads at its next attempt.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the leadership still ends, but the caller does not wait for it.
    pub async fn release(self) {
        self.tasks.shutdown().await;
    }
}

// === impl Fence ===

impl Fence {
    /// Returns true if the leadership is held at this moment. Otherwise it is lost from now on, for all clones.
    pub(crate) fn is_open(&self) -> bool {
        let is_in_time = Instant::now() < *self.leads_until.borrow();
        if !is_in_time {
            self.lost.cancel();
        }
        is_in_time && !self.lost.is_cancelled()
    }
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("is_held", &self.is_held())
            .field("transitions", &self.transitions)
            .finish_non_exhaustive()
    }
}
