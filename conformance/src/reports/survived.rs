//! The report of `survive`: the part of its report.json that is merged.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use support::partition::Stamp;
use survive::{AcceptedFinding, Family, Finding, PlanList, Runs};

/// The runs of a controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SurviveReport {
    /// The campaign and the partition.
    pub campaign: Stamp,
    /// The words of the subject's command.
    pub command: Vec<String>,
    /// The time that the runs took, of all partitions together.
    pub seconds: f64,
    /// The runs without perturbation.
    pub reference: SurviveReference,
    /// The plans of all partitions, as the reference suggests them.
    pub all_plans: PlanList,
    /// The number of plans that were chosen, with those that were not run.
    pub planned: usize,
    /// The partitions whose references suggest other plans than that of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with_other_plans: Vec<String>,
    /// The runs, in the order of their plans, partition by partition.
    pub runs: Vec<SurviveRun>,
}

/// The runs without perturbation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SurviveReference {
    /// The writes.
    pub writes: Vec<String>,
    /// The number of objects in the end.
    pub objects: usize,
    /// The time until the subject was quiet.
    pub seconds: f64,
    /// The fields that differ between its runs.
    pub masked: Vec<String>,
    /// The promises that are broken without perturbation.
    pub findings: Vec<Finding>,
}

/// The run of one plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SurviveRun {
    /// The family of the plan.
    pub family: Family,
    /// The line of the report that counts it.
    pub line: String,
    /// The plan, in words.
    pub plan: String,
    /// True if no promise was broken, or only accepted ones.
    pub survived: bool,
    /// True if its writes did not come, so that it says nothing.
    pub idle: bool,
    /// The duration of the steps.
    pub seconds: f64,
    /// The number of its runs.
    pub times: Runs,
    /// The promises that it broke.
    pub findings: Vec<Finding>,
    /// Those that are accepted.
    pub accepted: Vec<AcceptedFinding>,
    /// The file that replays it, where the partition was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<PathBuf>,
}

/// A line of the report: plans of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurviveLine {
    /// The number of plans.
    pub total: usize,
    /// The number of those that survived.
    pub survived: usize,
    /// The number of those of which all findings are accepted.
    pub accepted: usize,
}

// === impl SurviveReport ===

impl SurviveReport {
    /// Returns whether all promises were kept, without perturbation, too.
    pub fn is_good(&self) -> bool {
        self.reference.findings.is_empty() && self.failed().next().is_none()
    }

    /// Returns the runs that broke a promise.
    pub fn failed(&self) -> impl Iterator<Item = &SurviveRun> {
        self.runs.iter().filter(|run| !run.survived)
    }

    /// Returns the number of plans that said nothing.
    pub fn idle_count(&self) -> usize {
        self.runs.iter().filter(|run| run.idle).count()
    }

    /// Counts the plans of each kind.
    pub fn lines(&self) -> BTreeMap<(Family, &str), SurviveLine> {
        let mut lines: BTreeMap<_, SurviveLine> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| !run.idle) {
            let line = lines.entry((run.family, run.line.as_str())).or_default();
            let is_accepted = run.survived && !run.accepted.is_empty();
            line.total += 1;
            line.accepted += usize::from(is_accepted);
            line.survived += usize::from(run.survived && !is_accepted);
        }
        lines
    }

    /// Merges the reports of partitions; `None` if there are none. The reference is that of the first one, with what all of them
    /// found without perturbation.
    pub(super) fn merged(reports: Vec<Self>) -> Option<Self> {
        let mut reports = reports.into_iter();
        let mut merged = reports.next()?;
        for other in reports {
            if other.all_plans != merged.all_plans {
                merged
                    .with_other_plans
                    .push(other.campaign.partition.to_string());
            }
            merged.seconds += other.seconds;
            merged.planned += other.planned;
            for finding in other.reference.findings {
                if !merged.reference.findings.contains(&finding) {
                    merged.reference.findings.push(finding);
                }
            }
            merged.runs.extend(other.runs);
        }
        Some(merged)
    }
}
