//! The figures of a run, and of many runs.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    participants::checkers,
    seed::Seed,
    trace::{Observation, Phase, RequestKind, Trace},
    transitions,
};

/// Counts of events in runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// Runs.
    pub run_count: u64,
    /// Invariants that were checked, each in each run.
    pub check_count: u64,
    /// The number of observations that could have broken each invariant, by its checker.
    pub occasions: BTreeMap<String, u64>,
    /// The number of transitions of each kind, by their names.
    pub transitions: BTreeMap<String, u64>,
    /// Writes that the server accepted from the workload.
    pub operation_count: u64,
    /// Events of watches.
    pub event_count: u64,
    /// Notifications of handlers.
    pub notification_count: u64,
    /// The number of effects of each fault.
    pub faults: BTreeMap<String, u64>,
    /// Lists and watches, without the further pages of a list.
    pub request_count: u64,
    /// Lists, streaming ones included.
    pub list_count: u64,
    /// Lists beyond the first of each informer.
    pub relist_count: u64,
    /// Informers that ran.
    pub informer_count: u64,
    /// The longest convergence after the end of faults, in simulated time.
    pub slowest_convergence_ms: u64,
    /// The seed of that run.
    pub slowest_seed: Option<Seed>,
    /// The simulated time that passed.
    pub simulated_ms: u64,
}

// === impl Summary ===

impl Summary {
    /// Counts the events of a trace.
    pub fn of(seed: Seed, trace: &Trace) -> Self {
        let mut summary = Self {
            run_count: 1,
            check_count: checkers().count() as u64,
            transitions: transitions::count(trace)
                .into_iter()
                .map(|(made, count)| (made.to_string(), count))
                .collect(),
            slowest_seed: Some(seed),
            ..Self::default()
        };
        let mut occasions: BTreeMap<_, u64> = checkers().map(|it| (it.name, 0)).collect();
        let mut recovery_began = None;
        for record in trace.records() {
            for checker in checkers() {
                if checker.is_occasion(&record.observation) {
                    *occasions.entry(checker.name).or_default() += 1;
                }
            }
            match &record.observation {
                Observation::Phase(Phase::Recovery) => recovery_began = Some(record.at),
                Observation::Phase(Phase::Converged | Phase::GivenUp) => {
                    let from = recovery_began.unwrap_or_default();
                    summary.slowest_convergence_ms = ms(record.at.saturating_sub(from));
                }
                observation => summary.count(observation),
            }
            summary.simulated_ms = ms(record.at);
        }
        let occasions = occasions.into_iter();
        summary.occasions = occasions
            .map(|(it, count)| (it.to_owned(), count))
            .collect();
        summary.relist_count = summary.list_count.saturating_sub(summary.informer_count);
        summary
    }

    /// Adds other runs.
    pub fn add(&mut self, other: Self) {
        self.run_count += other.run_count;
        self.check_count += other.check_count;
        self.operation_count += other.operation_count;
        self.event_count += other.event_count;
        self.notification_count += other.notification_count;
        for (checker, count) in other.occasions {
            *self.occasions.entry(checker).or_default() += count;
        }
        for (transition, count) in other.transitions {
            *self.transitions.entry(transition).or_default() += count;
        }
        for (fault, count) in other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
        self.request_count += other.request_count;
        self.list_count += other.list_count;
        self.relist_count += other.relist_count;
        self.informer_count += other.informer_count;
        self.simulated_ms += other.simulated_ms;
        // Of equal figures the lowest seed is named, in any order in which runs end.
        let is_slower = other.slowest_convergence_ms > self.slowest_convergence_ms
            || (other.slowest_convergence_ms == self.slowest_convergence_ms
                && other.slowest_seed.is_some()
                && (self.slowest_seed.is_none() || other.slowest_seed < self.slowest_seed));
        if is_slower {
            self.slowest_convergence_ms = other.slowest_convergence_ms;
            self.slowest_seed = other.slowest_seed;
        }
    }

    /// Returns the number of effects of all faults.
    pub fn fault_count(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Returns the number of requests for each effect of a fault, without the first two of each informer.
    pub fn requests_per_fault(&self) -> f64 {
        let extra = self.request_count.saturating_sub(2 * self.informer_count);
        #[expect(clippy::cast_precision_loss, reason = "a figure to be looked at")]
        let ratio = extra as f64 / self.fault_count().max(1) as f64;
        ratio
    }

    fn count(&mut self, observation: &Observation) {
        match observation {
            Observation::Operation { text, status, .. } => {
                let is_write = *status < 300 && !text.ends_with("GET");
                self.operation_count += u64::from(is_write);
            }
            Observation::InformerStarts { .. } => self.informer_count += 1,
            Observation::Frame { .. } => self.event_count += 1,
            Observation::Notified(_) => self.notification_count += 1,
            Observation::Fired { rule, count } => {
                *self.faults.entry(rule.clone()).or_default() += count;
            }
            Observation::Request { kind, .. } => match kind {
                RequestKind::List {
                    is_continued: true, ..
                } => {}
                RequestKind::List { .. }
                | RequestKind::Watch {
                    is_streaming_list: true,
                    ..
                } => {
                    self.request_count += 1;
                    self.list_count += 1;
                }
                RequestKind::Watch { .. } => self.request_count += 1,
            },
            _ => {}
        }
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Summary;
    use crate::{
        seed::Seed,
        trace::{Observation, Phase, RequestKind, Trace},
    };

    fn trace(converged_ms: u64) -> Trace {
        let mut trace = Trace::new();
        let request = |request, kind| Observation::Request {
            informer: 0,
            request,
            kind,
        };
        let list = |is_continued| RequestKind::List {
            revision: String::new(),
            is_continued,
        };
        let operation = |text: &str, status| Observation::Operation {
            text: text.to_owned(),
            status,
            revision: None,
        };
        for observation in [
            operation("Update pods: GET", 200),
            operation("Update pods: PUT", 200),
            operation("Delete pods: DELETE", 404),
            request(0, list(false)),
            request(1, list(true)),
            request(2, list(false)),
            Observation::Fired {
                rule: "hang".to_owned(),
                count: 2,
            },
            Observation::Phase(Phase::Recovery),
        ] {
            trace.push(Duration::from_secs(1), observation);
        }
        let at = Duration::from_millis(1_000 + converged_ms);
        trace.push(at, Observation::Phase(Phase::Converged));
        trace
    }

    #[test]
    fn a_run_is_counted() {
        let summary = Summary::of(Seed::new(5), &trace(700));
        assert_eq!(summary.operation_count, 1);
        assert_eq!((summary.request_count, summary.list_count), (2, 2));
        assert_eq!(summary.slowest_convergence_ms, 700);
        assert_eq!(summary.fault_count(), 2);
    }

    #[test]
    fn runs_add_up_in_any_order() {
        let runs = [(5, 700), (3, 900), (4, 900)];
        let add = |order: &[usize]| {
            let mut sum = Summary::default();
            for place in order {
                let (seed, ms) = runs[*place];
                sum.add(Summary::of(Seed::new(seed), &trace(ms)));
            }
            sum
        };
        let sum = add(&[0, 1, 2]);
        assert_eq!(sum, add(&[2, 1, 0]));
        assert_eq!(sum.run_count, 3);
        assert_eq!(
            (sum.slowest_convergence_ms, sum.slowest_seed),
            (900, Some(Seed::new(3)))
        );
        assert_eq!(sum.faults["hang"], 6);
    }
}
