//! The reports of `sim`, `bugs`, `score` and `survive` as files, and the merge of those of a campaign's partitions.
//!
//! A report begins with a [`Stamp`]: the command, its version, the partition, and the options on which
//! its runs depend. Reports are merged if all of that is equal but the partition, and each partition is there at most once. The
//! merged report is the one of a whole campaign, in the form of the command. All of this is pure.

mod error;
mod steered;
mod sim;
mod bugs;
mod score;
mod survived;
mod merge;

pub use self::{
    bugs::{BugsReport, HuntedBug},
    error::{MergeError, ReadError},
    merge::{Merged, Part, merge},
    score::{ScoreCell, ScoreReport},
    sim::{FailedRun, SimReport, replay_line},
    steered::{KeptCorpus, KeptPlan, SteerFigures},
    survived::{SurviveLine, SurviveReference, SurviveReport, SurviveRun},
};
use serde::{Deserialize, Serialize};
use support::partition::Stamp;

/// The report of a command, as its file has it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CampaignReport {
    /// Of `conformance sim`.
    Sim(Box<SimReport>),
    /// Of `conformance bugs`.
    Bugs(BugsReport),
    /// Of `conformance score`.
    Score(ScoreReport),
    /// Of `conformance survive`.
    Survive(Box<SurviveReport>),
}

/// The part of a file that says which report it is.
#[derive(Deserialize)]
struct Head {
    campaign: Option<Stamp>,
}

// === impl CampaignReport ===

impl CampaignReport {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// It is no report, or one of an earlier version. A retry does not help.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        let head: Head = serde_json::from_str(text).map_err(ReadError::Form)?;
        let stamp = head.campaign.ok_or(ReadError::NoStamp)?;
        let report = match stamp.command.as_str() {
            "sim" => serde_json::from_str(text).map(|it| Self::Sim(Box::new(it))),
            "bugs" => serde_json::from_str(text).map(Self::Bugs),
            "score" => serde_json::from_str(text).map(Self::Score),
            "survive" => serde_json::from_str(text).map(|it| Self::Survive(Box::new(it))),
            _ => return Err(ReadError::Command(stamp.command)),
        };
        report.map_err(ReadError::Form)
    }

    /// Formats the report as a file.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("reports are plain values"))
    }

    /// Returns the campaign and the partition that it is of.
    pub fn stamp(&self) -> &Stamp {
        match self {
            Self::Sim(report) => &report.campaign,
            Self::Bugs(report) => &report.campaign,
            Self::Score(report) => &report.campaign,
            Self::Survive(report) => &report.campaign,
        }
    }

    /// Returns true if nothing in it makes its command fail.
    pub fn is_good(&self) -> bool {
        match self {
            Self::Sim(report) => report.good,
            Self::Bugs(report) => report.good,
            Self::Score(report) => report.good,
            Self::Survive(report) => report.is_good(),
        }
    }
}

#[cfg(test)]
mod tests;
