//! Counts of equal answers, by category and by kind.

use std::collections::BTreeMap;

use super::request::Case;

/// The counts of played requests.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// The count of all.
    pub all: Count,
    /// The counts by category.
    pub categories: BTreeMap<String, Count>,
    /// The counts by kind.
    pub kinds: BTreeMap<String, Count>,
}

/// A count of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The number of requests that were played.
    pub played: usize,
    /// The number of equal answers.
    pub equal: usize,
    /// The number of answers with the same status code.
    pub same_status: usize,
}

// === impl Tally ===

impl Tally {
    /// Adds a request.
    pub fn add(&mut self, case: &Case, is_equal: bool, has_same_status: bool) {
        let category = self.categories.entry(case.category.clone()).or_default();
        let kind = self.kinds.entry(case.kind.clone()).or_default();
        for count in [&mut self.all, category, kind] {
            count.played += 1;
            count.equal += usize::from(is_equal);
            count.same_status += usize::from(has_same_status);
        }
    }

    /// Returns true if all answers were equal.
    pub fn is_good(&self) -> bool {
        self.all.equal == self.all.played
    }
}
