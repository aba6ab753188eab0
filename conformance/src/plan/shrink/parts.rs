//! The parts of a plan that can be removed or simplified.

use std::num::NonZero;

use super::{
    super::{
        ControllerPlan, HandlerPlan, IncidentKind, InformerPlan, Interleaving, Operator, Plan,
        PlannedEncoding, PlannedFault, QueueStop, Resource,
    },
    election, factory, moments,
};

/// The parts of a plan that have elements, in the order of proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Faults,
    Incidents,
    /// The leader election as a whole.
    Election,
    Candidates,
    CandidateFaults,
    Meddlings,
    /// The factory as a whole.
    Factory,
    FactoryViews,
    FactoryActs,
    Informers,
    /// All operations on an object.
    Objects,
    Workload,
    Handlers,
    Controllers,
    Interleaving,
    Contents,
    Revision,
    ListGate,
    FaultOptions,
    InformerOptions,
    HandlerOptions,
    ControllerOptions,
    /// The operations on queues.
    QueueOperations,
    ElectionOptions,
    FactoryOptions,
    /// The numbers of objects: to the lowest.
    Names,
    /// The gaps between moments: to none.
    Gaps,
    /// The gaps between moments: to a tenth.
    LongGaps,
}

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

// === impl Part ===

impl Part {
    pub(super) const FIRST: Self = Self::Faults;

    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::Faults => Some(Self::Incidents),
            Self::Incidents => Some(Self::Election),
            Self::Election => Some(Self::Candidates),
            Self::Candidates => Some(Self::CandidateFaults),
            Self::CandidateFaults => Some(Self::Meddlings),
            Self::Meddlings => Some(Self::Factory),
            Self::Factory => Some(Self::FactoryViews),
            Self::FactoryViews => Some(Self::FactoryActs),
            Self::FactoryActs => Some(Self::Informers),
            Self::Informers => Some(Self::Objects),
            Self::Objects => Some(Self::Workload),
            Self::Workload => Some(Self::Handlers),
            Self::Handlers => Some(Self::Controllers),
            Self::Controllers => Some(Self::Interleaving),
            Self::Interleaving => Some(Self::Contents),
            Self::Contents => Some(Self::Revision),
            Self::Revision => Some(Self::ListGate),
            Self::ListGate => Some(Self::FaultOptions),
            Self::FaultOptions => Some(Self::InformerOptions),
            Self::InformerOptions => Some(Self::HandlerOptions),
            Self::HandlerOptions => Some(Self::ControllerOptions),
            Self::ControllerOptions => Some(Self::QueueOperations),
            Self::QueueOperations => Some(Self::ElectionOptions),
            Self::ElectionOptions => Some(Self::FactoryOptions),
            Self::FactoryOptions => Some(Self::Names),
            Self::Names => Some(Self::Gaps),
            Self::Gaps => Some(Self::LongGaps),
            Self::LongGaps => None,
        }
    }

    /// Returns the number of elements.
    pub(super) fn len(self, plan: &Plan) -> usize {
        match self {
            Self::Faults => plan.faults.len(),
            Self::Incidents => plan.incidents.len(),
            Self::Election
            | Self::Candidates
            | Self::CandidateFaults
            | Self::Meddlings
            | Self::ElectionOptions => election::len(self, plan),
            Self::Factory | Self::FactoryViews | Self::FactoryActs | Self::FactoryOptions => {
                factory::len(self, plan)
            }
            Self::Informers => plan.informers.len(),
            Self::Objects => objects(plan).len(),
            Self::Workload => plan.workload.len(),
            Self::Handlers => handlers(plan).count(),
            Self::Controllers => controllers(plan).count(),
            Self::Interleaving => INTERLEAVING_OPTIONS.len(),
            Self::Contents => plan.contents.len(),
            Self::Revision => usize::from(plan.revision.is_some()),
            Self::ListGate => usize::from(plan.list_gate.is_some()),
            Self::FaultOptions => plan.faults.len() * FAULT_OPTIONS.len(),
            Self::InformerOptions => plan.informers.len() * INFORMER_OPTIONS.len(),
            Self::HandlerOptions => handlers(plan).count() * HANDLER_OPTIONS.len(),
            Self::ControllerOptions => controllers(plan).count() * CONTROLLER_OPTIONS.len(),
            Self::QueueOperations => controllers(plan)
                .map(|controller| controller.operations.len())
                .sum(),
            Self::Names => 1,
            Self::Gaps | Self::LongGaps => moments::of(plan).len(),
        }
    }

    /// Removes the elements `from..to`.
    pub(super) fn take(self, plan: &mut Plan, from: usize, to: usize) {
        match self {
            Self::Faults => drop(plan.faults.drain(from..to)),
            Self::Incidents => drop(plan.incidents.drain(from..to)),
            Self::Election
            | Self::Candidates
            | Self::CandidateFaults
            | Self::Meddlings
            | Self::ElectionOptions => election::take(self, plan, from, to),
            Self::Factory | Self::FactoryViews | Self::FactoryActs | Self::FactoryOptions => {
                factory::take(self, plan, from, to);
            }
            Self::Workload => drop(plan.workload.drain(from..to)),
            Self::Contents => drop(plan.contents.drain(from..to)),
            Self::Revision => plan.revision = None,
            Self::ListGate => plan.list_gate = None,
            Self::Informers => take_informers(plan, from, to),
            Self::Objects => {
                let gone = objects(plan)[from..to].to_vec();
                plan.workload
                    .retain(|operation| !gone.contains(&(operation.resource, operation.slot)));
            }
            Self::Handlers => {
                let lists = plan.informers.iter_mut();
                take_items(lists.map(|informer| &mut informer.handlers), from, to);
            }
            Self::Controllers => {
                let lists = plan.informers.iter_mut();
                take_items(lists.map(|informer| &mut informer.controllers), from, to);
            }
            Self::QueueOperations => {
                let lists = controllers_mut(plan);
                take_items(lists.map(|controller| &mut controller.operations), from, to);
            }
            Self::ControllerOptions => {
                simplify(controllers_mut(plan), &CONTROLLER_OPTIONS, from, to);
            }
            Self::Interleaving => {
                let interleaving = std::slice::from_mut(&mut plan.interleaving);
                simplify(interleaving.iter_mut(), &INTERLEAVING_OPTIONS, from, to);
                if plan.interleaving.is_none() {
                    plan.interleaving = Interleaving::default();
                }
            }
            Self::FaultOptions => simplify(plan.faults.iter_mut(), &FAULT_OPTIONS, from, to),
            Self::InformerOptions => {
                simplify(plan.informers.iter_mut(), &INFORMER_OPTIONS, from, to);
            }
            Self::HandlerOptions => {
                let informers = plan.informers.iter_mut();
                let handlers = informers.flat_map(|informer| &mut informer.handlers);
                simplify(handlers, &HANDLER_OPTIONS, from, to);
            }
            Self::Names => rename(plan),
            Self::Gaps => moments::shorten(plan, from, to, |_| 0),
            Self::LongGaps => moments::shorten(plan, from, to, moments::tenth),
        }
    }
}

/// Removes informers, and the faults and incidents that concern no others, and renumbers the rest.
pub(in super::super) fn take_informers(plan: &mut Plan, from: usize, to: usize) {
    let stays = |informer: &mut Option<usize>| match informer {
        Some(place) if (from..to).contains(place) => false,
        Some(place) if *place >= to => {
            *place -= to - from;
            true
        }
        _ => true,
    };
    plan.informers.drain(from..to);
    plan.faults.retain_mut(|fault| stays(&mut fault.informer));
    plan.incidents
        .retain_mut(|incident| match &mut incident.kind {
            IncidentKind::Replica { informer, .. } => stays(informer),
            IncidentKind::Restart | IncidentKind::DataLoss | IncidentKind::Suspend => true,
        });
}

/// Counts the elements of all lists, and removes those in `from..to`.
fn take_items<'a, T: 'a>(lists: impl Iterator<Item = &'a mut Vec<T>>, from: usize, to: usize) {
    let mut index = 0;
    for list in lists {
        list.retain(|_| {
            index += 1;
            !(from..to).contains(&(index - 1))
        });
    }
}

/// Counts the options of all items, and simplifies those in `from..to`.
pub(super) fn simplify<'a, T: 'a>(
    items: impl Iterator<Item = &'a mut T>,
    options: &[fn(&mut T)],
    from: usize,
    to: usize,
) {
    for (place, item) in items.enumerate() {
        for (option, simpler) in options.iter().enumerate() {
            if (from..to).contains(&(place * options.len() + option)) {
                simpler(item);
            }
        }
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
