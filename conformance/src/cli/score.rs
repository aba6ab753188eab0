//! The command `score`: every scenario against every contestant.

use std::{
    env,
    fmt::Write,
    io::IsTerminal,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::{Args as ClapArgs, ValueEnum};
use fakeserver::cli::output::OutputArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kube::{Config, config::KubeConfigOptions};
use support::{
    cli::{PartitionArgs, say},
    partition::{Partition, Stamp},
};
use tokio::time::Instant;

use super::{
    columns,
    traced::{PlanTraceArgs, TracedRun},
};
use crate::{
    call::whole,
    live::RealServer,
    participants::subjects::external::{self, Introduction, Program},
    reports::{CampaignReport, ScoreReport},
    score::{
        self, Arena, CONTESTANTS, Column, Conditions, Contestant, EXTERNAL, Scenario, Scoreboard,
        others,
    },
    seed::Seed,
    sim::CONVERGENCE_LIMIT,
    tracefile::Header,
};

const WRITES: &str = "a string takes what is written";

/// The number of cells that are filled in parallel in real time.
const THREADS_OVER_TCP: usize = 24;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Run this contestant only; may be given several times.
    #[arg(long = "subject", value_name = "NAME")]
    subjects: Vec<String>,
    /// Run this scenario only, by its name or its origin; may be given several times.
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Seed of jitter and of the server's choices.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Number of threads [default: one a processor].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Way of contestants to the server.
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    against: ServerArg,
    /// Shell command of the contestant `external`, run once for each informer; see docs/external.md.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// Seconds for that command to answer a question.
    #[arg(long, value_name = "SECONDS", requires = "command")]
    answer_within: Option<u64>,
    /// Speed scenarios up by this factor; waits of clients stay as they are.
    #[arg(long, value_name = "FACTOR", default_value_t = NonZeroU32::MIN)]
    speed: NonZeroU32,
    /// Seconds for caches to become equal to the server after the end of all faults [default: 480, longer than the
    /// longest path of a correct client].
    #[arg(long, value_name = "SECONDS")]
    converge_within: Option<u64>,
    #[command(flatten)]
    partition: PartitionArgs,
    /// Write the cells to this file as JSON, too; `conformance merge` reads it.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page of the repository to this file, too.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Add recorded columns to that page: files of --record, or folders of them.
    #[arg(long, value_name = "PATH", requires = "markdown")]
    columns: Vec<PathBuf>,
    /// Write the column of one contestant to this file, for --columns. A file that holds a column is replaced.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    traces: PlanTraceArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// List the scenarios and contestants only.
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ServerArg {
    /// In process, on a paused clock.
    #[default]
    InProcess,
    /// Over TCP, in real time. Long scenarios are left out unless they are named.
    Tcp,
    /// A real API server, named by KUBECONFIG, with a proxy in front that makes the faults. Use a disposable one: runs
    /// write pods, config maps and nodes, and delete them. Scenarios that need a simulated server are left out.
    Kubeconfig,
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
        let partition = self.partition.partition()?;
        let scenarios = self.chosen_scenarios()?;
        let contestants = self.chosen_contestants()?;
        let stamp = self.stamp(&scenarios, &contestants, partition);
        let scenarios: Vec<Scenario> = partition.of(scenarios).collect();
        let traced = self.traced(&scenarios, &contestants)?;
        self.check_files(traced)?;
        let columns = columns::read(&self.columns)?;
        let record = self.record_output(&contestants)?;
        if record.is_some() && !partition.is_whole() {
            return Err("--record writes a whole column: leave the partition out".to_owned());
        }
        let introduction = match record {
            Some(_) => self.introduction(contestants[0])?,
            None => Introduction::default(),
        };
        let Some(arena) = self.arena(&contestants)? else {
            say("SKIPPED: KUBECONFIG names no cluster\n");
            return Ok(true);
        };
        let began = Instant::now();
        let board = match traced {
            Some((scenario, contestant)) => self.board_with_traces(scenario, contestant, &arena)?,
            None => board(&scenarios, &contestants, &arena),
        };
        say(&board.to_text());
        if let Some((path, output)) = record {
            let column = self.column(&board, &arena, introduction, began.elapsed());
            output.write(path, column.to_json().as_bytes())?;
        }
        let mut page = board.to_markdown();
        if !columns.is_empty() {
            page.push_str(&others::to_markdown(&board.scenarios, &columns));
        }
        let json = CampaignReport::Score(ScoreReport::of(stamp, &board)).to_json();
        let files = [(&self.json, json), (&self.markdown, page)];
        for (path, text) in files {
            if let Some(path) = path {
                self.output.write(path, text.as_bytes())?;
            }
        }
        Ok(board.is_good())
    }

    /// Returns the stamp of the report: the options on which verdicts depend.
    fn stamp(
        &self,
        scenarios: &[Scenario],
        contestants: &[Contestant],
        partition: Partition,
    ) -> Stamp {
        let scenarios: Vec<&str> = scenarios.iter().map(|it| it.name).collect();
        let contestants: Vec<&str> = contestants.iter().map(|it| it.name).collect();
        let way = self.against.to_possible_value();
        let mut stamp = Stamp::new("score", env!("CARGO_PKG_VERSION"), partition)
            .with("--scenario", &scenarios.join(","))
            .with("--subject", &contestants.join(","))
            .with("--seed", &self.seed)
            .with("--speed", &self.speed)
            .with("--against", &way.as_ref().map_or("", |way| way.get_name()));
        if let Some(command) = &self.command {
            stamp = stamp.with("--command", command);
        }
        if let Some(seconds) = self.converge_within {
            stamp = stamp.with("--converge-within", &seconds);
        }
        stamp
    }

    /// Returns the only scenario and the only contestant if traces are asked for.
    fn traced<'a>(
        &self,
        scenarios: &'a [Scenario],
        contestants: &[Contestant],
    ) -> Result<Option<(&'a Scenario, Contestant)>, String> {
        match (self.traces.is_some(), scenarios, contestants) {
            (false, ..) => Ok(None),
            (true, [scenario], [contestant]) => Ok(Some((scenario, *contestant))),
            (true, ..) => {
                Err("--trace and --html take one --scenario and one --subject".to_owned())
            }
        }
    }

    /// Refuses files that exist.
    fn check_files(&self, traced: Option<(&Scenario, Contestant)>) -> Result<(), String> {
        let files = [&self.json, &self.markdown].into_iter().flatten();
        self.output.check(files.map(PathBuf::as_path))?;
        let plan_count = traced.map_or(0, |(scenario, _)| scenario.plans.len());
        for place in 0..plan_count {
            self.output.check(self.traces.of_plan(place).files())?;
        }
        Ok(())
    }

    /// Runs the plans of a scenario, each with a trace.
    fn board_with_traces(
        &self,
        scenario: &Scenario,
        contestant: Contestant,
        arena: &Arena,
    ) -> Result<Scoreboard, String> {
        let mut runs = Vec::new();
        for place in 0..scenario.plans.len() {
            let (number, name) = (place + 1, scenario.name);
            let title = format!("{name}, plan {number}: {}", contestant.name);
            let line = self.replay_line(scenario, contestant);
            let header = Header::new(title).with_seed(self.seed).with_replay(line);
            let traced = TracedRun::begin(&self.traces.of_plan(place), &header)?;
            let sink = traced.as_ref().map(TracedRun::sink);
            let run = score::run_plan(scenario, contestant, place, arena, sink.as_ref());
            if let Some(traced) = &traced {
                traced.finish(&run.violations)?;
            }
            runs.push(run);
        }
        Ok(Scoreboard::of(scenario, contestant, runs))
    }

    /// Returns the line that runs a scenario again in the same way.
    fn replay_line(&self, scenario: &Scenario, contestant: Contestant) -> String {
        let (name, subject, seed) = (scenario.name, contestant.name, self.seed);
        let mut line = format!(
            "conformance score --scenario {name} --subject {subject} --seed {seed} --speed {}",
            self.speed
        );
        if let Some(way) = self.against.to_possible_value() {
            write!(line, " --against {}", way.get_name()).expect(WRITES);
        }
        if let Some(command) = &self.command {
            let quoted = command.replace('\'', r"'\''");
            write!(line, " --command '{quoted}'").expect(WRITES);
        }
        if let Some(seconds) = self.converge_within {
            write!(line, " --converge-within {seconds}").expect(WRITES);
        }
        line
    }

    /// Returns the file for a column and its flags.
    fn record_output(
        &self,
        contestants: &[Contestant],
    ) -> Result<Option<(&Path, OutputArgs)>, String> {
        let Some(path) = &self.record else {
            return Ok(None);
        };
        if contestants.len() != 1 || self.against == ServerArg::InProcess {
            return Err("--record takes one --subject, and --against tcp or kubeconfig".to_owned());
        }
        Ok(Some((path, columns::output(path, self.output)?)))
    }

    /// Makes the column of a board with one contestant.
    fn column(
        &self,
        board: &Scoreboard,
        arena: &Arena,
        introduction: Introduction,
        took: Duration,
    ) -> Column {
        let contestant = board.contestants[0];
        let converge_within = arena.convergence_limit.unwrap_or(CONVERGENCE_LIMIT);
        let circumstances = Conditions {
            library: introduction.library,
            version: introduction.version,
            withholds: introduction.withholds,
            date: columns::today(),
            commit: columns::commit(),
            speed: self.speed.get(),
            converge_within: converge_within.as_secs(),
            took: took.as_secs(),
        };
        Column::of(board, contestant, circumstances)
    }

    /// Returns what a contestant says of itself: a process has to start, others have a name.
    fn introduction(&self, contestant: Contestant) -> Result<Introduction, String> {
        match self.program() {
            Some(program) if contestant == EXTERNAL => external::introduction(&program),
            _ => Ok(Introduction {
                library: contestant.name.to_owned(),
                ..Introduction::default()
            }),
        }
    }

    fn program(&self) -> Option<Program> {
        let program = Program::new(self.command.as_deref()?);
        Some(match self.answer_within {
            Some(seconds) => program.with_answer_limit(Duration::from_secs(seconds)),
            None => program,
        })
    }

    /// Returns the conditions of the runs; `None` if they need a real server, and there is none.
    fn arena(&self, contestants: &[Contestant]) -> Result<Option<Arena>, String> {
        let is_external = contestants.contains(&EXTERNAL);
        if is_external && (self.command.is_none() || self.against == ServerArg::InProcess) {
            let wanted = "--command COMMAND, and --against tcp or kubeconfig";
            return Err(format!("--subject external takes {wanted}"));
        }
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = self.threads.map(NonZeroUsize::get);
        let seed = Seed::new(self.seed);
        let arena = match self.against {
            ServerArg::InProcess => Arena::new(seed, threads.unwrap_or(processors)),
            ServerArg::Tcp => Arena::new(seed, threads.unwrap_or(THREADS_OVER_TCP)).over_tcp(),
            ServerArg::Kubeconfig => match real_server()? {
                Some(server) => Arena::new(seed, 1).against_server(server),
                None => return Ok(None),
            },
        };
        let mut arena = arena.with_speed(self.speed);
        if let Some(program) = self.program() {
            arena = arena.with_program(program);
        }
        if let Some(seconds) = self.converge_within {
            arena = arena.with_convergence_limit(Duration::from_secs(seconds));
        }
        Ok(Some(arena))
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
        let takes_time = self.against != ServerArg::InProcess;
        let is_live = self.against == ServerArg::Kubeconfig;
        let is_of_processes = self.subjects == [EXTERNAL.name];
        let is_asked_for = |scenario: &Scenario| match &self.scenarios[..] {
            [] if is_of_processes && !scenario.concerns_processes() => false,
            [] if is_live => scenario.is_short() && scenario.can_be_live(),
            [] => !takes_time || scenario.is_short() && !scenario.makes_clock_leap(),
            names => names.iter().any(|name| is_it(scenario, name)),
        };
        let chosen: Vec<Scenario> = all.into_iter().filter(is_asked_for).collect();
        if let Some(scenario) = chosen.iter().find(|scenario| !scenario.can_be_live())
            && is_live
        {
            return Err(format!(
                "{} is for a server of our own: no proxy can make what goes wrong in it",
                scenario.name
            ));
        }
        let leaping = chosen.iter().find(|scenario| scenario.makes_clock_leap());
        match leaping.filter(|_| takes_time) {
            Some(scenario) => Err(format!(
                "{} makes the clock leap, which is done in process only",
                scenario.name
            )),
            None => Ok(chosen),
        }
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

/// Runs every scenario against every contestant.
fn board(scenarios: &[Scenario], contestants: &[Contestant], arena: &Arena) -> Scoreboard {
    let bar = progress_bar(scenarios.len() * contestants.len());
    let board = score::run(scenarios, contestants, arena, |cell| {
        bar.set_message(cell.scenario);
        bar.inc(1);
    });
    bar.finish_and_clear();
    board
}

/// Returns the server that KUBECONFIG names, prepared; `None` if it names none.
fn real_server() -> Result<Option<RealServer>, String> {
    if env::var_os("KUBECONFIG").is_none_or(|path| path.is_empty()) {
        return Ok(None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let options = KubeConfigOptions::default();
    let config = runtime.block_on(Config::from_kubeconfig(&options));
    let server = RealServer::new(config.map_err(|error| format!("KUBECONFIG: {}", whole(&error)))?);
    let ready = server.prepare();
    ready.map_err(|error| whole(&error))?;
    Ok(Some(server))
}

fn list() -> String {
    let mut text = String::from("contestants:\n");
    for contestant in CONTESTANTS.iter().chain([&EXTERNAL]) {
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
