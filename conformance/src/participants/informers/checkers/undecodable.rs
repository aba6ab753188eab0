//! An informer counts as undecodable exactly the objects of its selection that its type refuses, at its version.
//!
//! That the cache and its handlers take them for gone is checked as any other departure.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::{
    checkers::anomalies::Anomalies,
    model::Model,
    trace::{Key, Observation, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    // A state that a fault merges away is missing until the one that it is merged into.
    let merging = Anomalies::coalescing(trace);
    let mut findings = Vec::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        let Observation::Undecodable {
            informer,
            revision,
            members,
        } = observation
        else {
            continue;
        };
        let Some(history) = model.undecodable(*informer) else {
            continue;
        };
        let mut want: BTreeMap<Key, u64> = BTreeMap::new();
        if let Some(revision) = revision {
            let spoiled = history.at(*revision).into_iter();
            want.extend(spoiled.map(|(key, state)| (key, state.revision)));
        }
        let got: BTreeMap<Key, u64> = members.iter().cloned().collect();
        if want != got {
            let text =
                format!("informer {informer} does not tell what it cannot decode at its version");
            let merged = merging.touching(*informer, &(Duration::ZERO..=at));
            findings.push(Finding::at(number, text).expected_of(merged));
        }
    }
    findings
}
