//! The end of the process that started this one.

use std::{os::unix::process::parent_id, time::Duration};

use tokio::time;

/// The interval at which the parent is looked for.
const INTERVAL: Duration = Duration::from_millis(100);

/// The process that started this one.
///
/// The parent is polled: a signal at the parent's death would come at the end of the thread that started this
/// process, and Go's threads end while their processes live.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent(u32);

// === impl Parent ===

impl Parent {
    /// Takes the process that is the parent now. Called first, before it can be gone.
    pub(super) fn current() -> Self {
        Self(parent_id())
    }

    /// Completes when the parent has ended. The first process of a container has none, and waits forever.
    ///
    /// # Cancel safety
    ///
    /// The future can be dropped, and the function called again.
    pub(super) async fn ended(self) {
        if self.0 == 0 {
            return std::future::pending().await;
        }
        while parent_id() == self.0 {
            time::sleep(INTERVAL).await;
        }
    }
}
