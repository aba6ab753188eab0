//! Broken promises.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A promise that a controller keeps under every plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// The state in the end is the reference's.
    EndState,
    /// No kind has more creations or deletions than in the reference.
    Churn,
    /// In the end nothing is written any more, after a restart neither.
    Quiet,
    /// No write is repeated in a hot loop.
    Rate,
    /// No object outlives its owner.
    Leaks,
    /// Nothing stays terminating.
    Finalizers,
    /// No deletion hits another object than the one that was read.
    BlindDeletes,
    /// Two writers do not write an object in turn.
    Fights,
    /// The process does not panic or end by itself.
    Alive,
    /// One leader writes at a time.
    Leaders,
    /// The status does not tell of a generation that was not read.
    Status,
    /// A rule of the user.
    Rule,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The promise.
    pub promise: Promise,
    /// The finding, in one line.
    pub text: String,
    /// The time in milliseconds since the run began; `None` if it is about the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
}

// === impl Promise ===

impl Promise {
    /// Returns what a controller that keeps it does.
    pub const fn expectation(self) -> &'static str {
        match self {
            Self::EndState => "the state in the end is that of the run without perturbation",
            Self::Churn => "no kind has more creations or deletions than without perturbation",
            Self::Quiet => "in the end nothing is written any more, after a restart neither",
            Self::Rate => "no write is repeated in a hot loop",
            Self::Leaks => "no object outlives its owner",
            Self::Finalizers => "nothing stays terminating",
            Self::BlindDeletes => "no deletion hits another object than the one that was read",
            Self::Fights => "two writers do not write an object in turn",
            Self::Alive => "the process does not panic or end by itself",
            Self::Leaders => "one leader writes at a time",
            Self::Status => "the status does not tell of a generation that was not read",
            Self::Rule => "the rule of the user holds",
        }
    }
}

// === impl Finding ===

impl Finding {
    pub(super) fn new(promise: Promise, text: impl Into<String>) -> Self {
        Self {
            promise,
            text: text.into(),
            at_ms: None,
        }
    }

    /// Returns whether another run has found the same. Of a rule the name tells: the value may be another one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let rule = |finding: &Self| finding.text.split(": ").next().map(ToOwned::to_owned);
        self.promise == other.promise
            && match self.promise {
                Promise::Rule => rule(self) == rule(other),
                _ => self.text == other.text,
            }
    }

    pub(super) fn at(mut self, at: std::time::Duration) -> Self {
        self.at_ms = u64::try_from(at.as_millis()).ok();
        self
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::EndState => "end state",
            Self::Churn => "churn",
            Self::Quiet => "quiet",
            Self::Rate => "rate",
            Self::Leaks => "leaks",
            Self::Finalizers => "finalizers",
            Self::BlindDeletes => "blind deletes",
            Self::Fights => "fights",
            Self::Alive => "alive",
            Self::Leaders => "one leader",
            Self::Status => "status",
            Self::Rule => "rule",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.text)
    }
}
