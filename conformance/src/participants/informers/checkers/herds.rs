//! The watches of a client do not all end after the same time.
//!
//! Each names a timeout of its own, so that the watches of many clients, which a server's restart began together, do not
//! end together, too; and two informers do not draw the same timeouts one after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::Finding;
use crate::trace::{Observation, Trace};

/// The number of watches from which on equal timeouts are no coincidence: of five timeouts, one run in fifty million draws one.
const WATCHES_MIN: usize = 12;

/// The probability up to which a coincidence counts as none.
const CHANCE_MAX: f64 = 1e-9;

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut informers = BTreeMap::new();
    let mut timeouts: BTreeMap<usize, Vec<Duration>> = BTreeMap::new();
    for observation in trace.observations() {
        match observation {
            Observation::Request {
                informer, request, ..
            } => {
                informers.insert(*request, *informer);
            }
            Observation::WatchTimeout { request, timeout } => {
                if let Some(informer) = informers.get(request) {
                    timeouts.entry(*informer).or_default().push(*timeout);
                }
            }
            _ => {}
        }
    }
    let is_herd = |all: &[_]| all.len() >= WATCHES_MIN && BTreeSet::from_iter(all).len() == 1;
    let herds = timeouts.iter().filter(|(_, all)| is_herd(all));
    let herds = herds.map(|(informer, all)| {
        let count = all.len();
        Finding::whole(format!(
            "each of the {count} watches of informer {informer} is to end after the same time"
        ))
    });
    let in_step = timeouts.iter().flat_map(|(one, its)| {
        let others = timeouts.range(one + 1..);
        let in_step = others.filter(|(_, theirs)| are_in_step(its, theirs));
        in_step.map(move |(other, _)| {
            Finding::whole(format!(
                "the watches of informers {one} and {other} end after the same times, one after the other"
            ))
        })
    });
    herds.chain(in_step).collect()
}

/// Returns true if the first timeouts of two informers are the same, and that is no coincidence.
fn are_in_step(one: &[Duration], other: &[Duration]) -> bool {
    let pairs = one.iter().zip(other);
    let same = pairs.take_while(|(one, other)| one == other);
    // A timeout is one of as many whole seconds as half of it has, at least.
    let chance: f64 = same.map(|(one, _)| 2.0 / one.as_secs_f64()).product();
    chance < CHANCE_MAX
}
