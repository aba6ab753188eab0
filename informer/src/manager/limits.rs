//! The time limits of a run, which all managers have, and their setters.

use std::time::Duration;

/// The time limits at the beginning and at the end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// The longest wait for the first state of the caches.
    pub(crate) sync: Duration,
    /// The longest wait for the end of the controllers.
    pub(crate) stop: Duration,
}

// === impl RunLimits ===

impl Default for RunLimits {
    /// Two minutes for the beginning, and for the end as long as a pod has by default.
    fn default() -> Self {
        Self {
            sync: Duration::from_mins(2),
            stop: Duration::from_secs(30),
        }
    }
}

/// The setters of [`RunLimits`] in a manager, each with its documentation.
macro_rules! run_limit_setters {
    ($($limits:ident).+, $sync:literal, $stop:literal) => {
        #[doc = $sync]
        #[doc(alias = "CacheSyncTimeout")]
        pub fn with_sync_limit(mut self, limit: std::time::Duration) -> Self {
            self.$($limits).+.sync = limit;
            self
        }

        #[doc = $stop]
        #[doc(alias = "GracefulShutdownTimeout")]
        pub fn with_stop_limit(mut self, limit: std::time::Duration) -> Self {
            self.$($limits).+.stop = limit;
            self
        }
    };
}

pub(crate) use run_limit_setters;
