//! A cache holds exactly the state of its selection at its version.
//!
//! This holds at any moment: never half of a list, never a later change without an earlier one.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::{
    checkers::anomalies::Anomalies,
    model::Model,
    trace::{Key, Observation, State, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    // A state that a fault merges away is missing until the one that it is merged into.
    let merging = Anomalies::coalescing(trace);
    let mut findings = Vec::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        let Observation::Cached {
            informer,
            revision,
            has_synced,
            members,
        } = observation
        else {
            continue;
        };
        let Some(history) = model.history(*informer) else {
            continue;
        };
        let got: BTreeMap<Key, State> = members
            .iter()
            .map(|member| (member.key.clone(), member.state.clone()))
            .collect();
        let want = revision.map(|revision| history.at(revision));
        let wrong = match want {
            Some(want) if want != got => {
                format!("cache {informer} is not the state at its version")
            }
            None if *has_synced => format!("cache {informer} has synced, but stands at no version"),
            None if !got.is_empty() => {
                format!("cache {informer} holds something, but stands at no version")
            }
            _ => continue,
        };
        let merged = merging.touching(*informer, &(Duration::ZERO..=at));
        findings.push(Finding::at(number, wrong).expected_of(merged));
    }
    findings
}
