//! Restores the invariants of drawn plans in plans that were combined from parts of others.

use super::Plan;
use crate::{
    participants::{PlanSection as _, within},
    plan::{Action, IncidentKind, Interleaving, Profile},
};

/// The most incidents.
const INCIDENTS_MAX: usize = 6;
/// The longest row of yields.
const ROW_MAX: u8 = 6;

// === impl Plan ===

impl Plan {
    /// Changes the plan until it has the invariants of those that are drawn in `profile`, which it does not
    /// change; faults and operations may be twice as many. Returns `None` if the plan has no informer.
    #[must_use]
    pub fn made_valid(mut self, profile: Profile) -> Option<Self> {
        let size = profile.size();
        self.workload.truncate(2 * operations_max(profile));
        self.faults.truncate(2 * size.faults.end());
        self.incidents.truncate(INCIDENTS_MAX);
        self.safety_ms = self.safety_ms.max(1);
        let safety_ms = self.safety_ms;
        self.informers = self.informers.made_valid(profile, safety_ms)?;
        let informer_count = self.informers.len();
        let check_informer = |place: &mut Option<usize>| {
            if let Some(place) = place {
                *place %= informer_count;
            }
        };
        for fault in &mut self.faults {
            fault.at_ms = within(fault.at_ms, safety_ms);
            check_informer(&mut fault.informer);
        }
        for incident in &mut self.incidents {
            incident.at_ms = within(incident.at_ms, safety_ms);
            incident.for_ms = incident.for_ms.min(safety_ms / 2);
            if let IncidentKind::Replica { informer, .. } = &mut incident.kind {
                check_informer(informer);
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
        if !self.can_be_upgraded() {
            self.incidents.retain(|incident| !incident.is_upgrade());
        }
        self.interleaving.make_valid();
        self.participants = self.participants.made_valid(profile, safety_ms);
        self.workload.sort_by_key(|operation| operation.at_ms);
        self.faults.sort_by_key(|fault| fault.at_ms);
        self.incidents.sort_by_key(|incident| incident.at_ms);
        Some(self)
    }

    /// Returns whether its server may become another version of Kubernetes: the candidates of a coordinated election know one
    /// version of their kind, which not every server has.
    pub(super) fn can_be_upgraded(&self) -> bool {
        let election = self.participants.election.as_ref();
        election.is_none_or(|election| !election.is_coordinated)
    }

    /// Returns true if the plan has the invariants of those that are drawn in `profile`, and its text is read as itself.
    pub fn is_valid(&self, profile: Profile) -> bool {
        self.clone().made_valid(profile).as_ref() == Some(self)
            && Self::from_text(&self.to_text()).is_ok_and(|read| read == *self)
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
