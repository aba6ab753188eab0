//! A candidate, and what it holds once it leads.

use std::fmt;

use tokio_util::sync::CancellationToken;

use super::{LeaderElectionError, LeaderElectionOptions, LeaseLock, driver::Candidate};
use crate::task::TaskSet;

/// A candidate in an election.
#[doc(alias = "NewLeaderElector")]
#[derive(Clone, Debug)]
pub struct LeaderElector {
    lock: LeaseLock,
    identity: String,
    options: LeaderElectionOptions,
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
        let mut candidate = Candidate::new(self.lock.clone(), &self.identity, self.options.clone());
        candidate.acquire().await;
        let leadership = Leadership {
            lost: CancellationToken::new(),
            tasks: TaskSet::new(),
            transitions: candidate.transitions(),
        };
        let stop = leadership.tasks.stop_token().clone();
        let lead = candidate.lead(leadership.lost.clone(), stop);
        leadership.tasks.spawn(lead);
        leadership
    }

    /// The name of this candidate.
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

// === impl Leadership ===

impl Leadership {
    /// Returns whether it has not been lost yet.
    #[doc(alias = "IsLeader")]
    pub fn is_held(&self) -> bool {
        !self.lost.is_cancelled()
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

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("is_held", &self.is_held())
            .field("transitions", &self.transitions)
            .finish_non_exhaustive()
    }
}
