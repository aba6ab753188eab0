//! The same plan in less time, for runs that take the time that they take.

use std::num::NonZeroU32;

use super::Plan;

// === impl Plan ===

impl Plan {
    /// The same, so many times as fast: whatever happens, joins, leaves and ends does so sooner.
    ///
    /// What faults order by themselves stays, as how long a client is asked to wait; and so do timeouts of watches and the
    /// periods of resyncs.
    #[must_use]
    pub fn hastened(mut self, factor: NonZeroU32) -> Self {
        let factor = u64::from(factor.get());
        let hasten = |ms: &mut u64| *ms /= factor;
        hasten(&mut self.safety_ms);
        for informer in &mut self.informers {
            hasten(&mut informer.start_ms);
            for handler in &mut informer.handlers {
                hasten(&mut handler.join_ms);
                handler.leave_ms.iter_mut().for_each(hasten);
            }
        }
        for operation in &mut self.workload {
            hasten(&mut operation.at_ms);
        }
        for fault in &mut self.faults {
            hasten(&mut fault.at_ms);
            hasten(&mut fault.for_ms);
        }
        for incident in &mut self.incidents {
            hasten(&mut incident.at_ms);
            hasten(&mut incident.for_ms);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use crate::{
        plan::{Fault, FaultKind, Plan},
        seed::Seed,
    };

    #[test]
    fn a_hastened_plan_does_the_same_sooner() {
        let plan = Plan::draw(Seed::new(7));
        let twice = plan.clone().hastened(NonZeroU32::new(2).unwrap());
        assert_eq!(twice.safety_ms, plan.safety_ms / 2);
        assert_eq!(twice.workload.len(), plan.workload.len());
        for (sooner, operation) in twice.workload.iter().zip(&plan.workload) {
            assert_eq!(sooner.at_ms, operation.at_ms / 2);
            assert_eq!(sooner.action, operation.action);
        }
        assert_eq!(plan.clone().hastened(NonZeroU32::MIN), plan);
    }

    #[test]
    fn what_a_fault_orders_stays() {
        let mut plan = Plan::empty(Seed::new(1));
        let kind = FaultKind::named("throttle").unwrap();
        plan.faults = vec![Fault::new(3_000, 600, kind)];
        let sooner = plan.hastened(NonZeroU32::new(3).unwrap());
        assert_eq!(sooner.faults, [Fault::new(1_000, 200, kind)]);
    }
}
