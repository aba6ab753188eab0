//! Groups of requests that differ for the same reason, as far as their answers tell.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::golden::Difference;

static INDEX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[\d+\]").expect("the pattern is a constant"));

/// The presumable cause of a difference: the kind, the two status codes and the first path that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Cause {
    /// The short name of the kind.
    pub kind: String,
    /// The status code that was expected.
    pub want: String,
    /// The status code of the answer.
    pub got: String,
    /// The first path that differs, without indices.
    pub path: String,
}

/// Counts of causes, and the requests of each.
#[derive(Clone, Debug, Default)]
pub struct Causes(BTreeMap<Cause, Vec<usize>>);

// === impl Cause ===

impl Cause {
    /// Returns the cause of the differences between two answers; `None` if there is no difference.
    pub fn of(kind: &str, want: &Value, got: &Value, differences: &[Difference]) -> Option<Self> {
        let first = differences.first()?;
        Some(Self {
            kind: kind.to_owned(),
            want: want["status"].to_string(),
            got: got["status"].to_string(),
            path: INDEX.replace_all(&first.path, "[]").into_owned(),
        })
    }
}

// === impl Causes ===

impl Causes {
    /// Adds the request at `place`.
    pub fn add(&mut self, cause: Cause, place: usize) {
        self.0.entry(cause).or_default().push(place);
    }

    /// Returns the causes and the places of their requests, the most frequent first.
    pub fn by_frequency(&self) -> Vec<(&Cause, &[usize])> {
        let mut causes: Vec<(&Cause, &[usize])> = self
            .0
            .iter()
            .map(|(cause, places)| (cause, &**places))
            .collect();
        causes.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        causes
    }
}
