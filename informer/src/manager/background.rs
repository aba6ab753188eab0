//! A manager in a task of its own, beside its owner.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::ManagerError;
use crate::task::TaskSet;

/// The task of a manager. Dropping it ends the manager at once.
pub(crate) struct Background {
    stop: CancellationToken,
    outcome: Arc<Mutex<Option<Result<(), ManagerError>>>>,
    tasks: TaskSet,
}

// === impl Background ===

impl Background {
    /// Starts what `run` makes, which ends in good order at the token that it is given.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub(crate) fn start<F>(run: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = Result<(), ManagerError>> + Send + 'static,
    {
        let own = Self {
            stop: CancellationToken::new(),
            outcome: Arc::default(),
            tasks: TaskSet::new(),
        };
        let running = Box::pin(run(own.stop.clone()));
        let (outcome, dropped) = (Arc::clone(&own.outcome), own.tasks.stop_token().clone());
        own.tasks.spawn(async move {
            if let Some(ended) = dropped.run_until_cancelled(running).await {
                *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
            }
        });
        own
    }

    /// Ends in good order, and returns how the manager ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub(crate) async fn shutdown(self) -> Result<(), ManagerError> {
        self.stop.cancel();
        self.tasks.wait().await;
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.take().unwrap_or(Ok(()))
    }
}
