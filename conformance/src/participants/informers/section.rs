//! Informers as a section of plans: their acts, their moments, and the parts that can be removed.

use std::ops::Range;

use super::plan::{HandlerPlan, InformerPlan, PlannedEncoding};
use crate::{
    participants::{ControllerPlan, Part, PlanSection, controllers, simplify},
    plan::{Operator, Profile},
};

/// An act; numbers are places in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    // A handler that joins at the moment of a start is there before it; a pause at the moment of another's end remains.
    Join(usize, usize),
    Start(usize),
    StartController(usize, usize),
    Leave(usize, usize),
    Resume(usize),
    Pause(usize),
}

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

impl PlanSection for Vec<InformerPlan> {
    type Act = Act;

    const OPTIONS: &'static [Part<Self>] = &[
        Part {
            len: |informers| informers.len() * INFORMER_OPTIONS.len(),
            take: |informers, range| simplify(informers, &INFORMER_OPTIONS, &range),
        },
        Part {
            len: |informers| handlers(informers).count() * HANDLER_OPTIONS.len(),
            take: |informers, range| {
                let handlers = informers
                    .iter_mut()
                    .flat_map(|informer| &mut informer.handlers);
                simplify(handlers, &HANDLER_OPTIONS, &range);
            },
        },
        Part {
            len: |informers| controllers(informers).count() * controllers::OPTIONS.len(),
            take: |informers, range| {
                simplify(controllers_mut(informers), &controllers::OPTIONS, &range);
            },
        },
        // The operations on queues.
        Part {
            len: |informers| {
                controllers(informers)
                    .map(|controller| controller.operations.len())
                    .sum()
            },
            take: |informers, range| {
                let lists = controllers_mut(informers);
                take_items(lists.map(|controller| &mut controller.operations), &range);
            },
        },
    ];
    /// Whole informers are removed with the faults that name them, by the plan.
    const PARTS: &'static [Part<Self>] = &[
        Part {
            len: |informers| handlers(informers).count(),
            take: |informers, range| {
                let lists = informers.iter_mut();
                take_items(lists.map(|informer| &mut informer.handlers), &range);
            },
        },
        Part {
            len: |informers| controllers(informers).count(),
            take: |informers, range| {
                let lists = informers.iter_mut();
                take_items(lists.map(|informer| &mut informer.controllers), &range);
            },
        },
    ];

    fn made_valid(mut self, profile: Profile, safety_ms: u64) -> Option<Self> {
        self.truncate(*profile.size().informers.end());
        for informer in &mut self {
            informer.make_valid(profile, safety_ms);
        }
        (!self.is_void()).then_some(self)
    }

    fn is_void(&self) -> bool {
        self.is_empty()
    }

    fn map_moments(&mut self, new: &mut dyn FnMut(u64) -> u64) {
        for informer in self {
            informer.start_ms = new(informer.start_ms);
            for pause in &mut informer.pauses {
                let until = new(pause.at_ms + pause.for_ms);
                pause.at_ms = new(pause.at_ms);
                pause.for_ms = until - pause.at_ms;
            }
            for handler in &mut informer.handlers {
                handler.join_ms = new(handler.join_ms);
                handler.leave_ms = handler.leave_ms.map(&mut *new);
            }
            let controllers = informer.controllers.iter_mut();
            for at_ms in controllers.flat_map(ControllerPlan::moments_ms) {
                *at_ms = new(*at_ms);
            }
        }
    }

    fn acts(&self) -> Vec<(u64, Act)> {
        let mut acts = Vec::new();
        for (place, informer) in self.iter().enumerate() {
            acts.push((informer.start_ms, Act::Start(place)));
            for pause in &informer.pauses {
                acts.push((pause.at_ms, Act::Pause(place)));
                acts.push((pause.at_ms + pause.for_ms, Act::Resume(place)));
            }
            for (controller, plan) in informer.controllers.iter().enumerate() {
                acts.push((plan.start_ms, Act::StartController(place, controller)));
            }
            for (handler, plan) in informer.handlers.iter().enumerate() {
                acts.push((plan.join_ms, Act::Join(place, handler)));
                let leave = plan.leave_ms;
                acts.extend(leave.map(|leave_ms| (leave_ms, Act::Leave(place, handler))));
            }
        }
        acts
    }
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

fn handlers(informers: &[InformerPlan]) -> impl Iterator<Item = &HandlerPlan> {
    informers.iter().flat_map(|informer| &informer.handlers)
}

fn controllers(informers: &[InformerPlan]) -> impl Iterator<Item = &ControllerPlan> {
    informers.iter().flat_map(|informer| &informer.controllers)
}

fn controllers_mut(informers: &mut [InformerPlan]) -> impl Iterator<Item = &mut ControllerPlan> {
    informers
        .iter_mut()
        .flat_map(|informer| &mut informer.controllers)
}
