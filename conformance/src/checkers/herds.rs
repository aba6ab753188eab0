//! The watches of a client do not all end after the same time.
//!
//! Each names a timeout of its own, so that the watches of many clients, which a server's restart began together, do not
//! end together, too.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{Observation, Trace};

/// The number of watches from which on equal timeouts are no coincidence: of five timeouts, one run in fifty million draws one.
const WATCHES_MIN: usize = 12;

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut informers = BTreeMap::new();
    let mut timeouts: BTreeMap<usize, Vec<_>> = BTreeMap::new();
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
    herds
        .map(|(informer, all)| {
            let count = all.len();
            Finding::whole(format!(
                "each of the {count} watches of informer {informer} is to end after the same time"
            ))
        })
        .collect()
}
