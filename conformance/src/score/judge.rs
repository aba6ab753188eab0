//! Derives a contestant's verdict from a trace: the most telling of all failures.
//!
//! A pure function of the observations and the findings of the checkers.

use std::{collections::BTreeMap, time::Duration};

use super::{Contestant, Demand, Demands, Verdict, contestant::OF_HANDLERS, delivery_latency};
use crate::{
    checkers::Violation,
    model::Model,
    participants::PANICKED,
    trace::{Failure, Key, Member, Observation, Phase, State, Trace, seconds},
};

/// A verdict, its time and its reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The simulated time since the run began.
    pub at: Duration,
    /// The time from the end of all faults until every cache was equal to the server; `None` if that never happened.
    pub took: Option<Duration>,
    /// The failure, in words; empty if there is none.
    pub text: String,
}

/// The silence after which an informer counts as deaf at the end.
const DEAF_AFTER: Duration = Duration::from_mins(5);
/// The span over which the rate of requests is measured.
const RATE_OVER: Duration = Duration::from_mins(1);

/// The verdict for each checker's finding. Findings of all others are about the server.
pub(super) const MEANINGS: &[(&str, Verdict)] = &[
    ("lost_deletes", Verdict::LostDelete),
    ("time_travel", Verdict::BackInTime),
    ("told_truth", Verdict::WrongNews),
    ("handler_streams", Verdict::WrongNews),
    ("causes", Verdict::WrongNews),
    ("handler_syncs", Verdict::WrongNews),
    ("reconciles", Verdict::WrongNews),
    ("work_queues", Verdict::WrongNews),
    ("queue_stops", Verdict::Leaked),
    ("factories", Verdict::WrongNews),
    ("silent_gaps", Verdict::WrongNews),
    ("filters", Verdict::WrongNews),
    ("cache_first", Verdict::WrongCache),
    ("contents", Verdict::WrongCache),
    ("undecodable", Verdict::WrongCache),
    ("waits", Verdict::WrongCache),
    ("statuses", Verdict::WrongCache),
    ("snapshots", Verdict::WrongCache),
    ("indexes", Verdict::WrongCache),
    ("readers", Verdict::WrongCache),
    ("freshness", Verdict::WrongCache),
    ("liveness", Verdict::Late { seconds: None }),
    ("resyncs", Verdict::Late { seconds: None }),
    ("retry_after", Verdict::Impatient),
    ("backoff", Verdict::Impatient),
    ("rewatches", Verdict::Wasteful),
    ("relists", Verdict::Wasteful),
    ("herds", Verdict::Wasteful),
    ("gates", Verdict::Wasteful),
    ("pauses", Verdict::Wasteful),
    ("leaks", Verdict::Leaked),
    ("warnings", Verdict::Warned),
];

/// Judges `contestant` by the trace of a run and the findings of the checkers in it.
pub fn judge(
    trace: &Trace,
    violations: &[Violation],
    asks: &Demands,
    contestant: Contestant,
) -> Judgement {
    let case = Case {
        trace,
        violations,
        asks,
        contestant,
    };
    let judgement = match case.failed() {
        Some(failed) => failed,
        None if asks.demand == Demand::BeCaught => case.control(),
        None => case.judgement(),
    };
    Judgement {
        took: case.took(),
        ..judgement
    }
}

/// Returns the findings about promises that `contestant` makes, and about the server.
pub(super) fn concerning(
    trace: &Trace,
    violations: Vec<Violation>,
    asks: &Demands,
    contestant: Contestant,
) -> Vec<Violation> {
    let case = Case {
        trace,
        violations: &[],
        asks,
        contestant,
    };
    let concerns = |violation: &Violation| case.concerns(violation.checker);
    violations.into_iter().filter(concerns).collect()
}

struct Case<'a> {
    trace: &'a Trace,
    violations: &'a [Violation],
    asks: &'a Demands,
    contestant: Contestant,
}

// === impl Judgement ===

impl Judgement {
    fn new(verdict: Verdict, at: Duration, text: impl Into<String>) -> Self {
        Self {
            verdict,
            at,
            took: None,
            text: text.into(),
        }
    }
}

// === impl Case ===

impl Case<'_> {
    /// Returns the worst failure; the plainest come first.
    fn judgement(&self) -> Judgement {
        // The worst first: a contestant that panicked or hung breaks many promises that say less.
        let found = self
            .panicked()
            .or_else(|| self.hot_loop())
            .or_else(|| self.waiting())
            .or_else(|| self.cache())
            .or_else(|| self.undone())
            .or_else(|| self.late())
            .or_else(|| self.too_many_requests())
            .or_else(|| self.promises())
            .or_else(|| self.deaf());
        found.unwrap_or_else(|| self.well())
    }

    fn well(&self) -> Judgement {
        let is_hit = !self.asks.needs_fault
            || self.trace.observations().any(|seen| {
                // Cut watches only give the fault its occasion.
                matches!(seen, Observation::Fired { rule, count: 1.. } if rule != "disconnect")
            });
        let verdict = if is_hit {
            Verdict::Held
        } else {
            Verdict::NotHit
        };
        let at = self.reached(Phase::Converged);
        Judgement::new(verdict, at.unwrap_or_else(|| self.ended()), "")
    }

    fn control(&self) -> Judgement {
        let mut violations = self.violations.iter();
        match violations.find(|violation| self.concerns(violation.checker)) {
            Some(violation) => self.found(Verdict::Caught, violation),
            None => Judgement::new(Verdict::Missed, self.ended(), "no checker found anything"),
        }
    }

    /// Returns true if the contestant makes the promise of this checker, or the server does.
    fn concerns(&self, checker: &str) -> bool {
        self.makes(checker) || !MEANINGS.iter().any(|(about, _)| *about == checker)
    }

    /// Returns true if the contestant makes the promise of this checker.
    fn makes(&self, checker: &str) -> bool {
        let is_withheld = OF_HANDLERS.contains(&checker)
            && self.trace.observations().any(|seen| {
                matches!(seen, Observation::Introduced { withholds, .. }
                    if withholds.iter().any(|withheld| withheld == checker))
            });
        !is_withheld && self.contestant.promises().any(|given| given == checker)
    }

    /// Judges the failure of a process.
    fn failed(&self) -> Option<Judgement> {
        let (at, observation) =
            self.last(|seen| matches!(seen, Observation::SubjectFailed { .. }))?;
        let Observation::SubjectFailed { failure, .. } = observation else {
            return None;
        };
        let verdict = match failure {
            Failure::Ended => Verdict::Died,
            Failure::Misspoke => Verdict::Misspoke,
            Failure::Unresponsive => Verdict::Hung,
        };
        Some(Judgement::new(verdict, at, observation.to_string()))
    }

    fn panicked(&self) -> Option<Judgement> {
        let at = self.when(
            |seen| matches!(seen, Observation::Warned { message, .. } if message == PANICKED),
        )?;
        Some(Judgement::new(Verdict::Panicked, at, PANICKED))
    }

    /// Judges a hot loop.
    fn hot_loop(&self) -> Option<Judgement> {
        let violation = self.of_checker("hot_loops")?;
        let at = self.at(violation);
        let per_second = self.rate(at.saturating_sub(Duration::from_secs(1)), at);
        Some(self.found(Verdict::HotLoop { per_second }, violation))
    }

    fn waiting(&self) -> Option<Judgement> {
        let (at, observation) = self.last(
            |seen| matches!(seen, Observation::Waited { waiting_count, .. } if *waiting_count > 0),
        )?;
        Some(Judgement::new(Verdict::Hung, at, observation.to_string()))
    }

    /// Compares the caches with the server at the end.
    fn cache(&self) -> Option<Judgement> {
        let model = Model::of(self.trace);
        model.informers().find_map(|(informer, history)| {
            let (_, cache) = self.last(
                |seen| matches!(seen, Observation::Cached { informer: of, .. } if *of == informer),
            )?;
            let Observation::Cached {
                has_synced,
                members,
                ..
            } = cache
            else {
                return None;
            };
            if !has_synced {
                let text = format!("cache {informer} never was complete");
                return Some(Judgement::new(Verdict::Hung, self.ended(), text));
            }
            let differs = difference(&history.last(), members, self.asks.undecodable)?;
            // One that still receives changes is wrong; one that receives none has stopped.
            let verdict = if self.listens(informer) {
                Verdict::Stale
            } else {
                Verdict::Hung
            };
            let text = format!("cache {informer} {differs}");
            Some(Judgement::new(verdict, self.ended(), text))
        })
    }

    fn undone(&self) -> Option<Judgement> {
        let (at, observation) = self.last(|seen| matches!(seen, Observation::Undone { .. }))?;
        Some(Judgement::new(Verdict::Undone, at, observation.to_string()))
    }

    fn too_many_requests(&self) -> Option<Judgement> {
        let violation = self.of_checker("bounded_requests")?;
        let at = self.at(violation);
        let per_second = self.rate(at.saturating_sub(RATE_OVER), at);
        Some(self.found(Verdict::HotLoop { per_second }, violation))
    }

    /// Judges the most telling broken promise.
    fn promises(&self) -> Option<Judgement> {
        if self.asks.demand == Demand::HoldCache {
            return None;
        }
        MEANINGS
            .iter()
            .filter(|(checker, _)| self.makes(checker))
            .filter(|(checker, _)| *checker != "liveness" || !self.asks.is_always_like_this)
            .find_map(|(checker, verdict)| {
                let violation = self.of_checker(checker)?;
                Some(self.found(*verdict, violation))
            })
    }

    fn deaf(&self) -> Option<Judgement> {
        if self.asks.demand == Demand::HoldCache {
            return None;
        }
        let text = delivery_latency::missing(self.trace)?;
        Some(Judgement::new(Verdict::Deaf, self.ended(), text))
    }

    fn late(&self) -> Option<Judgement> {
        let limit = self.asks.notified_within?;
        let worst = delivery_latency::slowest(self.trace)?;
        (worst.waited > limit).then(|| {
            let text = format!(
                "the notification of revision {} took {} s; the limit is {} s",
                worst.revision,
                seconds(worst.waited),
                seconds(limit)
            );
            let seconds = Some(worst.waited.as_secs());
            Judgement::new(Verdict::Late { seconds }, worst.at, text)
        })
    }

    /// Returns true if an informer received anything from the server shortly before the end.
    fn listens(&self, informer: usize) -> bool {
        let end = self.ended();
        let mut requests = Vec::new();
        let mut heard_at = Duration::ZERO;
        for record in self.trace.records() {
            match &record.observation {
                Observation::Request {
                    informer: of,
                    request,
                    ..
                } if *of == informer => requests.push(*request),
                Observation::Answer { request, .. }
                | Observation::Frame { request, .. }
                | Observation::Bookmark { request, .. }
                | Observation::Page { request, .. }
                    if requests.contains(request) =>
                {
                    heard_at = record.at;
                }
                Observation::Phase(Phase::Shutdown) => break,
                _ => {}
            }
        }
        end.saturating_sub(heard_at) < DEAF_AFTER
    }

    /// Returns the end of the run, before its shutdown.
    fn ended(&self) -> Duration {
        self.reached(Phase::Shutdown).unwrap_or_default()
    }

    fn took(&self) -> Option<Duration> {
        let converged = self.reached(Phase::Converged)?;
        Some(converged.saturating_sub(self.reached(Phase::Recovery)?))
    }

    fn reached(&self, wanted: Phase) -> Option<Duration> {
        self.when(|seen| matches!(seen, Observation::Phase(phase) if *phase == wanted))
    }

    /// Returns the highest rate of requests of an informer between two times, a second.
    fn rate(&self, from: Duration, to: Duration) -> f64 {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for record in self.trace.records() {
            if let Observation::Request { informer, .. } = record.observation
                && (from..=to).contains(&record.at)
            {
                *counts.entry(informer).or_default() += 1;
            }
        }
        let most = counts.into_values().max().unwrap_or(0);
        f64::from(most) / to.saturating_sub(from).as_secs_f64().max(1.0)
    }

    fn of_checker(&self, checker: &str) -> Option<&Violation> {
        self.violations
            .iter()
            .find(|violation| violation.checker == checker && !violation.is_expected())
    }

    fn found(&self, verdict: Verdict, violation: &Violation) -> Judgement {
        let text = format!("{}: {}", violation.checker, violation.finding.text);
        Judgement::new(verdict, self.at(violation), text)
    }

    fn at(&self, violation: &Violation) -> Duration {
        let record = violation
            .finding
            .record
            .and_then(|record| self.trace.records().get(record));
        record.map_or_else(|| self.ended(), |record| record.at)
    }

    fn when(&self, is_it: impl Fn(&Observation) -> bool) -> Option<Duration> {
        self.last(is_it).map(|(at, _)| at)
    }

    fn last(&self, is_it: impl Fn(&Observation) -> bool) -> Option<(Duration, &Observation)> {
        let mut records = self.trace.records().iter().rev();
        let record = records.find(|record| is_it(&record.observation))?;
        Some((record.at, &record.observation))
    }
}

/// Describes a difference between a cache and the server. A cache may lack undecodable objects.
fn difference(
    server: &BTreeMap<Key, State>,
    cached: &[Member],
    undecodable: Option<&str>,
) -> Option<String> {
    let wrong = cached
        .iter()
        .find(|member| server.get(&member.key) != Some(&member.state));
    if let Some(member) = wrong {
        return Some(match server.get(&member.key) {
            Some(state) => format!("holds {member}, and the server {state}"),
            None => format!("holds {member}, and the server nothing"),
        });
    }
    let lacking = server.iter().find(|(key, _)| {
        Some(key.as_ref()) != undecodable && !cached.iter().any(|member| member.key == **key)
    });
    lacking.map(|(key, state)| format!("lacks {key}, and the server holds {state}"))
}
