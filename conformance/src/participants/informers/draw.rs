//! Draws informers, their handlers and their controllers.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::{
    forms, handler_forms, pauses,
    plan::{HandlerPlan, InformerPlan, PlannedEncoding},
};
use crate::{
    participants::controllers,
    plan::{
        NAMESPACES, Operator, Profile, Resource, Selection, Size,
        swarm::{Swarm, pick},
    },
    seed::Seed,
};

/// Draws the informers of a plan. Each kind of trait has a stream of its own, so that a new one does not change the others.
pub(crate) fn draw(seed: Seed, profile: Profile, swarm: &Swarm) -> Vec<InformerPlan> {
    let size = profile.size();
    let mut informers = informers(&mut seed.stream("informers"), swarm, &size);
    forms::draw(seed, swarm.safety_ms, &mut informers);
    handler_forms::draw(seed, swarm.safety_ms, &mut informers);
    pauses::draw(seed, swarm.safety_ms, &mut informers);
    controllers::draw(seed, profile, swarm, &mut informers);
    informers
}

fn informers(rng: &mut ChaCha8Rng, swarm: &Swarm, size: &Size) -> Vec<InformerPlan> {
    let count = rng.random_range(size.informers.clone());
    let mut resources: Vec<Resource> = swarm
        .objects
        .iter()
        .map(|(resource, _)| *resource)
        .collect();
    resources.sort_unstable();
    resources.dedup();
    // Each resource has an informer, as far as there are informers; further ones have any.
    (0..count)
        .map(|place| match resources.get(place) {
            Some(resource) => *resource,
            None => pick(rng, &resources),
        })
        .collect::<Vec<_>>()
        .into_iter()
        .map(|resource| informer(rng, resource, swarm, size))
        .collect()
}

fn informer(rng: &mut ChaCha8Rng, resource: Resource, swarm: &Swarm, size: &Size) -> InformerPlan {
    let odds = &swarm.informers;
    let is_in_namespace = resource.is_namespaced() && rng.random_bool(odds.in_namespace);
    let namespace = pick(rng, &NAMESPACES);
    let selection = Selection {
        resource,
        namespace: is_in_namespace.then(|| namespace.to_owned()),
        label: rng.random_bool(odds.labelled).then(|| "web".to_owned()),
        operator: Operator::default(),
        is_filtered: false,
        is_strict: false,
    };
    let handler_count = rng.random_range(1..=size.handlers_max);
    InformerPlan {
        selection,
        start_ms: if rng.random_bool(odds.late) {
            rng.random_range(0..swarm.safety_ms / 2)
        } else {
            0
        },
        page_size: pick(rng, &odds.page_sizes),
        streaming_lists: rng.random_bool(odds.streaming),
        watch_timeout_s: pick(rng, &odds.watch_timeouts_s),
        encoding: PlannedEncoding::default(),
        compact: false,
        transforms: false,
        queue_max: rng
            .random_bool(odds.short_queue)
            .then(|| pick(rng, &[1, 1, 2, 8])),
        chunk_max_bytes: None,
        index_edit_ms: None,
        pauses: Vec::new(),
        handlers: (0..handler_count).map(|_| handler(rng, swarm)).collect(),
        controllers: Vec::new(),
    }
}

fn handler(rng: &mut ChaCha8Rng, swarm: &Swarm) -> HandlerPlan {
    let (odds, safety_ms) = (swarm.handlers, swarm.safety_ms);
    let join_ms = if rng.random_bool(odds.late) {
        rng.random_range(0..safety_ms)
    } else {
        0
    };
    HandlerPlan {
        join_ms,
        leave_ms: rng
            .random_bool(odds.leaves)
            .then(|| rng.random_range(join_ms..=safety_ms)),
        leave_at_count: rng
            .random_bool(odds.leaves_by_itself)
            .then(|| rng.random_range(1..12)),
        resync_ms: rng
            .random_bool(odds.resyncs)
            .then(|| rng.random_range(2_000..20_000)),
        panic_every: rng
            .random_bool(odds.panics)
            .then(|| rng.random_range(2..10)),
        ..HandlerPlan::default()
    }
}
