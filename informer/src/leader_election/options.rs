//! Options of an election.

use std::time::Duration;

use super::{LeaderElectionError, WallClock};

/// The duration and renewal of a lease. The same for all candidates.
///
/// Begin with [`LeaderElectionOptions::default`], client-go's values, and change what you need.
#[doc(alias = "LeaderElectionConfig")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeaderElectionOptions {
    /// The time after which a lease that is not renewed may be taken; 15 s. Written to it in whole seconds.
    pub lease_duration: Duration,
    /// The time for which a leader that cannot renew stays one; 10 s. Less than the lease lasts, by what clocks may
    /// differ in their rates and what a write may take to arrive.
    pub renew_deadline: Duration,
    /// The pause between two attempts; 2 s. A candidate that does not lead adds up to 1.2 times as much at random.
    pub retry_period: Duration,
    /// True if a leader that stops gives the lease back, so that another need not wait until it has run out; the
    /// default. The work must have ended by then.
    #[doc(alias = "ReleaseOnCancel")]
    pub release_on_cancel: bool,
    /// The time of day that is written to the lease, for people to read.
    pub clock: WallClock,
}

// === impl LeaderElectionOptions ===

impl LeaderElectionOptions {
    /// The largest part of the retry period that is added at random.
    pub(crate) const JITTER: f64 = 1.2;

    /// Returns the time limit of one request.
    pub(crate) fn request_timeout(&self) -> Duration {
        self.renew_deadline / 2
    }

    pub(crate) fn check(&self) -> Result<(), LeaderElectionError> {
        let is_sound = self.lease_duration >= Duration::from_secs(1)
            && self.lease_duration <= Duration::from_secs(i32::MAX.unsigned_abs().into())
            // Others go by the whole seconds that the lease says.
            && Duration::from_secs(self.lease_duration.as_secs()) > self.renew_deadline
            && self.renew_deadline > self.retry_period.mul_f64(Self::JITTER)
            && !self.retry_period.is_zero();
        if is_sound {
            Ok(())
        } else {
            Err(LeaderElectionError::Durations {
                lease_duration: self.lease_duration,
                renew_deadline: self.renew_deadline,
                retry_period: self.retry_period,
            })
        }
    }
}

impl Default for LeaderElectionOptions {
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            release_on_cancel: true,
            clock: WallClock::system(),
        }
    }
}
