//! The parts of a plan that can be removed or simplified.

use std::{ops::Range, sync::LazyLock};

use super::{super::Plan, moments};
use crate::{
    participants::{
        AnyPart, InformerPlan, Part, Participants, PlanSection as _, renumber, simplify,
    },
    plan::{IncidentKind, Interleaving, PlannedFault, Resource},
};

/// The parts of a plan that have elements, in the order of proposals.
pub(super) static PARTS: LazyLock<Vec<PlanPart>> = LazyLock::new(|| {
    let parts = FIRST.into_iter().map(PlanPart::Own);
    let parts = parts.chain(Participants::parts().into_iter().map(PlanPart::Of));
    let parts = parts.chain(NEXT.into_iter().map(PlanPart::Own));
    let of_informers = <Vec<InformerPlan>>::PARTS.iter().map(PlanPart::OfInformers);
    let parts = parts.chain(of_informers);
    let parts = parts.chain(THEN.into_iter().map(PlanPart::Own));
    let of_informers = <Vec<InformerPlan>>::OPTIONS
        .iter()
        .map(PlanPart::OfInformers);
    let parts = parts.chain(of_informers);
    let parts = parts.chain(Participants::options().into_iter().map(PlanPart::Of));
    parts.chain(LAST.into_iter().map(PlanPart::Own)).collect()
});

/// A part of a plan: its own, of its informers, or of another participant.
pub(super) enum PlanPart {
    Own(Part<Plan>),
    OfInformers(&'static Part<Vec<InformerPlan>>),
    Of(AnyPart),
}

const FIRST: [Part<Plan>; 2] = [
    Part {
        len: |plan| plan.faults.len(),
        take: |plan, range| drop(plan.faults.drain(range)),
    },
    Part {
        len: |plan| plan.incidents.len(),
        take: |plan, range| drop(plan.incidents.drain(range)),
    },
];

const NEXT: [Part<Plan>; 3] = [
    Part {
        len: |plan| plan.informers.len(),
        take: |plan, range| take_informers(plan, &range),
    },
    // All operations on an object.
    Part {
        len: |plan| objects(plan).len(),
        take: |plan, range| {
            let gone = objects(plan)[range].to_vec();
            plan.workload
                .retain(|operation| !gone.contains(&(operation.resource, operation.slot)));
        },
    },
    Part {
        len: |plan| plan.workload.len(),
        take: |plan, range| drop(plan.workload.drain(range)),
    },
];

const THEN: [Part<Plan>; 5] = [
    Part {
        len: |_| INTERLEAVING_OPTIONS.len(),
        take: |plan, range| {
            simplify([&mut plan.interleaving], &INTERLEAVING_OPTIONS, &range);
            if plan.interleaving.is_none() {
                plan.interleaving = Interleaving::default();
            }
        },
    },
    Part {
        len: |plan| plan.contents.len(),
        take: |plan, range| drop(plan.contents.drain(range)),
    },
    Part {
        len: |plan| usize::from(plan.revision.is_some()),
        take: |plan, _| plan.revision = None,
    },
    Part {
        len: |plan| usize::from(plan.list_gate.is_some()),
        take: |plan, _| plan.list_gate = None,
    },
    Part {
        len: |plan| plan.faults.len() * FAULT_OPTIONS.len(),
        take: |plan, range| simplify(&mut plan.faults, &FAULT_OPTIONS, &range),
    },
];

const LAST: [Part<Plan>; 3] = [
    // The numbers of objects: to the lowest.
    Part {
        len: |_| 1,
        take: |plan, _| rename(plan),
    },
    // The gaps between moments: to none, and to a tenth.
    Part {
        len: |plan| moments::of(plan).len(),
        take: |plan, range| moments::shorten(plan, &range, |_| 0),
    },
    Part {
        len: |plan| moments::of(plan).len(),
        take: |plan, range| moments::shorten(plan, &range, moments::tenth),
    },
];

const FAULT_OPTIONS: [fn(&mut PlannedFault); 3] = [
    |fault| fault.skip = 0,
    |fault| fault.times = Some(1),
    |fault| fault.informer = None,
];

const INTERLEAVING_OPTIONS: [fn(&mut Interleaving); 5] = [
    |interleaving| interleaving.operations = 0,
    |interleaving| interleaving.requests = 0,
    |interleaving| interleaving.frames = 0,
    |interleaving| interleaving.store = 0,
    |interleaving| interleaving.row_max = interleaving.row_max.min(1),
];

// === impl PlanPart ===

impl PlanPart {
    /// Returns the number of elements.
    pub(super) fn len(&self, plan: &Plan) -> usize {
        match self {
            Self::Own(part) => (part.len)(plan),
            Self::OfInformers(part) => (part.len)(&plan.informers),
            Self::Of(part) => (part.len)(&plan.participants),
        }
    }

    /// Removes, or simplifies, the elements of a range.
    pub(super) fn take(&self, plan: &mut Plan, range: Range<usize>) {
        match self {
            Self::Own(part) => (part.take)(plan, range),
            Self::OfInformers(part) => (part.take)(&mut plan.informers, range),
            Self::Of(part) => (part.take)(&mut plan.participants, range),
        }
    }
}

/// Removes informers, and the faults and incidents that concern no others, and renumbers the rest.
pub(in super::super) fn take_informers(plan: &mut Plan, range: &Range<usize>) {
    let stays = |informer: &mut Option<usize>| {
        let informer = informer.as_mut();
        informer.is_none_or(|informer| renumber(informer, range))
    };
    plan.informers.drain(range.clone());
    plan.faults.retain_mut(|fault| stays(&mut fault.informer));
    plan.incidents
        .retain_mut(|incident| match &mut incident.kind {
            IncidentKind::Replica { informer, .. } => stays(informer),
            IncidentKind::Restart
            | IncidentKind::DataLoss
            | IncidentKind::Suspend
            | IncidentKind::Upgrade { .. } => true,
        });
}

/// Returns the objects of operations, in the order of their first ones.
fn objects(plan: &Plan) -> Vec<(Resource, u8)> {
    let mut objects = Vec::new();
    for operation in &plan.workload {
        let object = (operation.resource, operation.slot);
        if !objects.contains(&object) {
            objects.push(object);
        }
    }
    objects
}

/// Renumbers the objects of each resource from 0.
fn rename(plan: &mut Plan) {
    let objects = objects(plan);
    for operation in &mut plan.workload {
        let of_resource = objects
            .iter()
            .filter(|(resource, _)| *resource == operation.resource);
        let place = of_resource
            .map(|(_, slot)| *slot)
            .position(|slot| slot == operation.slot);
        let place = place.and_then(|place| u8::try_from(place).ok());
        operation.slot = place.unwrap_or(operation.slot);
    }
}
