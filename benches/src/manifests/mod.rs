//! Manifests with seeded mistakes: what `fakeserver check` finds of them, and how long it takes, beside kubeconform.

mod schemas;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use fakeserver::cli::output::OutputArgs;
use serde_json::Value;
use tokio::process::Command;

use crate::{
    program,
    progress::progress_bar,
    results::machine,
    seeded::{Mistake, SeededSet},
};

/// Options of `manifests`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Number of objects
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    objects: u32,

    /// Objects with each of the twenty kinds of mistakes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    each: u32,

    /// The number from which the manifests follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Runs on each side; the median is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// The program kubeconform; without it there is no other side
    #[arg(long, value_name = "PROGRAM", env = "KUBECONFORM")]
    kubeconform: Option<PathBuf>,

    /// Writes `manifests.csv` into this directory.
    #[arg(long)]
    results: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// One of the programs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contestant {
    Fakeserver,
    Kubeconform,
}

/// The outcome of one contestant.
#[derive(Debug)]
struct Outcome {
    contestant: Contestant,
    took: Vec<Duration>,
    /// The files of which something was said.
    files: BTreeSet<String>,
}

/// Runs both sides in turns, prints what each finds, and checks that ours finds what it has to.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let seeded = SeededSet::new(
        options.seed,
        options.objects as usize,
        options.each as usize,
    );
    let folder = tempfile::tempdir()?;
    let (manifests, schemas) = (
        folder.path().join("manifests"),
        folder.path().join("schemas"),
    );
    for (name, text) in &seeded.files {
        let file = manifests.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&manifests))?;
        fs::write(file, text)?;
    }
    let mut outcomes = vec![Outcome::new(Contestant::Fakeserver)];
    if options.kubeconform.is_some() {
        schemas::write(&schemas).await?;
        outcomes.push(Outcome::new(Contestant::Kubeconform));
    }
    let bar = progress_bar(u64::from(options.rounds) * outcomes.len() as u64, "runs");
    for _ in 0..options.rounds {
        for outcome in &mut outcomes {
            let mut command = outcome.contestant.command(options, &manifests, &schemas)?;
            outcome.run(&mut command, &manifests).await?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    println!("{}", table(&seeded, &outcomes, options));
    if let Some(directory) = &options.results {
        fs::create_dir_all(directory)?;
        let csv = csv(&seeded, &outcomes, options);
        let file = directory.join("manifests.csv");
        options.output.write(&file, csv.as_bytes())?;
    }
    let found = outcomes[0].found(&seeded, None);
    let unexpected = outcomes[0].unexpected(&seeded);
    if found < seeded.mistakes.len() || !unexpected.is_empty() {
        let wrong = format!(
            "fakeserver check finds {found} of {} mistakes, and something in {unexpected:?}, which have none",
            seeded.mistakes.len()
        );
        return Err(wrong.into());
    }
    Ok(())
}

fn table(seeded: &SeededSet, outcomes: &[Outcome], options: &Options) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let names = outcomes.iter().map(|outcome| outcome.contestant.name());
    let mut header = vec!["mistake"];
    header.extend(names);
    table.set_header(header);
    let mut add = |title: String, cell: &dyn Fn(&Outcome) -> String| {
        let cells = outcomes.iter().map(cell);
        let row: Vec<String> = [title].into_iter().chain(cells).collect();
        table.add_row(row);
    };
    for mistake in Mistake::ALL {
        add(format!("{mistake:?}"), &|outcome| {
            format!("{}/{}", outcome.found(seeded, Some(mistake)), options.each)
        });
    }
    add("all".to_owned(), &|outcome| {
        format!("{}/{}", outcome.found(seeded, None), seeded.mistakes.len())
    });
    add("files without a mistake".to_owned(), &|outcome| {
        outcome.unexpected(seeded).len().to_string()
    });
    add("median".to_owned(), &|outcome| {
        format!("{:.3} s", outcome.median().as_secs_f64())
    });
    format!(
        "{} objects with {} mistakes, seed {}, median of {} rounds, {}\n{table}",
        options.objects,
        seeded.mistakes.len(),
        options.seed,
        options.rounds,
        machine(),
    )
}

fn csv(seeded: &SeededSet, outcomes: &[Outcome], options: &Options) -> String {
    let mut csv = format!("# {}, median of {} rounds\n", machine(), options.rounds);
    csv.push_str("objects,mistakes,program,found,files_without_a_mistake,median_ms\n");
    for outcome in outcomes {
        // Writing to a string cannot fail.
        let _ = writeln!(
            csv,
            "{},{},{},{},{},{}",
            options.objects,
            seeded.mistakes.len(),
            outcome.contestant.name(),
            outcome.found(seeded, None),
            outcome.unexpected(seeded).len(),
            outcome.median().as_millis(),
        );
    }
    csv
}

// === impl Contestant ===

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Self::Fakeserver => "fakeserver check",
            Self::Kubeconform => "kubeconform -strict",
        }
    }

    /// Returns its command, which prints JSON.
    fn command(
        self,
        options: &Options,
        manifests: &Path,
        schemas: &Path,
    ) -> Result<Command, Box<dyn Error>> {
        if let (Self::Kubeconform, Some(program)) = (self, &options.kubeconform) {
            let mut command = Command::new(program);
            command
                .args(["-strict", "-output", "json", "-schema-location"])
                .arg(schemas.join(schemas::TEMPLATE))
                .arg(manifests);
            return Ok(command);
        }
        let mut command = Command::new(program::path()?);
        command.args(["check", "-o", "json"]).arg(manifests);
        Ok(command)
    }

    /// Returns the files about which a report says that something is wrong.
    fn files(self, report: &Value) -> BTreeSet<String> {
        let (list, file, is_wrong): (_, _, fn(&Value) -> bool) = match self {
            Self::Fakeserver => ("findings", "file", |finding| finding["severity"] == "error"),
            Self::Kubeconform => ("resources", "filename", |_| true),
        };
        let found = report[list].as_array().into_iter().flatten();
        let wrong = found.filter(|finding| is_wrong(finding));
        let files = wrong.filter_map(|finding| Some(finding[file].as_str()?.to_owned()));
        files.collect()
    }
}

// === impl Outcome ===

impl Outcome {
    fn new(contestant: Contestant) -> Self {
        Self {
            contestant,
            took: Vec::new(),
            files: BTreeSet::new(),
        }
    }

    /// Runs the program once, and reads its report.
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    async fn run(&mut self, command: &mut Command, manifests: &Path) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let output = command.output().await?;
        self.took.push(start.elapsed());
        let name = self.contestant.name();
        let report = serde_json::from_slice(&output.stdout).map_err(|error| {
            let why = String::from_utf8_lossy(&output.stderr);
            format!("{name} printed no report: {error}; {why}")
        })?;
        let files = self.contestant.files(&report).into_iter();
        let relative = files.map(|file| {
            let path = Path::new(&file).strip_prefix(manifests);
            path.map_or(file.clone(), |path| path.display().to_string())
        });
        let files: BTreeSet<String> = relative.collect();
        if self.took.len() > 1 && files != self.files {
            return Err(format!("{name} finds something else in another run").into());
        }
        self.files = files;
        Ok(())
    }

    /// Returns the number of mistakes of a kind, or of all, that it has found.
    fn found(&self, seeded: &SeededSet, kind: Option<Mistake>) -> usize {
        let mistakes = seeded.mistakes.iter();
        let of_kind = mistakes.filter(|it| kind.is_none_or(|kind| kind == it.mistake));
        of_kind.filter(|it| self.files.contains(&it.file)).count()
    }

    /// Returns the files without a mistake in which it finds one.
    fn unexpected(&self, seeded: &SeededSet) -> Vec<&str> {
        let mistakes = seeded.mistakes.iter();
        let with: BTreeMap<&str, Mistake> = mistakes.map(|it| (&*it.file, it.mistake)).collect();
        let files = self.files.iter().map(String::as_str);
        files.filter(|file| !with.contains_key(file)).collect()
    }

    fn median(&self) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        took.get(took.len() / 2).copied().unwrap_or_default()
    }
}
