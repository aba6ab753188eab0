//! A client is up to date again within a bound of simulated time after each fault has ended.
//!
//! Looked at whenever a cache is, and at the moment in which all caches have become equal to the server.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use super::Finding;
use crate::{
    model::Model,
    trace::{Observation, Phase, Trace, seconds},
};

/// How long a client may take where nothing is wrong.
const AT_ONCE: Duration = Duration::from_secs(1);
/// The longest wait of a client's backoff, with all of its jitter.
const BACKOFF: Duration = Duration::from_mins(1);
/// After how long a client gives up a stream that has fallen silent, and a request for a page that is not answered.
const SILENCE_NOTICED: Duration = Duration::from_mins(3);
const REQUEST_GIVEN_UP: Duration = Duration::from_mins(2);
/// How long what was under way when a fault ended may still take.
const UNDER_WAY: Duration = Duration::from_secs(10);
/// How long a client that has paused, since it was told that a resource is gone or forbidden, may wait before it asks again.
const PAUSE: Duration = Duration::from_mins(4);
/// How long a fault that is not in the table may be felt.
const OTHERWISE: Duration = Duration::from_mins(8);

/// How long each fault may be felt after its end, by its name in reports.
///
/// Whatever makes a request fail is felt for a wait of the backoff at most, and what hits writes alone is not felt. A promise
/// that the server breaks may be felt for ever, and is not in the table.
pub const BOUNDS: [(&str, Duration); 50] = [
    ("clean_end", BACKOFF),
    ("disconnect", BACKOFF),
    ("reset_mid_line", BACKOFF),
    ("silence", SILENCE_NOTICED.saturating_add(BACKOFF)),
    ("go_away", BACKOFF),
    ("end_before_initial_events_end", BACKOFF),
    ("end_after_bookmark", BACKOFF),
    ("compact", BACKOFF),
    ("expire", BACKOFF),
    ("expired_event", BACKOFF),
    ("expired_status", BACKOFF),
    ("expired_relist", BACKOFF),
    ("version_too_large", BACKOFF.saturating_add(UNDER_WAY)),
    ("gone", BACKOFF),
    // It asks for 20 s at most, which is less than the longest wait.
    ("throttle", BACKOFF),
    ("server_error", BACKOFF),
    ("connection_refused", BACKOFF),
    ("latency", BACKOFF.saturating_add(UNDER_WAY)),
    ("hang", REQUEST_GIVEN_UP.saturating_add(BACKOFF)),
    ("unauthorized", BACKOFF),
    ("forbidden", PAUSE),
    ("resource_gone", PAUSE),
    (
        // What was begun as a plain watch ends only when nothing comes any more, or at the latest so.
        "watch_list_ignored",
        REQUEST_GIVEN_UP.saturating_add(BACKOFF),
    ),
    ("watch_list_rejected", BACKOFF),
    (
        "initial_events_end_missing",
        REQUEST_GIVEN_UP.saturating_add(BACKOFF),
    ),
    ("lost_answer", Duration::ZERO),
    ("conflict", Duration::ZERO),
    ("already_exists", Duration::ZERO),
    ("denied", Duration::ZERO),
    ("slow_webhook", Duration::ZERO),
    ("entity_too_large", Duration::ZERO),
    ("reset_mid_body", BACKOFF),
    // What comes slowly, comes to its end so.
    ("trickle", OTHERWISE),
    ("slow_reader_evicted", BACKOFF),
    ("rechunk", Duration::ZERO),
    // A server that went back is noticed by its silence.
    ("rollback", SILENCE_NOTICED.saturating_add(BACKOFF)),
    ("stale_view", BACKOFF.saturating_add(UNDER_WAY)),
    ("lagging_replica", BACKOFF.saturating_add(UNDER_WAY)),
    ("time_travel", BACKOFF),
    ("coalesce", UNDER_WAY),
    ("unobserved", BACKOFF),
    ("discovery_unavailable", Duration::ZERO),
    ("unknown_fields", Duration::ZERO),
    ("huge_objects", Duration::ZERO),
    ("initial_events_shuffled", BACKOFF),
    ("changed_during_initial_events", BACKOFF),
    // What happens to whole machines.
    ("replica", BACKOFF),
    ("restart", BACKOFF),
    ("data_loss", BACKOFF),
    ("suspend", BACKOFF),
];

/// The faults by which a version may expire that a client knows. Whoever was held up, by whatever fault, resumes from it
/// after one wait of his backoff, and lists after another one.
const EXPIRING: [&str; 10] = [
    "compact",
    "expire",
    "expired_event",
    "expired_status",
    "expired_relist",
    "gone",
    "unobserved",
    "end_after_bookmark",
    "restart",
    "data_loss",
];

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
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

/// How long a fault may be felt after its end.
fn bound(name: &str) -> Duration {
    let known = BOUNDS.iter().find(|(known, _)| *known == name);
    known.map_or(OTHERWISE, |(_, bound)| *bound)
}

/// What has gone wrong so far, and who was there.
#[derive(Default)]
struct Faults {
    felt: BTreeMap<usize, Felt>,
    started: BTreeMap<usize, Duration>,
    recovery: Duration,
}

struct Felt {
    name: String,
    /// Whom it hits; everybody if `None`.
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
        match observation {
            Observation::FaultBegins {
                fault,
                name,
                informer,
                ..
            } => {
                let felt = Felt {
                    name: name.clone(),
                    informer: *informer,
                    ended: None,
                };
                self.felt.insert(*fault, felt);
            }
            Observation::FaultEnds { fault } => {
                if let Some(felt) = self.felt.get_mut(fault) {
                    felt.ended = Some(at);
                }
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
        let felt = self.felt.values();
        let felt: Vec<&Felt> = felt.filter(|felt| felt.hits(informer)).collect();
        let is_expiring = |felt: &&Felt| EXPIRING.contains(&felt.name.as_str());
        let second_wait = if felt.iter().any(is_expiring) {
            BACKOFF
        } else {
            Duration::ZERO
        };
        for felt in felt {
            let ended = felt.ended?;
            due.since = due.since.max(ended);
            let bound = bound(&felt.name);
            let again = second_wait.min(bound);
            let at = ended + bound + again + AT_ONCE;
            if at > due.at {
                due.at = at;
                due.fault = Some(felt.name.clone());
            }
        }
        Some(due)
    }

    /// What there is to say if the caches have only now, or not at all, become equal to the server.
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

// === impl Felt ===

impl Felt {
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
