//! The command `trace`: reads trace files.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::cli::output::{OutputArgs, check_apart};
use support::cli::say;

use super::traced::{read, write_page};
use crate::{
    belief::State,
    trace::seconds,
    tracefile::{EventKind, Filter, TraceFile, diff, perfetto, text},
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Trace, as `conformance replay SEED --trace FILE` writes it.
    file: PathBuf,
    /// Print only events of actors whose name begins with this; repeats.
    #[arg(long, value_name = "NAME")]
    actor: Vec<String>,
    /// Print only events of this kind, such as change, belief or request; repeats.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Print only events about objects whose name contains this, as in "pods one/web"; repeats.
    #[arg(long, value_name = "NAME")]
    object: Vec<String>,
    /// Print only events from this time on.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    from: Option<Duration>,
    /// Print only events up to this time.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    to: Option<Duration>,
    /// Print what each client believed at this time, beside what was true.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, conflicts_with_all = ["diff", "perfetto", "html"])]
    at: Option<Duration>,
    /// With --at: as JSON.
    #[arg(long, requires = "at")]
    json: bool,
    /// Print where another run parts from this one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["perfetto", "html"])]
    diff: Option<PathBuf>,
    /// Write the trace in the form that ui.perfetto.dev opens.
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Write a page that shows the trace, for a browser; it needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// With --html: the trace of a run to compare with, whose differing rows are shown, too.
    #[arg(long, value_name = "FILE", requires = "html")]
    reference: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.read() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
        }
    }

    /// Returns false if the runs that are compared differ.
    fn read(&self) -> Result<bool, String> {
        let written = [&self.perfetto, &self.html].into_iter().flatten();
        let written = written.map(PathBuf::as_path);
        let given = [Some(&self.file), self.reference.as_ref()];
        let given = given.into_iter().flatten().map(PathBuf::as_path);
        check_apart(given, written.clone())?;
        self.output.check(written)?;
        let file = open(&self.file)?;
        self.check_filter(&file)?;
        if let Some(other) = &self.diff {
            let parting = diff(&file, &open(other)?);
            say(parting.as_deref().unwrap_or("the runs are equal\n"));
            return Ok(parting.is_none());
        }
        if let Some(at) = self.at {
            let micros = u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
            let state = State::at(&file, micros)
                .map_err(|error| format!("{}: {error}", self.file.display()))?;
            say(&self.line(&state));
            return Ok(true);
        }
        if let Some(out) = &self.perfetto {
            let json = perfetto(&file).to_string();
            self.output.write(out, json.as_bytes())?;
        }
        if let Some(out) = &self.html {
            if let Some(reference) = &self.reference {
                open(reference)?;
            }
            write_page(&self.file, self.reference.as_deref(), out, self.output)?;
        }
        if self.perfetto.is_none() && self.html.is_none() {
            say(&text(&file, &self.filter()));
        }
        Ok(true)
    }

    /// Fails if no event can pass the options that choose some.
    fn check_filter(&self, file: &TraceFile) -> Result<(), String> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            let (from, to) = (seconds(from), seconds(to));
            return Err(format!("there is no time from {from} s to {to} s"));
        }
        let of = |given: &[String], known: &dyn Fn(&str) -> bool| {
            given.iter().find(|name| !known(name)).cloned()
        };
        let mut actors: Vec<&str> = file.actors.iter().map(|actor| &*actor.name).collect();
        actors.push("run");
        let is_actor = |name: &str| actors.iter().any(|actor| actor.starts_with(name));
        if let Some(name) = of(&self.actor, &is_actor) {
            let all = actors.join(", ");
            return Err(format!(
                "no actor's name begins with {name:?}; there are: {all}"
            ));
        }
        if let Some(name) = of(&self.kind, &|name| EventKind::NAMES.contains(&name)) {
            let all = EventKind::NAMES.join(", ");
            return Err(format!(
                "there are no events of the kind {name:?}; there are: {all}"
            ));
        }
        let titles = 0..file.objects.len();
        let titles: Vec<String> = titles.map(|object| file.object_title(object)).collect();
        let is_object = |name: &str| titles.iter().any(|title| title.contains(name));
        match of(&self.object, &is_object) {
            Some(name) => Err(format!(
                "no object's name contains {name:?}; {} has {} objects, such as {}",
                self.file.display(),
                titles.len(),
                titles.first().map_or("none", |title| title)
            )),
            None => Ok(()),
        }
    }

    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.actors.clone_from(&self.actor);
        filter.kinds.clone_from(&self.kind);
        filter.objects.clone_from(&self.object);
        (filter.from, filter.to) = (self.from, self.to);
        filter
    }

    fn line(&self, state: &State) -> String {
        if self.json {
            return format!("{}\n", serde_json::to_string(state).expect("plain values"));
        }
        let at = Duration::from_micros(state.micros);
        let mut text = format!("{} s, revision {}\n", seconds(at), state.revision);
        let version =
            |version: Option<u64>| version.map_or_else(|| "absent".to_owned(), |it| it.to_string());
        for client in &state.clients {
            writeln!(text, "{} at {}", client.actor, version(client.revision)).expect(WRITES);
            for belief in &client.objects {
                let sign = sign(belief.believed, belief.truth);
                let (believed, truth) = (version(belief.believed), version(belief.truth));
                writeln!(
                    text,
                    "  {sign} {} believed {believed}, true {truth}",
                    belief.name
                )
                .expect(WRITES);
            }
        }
        text
    }
}

/// Returns the sign of a belief beside the truth, as the page has it.
fn sign(believed: Option<u64>, truth: Option<u64>) -> &'static str {
    match (believed, truth) {
        _ if believed == truth => "=",
        (None, _) => "−",
        (_, None) => "+",
        _ if believed < truth => "≠",
        _ => "!",
    }
}

const WRITES: &str = "a string takes what is written";

fn open(path: &Path) -> Result<TraceFile, String> {
    TraceFile::read(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "it is no number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
