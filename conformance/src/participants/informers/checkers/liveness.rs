//! A client is up to date again within a bound of simulated time after each fault has ended.
//!
//! Looked at whenever a cache is, and at the moment in which all caches have become equal to the server.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use fakeserver::faults::{Fault, Recovery};

use super::{Finding, refusals::Refusals};
use crate::{
    model::Model,
    plan::IncidentKind,
    trace::{Observation, Phase, Trace, seconds},
};

/// The time that a client may take without faults.
const AT_ONCE: Duration = Duration::from_secs(1);
/// The longest wait of a client's backoff, with all of its jitter.
const BACKOFF: Duration = Duration::from_mins(1);
/// The time after which a client gives up a silent stream.
const SILENCE_NOTICED: Duration = Duration::from_mins(3);
/// The time after which a client gives up a request that is not answered.
const REQUEST_GIVEN_UP: Duration = Duration::from_mins(2);
/// The time that a request which is under way at the end of a fault may still take.
const UNDER_WAY: Duration = Duration::from_secs(10);
/// The longest pause of a client for which a resource is gone or forbidden.
const PAUSE: Duration = Duration::from_mins(4);
/// The bound of a fault by which data arrives slowly.
const SLOWLY: Duration = Duration::from_mins(8);

/// See the [module](self).
pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut faults = Faults::default();
    // The revisions that the workload has heard of, in order of time.
    let mut written: Vec<(Duration, u64)> = Vec::new();
    for (record, (at, observation)) in trace.timed().enumerate() {
        faults.observe(at, observation);
        let late = match observation {
            Observation::Operation {
                revision: Some(revision),
                ..
            } => {
                written.push((at, *revision));
                None
            }
            Observation::Phase(Phase::Converged | Phase::GivenUp) => faults.late_to_converge(at),
            Observation::Cached {
                informer, revision, ..
            } => model.history(*informer).and_then(|history| {
                let due = faults.due(*informer).filter(|due| at > due.at)?;
                let known = written.iter().filter(|(when, _)| *when <= due.since);
                let newest = known.map(|(_, revision)| *revision).max()?;
                let stands = revision.unwrap_or(0);
                let (missing, key) = history.changes_between(stands, newest).next()?;
                Some(format!(
                    "cache {informer} has not heard of {key} at {missing}; {due}"
                ))
            }),
            Observation::Phase(Phase::Shutdown) => break,
            _ => None,
        };
        findings.extend(late.map(|text| Finding::at(record, text)));
    }
    findings
}

/// Returns the time for which a fault may be felt after its end, by the recovery of a correct client.
fn bound(recovery: Recovery) -> Duration {
    match recovery {
        Recovery::Unaffected => Duration::ZERO,
        Recovery::Late => UNDER_WAY,
        Recovery::Retry => BACKOFF,
        Recovery::LateRetry => BACKOFF + UNDER_WAY,
        Recovery::RequestTimeout => REQUEST_GIVEN_UP + BACKOFF,
        Recovery::SilenceTimeout => SILENCE_NOTICED + BACKOFF,
        Recovery::Pause => PAUSE,
        // The bound of a control is of no consequence: it is felt for ever, and a checker finds it.
        Recovery::Slow | Recovery::Never => SLOWLY,
    }
}

/// The faults so far, and the informers that ran.
#[derive(Default)]
struct Faults {
    felt: BTreeMap<usize, FaultEffect>,
    started: BTreeMap<usize, Duration>,
    /// The end of the last pause of each informer that was asked for; `None` while it is paused.
    paused: BTreeMap<usize, Option<Duration>>,
    refusals: Refusals,
    has_gate: bool,
    recovery: Duration,
}

struct FaultEffect {
    name: String,
    /// The time for which it may be felt after its end.
    bound: Duration,
    /// True if the version that a client knows may expire by it. A client that was held up by any fault resumes from
    /// that version after one backoff, and lists after another.
    expires_versions: bool,
    /// The informer that it affects; all if `None`.
    informer: Option<usize>,
    /// `None` while it is in force.
    ended: Option<Duration>,
}

/// By when a client has to be up to date.
struct Due {
    at: Duration,
    /// With what had been written by then.
    since: Duration,
    /// The fault that gives it so long, if one does.
    fault: Option<String>,
}

// === impl Faults ===

impl Faults {
    fn observe(&mut self, at: Duration, observation: &Observation) {
        self.refusals.observe(at, observation);
        match observation {
            Observation::ListGate { .. } => self.has_gate = true,
            Observation::FaultBegins {
                fault,
                name,
                informer,
                ..
            } => {
                self.felt.insert(*fault, FaultEffect::new(name, *informer));
            }
            Observation::FaultEnds { fault } => {
                if let Some(felt) = self.felt.get_mut(fault) {
                    felt.ended = Some(at);
                }
            }
            Observation::InformerPauses { informer } => {
                self.paused.insert(*informer, None);
            }
            Observation::InformerResumes { informer } => {
                self.paused.insert(*informer, Some(at));
            }
            Observation::InformerStarts { informer, .. } => {
                self.started.insert(*informer, at);
            }
            Observation::Phase(Phase::Recovery) => self.recovery = at,
            _ => {}
        }
    }

    /// By when an informer has to be up to date; `None` while something is wrong.
    fn due(&self, informer: usize) -> Option<Due> {
        let started = *self.started.get(&informer)?;
        let mut due = Due {
            at: started + AT_ONCE,
            since: started,
            fault: None,
        };
        if let Some(resumed) = self.paused.get(&informer) {
            let resumed = (*resumed)?;
            due.since = due.since.max(resumed);
            // What a fault did meanwhile is noticed now.
            due.at = due.at.max(resumed + BACKOFF + AT_ONCE);
        }
        let felt = self.felt.values();
        let felt: Vec<&FaultEffect> = felt
            .filter(|felt| self.has_gate || felt.hits(informer))
            .collect();
        let second_wait = if felt.iter().any(|felt| felt.expires_versions) {
            BACKOFF
        } else {
            Duration::ZERO
        };
        if let Some(until) = self.refusals.until(informer) {
            // It may ask some time after that: waits have jitter.
            due.at = due.at.max(until + BACKOFF + second_wait + AT_ONCE);
        }
        for felt in felt {
            let ended = felt.ended?;
            due.since = due.since.max(ended);
            let again = second_wait.min(felt.bound);
            let at = ended + felt.bound + again + AT_ONCE;
            if at > due.at {
                due.at = at;
                due.fault = Some(felt.name.clone());
            }
        }
        if self.has_gate {
            // It may wait for the lists of all others, and they for their waits.
            let turns = u32::try_from(self.started.len()).unwrap_or(u32::MAX);
            due.at += (REQUEST_GIVEN_UP + BACKOFF) * turns;
        }
        Some(due)
    }

    /// Returns the finding if the caches have become equal to the server only now, or not at all.
    fn late_to_converge(&self, at: Duration) -> Option<String> {
        let due = self
            .started
            .keys()
            .filter_map(|informer| self.due(*informer));
        let due = due.max_by_key(|due| due.at)?;
        // There is something to hear of when faults have ended.
        let limit = due.at.max(self.recovery + AT_ONCE);
        let took = seconds(at.saturating_sub(self.recovery));
        (at > limit).then(|| format!("caches were not up to date for {took} s; {due}"))
    }
}

// === impl FaultEffect ===

impl FaultEffect {
    /// Returns the fault or incident of this name, from its beginning on.
    fn new(name: &str, informer: Option<usize>) -> Self {
        let (bound, expires_versions) = match Fault::named(name).map(Fault::entry) {
            Some(entry) => (bound(entry.recovery), entry.expires_versions()),
            None => (BACKOFF, is_without_history(name)),
        };
        Self {
            name: name.to_owned(),
            bound,
            expires_versions,
            informer,
            ended: None,
        }
    }

    fn hits(&self, informer: usize) -> bool {
        self.informer.is_none_or(|hit| hit == informer)
    }
}

// === impl Due ===

impl Display for Due {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let at = seconds(self.at);
        match &self.fault {
            Some(fault) => write!(f, "after {fault} it should by {at}"),
            None => write!(f, "where nothing is wrong it should by {at}"),
        }
    }
}

/// Returns whether the server has no history after an incident of this name.
fn is_without_history(name: &str) -> bool {
    let incidents = [IncidentKind::Restart, IncidentKind::DataLoss];
    incidents.iter().any(|incident| incident.name() == name)
}
