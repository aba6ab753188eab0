//! The invariants that all drawn plans have, which plans that are put together of others lack at times.

use std::num::NonZero;

use super::Plan;
use crate::{
    participants::within,
    plan::{
        Action, ControllerPlan, HandlerPlan, IncidentKind, InformerPlan, Interleaving, Operator,
        Profile,
        controllers::{RETRY_LIMITS_MS, RETRY_LIMITS_OF_FAILING_MS},
    },
};

/// The most incidents, and the most controllers and pauses of an informer.
const INCIDENTS_MAX: usize = 4;
const CONTROLLERS_MAX: usize = 3;
const PAUSES_MAX: usize = 3;
/// The most handlers of an informer: a crowd and some more.
const HANDLERS_MAX: usize = 52;
/// The most operations on one queue.
const QUEUE_OPERATIONS_MAX: usize = 48;
/// The longest row of yields.
const ROW_MAX: u8 = 6;

// === impl Plan ===

impl Plan {
    /// Changes the plan as far as is needed to have the invariants of those that are drawn in `profile`, which it does not
    /// change; faults and operations may be twice as many. Returns `None` if the plan has no informer.
    #[must_use]
    pub fn made_valid(mut self, profile: Profile) -> Option<Self> {
        let size = profile.size();
        self.informers.truncate(*size.informers.end());
        self.workload.truncate(2 * operations_max(profile));
        self.faults.truncate(2 * size.faults.end());
        self.incidents.truncate(INCIDENTS_MAX);
        self.safety_ms = self.safety_ms.max(1);
        let safety_ms = self.safety_ms;
        let informer_count = self.informers.len();
        if informer_count == 0 {
            return None;
        }
        let stay_known = |place: &mut Option<usize>| {
            if let Some(place) = place {
                *place %= informer_count;
            }
        };
        for informer in &mut self.informers {
            informer.make_valid(profile, safety_ms);
        }
        for fault in &mut self.faults {
            fault.at_ms = within(fault.at_ms, safety_ms);
            stay_known(&mut fault.informer);
        }
        for incident in &mut self.incidents {
            incident.at_ms = within(incident.at_ms, safety_ms);
            incident.for_ms = incident.for_ms.min(safety_ms / 2);
            if let IncidentKind::Replica { informer, .. } = &mut incident.kind {
                stay_known(informer);
            }
        }
        for operation in &mut self.workload {
            operation.at_ms = within(operation.at_ms, safety_ms);
            if matches!(operation.action, Action::Spoil | Action::Heal)
                && !operation.resource.is_typed()
            {
                operation.action = Action::Update;
            }
        }
        self.interleaving.make_valid();
        self.participants = self.participants.made_valid(safety_ms);
        self.workload.sort_by_key(|operation| operation.at_ms);
        self.faults.sort_by_key(|fault| fault.at_ms);
        self.incidents.sort_by_key(|incident| incident.at_ms);
        Some(self)
    }

    /// Returns true if the plan has the invariants of those that are drawn in `profile`, and its text is read as itself.
    pub fn is_valid(&self, profile: Profile) -> bool {
        self.clone().made_valid(profile).as_ref() == Some(self)
            && Self::from_text(&self.to_text()).is_ok_and(|read| read == *self)
    }
}

// === impl InformerPlan ===

impl InformerPlan {
    fn make_valid(&mut self, profile: Profile, safety_ms: u64) {
        self.start_ms = within(self.start_ms, safety_ms);
        let can_be_strict = self.can_be_strict();
        let selection = &mut self.selection;
        if !selection.resource.is_namespaced() {
            selection.namespace = None;
        }
        if selection.label.is_none() {
            selection.operator = Operator::default();
            selection.is_filtered = false;
        }
        selection.is_strict &= can_be_strict;
        self.pauses.truncate(PAUSES_MAX);
        for pause in &mut self.pauses {
            pause.at_ms = within(pause.at_ms, safety_ms);
            pause.for_ms = pause.for_ms.min((safety_ms - pause.at_ms).div_ceil(2));
        }
        self.pauses.sort_by_key(|pause| pause.at_ms);
        self.handlers.truncate(HANDLERS_MAX);
        for handler in &mut self.handlers {
            handler.make_valid(safety_ms);
        }
        self.controllers.truncate(CONTROLLERS_MAX);
        for controller in &mut self.controllers {
            controller.make_valid(profile, safety_ms);
        }
    }
}

// === impl HandlerPlan ===

impl HandlerPlan {
    fn make_valid(&mut self, safety_ms: u64) {
        self.join_ms = within(self.join_ms, safety_ms);
        self.leave_ms = self.leave_ms.map(|leave_ms| within(leave_ms, safety_ms));
        self.leave_ms = self.leave_ms.filter(|leave_ms| *leave_ms >= self.join_ms);
        if self.is_stream {
            self.panic_every = None;
        }
    }
}

// === impl ControllerPlan ===

impl ControllerPlan {
    fn make_valid(&mut self, profile: Profile, safety_ms: u64) {
        self.start_ms = within(self.start_ms, safety_ms);
        self.stop_ms = self.stop_ms.map(|stop_ms| within(stop_ms, safety_ms));
        self.stop_ms = self.stop_ms.filter(|stop_ms| *stop_ms >= self.start_ms);
        // A run in real time is over before that matters.
        if profile != Profile::Brief {
            self.limit_retries();
            // More of them would fill the run.
            let least_ms = safety_ms / 20;
            self.requeue_after_ms = self
                .requeue_after_ms
                .map(|requeue_ms| requeue_ms.max(least_ms));
        }
        self.worker_count = self
            .worker_count
            .min(NonZero::new(4).unwrap_or(NonZero::<usize>::MIN));
        self.operations.truncate(QUEUE_OPERATIONS_MAX);
        self.operations.sort_by_key(|operation| operation.at_ms);
    }

    /// Keeps the delays of retries to pairs that belong together.
    fn limit_retries(&mut self) {
        let given = (self.retry_base_ms, self.retry_max_ms);
        let known: &[(u64, u64)] = if self.fail_every == Some(1) {
            &RETRY_LIMITS_OF_FAILING_MS
        } else {
            &RETRY_LIMITS_MS
        };
        if !known.contains(&given) {
            let near = known.iter().find(|(base_ms, _)| *base_ms == given.0);
            (self.retry_base_ms, self.retry_max_ms) = *near.unwrap_or(&known[1]);
        }
    }
}

// === impl Interleaving ===

impl Interleaving {
    fn make_valid(&mut self) {
        for chance in [
            &mut self.operations,
            &mut self.requests,
            &mut self.frames,
            &mut self.store,
        ] {
            *chance = (*chance).min(100);
        }
        self.row_max = if self.is_none() {
            0
        } else {
            self.row_max.clamp(1, ROW_MAX)
        };
    }
}

/// Returns the most operations of a drawn plan; a crowd counts as well.
fn operations_max(profile: Profile) -> usize {
    let crowd = match profile {
        Profile::Brief => usize::from(u8::MAX),
        Profile::Small | Profile::Medium | Profile::Large => 0,
    };
    profile.size().operations.end() + crowd
}
