//! The owner's policy about failures.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use super::Failure;

/// A decision about a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The decision without a policy: the table of the [module](super).
    #[default]
    Default,
    /// Opens a watch at the last version, after the usual delay. Changes that the server still knows of are not missed; if it
    /// does not, that is the next failure. Where there is no whole state yet, and while the first list fails, it is as
    /// [`Relist`](Self::Relist).
    Retry,
    /// Gets a new whole state, after the usual delay.
    Relist,
    /// Does what it does without a policy, but after this delay; at least 100 ms and what the server asked for, so that
    /// no policy makes a hot loop.
    BackOff(Duration),
    /// Pauses as if the resource had been withdrawn: see [`PauseOptions`](super::PauseOptions).
    Pause,
    /// Ends the reflector, and the informer with it. What was received is still applied and delivered.
    Stop,
}

/// Decides about failures; does what is usual if it is not set.
#[derive(Clone, Default)]
pub(super) struct ErrorPolicy(Option<Arc<Policy>>);

type Policy = dyn Fn(&Failure<'_>) -> Decision + Send + Sync;

// === impl ErrorPolicy ===

impl ErrorPolicy {
    pub(super) fn new(policy: impl Fn(&Failure<'_>) -> Decision + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(policy)))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// A policy that panics decides nothing.
    pub(super) fn decide(&self, failure: &Failure<'_>) -> Decision {
        let Some(policy) = &self.0 else {
            return Decision::Default;
        };
        let decided = catch_unwind(AssertUnwindSafe(|| policy(failure)));
        decided.unwrap_or_else(|_| {
            tracing::error!(cause = %failure.cause, "error policy panicked");
            Decision::Default
        })
    }
}

impl fmt::Debug for ErrorPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ErrorPolicy").field(&self.is_set()).finish()
    }
}
