//! The option `--steer` of `sim`: plans that are guided by what earlier runs reached.

mod folder;

use std::{fmt::Write, path::PathBuf};

use clap::Args;

use self::folder::Folder;
use crate::{
    batch::{Failure, Mode, PATIENCE, Report},
    checkers::Violation,
    partition::Partition,
    plan::Profile,
    reports::{KeptCorpus, SteerFigures},
    seed::Seed,
    sim::{self, RunOptions},
    steer::{FRESH_PERCENT, Origin, Proposal, ROUND_SIZE, ReachedFeatures, Search},
    summary::Summary,
    task,
};

/// The folder of failing plans within that of a corpus.
const FAILURES: &str = "failures";

#[derive(Clone, Debug, Args)]
pub(super) struct SteerArgs {
    /// Steer plans towards what few runs reach: mutate those that reached it, and draw fresh ones in between. The same
    /// seed gives the same plans, on any number of threads. The search ends with a failing plan, which is written to a file.
    #[arg(long, conflicts_with = "workers")]
    pub(super) steer: bool,
    /// With --steer: keep the plans that reached something first in this folder, and begin with those that are there.
    /// Failing plans go to its folder `failures`, and to the current folder without it.
    #[arg(long, value_name = "DIR", requires = "steer")]
    corpus: Option<PathBuf>,
    /// With --steer: draw this share of the plans freshly. With 100 nothing is steered, for comparison.
    #[arg(
        long,
        value_name = "PERCENT",
        requires = "steer",
        default_value_t = FRESH_PERCENT,
        value_parser = clap::value_parser!(u32).range(0..=100)
    )]
    pub(super) fresh: u32,
}

/// The result of one run.
struct RunResult {
    summary: Summary,
    violations: Vec<Violation>,
    /// `None` if the run was not good.
    reached: Option<ReachedFeatures>,
}

// === impl SteerArgs ===

impl SteerArgs {
    /// Fails if the corpus is no folder.
    pub(super) fn check(&self) -> Result<(), String> {
        match &self.corpus {
            Some(corpus) if corpus.exists() && !corpus.is_dir() => Err(format!(
                "--corpus {}: it is a file; name a folder",
                corpus.display()
            )),
            _ => Ok(()),
        }
    }

    /// Runs plans of a partition until `goes_on` returns false after one of them, or there were `count` of them. It is asked after
    /// each run.
    pub(super) fn run(
        &self,
        seed: Seed,
        partition: Partition,
        profile: Profile,
        thread_count: usize,
        count: Option<u64>,
        mut goes_on: impl FnMut(bool) -> bool,
    ) -> (Report, SteerFigures) {
        let mut report = Report::new(profile, Mode::Paused);
        let mut steered = SteerFigures::default();
        let mut folder = self.corpus.clone().map(Folder::new);
        let earlier = folder
            .as_mut()
            .map(|folder| folder.read(profile, partition));
        let earlier = earlier.unwrap_or_default();
        let mut search = Search::new(seed, profile)
            .with_partition(partition)
            .with_fresh_percent(self.fresh)
            .with_earlier(earlier);
        let mut left = count.unwrap_or(u64::MAX);
        let mut is_over = false;
        // The search ends with the round in which a plan fails.
        while !is_over && left > 0 && report.failures.is_empty() {
            let round = search.propose(usize::try_from(left).unwrap_or(ROUND_SIZE).min(ROUND_SIZE));
            left -= round.len() as u64;
            let watch = |ran: &RunResult| is_over |= !goes_on(ran.reached.is_none());
            let (results, begun_count) = task::map_with_patience(
                round.clone(),
                thread_count,
                PATIENCE,
                RunResult::of,
                watch,
            );
            is_over |= results.iter().any(Option::is_none);
            for (proposal, ran) in round.iter().zip(results).take(begun_count) {
                self.take(proposal, ran, &mut search, &mut report, &mut steered);
            }
        }
        steered.set_corpus(&search);
        if let Some(folder) = folder {
            let is_whole = report.is_good() && !search.has_earlier();
            steered
                .problems
                .extend(folder.write(search.corpus(), is_whole));
        }
        (report, steered)
    }

    /// Takes the result of a run; `None` if it did not end.
    fn take(
        &self,
        proposal: &Proposal,
        ran: Option<RunResult>,
        search: &mut Search,
        report: &mut Report,
        steered: &mut SteerFigures,
    ) {
        let plan = &proposal.plan;
        let counted = match proposal.origin {
            Origin::Drawn => &mut steered.drawn_count,
            Origin::Mutated => &mut steered.mutated_count,
            Origin::Kept => &mut steered.kept_count,
        };
        *counted += 1;
        let violations = match ran {
            Some(mut ran) => {
                if proposal.origin != Origin::Drawn {
                    // The seed alone does not give the plan.
                    ran.summary.slowest_seed = None;
                }
                report.summary.add(ran.summary);
                if let Some(reached) = ran.reached {
                    search.learn(plan, reached);
                    return;
                }
                ran.violations
            }
            None => Vec::new(),
        };
        let number = steered.drawn_count + steered.mutated_count + steered.kept_count;
        steered.first_failure.get_or_insert(number);
        let file = if proposal.origin == Origin::Drawn && !violations.is_empty() {
            None
        } else {
            let folder = self.corpus.as_ref().map(|corpus| corpus.join(FAILURES));
            match folder::write_failing(plan, folder) {
                Ok(file) => Some(file),
                Err(problem) => {
                    steered.problems.push(problem);
                    None
                }
            }
        };
        report.failures.push(Failure {
            seed: plan.seed,
            file,
            violations,
            tries: None,
        });
    }
}

// === impl RunResult ===

impl RunResult {
    fn of(proposal: &Proposal) -> Self {
        let outcome = sim::run(&proposal.plan, &RunOptions::default());
        Self {
            summary: Summary::of(proposal.plan.seed, &outcome.trace),
            reached: outcome
                .is_good()
                .then(|| ReachedFeatures::of(&outcome.trace)),
            violations: outcome.violations,
        }
    }
}

/// Formats the figures of a search.
pub(super) fn text(figures: &SteerFigures) -> String {
    let SteerFigures {
        drawn_count,
        mutated_count,
        kept_count,
        corpus_size,
        ..
    } = figures;
    let count: u64 = figures.features.values().sum();
    let kinds = figures.features.iter();
    let kinds: Vec<String> = kinds
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    let mut text = format!(
        "steered: {drawn_count} plans drawn, {mutated_count} mutated, {kept_count} kept; a corpus of {corpus_size}\n\
         features reached: {count} ({})\n",
        kinds.join(", ")
    );
    let mut line = |line: &str| writeln!(text, "{line}").expect("a string takes what is written");
    if let Some(number) = figures.first_failure {
        line(&format!("run {number} was the first that failed"));
    }
    figures.problems.iter().for_each(|problem| line(problem));
    text
}

/// Writes the plans of a corpus to a folder, beside those that are there. Returns what went wrong.
pub(super) fn write_corpus(corpus: &KeptCorpus, folder: PathBuf) -> Vec<String> {
    let plans = corpus.plans.iter().map(|kept| &kept.plan);
    Folder::new(folder).write(plans, false)
}
