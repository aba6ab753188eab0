//! `score`: every scenario against every contestant.

use std::{
    env,
    fmt::Write,
    fs,
    io::IsTerminal,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kube::{Config, config::KubeConfigOptions};

use super::say;
use crate::{
    call::whole,
    live::RealServer,
    score::{self, Arena, CONTESTANTS, Contestant, EXTERNAL, Scenario},
    seed::Seed,
    subjects::external::Program,
};

const WRITES: &str = "a string takes what is written";

/// How many cells are filled at a time where that takes time.
const THREADS_OVER_TCP: usize = 24;

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
    /// How contestants reach the server.
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    against: Way,
    /// What the shell runs as the contestant `external`, once for each informer; see docs/external.md.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// How many seconds that may take to answer a question.
    #[arg(long, value_name = "SECONDS", requires = "command")]
    answer_within: Option<u64>,
    /// Run scenarios so many times as fast; how long clients wait stays as it is.
    #[arg(long, value_name = "FACTOR", default_value_t = NonZeroU32::MIN)]
    speed: NonZeroU32,
    /// How many seconds caches may take to become equal to the server once faults have ended: 480 if left out, which is
    /// longer than a correct client's longest way.
    #[arg(long, value_name = "SECONDS")]
    converge_within: Option<u64>,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Way {
    /// In process, on a paused clock.
    #[default]
    InProcess,
    /// Over TCP, in the time that it takes. Scenarios that go on for minutes are left out unless they are named.
    Tcp,
    /// A real API server, of which KUBECONFIG tells, with a proxy in front that makes the faults. One that may be thrown
    /// away: runs write pods, config maps and nodes, and remove them. Scenarios that only a server of our own can play are
    /// left out.
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
        let scenarios = self.chosen_scenarios()?;
        let contestants = self.chosen_contestants()?;
        let Some(arena) = self.arena(&contestants)? else {
            say("SKIPPED: KUBECONFIG names no cluster\n");
            return Ok(true);
        };
        if let Some(path) = &self.trace {
            let ([scenario], [contestant]) = (&scenarios[..], &contestants[..]) else {
                return Err("--trace takes one --scenario and one --subject".to_owned());
            };
            let traces = score::traces(scenario, *contestant, &arena);
            write(path, &traces)?;
        }
        let bar = progress_bar(scenarios.len() * contestants.len());
        let board = score::run(&scenarios, &contestants, &arena, |cell| {
            bar.set_message(cell.scenario);
            bar.inc(1);
        });
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

    /// Where they meet; nowhere if that is a real server, and there is none.
    fn arena(&self, contestants: &[Contestant]) -> Result<Option<Arena>, String> {
        let is_external = contestants.contains(&EXTERNAL);
        if is_external && (self.command.is_none() || self.against == Way::InProcess) {
            let wanted = "--command COMMAND, and --against tcp or kubeconfig";
            return Err(format!("--subject external takes {wanted}"));
        }
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = self.threads.map(NonZeroUsize::get);
        let seed = Seed::new(self.seed);
        let arena = match self.against {
            Way::InProcess => Arena::new(seed, threads.unwrap_or(processors)),
            Way::Tcp => Arena::new(seed, threads.unwrap_or(THREADS_OVER_TCP)).over_tcp(),
            Way::Kubeconfig => match real_server()? {
                Some(server) => Arena::new(seed, 1).against_server(server),
                None => return Ok(None),
            },
        };
        let mut arena = arena.with_speed(self.speed);
        if let Some(command) = &self.command {
            let mut program = Program::new(command.as_str());
            if let Some(seconds) = self.answer_within {
                program = program.with_answer_limit(Duration::from_secs(seconds));
            }
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
        let takes_time = self.against != Way::InProcess;
        let is_live = self.against == Way::Kubeconfig;
        let is_asked_for = |scenario: &Scenario| match &self.scenarios[..] {
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

/// The server that KUBECONFIG names, made ready; none if it names none.
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

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
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
