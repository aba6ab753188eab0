//! The scheduling lag of a run in real time: the time by which the system wakes it later than it asked for.
//!
//! Effects come late on a busy machine although nobody delays them. A run measures its own lag, and the limits of checkers and
//! of waits grow with it. Beyond [`LAG_MAX`] a run proves nothing that depends on time.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{checkers::Violation, trace::Recorder};

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
#[derive(Clone, Debug, Default)]
pub(super) struct Lag(Arc<Mutex<Duration>>);

// === impl Lag ===

impl Lag {
    /// Returns the longest lag.
    pub(super) fn longest(&self) -> Duration {
        *self.0.lock().expect("no holder panics")
    }

    /// Awaits `run`, and measures the lag meanwhile. `recorder` allows effects to be late accordingly.
    pub(super) async fn measure<F: Future>(&self, recorder: &Recorder, run: F) -> F::Output {
        recorder.allow_lateness(LATENESS);
        let mut run = pin!(run);
        let mut alarm = pin!(sleep(INTERVAL));
        poll_fn(|context| {
            // The clock knows first: after a stop of the whole process the alarm may be told later than the run.
            let lag = alarm.deadline().elapsed();
            if !lag.is_zero() {
                self.note(lag, recorder);
                alarm.as_mut().reset(Instant::now() + INTERVAL);
            }
            if alarm.as_mut().poll(context).is_ready() {
                context.waker().wake_by_ref();
            }
            run.as_mut().poll(context)
        })
        .await
    }

    fn note(&self, lag: Duration, recorder: &Recorder) {
        let mut longest = self.0.lock().expect("no holder panics");
        if lag > *longest {
            *longest = lag;
            recorder.allow_lateness(LATENESS + lag * WAKES_MAX);
        }
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

    #[tokio::test]
    async fn a_run_may_be_as_late_as_the_system_lets_it() {
        let (lag, recorder) = (Lag::default(), Recorder::new());
        let busy = Duration::from_millis(30);
        lag.measure(&recorder, async {
            assert!(recorder.lateness() >= LATENESS);
            let began = Instant::now();
            while began.elapsed() < busy + INTERVAL {
                std::hint::spin_loop();
            }
            tokio::task::yield_now().await;
        })
        .await;
        let longest = lag.longest();
        assert!(longest >= busy, "{longest:?}");
        assert_eq!(recorder.lateness(), LATENESS + longest * WAKES_MAX);
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
