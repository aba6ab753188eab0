//! Shorter plans for runs in real time.

use std::num::NonZeroU32;

use super::Plan;
use crate::participants::ControllerPlan;

// === impl Plan ===

impl Plan {
    /// Divides all times of the plan by `factor`.
    ///
    /// Times that faults order themselves stay, such as the wait of a throttled client, and so do timeouts of watches,
    /// periods of resyncs and delays of queues.
    #[must_use]
    pub fn sped_up(mut self, factor: NonZeroU32) -> Self {
        let factor = u64::from(factor.get());
        let speed_up = |ms: &mut u64| *ms /= factor;
        speed_up(&mut self.safety_ms);
        for informer in &mut self.informers {
            speed_up(&mut informer.start_ms);
            for pause in &mut informer.pauses {
                speed_up(&mut pause.at_ms);
                speed_up(&mut pause.for_ms);
            }
            for handler in &mut informer.handlers {
                speed_up(&mut handler.join_ms);
                handler.leave_ms.iter_mut().for_each(speed_up);
            }
            let controllers = informer.controllers.iter_mut();
            controllers
                .flat_map(ControllerPlan::moments_ms)
                .for_each(speed_up);
        }
        for operation in &mut self.workload {
            speed_up(&mut operation.at_ms);
        }
        for fault in &mut self.faults {
            speed_up(&mut fault.at_ms);
            speed_up(&mut fault.for_ms);
        }
        for incident in &mut self.incidents {
            speed_up(&mut incident.at_ms);
            speed_up(&mut incident.for_ms);
        }
        self.participants.map_moments(|ms| ms / factor);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use fakeserver::faults::Fault;

    use crate::{plan::PlannedFault, seed::Seed, sim::Plan};

    #[test]
    fn a_sped_up_plan_does_the_same_sooner() {
        let plan = Plan::draw(Seed::new(7));
        let twice = plan.clone().sped_up(NonZeroU32::new(2).unwrap());
        assert_eq!(twice.safety_ms, plan.safety_ms / 2);
        assert_eq!(twice.workload.len(), plan.workload.len());
        for (sooner, operation) in twice.workload.iter().zip(&plan.workload) {
            assert_eq!(sooner.at_ms, operation.at_ms / 2);
            assert_eq!(sooner.action, operation.action);
        }
        assert_eq!(plan.clone().sped_up(NonZeroU32::MIN), plan);
    }

    #[test]
    fn parameters_of_faults_stay() {
        let mut plan = Plan::empty(Seed::new(1));
        let kind = Fault::named("throttle").unwrap();
        plan.faults = vec![PlannedFault::new(3_000, 600, kind)];
        let sooner = plan.sped_up(NonZeroU32::new(3).unwrap());
        assert_eq!(sooner.faults, [PlannedFault::new(1_000, 200, kind)]);
    }
}
