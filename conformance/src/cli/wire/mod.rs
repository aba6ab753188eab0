//! The command `wire`: golden transcripts against a remote server.

mod report;

use std::{
    fs,
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::report::{Entry, Report};
use support::cli::{finish, say};

use super::server::ServerArgs;
use crate::{
    call::whole,
    golden::{
        ControlError, Endpoint, PlayError, Playback, PlayedStep, Scenario, Step, Transcript,
        Verdict, play, stored,
    },
};

/// The maximal time for an answer, in seconds.
const PATIENCE_MAX_SECONDS: u64 = 3_600;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Transcripts to play [default: those in the program].
    #[arg(value_name = "TRANSCRIPT")]
    files: Vec<PathBuf>,
    /// The admission plugins that the server has on beside its default ones: a list, as in `ServiceAccount`.
    ///
    /// Of the transcripts in the program those are played that were recorded with these plugins. A file is played unless
    /// it needs others.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    plugins: Vec<String>,
    /// Show all differences, and whole values.
    #[arg(long)]
    full: bool,
    /// Write the differences to this file as JSON, too; `-` writes them to standard output, and nothing else.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Do not compare: record the server's answers to the requests of the files as transcripts in this folder.
    ///
    /// A file is a transcript, or a scenario in YAML or JSON: steps without answers.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "files",
        conflicts_with = "json"
    )]
    record: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Seconds to wait for each answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=PATIENCE_MAX_SECONDS))]
    timeout: u64,
    /// Command for actions that the API does not offer; its argument is the name, as in `expire`.
    ///
    /// By default they are requested as from the fake server: POST /_control/expire.
    #[arg(long, value_name = "COMMAND")]
    control_command: Option<String>,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        finish(self.perform())
    }

    /// Returns true if all played steps are as recorded.
    async fn perform(&self) -> Result<bool, String> {
        if let Some(folder) = &self.record {
            let scenarios = self.files.iter().map(|file| scenario(file));
            let scenarios = scenarios.collect::<Result<Vec<_>, _>>()?;
            self.record(&scenarios, folder).await?;
            return Ok(true);
        }
        if let Some(path) = self.json.as_deref().filter(|path| *path != Path::new("-")) {
            self.output.check([path])?;
        }
        let transcripts = if self.files.is_empty() {
            stored()
        } else {
            let read = self.files.iter().map(|file| transcript(file));
            read.collect::<Result<_, _>>()?
        };
        let (played, left_out) = transcripts
            .into_iter()
            .partition::<Vec<_>, _>(|transcript| self.fits(transcript));
        let report = self.compare(&played, left_out).await?;
        Ok(report.is_good())
    }

    /// Returns true if the server has the admission plugins with which a transcript was recorded.
    fn fits(&self, transcript: &Transcript) -> bool {
        let has = |plugin: &String| self.plugins.contains(plugin);
        let needs = |plugin: &String| transcript.plugins.contains(plugin);
        let is_chosen = !self.files.is_empty();
        transcript.plugins.iter().all(has) && (is_chosen || self.plugins.iter().all(needs))
    }

    async fn compare(
        &self,
        transcripts: &[Transcript],
        left_out: Vec<Transcript>,
    ) -> Result<Report, String> {
        let (endpoint, version) = self.reach().await?;
        let is_quiet = self.json.as_deref() == Some(Path::new("-"));
        let print = |text: &str| {
            if !is_quiet {
                say(text);
            }
        };
        print(&format!("{} ({version})\n", self.server.name()));
        let steps = transcripts.iter().map(|transcript| transcript.steps.len());
        let bar = progress_bar(steps.sum());
        let mut report = Report::new(self.server.name(), version, left_out);
        let mut lost = None;
        for transcript in transcripts {
            let playback = play_shown(&endpoint, &transcript.name, &transcript.steps, &bar).await;
            let is_lost = is_lost(&endpoint, &playback).await;
            let entry = Entry::new(Verdict::of(transcript, &playback.played), playback.stopped);
            bar.suspend(|| print(&report::differences(&entry, self.full)));
            lost = is_lost.then(|| entry.why_stopped().unwrap_or_default());
            report.push(entry);
            if lost.is_some() {
                break;
            }
        }
        bar.finish_and_clear();
        print(&report::totals(&report));
        if let Some(path) = &self.json {
            let text = report::json(&report);
            if is_quiet {
                say(&text);
            } else {
                self.output.write(path, text.as_bytes())?;
            }
        }
        match lost {
            Some(why) => Err(format!("{} was lost: {why}", self.server.name())),
            None => Ok(report),
        }
    }

    async fn record(&self, scenarios: &[Scenario], folder: &Path) -> Result<(), String> {
        let path = |name: &str| folder.join(name).with_extension("json");
        // A folder that is not there is made once the server is reached.
        if folder.is_dir() {
            for scenario in scenarios {
                self.output.check([&*path(scenario.name())])?;
            }
        }
        let (endpoint, version) = self.reach().await?;
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let bar = progress_bar(
            scenarios
                .iter()
                .map(|scenario| scenario.steps().len())
                .sum(),
        );
        for scenario in scenarios {
            let name = scenario.name();
            let playback = play_shown(&endpoint, name, scenario.steps(), &bar).await;
            // Half a transcript would be taken for a whole one.
            if let Some(stopped) = &playback.stopped {
                return Err(format!("{name} cannot be recorded: {}", whole(stopped)));
            }
            if let Some(failed) = playback.played.iter().find(|played| played.has_failed()) {
                return Err(format!(
                    "{name} cannot be recorded: step {} was not answered",
                    failed.id
                ));
            }
            let path = path(name);
            let recorded = scenario.recorded(&version, &playback.played);
            self.output.write(&path, recorded.as_bytes())?;
            let count = playback.played.len();
            bar.suspend(|| say(&format!("{} {count} steps\n", path.display())));
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Connects to the server, and returns its version.
    async fn reach(&self) -> Result<(Endpoint, String), String> {
        let (mut endpoint, version) = self.server.reach(Duration::from_secs(self.timeout)).await?;
        if let Some(command) = &self.control_command {
            endpoint = endpoint.with_control_command(command);
        }
        Ok((endpoint, version))
    }
}

async fn play_shown(
    endpoint: &Endpoint,
    name: &str,
    steps: &[Step],
    bar: &ProgressBar,
) -> Playback {
    bar.set_message(name.to_owned());
    let played = |_: &PlayedStep| bar.inc(1);
    let playback = play(endpoint, steps, played).await;
    bar.inc((steps.len() - playback.played.len()) as u64);
    playback
}

/// Returns true if the server is gone, after several requests without an answer.
async fn is_lost(endpoint: &Endpoint, playback: &Playback) -> bool {
    let is_in_doubt = matches!(
        playback.stopped,
        Some(PlayError::Unanswered(_) | PlayError::Control(ControlError::Endpoint(_)))
    );
    is_in_doubt && endpoint.version().await.is_err()
}

fn transcript(file: &Path) -> Result<Transcript, String> {
    Transcript::parse(&read(file)?)
        .map_err(|error| format!("{} is no transcript: {error}", file.display()))
}

fn scenario(file: &Path) -> Result<Scenario, String> {
    let text = read(file)?;
    let name = file.file_stem().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let is_json = file
        .extension()
        .is_some_and(|extension| extension == "json");
    let parsed = if is_json {
        Scenario::from_json(name, &text)
    } else {
        Scenario::from_yaml(name, &text)
    };
    parsed.map_err(|error| format!("{}: {}", file.display(), whole(&error)))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn progress_bar(length: usize) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps {elapsed} {msg}");
    ProgressBar::with_draw_target(Some(length as u64), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
