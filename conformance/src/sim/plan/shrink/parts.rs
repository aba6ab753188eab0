//! The parts of a plan that can be removed or simplified.

use std::{num::NonZero, ops::Range, sync::LazyLock};

use super::{super::Plan, moments};
use crate::{
    participants::{AnyPart, Part, Participants, renumber, simplify},
    plan::{
        ControllerPlan, HandlerPlan, IncidentKind, InformerPlan, Interleaving, Operator,
        PlannedEncoding, PlannedFault, QueueStop, Resource,
    },
};

/// The parts of a plan that have elements, in the order of proposals.
pub(super) static PARTS: LazyLock<Vec<PlanPart>> = LazyLock::new(|| {
    let parts = FIRST.into_iter().map(PlanPart::Own);
    let parts = parts.chain(Participants::parts().into_iter().map(PlanPart::Of));
    let parts = parts.chain(NEXT.into_iter().map(PlanPart::Own));
    let parts = parts.chain(Participants::options().into_iter().map(PlanPart::Of));
    parts.chain(LAST.into_iter().map(PlanPart::Own)).collect()
});

/// A part of a plan: its own, or of a participant.
pub(super) enum PlanPart {
    Own(Part<Plan>),
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

const NEXT: [Part<Plan>; 14] = [
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
    Part {
        len: |plan| handlers(plan).count(),
        take: |plan, range| {
            let lists = plan.informers.iter_mut();
            take_items(lists.map(|informer| &mut informer.handlers), &range);
        },
    },
    Part {
        len: |plan| controllers(plan).count(),
        take: |plan, range| {
            let lists = plan.informers.iter_mut();
            take_items(lists.map(|informer| &mut informer.controllers), &range);
        },
    },
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
    Part {
        len: |plan| plan.informers.len() * INFORMER_OPTIONS.len(),
        take: |plan, range| simplify(&mut plan.informers, &INFORMER_OPTIONS, &range),
    },
    Part {
        len: |plan| handlers(plan).count() * HANDLER_OPTIONS.len(),
        take: |plan, range| {
            let informers = plan.informers.iter_mut();
            let handlers = informers.flat_map(|informer| &mut informer.handlers);
            simplify(handlers, &HANDLER_OPTIONS, &range);
        },
    },
    Part {
        len: |plan| controllers(plan).count() * CONTROLLER_OPTIONS.len(),
        take: |plan, range| simplify(controllers_mut(plan), &CONTROLLER_OPTIONS, &range),
    },
    // The operations on queues.
    Part {
        len: |plan| {
            let controllers = controllers(plan);
            controllers
                .map(|controller| controller.operations.len())
                .sum()
        },
        take: |plan, range| {
            let lists = controllers_mut(plan);
            take_items(lists.map(|controller| &mut controller.operations), &range);
        },
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

const INFORMER_OPTIONS: [fn(&mut InformerPlan); 16] = [
    |informer| informer.selection.operator = Operator::default(),
    |informer| informer.index_edit_ms = None,
    |informer| informer.selection.namespace = None,
    |informer| informer.pauses.clear(),
    |informer| informer.pauses.truncate(1),
    |informer| informer.selection.is_filtered = false,
    |informer| informer.selection.is_strict = false,
    |informer| informer.transforms = false,
    |informer| {
        informer.selection.label = None;
        informer.selection.is_filtered = false;
    },
    |informer| informer.queue_max = None,
    |informer| informer.chunk_max_bytes = None,
    |informer| informer.page_size = 500,
    |informer| informer.watch_timeout_s = 300,
    |informer| informer.streaming_lists = false,
    |informer| informer.compact = false,
    |informer| informer.encoding = PlannedEncoding::Json,
];

const HANDLER_OPTIONS: [fn(&mut HandlerPlan); 10] = [
    |handler| handler.adapter = None,
    |handler| {
        handler.leave_ms = None;
        handler.is_removal_awaited = false;
    },
    |handler| handler.leave_at_count = None,
    |handler| handler.resync_ms = None,
    |handler| handler.panic_every = None,
    |handler| handler.delay_ms = None,
    |handler| handler.block_ms = None,
    |handler| handler.is_removal_awaited = false,
    |handler| handler.buffer_max = None,
    |handler| handler.is_stream = false,
];

const CONTROLLER_OPTIONS: [fn(&mut ControllerPlan); 11] = [
    |controller| controller.worker_count = NonZero::<usize>::MIN,
    |controller| controller.reconcile_ms = 0,
    |controller| controller.fail_every = None,
    |controller| controller.panic_every = None,
    |controller| controller.retries_max = None,
    |controller| controller.requeue_after_ms = None,
    |controller| controller.fair_share = None,
    |controller| controller.merges_delayed = false,
    |controller| controller.stop_ms = None,
    |controller| controller.stop = QueueStop::Drain,
    |controller| controller.release_after_ms = None,
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
            Self::Of(part) => (part.len)(&plan.participants),
        }
    }

    /// Removes, or simplifies, the elements of a range.
    pub(super) fn take(&self, plan: &mut Plan, range: Range<usize>) {
        match self {
            Self::Own(part) => (part.take)(plan, range),
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
            IncidentKind::Restart | IncidentKind::DataLoss | IncidentKind::Suspend => true,
        });
}

/// Counts the elements of all lists, and removes those in a range.
fn take_items<'a, T: 'a>(lists: impl Iterator<Item = &'a mut Vec<T>>, range: &Range<usize>) {
    let mut index = 0;
    for list in lists {
        list.retain(|_| {
            index += 1;
            !range.contains(&(index - 1))
        });
    }
}

fn handlers(plan: &Plan) -> impl Iterator<Item = &HandlerPlan> {
    plan.informers
        .iter()
        .flat_map(|informer| &informer.handlers)
}

fn controllers(plan: &Plan) -> impl Iterator<Item = &ControllerPlan> {
    plan.informers
        .iter()
        .flat_map(|informer| &informer.controllers)
}

fn controllers_mut(plan: &mut Plan) -> impl Iterator<Item = &mut ControllerPlan> {
    plan.informers
        .iter_mut()
        .flat_map(|informer| &mut informer.controllers)
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
