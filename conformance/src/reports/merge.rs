//! The merge of the reports of a campaign's partitions.

use std::collections::{BTreeMap, BTreeSet};

use support::partition::{Partition, Stamp};

use super::{BugsReport, CampaignReport, MergeError, ScoreReport, SimReport, SurviveReport};

/// The value of an option that a report does not have.
const NO_VALUE: &str = "not given";

/// One report of a campaign, and the partitions that it is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The report, in the form of its command.
    pub report: CampaignReport,
    /// The partitions whose reports are there, in order.
    pub parts: Vec<Part>,
    /// The partitions whose reports are not there, in order.
    pub missing: Vec<Partition>,
}

/// A partition whose report is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The partition.
    pub partition: Partition,
    /// The file of its report.
    pub file: String,
    /// True if nothing in it makes its command fail.
    pub is_good: bool,
    /// The reason why not all of it was run; `None` if it was.
    pub ended: Option<String>,
}

// === impl Merged ===

impl Merged {
    /// Returns why the report proves less than a whole campaign, in lines; none if every partition was run to its end.
    pub fn shortfalls(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(first) = self.missing.first() {
            let indices: Vec<u32> = self.missing.iter().map(|it| it.index()).collect();
            let (ranges, count) = (ranges(&indices), first.count());
            lines.push(format!(
                "missing: {ranges} of {count} partitions; run each with --partition K/{count}, and merge again"
            ));
        }
        let ended = self.parts.iter().filter_map(|part| {
            let ended = part.ended.as_ref()?;
            Some(format!(
                "partition {} ({}): {ended}",
                part.partition, part.file
            ))
        });
        lines.extend(ended);
        lines
    }

    /// Returns the partitions that make the campaign fail.
    pub fn failed(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !part.is_good)
    }
}

/// Merges reports, each with the name of its file, in any order. What is missing is not an error: see [`Merged::missing`].
///
/// # Errors
///
/// All reasons why the reports are not those of the partitions of one campaign.
pub fn merge(reports: Vec<(String, CampaignReport)>) -> Result<Merged, Vec<MergeError>> {
    let stamps = reports
        .iter()
        .map(|(file, report)| (file.as_str(), report.stamp()));
    let errors = errors(&stamps.collect::<Vec<_>>());
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut reports = reports;
    reports.sort_by_key(|(_, report)| report.stamp().partition);
    let parts = reports.iter().map(|(file, report)| Part {
        partition: report.stamp().partition,
        file: file.clone(),
        is_good: report.is_good(),
        ended: report.stamp().ended.clone(),
    });
    let parts: Vec<Part> = parts.collect();
    let missing = missing(&parts);
    let report = merged_report(reports)?;
    let mut merged = Merged {
        report,
        parts,
        missing,
    };
    let shortfalls = merged.shortfalls();
    merged.report.stamp_mut().partition = Partition::WHOLE;
    merged.report.stamp_mut().ended = (!shortfalls.is_empty()).then(|| shortfalls.join("; "));
    Ok(merged)
}

// === impl CampaignReport ===

impl CampaignReport {
    fn stamp_mut(&mut self) -> &mut Stamp {
        match self {
            Self::Sim(report) => &mut report.campaign,
            Self::Bugs(report) => &mut report.campaign,
            Self::Score(report) => &mut report.campaign,
            Self::Survive(report) => &mut report.campaign,
        }
    }
}

/// Merges the reports of one command, in the order of their partitions.
fn merged_report(
    reports: Vec<(String, CampaignReport)>,
) -> Result<CampaignReport, Vec<MergeError>> {
    let (mut sims, mut bugs, mut scores, mut survived) = (vec![], vec![], vec![], vec![]);
    for (file, report) in reports {
        match report {
            CampaignReport::Sim(report) => sims.push(*report),
            CampaignReport::Bugs(report) => bugs.push(report),
            CampaignReport::Score(report) => {
                if let Err(reason) = report.board() {
                    return Err(vec![MergeError::Unknown { file, reason }]);
                }
                scores.push(report);
            }
            CampaignReport::Survive(report) => survived.push(*report),
        }
    }
    let sim = SimReport::merged(sims).map(|it| CampaignReport::Sim(Box::new(it)));
    let survived = SurviveReport::merged(survived).map(|it| CampaignReport::Survive(Box::new(it)));
    let merged = sim
        .or_else(|| BugsReport::merged(bugs).map(CampaignReport::Bugs))
        .or_else(|| ScoreReport::merged(scores).map(CampaignReport::Score))
        .or(survived);
    merged.ok_or_else(|| vec![MergeError::Nothing])
}

/// Returns the reasons why reports are not of one campaign, each compared with the first one.
fn errors(stamps: &[(&str, &Stamp)]) -> Vec<MergeError> {
    let Some((first, firsts)) = stamps.first() else {
        return vec![MergeError::Nothing];
    };
    let mut errors = Vec::new();
    let mut known: BTreeMap<Partition, &str> = [(firsts.partition, *first)].into();
    for (place, others) in &stamps[1..] {
        let (first, other) = ((*first).to_owned(), (*place).to_owned());
        if others.command != firsts.command {
            let (firsts, others) = (firsts.command.clone(), others.command.clone());
            errors.push(MergeError::Command {
                first,
                firsts,
                other,
                others,
            });
            continue;
        }
        if others.version != firsts.version {
            let (firsts, others) = (firsts.version.clone(), others.version.clone());
            errors.push(MergeError::Version {
                first,
                firsts,
                other,
                others,
            });
            continue;
        }
        errors.extend(option_errors((&first, firsts), (&other, others)));
        if others.partition.count() != firsts.partition.count() {
            let (firsts, others) = (firsts.partition, others.partition);
            errors.push(MergeError::Count {
                first,
                firsts,
                other,
                others,
            });
        } else if let Some(first) = known.get(&others.partition) {
            let (partition, first) = (others.partition, (*first).to_owned());
            errors.push(MergeError::Repeated {
                partition,
                first,
                other,
            });
        } else {
            known.insert(others.partition, place);
        }
    }
    errors
}

/// Returns the options that differ.
fn option_errors(
    (first, firsts): (&str, &Stamp),
    (other, others): (&str, &Stamp),
) -> Vec<MergeError> {
    let names: BTreeSet<&String> = firsts.options.keys().chain(others.options.keys()).collect();
    let value = |stamp: &Stamp, name: &String| {
        let value = stamp.options.get(name);
        value.map_or(NO_VALUE, String::as_str).to_owned()
    };
    let differing = names
        .into_iter()
        .filter(|name| firsts.options.get(*name) != others.options.get(*name));
    let error = |name: &String| MergeError::Option {
        option: name.clone(),
        first: first.to_owned(),
        firsts: value(firsts, name),
        other: other.to_owned(),
        others: value(others, name),
    };
    differing.map(error).collect()
}

/// Returns the partitions that are not there.
fn missing(parts: &[Part]) -> Vec<Partition> {
    let there: BTreeSet<u32> = parts.iter().map(|part| part.partition.index()).collect();
    let count = parts.first().map_or(0, |part| part.partition.count());
    let missing = (0..count).filter(|index| !there.contains(index));
    missing
        .filter_map(|index| Partition::new(index, count).ok())
        .collect()
}

/// Formats numbers in order, neighbours as ranges: `0, 3 to 7`.
fn ranges(numbers: &[u32]) -> String {
    let mut texts = Vec::new();
    for run in numbers.chunk_by(|one, next| one + 1 == *next) {
        match run {
            [one] => texts.push(one.to_string()),
            [one, .., last] => texts.push(format!("{one} to {last}")),
            [] => {}
        }
    }
    texts.join(", ")
}

/// Returns what partitions had of a list, in the order of the list: see [`Partition::of`].
pub(super) fn interleaved<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    let mut items = Vec::new();
    loop {
        let before = items.len();
        items.extend(parts.iter_mut().filter_map(Iterator::next));
        if items.len() == before {
            return items;
        }
    }
}
