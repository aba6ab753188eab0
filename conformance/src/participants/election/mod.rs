//! A leader election beside the informers: candidates for one lease, made of [`informer::leader_election`], and what happens
//! to them.

mod event;
mod plan;
mod draw;
mod line;
mod lease_log;
mod candidate;
mod run;
mod leaders;
mod elections;
mod coordination;

pub use self::{
    event::{Candidacy, ElectionEvent, LeaseState},
    plan::{
        CandidateFault, CandidatePlan, CandidateStop, ElectionPlan, ForeignWrite, ForeignWriteKind,
        StopKind,
    },
};

#[cfg(test)]
mod tests;
