//! Draws the factory of a plan, by a stream of its own.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::{FactoryAct, FactoryActKind, FactoryPlan, ViewPlan};
use crate::{
    participants::Draft,
    plan::{
        NAMESPACES, Operator, Resource, Selection,
        swarm::{odds, pick},
    },
};

/// The lengths of the time for which a factory is shut down: none, less than a change, and several changes.
const STOPS_MS: [u64; 4] = [0, 1, 400, 4_000];

/// Draws the factory of a plan: one in two fifths of all runs.
pub(super) fn draw(draft: &Draft<'_>) -> Option<FactoryPlan> {
    let rng = &mut draft.seed.stream("factory");
    if !rng.random_bool(0.4) {
        return None;
    }
    let safety_ms = draft.safety_ms;
    let mut factory = FactoryPlan {
        page_size: pick(rng, &[1, 3, 500]),
        streaming_lists: rng.random_bool(0.5),
        ..FactoryPlan::of(views(rng, draft.objects))
    };
    let late_ms = rng.random_range(0..safety_ms / 2);
    let start_ms = pick(rng, &[0, 0, late_ms]);
    let mut acts = vec![FactoryAct::new(start_ms, FactoryActKind::Start)];
    for view in 0..factory.views.len() {
        acts.extend(of_view(rng, view, start_ms, safety_ms));
    }
    acts.extend(generations(rng, factory.views.len(), start_ms, safety_ms));
    acts.sort_by_key(|act| act.at_ms);
    factory.acts = acts;
    Some(factory)
}

/// Draws two or three views, mostly of one resource.
fn views(rng: &mut ChaCha8Rng, objects: &[(Resource, u8)]) -> Vec<ViewPlan> {
    let transforms = odds(rng, 0.3);
    let (resource, _) = pick(rng, objects);
    let count = pick(rng, &[2, 2, 3]);
    let mut views: Vec<ViewPlan> = Vec::new();
    while views.len() < count {
        let is_alike = rng.random_bool(0.7);
        let resource = if is_alike {
            resource
        } else {
            pick(rng, objects).0
        };
        let selection = match views.first() {
            // The same as another one.
            Some(first) if rng.random_bool(0.3) => first.selection.clone(),
            _ => selection(rng, resource),
        };
        views.push(ViewPlan {
            selection,
            transforms: rng.random_bool(transforms),
        });
    }
    views
}

fn selection(rng: &mut ChaCha8Rng, resource: Resource) -> Selection {
    let is_in_namespace = resource.is_namespaced() && rng.random_bool(0.2);
    Selection {
        namespace: is_in_namespace.then(|| pick(rng, &NAMESPACES).to_owned()),
        label: rng.random_bool(0.5).then(|| "web".to_owned()),
        operator: pick(rng, &Operator::ALL),
        ..Selection::all(resource)
    }
}

/// Draws the requests of a view, most of them before the start, and its handlers.
fn of_view(rng: &mut ChaCha8Rng, view: usize, start_ms: u64, safety_ms: u64) -> Vec<FactoryAct> {
    let request_ms = if rng.random_bool(0.6) {
        rng.random_range(0..=start_ms)
    } else {
        rng.random_range(0..safety_ms)
    };
    let mut acts = vec![FactoryAct::new(request_ms, FactoryActKind::Request(view))];
    let later = |rng: &mut ChaCha8Rng| rng.random_range(request_ms..=safety_ms);
    if rng.random_bool(0.4) {
        let at_ms = later(rng);
        acts.push(FactoryAct::new(at_ms, FactoryActKind::Request(view)));
    }
    for _ in 0..pick(rng, &[1, 1, 2]) {
        let late_ms = later(rng);
        let at_ms = pick(rng, &[request_ms, late_ms]);
        acts.push(FactoryAct::new(at_ms, FactoryActKind::Join(view)));
        if rng.random_bool(0.3) {
            let leave = pick(
                rng,
                &[FactoryActKind::Leave(view), FactoryActKind::Remove(view)],
            );
            acts.push(FactoryAct::new(rng.random_range(at_ms..=safety_ms), leave));
        }
    }
    if rng.random_bool(0.3) {
        let at_ms = later(rng);
        acts.push(FactoryAct::new(at_ms, FactoryActKind::Release(view)));
        let again_ms = at_ms + pick(rng, &STOPS_MS);
        acts.push(FactoryAct::new(again_ms, FactoryActKind::Request(view)));
        acts.push(FactoryAct::new(again_ms, FactoryActKind::Join(view)));
    }
    acts
}

/// Draws further starts, shutdowns and the starts after them.
fn generations(
    rng: &mut ChaCha8Rng,
    view_count: usize,
    start_ms: u64,
    safety_ms: u64,
) -> Vec<FactoryAct> {
    let mut acts = Vec::new();
    for _ in 0..rng.random_range(0..=4) {
        let at_ms = rng.random_range(start_ms..=safety_ms);
        match rng.random_range(0..8) {
            0 | 1 => acts.push(FactoryAct::new(at_ms, FactoryActKind::Start)),
            2 => {
                let yields = rng.random_range(0..12);
                acts.push(FactoryAct::new(at_ms, FactoryActKind::Restart(yields)));
            }
            3 => acts.push(FactoryAct::new(at_ms, FactoryActKind::Renew)),
            _ => {
                acts.push(FactoryAct::new(at_ms, FactoryActKind::Stop));
                let again_ms = at_ms + pick(rng, &STOPS_MS);
                acts.extend(meanwhile(rng, view_count, at_ms));
                acts.push(FactoryAct::new(again_ms, FactoryActKind::Start));
            }
        }
    }
    acts
}

/// Draws the acts between a shutdown and the next start.
fn meanwhile(rng: &mut ChaCha8Rng, view_count: usize, at_ms: u64) -> Vec<FactoryAct> {
    let mut acts = Vec::new();
    let kinds: [fn(usize) -> FactoryActKind; 4] = [
        FactoryActKind::Request,
        FactoryActKind::Join,
        FactoryActKind::Leave,
        FactoryActKind::Remove,
    ];
    for kind in kinds {
        let view = rng.random_range(0..view_count);
        if rng.random_bool(0.3) {
            acts.push(FactoryAct::new(at_ms, kind(view)));
        }
    }
    acts
}
