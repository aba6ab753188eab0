//! Invariants, and the functions that check them over traces. Each participant has its own in its folder.

pub(crate) mod hot_loops;
pub(crate) mod anomalies;
pub(crate) mod clock_leaps;

use std::fmt;

use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// Decides whether an observation could break an invariant.
pub(crate) type Occasion = fn(&Observation) -> bool;

/// An invariant and the function that checks it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Checker {
    /// The name in reports.
    pub name: &'static str,
    promise: Promise,
    check: Check,
    occasion: Occasion,
}

/// The function of a checker, by the evidence that it needs.
#[derive(Clone, Copy, Debug)]
enum Check {
    Trace(fn(&Trace) -> Vec<Finding>),
    Model(fn(&Trace, &Model) -> Vec<Finding>),
}

/// The words of an invariant.
#[derive(Clone, Copy, Debug)]
enum Promise {
    Words(&'static str),
    /// They are in a row of a module's table, whose text this is.
    Row(&'static str),
}

const HOT_LOOPS: &str = "hot_loops";

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The number of the record that shows it, if one does.
    pub record: Option<usize>,
    /// The violation, in words.
    pub text: String,
    /// The place in the plan of a fault that explains the violation.
    pub expected_of: Option<usize>,
}

/// A finding and its checker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The name of the checker.
    pub checker: &'static str,
    /// The finding.
    pub finding: Finding,
}

/// Runs checkers over a trace.
///
/// A hot loop ends a run before anything is known of the server's states: it is the only violation then.
pub(crate) fn check_all(
    trace: &Trace,
    checkers: impl Iterator<Item = &'static Checker>,
) -> Vec<Violation> {
    let model = Model::of(trace);
    let mut violations = Vec::new();
    let has_hot_loop = !hot_loops::check(trace).is_empty();
    for checker in checkers.filter(|checker| !has_hot_loop || checker.name == HOT_LOOPS) {
        for finding in checker.check(trace, &model) {
            violations.push(Violation {
                checker: checker.name,
                finding,
            });
        }
    }
    violations
}

/// Returns the words of a checker in the table of a module.
fn row(table: &'static str, checker: &str) -> Option<&'static str> {
    let row = format!("//! | [`{checker}`] | ");
    let rest = table.lines().find_map(|line| line.strip_prefix(&*row))?;
    rest.split(" | ").next()
}

// === impl Checker ===

impl Checker {
    /// Creates a checker whose words are in the table of a module, which needs the trace alone.
    pub(crate) const fn of_trace(
        table: &'static str,
        name: &'static str,
        check: fn(&Trace) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        Self {
            name,
            promise: Promise::Row(table),
            check: Check::Trace(check),
            occasion,
        }
    }

    /// Creates a checker whose words are in the table of a module, which needs the states of the server, too.
    pub(crate) const fn of_model(
        table: &'static str,
        name: &'static str,
        check: fn(&Trace, &Model) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        Self {
            check: Check::Model(check),
            ..Self::of_trace(table, name, hot_loops::check, occasion)
        }
    }

    /// Creates the checker of a participant's promise.
    pub(crate) const fn of_participant(
        name: &'static str,
        promise: &'static str,
        check: fn(&Trace) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        Self {
            promise: Promise::Words(promise),
            ..Self::of_trace("", name, check, occasion)
        }
    }

    /// Returns the invariant in words.
    pub fn promise(&self) -> Option<&'static str> {
        match self.promise {
            Promise::Words(words) => Some(words),
            Promise::Row(table) => row(table, self.name),
        }
    }

    /// Returns true if the observation could break the invariant. Without any in a trace, that the invariant holds says
    /// nothing.
    pub fn is_occasion(&self, observation: &Observation) -> bool {
        (self.occasion)(observation)
    }

    /// Finds where `trace` violates the invariant, given the states of the server.
    pub fn check(&self, trace: &Trace, model: &Model) -> Vec<Finding> {
        match self.check {
            Check::Trace(check) => check(trace),
            Check::Model(check) => check(trace, model),
        }
    }
}

// === impl Finding ===

impl Finding {
    /// Creates a finding that a record shows.
    pub fn at(record: usize, text: impl Into<String>) -> Self {
        Self {
            record: Some(record),
            text: text.into(),
            expected_of: None,
        }
    }

    /// Creates a finding about the whole run.
    pub fn whole(text: impl Into<String>) -> Self {
        Self {
            record: None,
            text: text.into(),
            expected_of: None,
        }
    }

    /// Adds the fault that explains the violation.
    #[must_use]
    pub fn expected_of(mut self, fault: Option<usize>) -> Self {
        self.expected_of = fault;
        self
    }
}

// === impl Violation ===

impl Violation {
    /// Returns true if a fault of the plan makes the server break this promise: then the finding only shows that the
    /// checker works.
    pub fn is_expected(&self) -> bool {
        self.finding.expected_of.is_some()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.checker, self.finding.text)?;
        if let Some(record) = self.finding.record {
            write!(f, " (record #{record:05})")?;
        }
        match self.finding.expected_of {
            Some(fault) => write!(f, ", expected of fault {fault}"),
            None => Ok(()),
        }
    }
}
