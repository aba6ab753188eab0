//! The report of `bugs`.

use serde::{Deserialize, Serialize};
use support::partition::Stamp;

use super::merge::interleaved;
use crate::{hunt::Hunt, seed::Seed};

/// The hunts of seeded bugs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BugsReport {
    /// The campaign and the partition.
    pub campaign: Stamp,
    /// True if every bug was caught.
    pub good: bool,
    /// The bugs, in the order of the list.
    pub bugs: Vec<HuntedBug>,
}

/// A bug and its catch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HuntedBug {
    /// The bug.
    pub bug: String,
    /// Its seam.
    pub seam: String,
    /// The deviation, in a line.
    pub deviation: String,
    /// The number of seeds that were run.
    pub seeds: u64,
    /// The seed that shows it; `None` if it got away.
    pub seed: Option<Seed>,
    /// The checkers with findings, the one that found it first at the beginning.
    pub caught_by: Vec<String>,
    /// The first finding.
    pub finding: Option<String>,
}

// === impl BugsReport ===

impl BugsReport {
    /// Creates the report of hunts.
    pub fn of(campaign: Stamp, hunts: &[Hunt]) -> Self {
        Self {
            campaign,
            good: hunts.iter().all(|hunt| hunt.catch.is_some()),
            bugs: hunts.iter().map(HuntedBug::of).collect(),
        }
    }

    /// Merges the reports of partitions; `None` if there are none.
    pub(super) fn merged(reports: Vec<Self>) -> Option<Self> {
        let campaign = reports.first()?.campaign.clone();
        let good = reports.iter().all(|report| report.good);
        let bugs = reports.into_iter().map(|report| report.bugs);
        Some(Self {
            campaign,
            good,
            bugs: interleaved(bugs.collect()),
        })
    }
}

// === impl HuntedBug ===

impl HuntedBug {
    fn of(hunt: &Hunt) -> Self {
        let caught = hunt.catch.as_ref();
        let mut caught_by = Vec::new();
        if let Some(caught) = caught {
            let first = caught.violation.checker;
            let others = caught.checkers.iter().filter(|name| **name != first);
            caught_by.push(first.to_owned());
            caught_by.extend(others.map(|name| (*name).to_owned()));
        }
        Self {
            bug: hunt.bug.name.to_owned(),
            seam: hunt.bug.seam().name().to_owned(),
            deviation: hunt.bug.about.to_owned(),
            seeds: hunt.seed_count,
            seed: caught.map(|it| it.seed),
            caught_by,
            finding: caught.map(|it| it.violation.to_string()),
        }
    }

    /// Names the checkers, in words.
    pub fn by(&self) -> String {
        match self.caught_by.as_slice() {
            [] => "none".to_owned(),
            [first] => first.clone(),
            [first, _] => format!("{first} and another"),
            [first, others @ ..] => format!("{first} and {} others", others.len()),
        }
    }
}
