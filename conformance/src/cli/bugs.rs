//! The command `bugs`: hunts seeded bugs.

use std::{
    fmt::Write,
    io::IsTerminal,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use clap::Args as ClapArgs;
use comfy_table::{Cell, CellAlignment, Table, presets};
use fakeserver::cli::output::OutputArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use support::{
    cli::{PartitionArgs, say},
    partition::{Partition, Stamp},
};

use super::traced::TraceFolders;
use crate::{
    bugs::Bug,
    hunt::{Hunt, hunts, page, run_into},
    reports::{BugsReport, CampaignReport},
    seed::{Seed, fnv1a},
    sim::Plan,
    trace::SharedSink,
    tracefile::Header,
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Number of seeds in which a bug has to be caught.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// First seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Hunt this bug only; may be given several times.
    #[arg(long = "bug", value_name = "NAME", value_parser = named)]
    bugs: Vec<Bug>,
    /// Number of threads [default: one a processor].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    partition: PartitionArgs,
    /// Write the bugs and their catches to this file, too; `conformance merge` reads it.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the table to this file, too, as a page.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    folders: TraceFolders,
    #[command(flatten)]
    output: OutputArgs,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.hunt() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        }
    }

    fn hunt(&self) -> Result<bool, String> {
        let files = [&self.json, &self.markdown].into_iter().flatten();
        self.output.check(files.map(PathBuf::as_path))?;
        let partition = self.partition.partition()?;
        let all: Vec<Bug> = match self.bugs.as_slice() {
            [] => Bug::all().collect(),
            named => named.to_vec(),
        };
        let stamp = self.stamp(&all, partition);
        let bugs: Vec<Bug> = partition.of(all).collect();
        let threads = self
            .threads
            .or_else(|| thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        let bar = progress_bar(bugs.len() as u64);
        let seeds = self.seed..self.seed.saturating_add(self.seeds);
        let found = hunts(&bugs, &seeds, threads, |hunt| {
            bar.set_message(hunt.bug.name);
            bar.inc(1);
        });
        bar.finish_and_clear();
        let report = BugsReport::of(stamp, &found);
        say(&text(&report));
        let is_good = report.good;
        let write = |path: &Path, text: String| self.output.write(path, text.as_bytes());
        if let Some(path) = &self.json {
            write(path, CampaignReport::Bugs(report).to_json())?;
        }
        if let Some(path) = &self.markdown {
            write(path, page(&found))?;
        }
        trace_catches(&found, &self.folders, self.output)?;
        Ok(is_good)
    }

    /// Returns the stamp of the report: the options on which hunts depend, and what the first seed gives, which changes with the
    /// program.
    fn stamp(&self, bugs: &[Bug], partition: Partition) -> Stamp {
        let names: Vec<&str> = bugs.iter().map(|bug| bug.name).collect();
        let plan = Plan::draw(Seed::new(self.seed)).to_text();
        Stamp::new("bugs", env!("CARGO_PKG_VERSION"), partition)
            .with("--seed", &self.seed)
            .with("--seeds", &self.seeds)
            .with("--bug", &names.join(","))
            .with(
                "the plan of the first seed",
                &format!("{:016x}", fnv1a(plan.as_bytes())),
            )
    }
}

/// Runs the seeds that caught bugs again, and writes what happened.
fn trace_catches(found: &[Hunt], folders: &TraceFolders, output: OutputArgs) -> Result<(), String> {
    if !folders.is_some() {
        return Ok(());
    }
    for hunt in found {
        let (name, Some(caught)) = (hunt.bug.name, &hunt.catch) else {
            continue;
        };
        let seed = caught.seed;
        let header = Header::new(format!("{name}, seed {seed}"))
            .with_seed(seed.get())
            .with_replay(format!(
                "cargo run --release -p conformance -- bugs --bug {name} --seed {seed} --seeds 1 --html pages"
            ));
        let plan = Plan::draw(seed);
        let run = |sink: &SharedSink| run_into(&plan, hunt.bug, Some(sink)).violations;
        folders.write(name, &header, output, run)?;
    }
    Ok(())
}

fn named(name: &str) -> Result<Bug, String> {
    Bug::find(name).ok_or_else(|| {
        let names: Vec<&str> = Bug::all().map(|bug| bug.name).collect();
        format!("there is no such bug; there are {}", names.join(", "))
    })
}

/// Formats the table of the bugs, and which of them got away.
pub(super) fn text(report: &BugsReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "bug",
        "seam",
        "caught by",
        "seeds",
    ]);
    for hunted in &report.bugs {
        table.add_row([
            Cell::new(&hunted.bug),
            Cell::new(&hunted.seam),
            Cell::new(hunted.by()),
            Cell::new(hunted.seeds).set_alignment(CellAlignment::Right),
        ]);
    }
    let count = report.bugs.len();
    let got_away = report.bugs.iter().filter(|hunted| hunted.seed.is_none());
    let got_away: Vec<_> = got_away.collect();
    if got_away.is_empty() {
        return format!("{table}\nall {count} bugs were caught\n");
    }
    let mut text = format!("{table}\n{} of {count} bugs got away\n", got_away.len());
    for hunted in got_away {
        writeln!(text, "  {}: {}", hunted.bug, hunted.deviation)
            .expect("a string takes what is written");
    }
    text
}

fn progress_bar(length: u64) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} bugs {elapsed} {msg}");
    ProgressBar::with_draw_target(Some(length), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
