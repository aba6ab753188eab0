//! A paused informer neither asks nor listens, and resumes at once.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::{
    checkers::clock_leaps::ClockLeaps,
    trace::{Observation, Phase, Trace, seconds},
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut informers: BTreeMap<usize, PauseState> = BTreeMap::new();
    let mut senders: BTreeMap<usize, usize> = BTreeMap::new();
    let mut has_gate = false;
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            for pausing in informers.values_mut() {
                pausing.wake(at);
            }
        }
        // Before the observation: a request at a later moment does not make up for the one that was due.
        for (informer, pausing) in &mut informers {
            if let Some(resumed) = pausing.missed(at).filter(|_| !has_gate) {
                let text = format!(
                    "informer {informer} was resumed at {} s and asked for nothing",
                    seconds(resumed)
                );
                findings.push(Finding::at(number, text));
            }
        }
        match observation {
            // It may have to wait for its turn.
            Observation::ListGate { .. } => has_gate = true,
            Observation::InformerStarts { informer, .. } => {
                informers.entry(*informer).or_default().is_running = true;
            }
            Observation::InformerPauses { informer } => {
                let pausing = informers.entry(*informer).or_default();
                pausing.paused = Some(at);
                pausing.resumed = None;
            }
            Observation::InformerResumes { informer } => {
                let pausing = informers.entry(*informer).or_default();
                // A pause that ends in the moment of its beginning interrupts nothing.
                let was_paused = pausing.paused.take().is_some_and(|since| since < at);
                pausing.resumed = (was_paused && pausing.is_running).then_some(at);
            }
            Observation::Request {
                informer, request, ..
            } => {
                senders.insert(*request, *informer);
                let pausing = informers.entry(*informer).or_default();
                pausing.resumed = None;
                findings.extend(
                    pausing
                        .notification(at)
                        .map(|text| Finding::at(number, format!("{observation}, {text}"))),
                );
            }
            Observation::Frame { request, .. }
            | Observation::Page { request, .. }
            | Observation::Bookmark { request, .. } => {
                let pausing = senders
                    .get(request)
                    .and_then(|informer| informers.get(informer));
                findings.extend(
                    pausing
                        .and_then(|pausing| pausing.notification(at))
                        .map(|text| Finding::at(number, format!("{observation}, {text}"))),
                );
            }
            Observation::Phase(Phase::Shutdown) => break,
            _ => {}
        }
    }
    findings
}

/// An informer that may be paused.
#[derive(Default)]
struct PauseState {
    is_running: bool,
    /// The beginning of the pause, if it is paused.
    paused: Option<Duration>,
    /// The end of a pause after which it has not asked yet.
    resumed: Option<Duration>,
}

// === impl PauseState ===

impl PauseState {
    /// Puts off what the informer had no time for, since the machine fell asleep.
    fn wake(&mut self, at: Duration) {
        self.paused = self.paused.map(|_| at);
        self.resumed = self.resumed.map(|_| at);
    }

    /// Describes an exchange with the server at this time, if there is to be none.
    fn notification(&self, at: Duration) -> Option<String> {
        let since = self.paused.filter(|since| *since < at)?;
        Some(format!("although it is paused since {} s", seconds(since)))
    }

    /// Returns the end of a pause after which time went by without a request.
    fn missed(&mut self, at: Duration) -> Option<Duration> {
        self.resumed.take_if(|resumed| *resumed < at)
    }
}
