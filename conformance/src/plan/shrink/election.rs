//! The parts of a plan's election.

use super::{
    super::{CandidateFault, CandidatePlan, Election, Plan},
    parts::{Part, simplify},
};

const CANDIDATE_OPTIONS: [fn(&mut CandidatePlan); 4] = [
    |candidate| candidate.stop = None,
    |candidate| {
        if let Some(stop) = &mut candidate.stop {
            stop.again_ms = None;
        }
    },
    |candidate| candidate.clock_ahead_s = 0,
    |candidate| candidate.emulates = 0,
];

const FAULT_OPTIONS: [fn(&mut CandidateFault); 2] = [
    |fault| fault.times = Some(1),
    |fault| {
        fault.candidate = None;
    },
];

/// Returns the number of elements of a part; 0 if there is no election.
pub(super) fn len(part: Part, plan: &Plan) -> usize {
    let Some(election) = &plan.election else {
        return 0;
    };
    match part {
        Part::Election => 1,
        Part::Candidates => election.candidates.len(),
        Part::CandidateFaults => election.faults.len(),
        Part::Meddlings => election.meddlings.len(),
        _ => candidate_options(election) + election.faults.len() * FAULT_OPTIONS.len(),
    }
}

/// Removes the elements `from..to` of a part.
pub(super) fn take(part: Part, plan: &mut Plan, from: usize, to: usize) {
    let Some(election) = &mut plan.election else {
        return;
    };
    match part {
        Part::Election => plan.election = None,
        Part::Candidates if to - from == election.candidates.len() => plan.election = None,
        Part::Candidates => take_candidates(election, from, to),
        Part::CandidateFaults => drop(election.faults.drain(from..to)),
        Part::Meddlings => drop(election.meddlings.drain(from..to)),
        _ => {
            let before = candidate_options(election);
            simplify(election.candidates.iter_mut(), &CANDIDATE_OPTIONS, from, to);
            let (from, to) = (from.saturating_sub(before), to.saturating_sub(before));
            simplify(election.faults.iter_mut(), &FAULT_OPTIONS, from, to);
        }
    }
}

fn candidate_options(election: &Election) -> usize {
    election.candidates.len() * CANDIDATE_OPTIONS.len()
}

/// Removes candidates, and the faults that concern no others, and renumbers the rest.
fn take_candidates(election: &mut Election, from: usize, to: usize) {
    election.candidates.drain(from..to);
    election
        .faults
        .retain_mut(|fault| match &mut fault.candidate {
            Some(place) if (from..to).contains(place) => false,
            Some(place) if *place >= to => {
                *place -= to - from;
                true
            }
            _ => true,
        });
}
