//! The moments of a plan and the gaps between them.

use std::ops::Range;

use super::super::Plan;
use crate::participants::PlanSection as _;

/// Returns the moments of a plan in order, its end last, without 0.
pub(super) fn of(plan: &Plan) -> Vec<u64> {
    let mut moments = vec![plan.safety_ms];
    let mut copy = plan.clone();
    map(&mut copy, |at_ms| {
        moments.push(at_ms);
        at_ms
    });
    moments.retain(|at_ms| *at_ms > 0);
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// Shortens the gaps before the moments of a range; `shorter` returns the length to try.
pub(super) fn shorten(plan: &mut Plan, range: &Range<usize>, shorter: fn(u64) -> u64) {
    let old = of(plan);
    let mut new = Vec::with_capacity(old.len());
    let (mut old_before, mut new_before) = (0, 0);
    for (place, moment) in old.iter().enumerate() {
        let gap = moment - old_before;
        let gap = if range.contains(&place) {
            shorter(gap)
        } else {
            gap
        };
        new_before += gap;
        old_before = *moment;
        new.push(new_before);
    }
    // Equal moments stay equal: much depends on what happens at once.
    map(plan, |at_ms| match old.binary_search(&at_ms) {
        Ok(place) => new[place],
        Err(_) => at_ms,
    });
    // A run takes some time, if only for its observations.
    plan.safety_ms = new_before.max(1);
}

/// Returns the power of ten below `gap`: readable, and soon close to nothing.
pub(super) fn tenth(gap: u64) -> u64 {
    match gap {
        0 | 1 => 0,
        _ => 10_u64.pow((gap - 1).ilog10()),
    }
}

/// Replaces every moment of a plan by the result of `new`. Faults that would end after the plan's end, end with it.
fn map(plan: &mut Plan, mut new: impl FnMut(u64) -> u64) {
    let end_ms = plan.safety_ms;
    for operation in &mut plan.workload {
        operation.at_ms = new(operation.at_ms.min(end_ms));
    }
    for fault in &mut plan.faults {
        let until = new((fault.at_ms + fault.for_ms).min(end_ms));
        fault.at_ms = new(fault.at_ms.min(end_ms));
        fault.for_ms = until - fault.at_ms;
    }
    for incident in &mut plan.incidents {
        let until = new((incident.at_ms + incident.for_ms).min(end_ms));
        incident.at_ms = new(incident.at_ms.min(end_ms));
        incident.for_ms = until - incident.at_ms;
    }
    plan.participants
        .map_moments(|at_ms| new(at_ms.min(end_ms)));
    plan.informers
        .map_moments(&mut |at_ms| new(at_ms.min(end_ms)));
}
