//! The origin of a report: the program that made it, its choice, and when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use support::{
    partition::{Partition, Stamp},
    seed::fnv1a,
};

use super::{
    campaign::Choice,
    plan::{Family, Plan},
    subject::Subject,
};

/// The origin of a report.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// The version of this program.
    pub version: &'static str,
    /// The words before the options in a call of this program, with which lines that replay a plan begin.
    #[serde(skip)]
    pub program: &'static str,
    /// The words by which this program was called; none of a Rust test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub call: Vec<String>,
    /// The words of the subject's command; none of a function.
    pub command: Vec<String>,
    /// The chosen families of plans.
    pub families: Vec<Family>,
    /// The seed of pairs and changes.
    pub seed: u64,
    /// The partition of the plans.
    #[serde(skip)]
    pub partition: Partition,
    /// The options on which plans and runs depend, besides those of the choice.
    #[serde(skip)]
    pub options: BTreeMap<String, String>,
    /// The plans of all partitions.
    pub all_plans: PlanList,
    /// The number of runs at once.
    pub jobs: usize,
    /// The time of day at the beginning (RFC 3339).
    pub started: String,
    /// The duration of all runs in seconds.
    pub seconds: f64,
}

/// The plans of all partitions, without their content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanList {
    /// The number of plans.
    pub count: usize,
    /// A digest of them, in their order.
    pub digest: String,
}

// === impl PlanList ===

impl PlanList {
    /// Returns what there is to know of plans.
    pub(super) fn of(plans: &[Plan]) -> Self {
        let texts: Vec<String> = plans.iter().map(ToString::to_string).collect();
        Self {
            count: plans.len(),
            digest: format!("{:016x}", fnv1a(texts.join("\n").as_bytes())),
        }
    }
}

// === impl Origin ===

impl Origin {
    /// Returns that of a campaign which begins now.
    pub(super) fn of(subject: &Subject, choice: &Choice) -> Self {
        let command = match subject {
            Subject::Command(command) => {
                let words = [&command.program].into_iter().chain(&command.arguments);
                words.map(|word| word.display().to_string()).collect()
            }
            Subject::Function(_) => Vec::new(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            program: "survive",
            call: Vec::new(),
            command,
            families: choice.families.clone(),
            seed: choice.seed,
            partition: choice.partition,
            options: BTreeMap::new(),
            all_plans: PlanList::default(),
            jobs: 0,
            started: fakeserver::Clock::wall().now_text(),
            seconds: 0.0,
        }
    }

    /// Returns the stamp of the report.
    pub(super) fn stamp(&self) -> Stamp {
        let families: Vec<String> = self.families.iter().map(ToString::to_string).collect();
        let mut stamp = Stamp::new("survive", self.version, self.partition)
            .with("--families", &families.join(","))
            .with("--seed", &self.seed);
        stamp.options.extend(self.options.clone());
        stamp
    }
}
