//! Leaps of the clock, at suspensions of the machine.

use std::{collections::BTreeSet, time::Duration};

use crate::trace::Observation;

/// The name of the fault after which the clock leaps: everything due in between is due at once.
pub(crate) const SUSPEND: &str = "suspend";

/// Notices leaps of the clock.
#[derive(Default)]
pub(crate) struct ClockLeaps {
    asleep_since: Option<Duration>,
    woke_at: BTreeSet<Duration>,
}

// === impl ClockLeaps ===

impl ClockLeaps {
    /// Takes an observation. Returns true if the clock leapt right before it.
    pub(crate) fn observe(&mut self, at: Duration, observation: &Observation) -> bool {
        let has_leapt = self.asleep_since.is_some_and(|since| since < at);
        if has_leapt {
            self.asleep_since = None;
            self.woke_at.insert(at);
        }
        if let Observation::FaultBegins { name, .. } = observation
            && name == SUSPEND
        {
            self.asleep_since = Some(at);
        }
        has_leapt
    }

    /// Returns true if the clock leapt right before `moment`: then tasks may not have run in it yet.
    pub(crate) fn is_waking(&self, moment: Duration) -> bool {
        self.woke_at.contains(&moment)
    }
}
