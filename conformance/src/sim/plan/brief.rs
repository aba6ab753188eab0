//! Plans of the profile `brief`, which end within a second of real time.

use std::num::NonZeroU32;

use rand::RngExt;

use super::Plan;
use crate::{
    participants::Participants,
    plan::{
        Action, IncidentKind, Operation, Tier,
        swarm::{odds, pick},
    },
};

/// The numbers of objects of a crowd: a list of them is decoded on several threads, where there are any.
const CROWDS: [u8; 4] = [80, 80, 80, 140];
/// The times of calls of slow handlers: a crowd of calls fits into a run.
const DELAYS_MS: [u64; 4] = [1, 1, 2, 5];
/// The sizes of pages. A list of a crowd has a few pages at most, so that it is no hot loop.
const PAGE_SIZES: [u32; 4] = [100, 500, 500, 500];
/// The times for which calls block their threads: a crowd is through within two seconds.
const BLOCKS_MS: [u64; 4] = [1, 2, 5, 10];

// === impl Plan ===

impl Plan {
    /// Shortens a drawn plan to some tenths of a second, and adds a crowd of objects to half of all plans.
    #[must_use]
    pub(super) fn made_brief(self) -> Self {
        let rng = &mut self.seed.stream("brief");
        let safety_ms: u64 = pick(rng, &[100, 200, 200, 400]);
        let factor = u32::try_from(self.safety_ms.div_ceil(safety_ms)).ok();
        let mut plan = self.sped_up(factor.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN));
        // They need the paused clock.
        plan.participants = Participants::default();
        // No clock in real time can leap, and the tables of a version are read at its first use, which takes as long as a run.
        plan.incidents.retain(|incident| {
            !matches!(
                incident.kind,
                IncidentKind::Suspend | IncidentKind::Upgrade { .. }
            )
        });
        for incident in &mut plan.incidents {
            if let IncidentKind::Replica { lag_ms, .. } = &mut incident.kind {
                *lag_ms = pick(rng, &[1, 10, 50]);
            }
        }
        let hurry = &mut plan.seed.stream("brief controllers");
        let delays = &mut plan.seed.stream("brief handlers");
        for informer in &mut plan.informers {
            informer.page_size = pick(rng, &PAGE_SIZES);
            for handler in &mut informer.handlers {
                handler.resync_ms = handler.resync_ms.map(|_| pick(rng, &[10, 50, 150]));
                handler.delay_ms = handler.delay_ms.map(|_| pick(delays, &DELAYS_MS));
            }
            for controller in &mut informer.controllers {
                controller.hurry(hurry);
            }
        }
        plan.block();
        if rng.random_bool(0.5) {
            plan.gather(pick(rng, &CROWDS));
        }
        plan
    }

    /// Lets handlers block their threads: none in a third of all runs.
    fn block(&mut self) {
        let rng = &mut self.seed.stream("blocking handlers");
        let share = odds(rng, 0.3);
        let informers = self.informers.iter_mut();
        for handler in informers.flat_map(|informer| &mut informer.handlers) {
            let time_ms = pick(rng, &BLOCKS_MS);
            // Only plain calls come on threads of their own.
            let is_plain = handler.delay_ms.is_none() && !handler.is_stream;
            handler.block_ms = (rng.random_bool(share) && is_plain).then_some(time_ms);
        }
    }

    /// Lets the first informer begin with a list of many objects, which is long in bytes, too, if there is odd content.
    fn gather(&mut self, count: u8) {
        let Some(informer) = self.informers.first_mut() else {
            return;
        };
        informer.streaming_lists = false;
        informer.page_size = 500;
        informer.selection.namespace = None;
        let resource = informer.selection.resource;
        let is_there = |slot: &u8| {
            let mut operations = self.workload.iter();
            operations.any(|operation| {
                (operation.at_ms, operation.resource, operation.slot) == (0, resource, *slot)
                    && matches!(operation.action, Action::Create(_))
            })
        };
        let missing: Vec<u8> = (0..count).filter(|slot| !is_there(slot)).collect();
        let created = missing.into_iter().map(|slot| {
            let tier = if slot % 4 == 0 { Tier::Db } else { Tier::Web };
            Operation::new(0, resource, slot, Action::Create(tier))
        });
        self.workload.splice(0..0, created);
    }
}
