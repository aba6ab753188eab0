//! The parts of a plan's factory.

use super::{
    super::{FactoryActKind, FactoryPlan, Operator, Plan, ViewPlan},
    parts::{Part, simplify},
};

const VIEW_OPTIONS: [fn(&mut ViewPlan); 4] = [
    |view| view.transforms = false,
    |view| view.selection.namespace = None,
    |view| view.selection.operator = Operator::default(),
    |view| view.selection.label = None,
];

const OPTIONS: [fn(&mut FactoryPlan); 3] = [
    |factory| factory.page_size = 500,
    |factory| factory.streaming_lists = false,
    |factory| {
        for act in &mut factory.acts {
            if let FactoryActKind::Restart(yields) = &mut act.kind {
                *yields = 0;
            }
        }
    },
];

/// Returns the number of elements of a part; 0 if there is no factory.
pub(super) fn len(part: Part, plan: &Plan) -> usize {
    let Some(factory) = &plan.factory else {
        return 0;
    };
    match part {
        Part::Factory => 1,
        Part::FactoryViews => factory.views.len(),
        Part::FactoryActs => factory.acts.len(),
        _ => factory.views.len() * VIEW_OPTIONS.len() + OPTIONS.len(),
    }
}

/// Removes the elements `from..to` of a part.
pub(super) fn take(part: Part, plan: &mut Plan, from: usize, to: usize) {
    let Some(factory) = &mut plan.factory else {
        return;
    };
    match part {
        Part::Factory => plan.factory = None,
        Part::FactoryViews if to - from == factory.views.len() => plan.factory = None,
        Part::FactoryViews => factory.take_views(from, to),
        Part::FactoryActs => drop(factory.acts.drain(from..to)),
        _ => {
            let before = factory.views.len() * VIEW_OPTIONS.len();
            simplify(factory.views.iter_mut(), &VIEW_OPTIONS, from, to);
            let (from, to) = (from.saturating_sub(before), to.saturating_sub(before));
            simplify(std::iter::once(factory), &OPTIONS, from, to);
        }
    }
}
