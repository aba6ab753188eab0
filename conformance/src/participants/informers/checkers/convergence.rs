//! After faults end, each cache equals the server: key for key, with uid and version.

use std::collections::BTreeMap;

use super::Finding;
use crate::{
    model::{self, Model},
    plan::Resource,
    trace::{Key, Member, Observation, Phase, State, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_in_phase = |wanted| {
        trace
            .observations()
            .any(|observation| matches!(observation, Observation::Phase(phase) if *phase == wanted))
    };
    if is_in_phase(Phase::GivenUp) {
        findings.push(Finding::whole("caches did not converge in time"));
    }
    for (informer, history) in model.informers() {
        let last = trace
            .observations()
            .rev()
            .find_map(|observation| match observation {
                Observation::Cached {
                    informer: of,
                    has_synced,
                    members,
                    ..
                } if *of == informer => Some((*has_synced, members)),
                _ => None,
            });
        let Some((has_synced, members)) = last else {
            continue;
        };
        if !has_synced {
            findings.push(Finding::whole(format!("informer {informer} never synced")));
        }
        let who = format!("cache {informer}");
        findings.extend(differences(&who, &history.last(), members));
    }
    for observation in trace.observations() {
        if let Observation::Held { resource, members } = observation {
            findings.extend(of_server(trace, *resource, members));
        }
    }
    findings
}

/// Compares the server's objects with the fold of its own log: a wrong oracle would prove nothing.
fn of_server(trace: &Trace, resource: Resource, members: &[Member]) -> Vec<Finding> {
    let who = format!("server's {}", resource.plural());
    differences(&who, &model::fold(trace, resource), members)
}

fn differences(who: &str, want: &BTreeMap<Key, State>, got: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut missing = want.clone();
    for member in got {
        match missing.remove(&member.key) {
            Some(state) if state == member.state => {}
            Some(state) => findings.push(Finding::whole(format!(
                "{who} holds {member}, server's log has {state}"
            ))),
            None => findings.push(Finding::whole(format!(
                "{who} holds {member}, server's log has nothing"
            ))),
        }
    }
    for (key, state) in missing {
        findings.push(Finding::whole(format!(
            "{who} lacks {key}, server's log has {state}"
        )));
    }
    findings
}
