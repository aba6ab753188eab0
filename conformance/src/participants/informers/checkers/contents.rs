//! An object that an informer hands out has the content that the server has at that version.

use std::collections::BTreeMap;

use super::Finding;
use crate::{
    plan::Resource,
    trace::{Member, Observation, Trace},
};

/// Finds violations of the [module](self)'s invariant. An object at a version that never was is reported by
/// [`told_truth`](super::told_truth) or [`snapshots`](super::snapshots).
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut resources: BTreeMap<usize, Resource> = BTreeMap::new();
    let mut stored: BTreeMap<(Resource, &Member), Option<u64>> = BTreeMap::new();
    for observation in trace.observations() {
        match observation {
            Observation::InformerStarts {
                informer,
                selection,
            } => {
                resources.insert(*informer, selection.resource);
            }
            Observation::Stored {
                resource,
                member,
                digest,
            } => {
                stored.insert((*resource, member), *digest);
            }
            _ => {}
        }
    }
    let mut findings = Vec::new();
    for (number, observation) in trace.numbered() {
        let Observation::Read {
            informer,
            member,
            digest,
        } = observation
        else {
            continue;
        };
        let own = resources
            .get(informer)
            .and_then(|resource| stored.get(&(*resource, member)));
        if own.is_some_and(|own| own != digest) {
            findings.push(Finding::at(
                number,
                format!("informer {informer} hands out {member} with another content"),
            ));
        }
    }
    findings
}
