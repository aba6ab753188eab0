//! The findings of a campaign, as text, JSON and `JUnit`'s XML.

mod text;
mod json;
mod junit;
mod markdown;
mod index;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use self::{index::index, junit::junit, markdown::markdown};
use super::{
    acceptance::{Acceptance, AcceptedFinding},
    campaign::Verdict,
    error::CampaignError,
    origin::Origin,
    plan::{Family, Perturbation, Plan, Side},
    reference::Reference,
};

/// The trace of the run without perturbation, beside a report.
pub const REFERENCE_FILE: &str = "reference.jsonl";
const NO_PLAN: &str = "there was no plan to run, which proves nothing: see --plans, --minutes and --families; plans follow from \
                       what the subject writes and reads (`leader` needs writes to leases, `pairs` a number of --plans)";
const WRITES: &str = "a string takes what is written";

/// Returns the line by which a shell replays a plan with the command that is called as `program`.
pub fn replay_line(program: &str, file: &Path) -> String {
    let file = file.display().to_string();
    let quoted = shlex::try_quote(&file).map_or(file.clone(), Cow::into_owned);
    format!("{program} --replay {quoted}")
}

/// The findings of a campaign.
#[derive(Debug)]
pub struct Report {
    /// The program that made it, its choice, and when.
    pub origin: Origin,
    /// The reference.
    pub reference: Reference,
    /// The verdicts, in the order of their plans.
    pub verdicts: Vec<Verdict>,
    /// The number of plans that were chosen, with those that were not run.
    pub planned_count: usize,
    /// True if an interrupt ended it before all plans were run.
    pub interrupted: bool,
    /// The failure to begin a run, after which no other one was begun.
    pub failure: Option<CampaignError>,
    /// The files by which failures are replayed, by the place of the verdict.
    pub replays: BTreeMap<usize, PathBuf>,
    /// The trace files of failures that a Rust test keeps, by the place of the verdict.
    pub traces: BTreeMap<usize, PathBuf>,
    /// The trace file of the run without perturbation beside them.
    pub reference_trace: Option<PathBuf>,
}

/// A line of the report: plans of one kind.
#[derive(Debug, Default)]
struct Line<'a> {
    total: usize,
    survived: usize,
    /// The plans of which all findings are accepted.
    accepted: usize,
    first_failure: Option<&'a Verdict>,
}

// === impl Report ===

impl Report {
    /// Returns the number of plans that broke a promise.
    pub fn failed_count(&self) -> usize {
        self.failed().count()
    }

    /// Returns whether the subject keeps all promises without perturbation.
    pub fn is_reference_clean(&self) -> bool {
        self.reference.findings.is_empty()
    }

    /// Returns whether all promises were kept, without perturbation, too.
    pub fn is_good(&self) -> bool {
        self.failed_count() == 0 && self.is_reference_clean()
    }

    /// Returns the verdicts on plans that broke a promise.
    pub fn failed(&self) -> impl Iterator<Item = &Verdict> {
        let verdicts = self.verdicts.iter();
        verdicts.filter(|it| !it.findings.is_empty())
    }

    /// Returns the verdicts on plans that broke a promise, with their places.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Verdict)> {
        let verdicts = self.verdicts.iter().enumerate();
        verdicts.filter(|(_, verdict)| !verdict.findings.is_empty())
    }

    /// Returns what there is to know of the campaign as a whole, with names.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let (origin, reference) = (&self.origin, &self.reference);
        let families: Vec<String> = origin.families.iter().map(ToString::to_string).collect();
        let (run, planned) = (self.verdicts.len(), counted(self.planned_count, "plan"));
        let interrupted = if self.interrupted {
            ", interrupted"
        } else {
            ""
        };
        let of_reference = format!(
            "{}, {}, quiet after {:.1} s",
            counted(reference.writes.len(), "write"),
            counted(reference.end.object_count(), "object"),
            reference.took.as_secs_f64()
        );
        let facts = [
            ("subject", origin.command.join(" ")),
            ("call", origin.call.join(" ")),
            ("version", origin.version.to_owned()),
            ("started", origin.started.clone()),
            ("took", format!("{:.1} s", origin.seconds)),
            ("families", families.join(", ")),
            ("seed", origin.seed.to_string()),
            ("partition", self.partition()),
            ("run", format!("{run} of {planned}{interrupted}")),
            ("reference", of_reference),
        ];
        let mut facts = facts.to_vec();
        facts.retain(|(_, fact)| !fact.is_empty());
        facts
    }

    /// Returns the partition and how many plans belong to it, in words; nothing of a whole campaign.
    fn partition(&self) -> String {
        let Origin {
            partition,
            all_plans,
            ..
        } = &self.origin;
        if partition.is_whole() {
            return String::new();
        }
        let all = counted(all_plans.count, "plan");
        format!("{partition}: {} of {all}", self.planned_count)
    }

    /// Returns what was left out, and what matched nothing, in lines.
    fn acceptance_lines(&self) -> Vec<String> {
        let seen = self.accepted();
        let mut lines: Vec<String> = seen
            .map(|(entry, count)| format!("{entry}, in {}", counted(count, "run")))
            .collect();
        let unmatched = self.unmatched();
        lines.extend(unmatched.map(|entry| format!("matches nothing that was found: {entry}")));
        let masks = self.unmatched_masks().into_iter();
        lines.extend(masks.map(|field| format!("{field} differs in no run")));
        lines
    }

    /// Returns why it proves less than was asked for: it was interrupted, or no plan was run.
    pub fn shortfall(&self) -> Option<String> {
        let planned = counted(self.planned_count, "plan");
        if self.interrupted {
            let run = self.verdicts.len();
            return Some(format!(
                "interrupted: {run} of {planned} were run; the others may break a promise"
            ));
        }
        match (self.planned_count, self.verdicts.len()) {
            (0, _) if self.origin.all_plans.count > 0 => None,
            (0, _) => Some(NO_PLAN.to_owned()),
            (_, 0) if self.failure.is_none() => Some(format!(
                "none of {planned} was run, which proves nothing: the time of --minutes was over before"
            )),
            _ => None,
        }
    }

    /// Returns the findings that are left out, since they are accepted.
    pub fn left_out(&self) -> impl Iterator<Item = &AcceptedFinding> {
        let verdicts = self.verdicts.iter().flat_map(|verdict| &verdict.accepted);
        self.reference.left_out.iter().chain(verdicts)
    }

    /// Returns the accepted findings that were seen, each with the number of runs.
    pub fn accepted(&self) -> impl Iterator<Item = (&Acceptance, usize)> {
        let entries = self.reference.accepted.findings.iter().enumerate();
        entries.filter_map(|(place, entry)| {
            let count = self.left_out().filter(|it| it.entry == place).count();
            (count > 0).then_some((entry, count))
        })
    }

    /// Returns the accepted findings that were not seen, though plans of their families were run.
    pub fn unmatched(&self) -> impl Iterator<Item = &Acceptance> {
        let entries = self.reference.accepted.findings.iter().enumerate();
        entries.filter_map(|(place, entry)| {
            let is_seen = self.left_out().any(|it| it.entry == place);
            let mut tried = self.verdicts.iter().filter(|verdict| !verdict.is_idle);
            let is_tried = entry.is_under(&Plan::default())
                || tried.any(|verdict| entry.is_under(&verdict.plan));
            (is_tried && !is_seen).then_some(entry)
        })
    }

    /// Returns the fields of the file of what is accepted that differed in no run.
    fn unmatched_masks(&self) -> Vec<String> {
        let pairs = self.reference.given.pairs().filter(|(_, hid)| !hid);
        pairs.map(|(pair, _)| named(pair)).collect()
    }

    fn lines(&self) -> BTreeMap<(Family, &'static str), Line<'_>> {
        let mut lines: BTreeMap<_, Line<'_>> = BTreeMap::new();
        for verdict in self.verdicts.iter().filter(|verdict| !verdict.is_idle) {
            let line = lines.entry(line_of(&verdict.plan)).or_default();
            line.total += 1;
            if verdict.findings.is_empty() {
                let is_accepted = !verdict.accepted.is_empty();
                line.accepted += usize::from(is_accepted);
                line.survived += usize::from(!is_accepted);
            } else if line.first_failure.is_none() {
                line.first_failure = Some(verdict);
            }
        }
        lines
    }
}

// === impl Verdict ===

impl Verdict {
    /// Returns in how many runs the plan broke a promise, if it was run again.
    pub(super) fn run_ratio(&self) -> Option<String> {
        (self.runs.total > 1).then(|| format!("broken {}", self.runs))
    }
}

/// Returns what the names of a plan's files begin with.
pub fn file_stem(place: usize) -> String {
    format!("{:04}", place + 1)
}

/// Returns a number of things: `1 plan`, `2 plans`.
pub fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Returns the line that a plan belongs to.
fn line_of(plan: &Plan) -> (Family, &'static str) {
    let name = match (plan.family, plan.perturbations.first()) {
        (Family::Crash, Some(Perturbation::Crash { twice: true, .. })) => "crash twice",
        (Family::Crash, Some(Perturbation::Crash { side, .. })) => match side {
            Side::Before => "crash before a write",
            Side::After => "crash after a write",
        },
        (Family::LostAnswer, Some(Perturbation::LoseAnswer { applied: false, .. })) => {
            "lost request"
        }
        (Family::LostAnswer, _) => "lost answer",
        (Family::Stale, Some(Perturbation::Freeze { restart: true, .. })) => "stale after restart",
        (Family::Stale, _) => "stale",
        (Family::Refusal, _) => "refusal",
        (Family::Unobserved, _) => "unobserved",
        (Family::Deleted, _) => "deleted",
        (Family::Foreign, _) => "foreign write",
        (Family::Leader, _) => "two leaders",
        (Family::Catalogue, _) => "faults",
        (Family::Upgrades, Some(Perturbation::Fault { .. })) => "two versions",
        (Family::Upgrades, _) => "upgrade",
        (Family::Pairs, _) => "several at once",
        (Family::Generated, _) => "changed field",
        (Family::Reference | Family::Crash, _) => "reference",
    };
    (plan.family, name)
}

/// Returns the fields that differ between the runs of a reference.
fn masked(reference: &Reference) -> Vec<String> {
    reference.mask.0.iter().map(named).collect()
}

/// Returns the words for an object and a path.
fn named((object, path): &(String, String)) -> String {
    match path.as_str() {
        "" => object.clone(),
        path => format!("{object}: {path}"),
    }
}

/// Escapes text for XML and HTML.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            // XML has no way to write the others.
            control if control.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
