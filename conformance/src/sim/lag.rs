//! The scheduling lag of a run in real time: the time by which the system wakes it later than it asked for.
//!
//! On a busy machine effects come late although no fault delays them. A run measures its own lag, and the limits of checkers and
//! of waits grow with it. Beyond [`LAG_MAX`] a run proves nothing that depends on time.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::Instant;

use crate::{checkers::Violation, task::Background, trace::Recorder};

/// The longest lag with which findings of [`OF_TIME`] count.
const LAG_MAX: Duration = Duration::from_secs(1);
/// The checkers that wait for effects up to a limit. Others compare orders and contents.
const OF_TIME: [&str; 5] = [
    "convergence",
    "handler_syncs",
    "lost_deletes",
    "reconciles",
    "waits",
];
/// The time by which effects may come after their causes without any lag.
const LATENESS: Duration = Duration::from_secs(2);
/// The number of times that tasks are woken one after the other from a cause to its effect, at most.
const WAKES_MAX: u32 = 10;
/// The interval of measurements.
const INTERVAL: Duration = Duration::from_millis(5);

/// The longest lag of a run so far. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Lag(Arc<Mutex<LagState>>);

#[derive(Debug)]
struct LagState {
    /// The moment at which the measuring thread is to be woken.
    due: Instant,
    longest: Duration,
}

// === impl Lag ===

impl Lag {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(LagState {
            due: Instant::now() + INTERVAL,
            longest: Duration::ZERO,
        })))
    }

    /// Measures the lag until the result is dropped. `recorder` allows effects to be late accordingly.
    pub(super) fn measure(&self, recorder: &Recorder) -> Background {
        let (own, recorder) = (self.clone(), recorder.clone());
        recorder.allow_lateness(own.lateness());
        self.measured().due = Instant::now() + INTERVAL;
        Background::every(INTERVAL, move || {
            recorder.allow_lateness(own.lateness());
            own.measured().due = Instant::now() + INTERVAL;
        })
    }

    /// Returns the longest lag, that of a measurement that is due included.
    pub(super) fn longest(&self) -> Duration {
        let mut measured = self.measured();
        measured.longest = measured.longest.max(measured.due.elapsed());
        measured.longest
    }

    /// Returns the time by which effects may come after their causes.
    pub(super) fn lateness(&self) -> Duration {
        LATENESS + self.longest() * WAKES_MAX
    }

    fn measured(&self) -> MutexGuard<'_, LagState> {
        self.0.lock().expect("no holder panics")
    }
}

/// Removes the findings that a lag as long as `longest` may explain, and returns true if there were any.
pub(super) fn remove_unproven(longest: Duration, violations: &mut Vec<Violation>) -> bool {
    if longest <= LAG_MAX {
        return false;
    }
    let count = violations.len();
    violations.retain(|violation| !OF_TIME.contains(&violation.checker));
    violations.len() < count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkers::Finding;

    #[test]
    fn effects_may_be_as_late_as_the_system_lets_them() {
        let (lag, recorder) = (Lag::new(), Recorder::new());
        let measuring = lag.measure(&recorder);
        assert!(recorder.lateness() >= LATENESS);
        drop(measuring);
        let stop = Duration::from_secs(7);
        lag.measured().due = Instant::now()
            .checked_sub(stop)
            .expect("the clock is older");
        assert!(lag.longest() >= stop);
        assert!(lag.lateness() >= LATENESS + stop * WAKES_MAX);
    }

    #[test]
    fn a_long_lag_explains_delays_and_nothing_else() {
        let all = ["waits", "time_travel"].map(|checker| Violation {
            checker,
            finding: Finding::whole("text"),
        });
        let mut violations = all.to_vec();
        assert!(!remove_unproven(LAG_MAX, &mut violations));
        assert_eq!(violations, all);
        let longer = LAG_MAX + Duration::from_millis(1);
        assert!(remove_unproven(longer, &mut violations));
        assert_eq!(violations, all[1..]);
        assert!(!remove_unproven(longer, &mut violations));
    }
}
