//! `score`: every scenario against every contestant.

use std::{
    fmt::Write,
    fs,
    io::IsTerminal,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::say;
use crate::{
    score::{self, CONTESTANTS, Contestant, Scenario},
    seed::Seed,
};

const WRITES: &str = "a string takes what is written";

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Only this contestant; may be given more than once.
    #[arg(long = "subject", value_name = "NAME")]
    subjects: Vec<String>,
    /// Only this scenario, by its name or where it comes from; may be given more than once.
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Where jitter and the server's choices come from.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many threads to use; as many as there are processors if left out.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write the cells to this file as JSON, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page of the repository to this file, too.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write down all that was observed in the runs of one scenario and one contestant.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Only tell which scenarios and contestants there are.
    #[arg(long)]
    list: bool,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.score() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
        }
    }

    fn score(&self) -> Result<bool, String> {
        if self.list {
            say(&list());
            return Ok(true);
        }
        let scenarios = self.chosen_scenarios()?;
        let contestants = self.chosen_contestants()?;
        if let Some(path) = &self.trace {
            let ([scenario], [contestant]) = (&scenarios[..], &contestants[..]) else {
                return Err("--trace takes one --scenario and one --subject".to_owned());
            };
            let traces = score::traces(scenario, *contestant, Seed::new(self.seed));
            write(path, &traces)?;
        }
        let threads = self
            .threads
            .or_else(|| thread::available_parallelism().ok());
        let bar = progress_bar(scenarios.len() * contestants.len());
        let board = score::run(
            &scenarios,
            &contestants,
            Seed::new(self.seed),
            threads.map_or(1, NonZeroUsize::get),
            |cell| {
                bar.set_message(cell.scenario);
                bar.inc(1);
            },
        );
        bar.finish_and_clear();
        say(&board.to_text());
        let files = [
            (&self.json, board.to_json()),
            (&self.markdown, board.to_markdown()),
        ];
        for (path, text) in files {
            if let Some(path) = path {
                write(path, &text)?;
            }
        }
        Ok(board.is_good())
    }

    fn chosen_scenarios(&self) -> Result<Vec<Scenario>, String> {
        let all = score::scenarios();
        let is_it =
            |scenario: &Scenario, name: &String| scenario.name == name || scenario.origin == name;
        for name in &self.scenarios {
            if !all.iter().any(|scenario| is_it(scenario, name)) {
                return Err(format!("no scenario is called {name}; --list tells them"));
            }
        }
        let chosen = all.into_iter().filter(|scenario| {
            self.scenarios.is_empty() || self.scenarios.iter().any(|name| is_it(scenario, name))
        });
        Ok(chosen.collect())
    }

    fn chosen_contestants(&self) -> Result<Vec<Contestant>, String> {
        if self.subjects.is_empty() {
            return Ok(CONTESTANTS.to_vec());
        }
        self.subjects
            .iter()
            .map(|name| {
                Contestant::named(name)
                    .ok_or_else(|| format!("no contestant is called {name}; --list tells them"))
            })
            .collect()
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn list() -> String {
    let mut text = String::from("contestants:\n");
    for contestant in CONTESTANTS {
        writeln!(text, "  {}", contestant.name).expect(WRITES);
    }
    text.push_str("scenarios:\n");
    for scenario in score::scenarios() {
        let (name, origin, about) = (scenario.name, scenario.origin, scenario.about);
        writeln!(text, "  {name:<30} {origin:<8} {about}").expect(WRITES);
    }
    text
}

fn progress_bar(length: usize) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cells {elapsed} {msg}");
    ProgressBar::with_draw_target(u64::try_from(length).ok(), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
