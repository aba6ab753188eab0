//! The waits of a run, by its clock and its threads.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Against;
use crate::trace::Recorder;

/// The interval of comparisons of caches with the servers: short at first, for an exact figure.
const COMPARISON_INTERVAL: Duration = Duration::from_millis(50);
// Comparing costs as much as listing: runs that take minutes are compared seldom.
const LATER_COMPARISON_INTERVAL: Duration = Duration::from_secs(1);
const COMPARISON_INTERVAL_IN_THREADS: Duration = Duration::from_millis(10);
/// The time for what is under way to end: on one thread, and over TCP.
const SETTLE: Duration = Duration::from_millis(20);
const SETTLE_OVER_TCP: Duration = Duration::from_millis(300);
/// The interval of looks at what other threads do.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The most that counts as the time from one look to the next. Longer ones are not the subjects' fault.
const POLL_INTERVAL_MAX: Duration = Duration::from_millis(100);

/// The waits of one run. On one thread they take a fixed time; in threads they last until what is waited for is so, which may
/// take long on a busy machine.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    against: Against,
    recorder: Recorder,
}

// === impl Pace ===

impl Pace {
    /// Creates the waits of a run that `recorder` records.
    pub(super) fn new(against: Against, recorder: Recorder) -> Self {
        Self { against, recorder }
    }

    /// Returns true if subjects use short time limits.
    pub(super) fn is_hurried(&self) -> bool {
        matches!(self.against, Against::InThreads(_))
    }

    /// Returns the wait from one comparison of caches with the servers to the next, `waited` after the first.
    pub(super) fn comparison_interval(&self, waited: Duration) -> Duration {
        match self.against {
            Against::InThreads(_) => COMPARISON_INTERVAL_IN_THREADS,
            _ if waited < LATER_COMPARISON_INTERVAL => COMPARISON_INTERVAL,
            _ => LATER_COMPARISON_INTERVAL,
        }
    }

    /// Waits until handlers are notified of what is in their cache, in threads until `has_settled` returns true. From what
    /// `observe` records there, nothing may be late.
    pub(super) async fn settle(&self, observe: impl FnOnce(), has_settled: impl Fn() -> bool) {
        match self.against {
            Against::InProcess => sleep(SETTLE).await,
            Against::Tcp => sleep(SETTLE_OVER_TCP).await,
            Against::InThreads(_) => {
                observe();
                self.poll(has_settled).await;
            }
        }
    }

    /// Waits until the server has noticed which watches clients have closed, in threads until `has_noticed` returns true. On
    /// one thread it notices them at once.
    pub(super) async fn notice(&self, has_noticed: impl Fn() -> bool) {
        match self.against {
            Against::InProcess | Against::Tcp => {}
            Against::InThreads(_) => self.poll(has_noticed).await,
        }
    }

    /// Waits until tasks and connections have ended, in threads until `has_ended` returns true.
    pub(super) async fn wind_down(&self, has_ended: impl Fn() -> bool) {
        match self.against {
            Against::InProcess | Against::Tcp => sleep(SETTLE).await,
            Against::InThreads(_) => self.poll(has_ended).await,
        }
    }

    /// Waits for the time in which subjects report their caches, if they need any.
    pub(super) async fn answer(&self) {
        if self.against == Against::Tcp {
            sleep(SETTLE_OVER_TCP).await;
        }
    }

    /// Waits until `is_so` returns true, but no longer than the lateness that checkers allow.
    async fn poll(&self, is_so: impl Fn() -> bool) {
        let mut waited = Duration::ZERO;
        // The lateness may grow meanwhile.
        while !is_so() && waited <= self.recorder.lateness() + POLL_INTERVAL {
            let looked_at = Instant::now();
            sleep(POLL_INTERVAL).await;
            waited += looked_at.elapsed().min(POLL_INTERVAL_MAX);
        }
    }
}
