//! The command `bugs`: hunts seeded bugs.

use std::{
    fmt::Write, io::IsTerminal, num::NonZeroUsize, path::PathBuf, process::ExitCode, thread,
};

use clap::Args as ClapArgs;
use comfy_table::{Cell, CellAlignment, Table, presets};
use fakeserver::cli::output::OutputArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use support::cli::say;

use super::traced::TraceFolders;
use crate::{
    bugs::Bug,
    hunt::{Hunt, hunts, page, run_into},
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
        if let Err(error) = self.output.check(self.markdown.as_deref()) {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
        let bugs = if self.bugs.is_empty() {
            Bug::all().collect()
        } else {
            self.bugs
        };
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
        say(&format!("{}\n", table(&found)));
        let got_away: Vec<&Hunt> = found.iter().filter(|hunt| hunt.catch.is_none()).collect();
        say(&verdict(found.len(), &got_away));
        if let Some(path) = &self.markdown
            && let Err(error) = self.output.write(path, page(&found).as_bytes())
        {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
        if let Err(error) = trace_catches(&found, &self.folders, self.output) {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
        if got_away.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
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

fn table(found: &[Hunt]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "bug",
        "seam",
        "caught by",
        "seeds",
    ]);
    for hunt in found {
        let caught_by = match &hunt.catch {
            Some(caught) => caught.by(),
            None => "none".to_owned(),
        };
        table.add_row([
            Cell::new(hunt.bug.name),
            Cell::new(hunt.bug.seam().name()),
            Cell::new(caught_by),
            Cell::new(hunt.seed_count).set_alignment(CellAlignment::Right),
        ]);
    }
    table
}

fn verdict(count: usize, got_away: &[&Hunt]) -> String {
    if got_away.is_empty() {
        return format!("all {count} bugs were caught\n");
    }
    let mut text = format!("{} of {count} bugs got away\n", got_away.len());
    for hunt in got_away {
        writeln!(text, "  {}: {}", hunt.bug.name, hunt.bug.about)
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
