//! From an empty cache to a synced one: time, processor time, and memory of each side.

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use fakeserver::cli::output::OutputArgs;
use serde::{Deserialize, Serialize};
use tokio::{process::Command, time::sleep};

use crate::{
    answer::Answer,
    child::Child,
    job::Job,
    process,
    progress::progress_bar,
    results::{Results, Row},
    serve::{Contents, ServerProcess},
    side::Side,
};

/// The longest pause between a sync and the reading of its memory.
const SETTLING_MAX: Duration = Duration::from_secs(1);

/// Options of `sync`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Running pods that the server holds; several counts, separated by commas, give a growth curve
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [10_000],
        value_parser = clap::value_parser!(u32).range(1..=500_000),
    )]
    pub(crate) pods: Vec<u32>,
    /// Runs of each side; the median is reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Which sides run, by commas; all that ask for JSON unless told.
    #[arg(long, value_delimiter = ',')]
    pub(crate) sides: Vec<Side>,
    /// The program that scripts/peers.sh has built, for the sides of client-go
    #[arg(long, value_name = "PROGRAM", value_parser = peer_program)]
    pub(crate) client_go: Option<PathBuf>,
    /// Makes each answer to a list once, before the first round, and repeats it from then on
    #[arg(long)]
    pub(crate) recorded: bool,
    /// Writes `sync.csv` and `sync.svg` into this directory.
    #[arg(long)]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads the path of a peer's program, which has to be there before anything is measured.
pub(crate) fn peer_program(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    if path.is_file() {
        Ok(path)
    } else {
        Err("there is no such file; scripts/peers.sh builds the program and prints its path".into())
    }
}

/// The cost of one sync.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SyncCost {
    /// From the first request to a synced cache.
    sync: Duration,
    /// Processor time of that, and of what followed in the background.
    cpu: Duration,
    /// Resident memory of the whole process after that.
    resident_bytes: u64,
    /// The most that was resident at any time.
    peak_bytes: u64,
    /// The bytes on the heap after that, where they are counted.
    heap_bytes: Option<u64>,
    /// The digest of the cache's contents, for checks.
    answer: Answer,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pods: vec![10_000],
            rounds: 3,
            sides: Vec::new(),
            client_go: None,
            recorded: false,
            results: None,
            output: OutputArgs::default(),
        }
    }
}

/// Runs all sides in turn, round by round, and prints a table.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(directory) = &options.results {
        let files = Results::files(directory);
        options.output.check(files.iter().map(PathBuf::as_path))?;
    }
    let results = measure(options).await?;
    println!("{}", results.table());
    if let Some(directory) = &options.results {
        results.write(directory, options.output)?;
    }
    Ok(())
}

/// The same without the table.
pub(crate) async fn measure(options: &Options) -> Result<Results, Box<dyn Error>> {
    let mut results = Results::new(options.rounds);
    for count in &options.pods {
        let server = if options.recorded {
            ServerProcess::start_recorded(*count).await?
        } else {
            ServerProcess::start(*count).await?
        };
        let contents = &server.contents;
        for (side, measured) in measure_sides(options, contents).await? {
            results.push(row(*count, contents, side, &measured));
        }
    }
    Ok(results)
}

/// Returns the pause between a sync of `pods` pods and the reading of its memory, in which background work ends.
pub(crate) fn settling(pods: u64) -> Duration {
    SETTLING_MAX.min(Duration::from_millis(pods))
}

/// Syncs all pods of the server at `url` in this process.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run_side(side: Side, url: &str, pods: u64) -> Result<SyncCost, Box<dyn Error>> {
    let before = process::usage()?;
    let start = Instant::now();
    let cache = side.cache(url)?;
    cache.wait_for_lists(1).await?;
    let sync = start.elapsed();
    sleep(settling(pods)).await;
    let used = process::usage()?;
    Ok(SyncCost {
        sync,
        cpu: used.cpu.saturating_sub(before.cpu),
        resident_bytes: used.resident_bytes,
        peak_bytes: used.peak_bytes,
        heap_bytes: used.heap_bytes,
        answer: cache.answer(),
    })
}

async fn measure_sides(
    options: &Options,
    server: &Contents,
) -> Result<Vec<(Side, Vec<SyncCost>)>, Box<dyn Error>> {
    let is_asked = |side: &&Side| {
        options.sides.contains(side) || (options.sides.is_empty() && side.is_default())
    };
    let sides = Side::value_variants().iter().filter(is_asked);
    let mut measured: Vec<(Side, Vec<SyncCost>)> = sides.map(|side| (*side, Vec::new())).collect();
    // The answers are recorded in a round that does not count.
    let rounds = options.rounds + u32::from(options.recorded);
    let runs = u64::from(rounds) * measured.len() as u64;
    let progress = progress_bar(runs, "syncing, runs");
    for round in 0..rounds {
        for (side, results) in &mut measured {
            let result = measure_side(*side, server, options.client_go.as_deref()).await?;
            if result.answer != server.answer {
                return Err(format!("{}: the cache differs from the server", side.title()).into());
            }
            if round > 0 || !options.recorded {
                results.push(result);
            }
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(measured)
}

/// Syncs an empty cache of one side in a process of its own.
async fn measure_side(
    side: Side,
    server: &Contents,
    client_go: Option<&Path>,
) -> Result<SyncCost, Box<dyn Error>> {
    let Some(encoding) = side.encoding_of_client_go() else {
        let job = Job::Sync {
            side,
            url: server.url.clone(),
            pods: server.answer.objects,
        };
        return job.outcome().await;
    };
    let program = client_go.ok_or("client-go needs --client-go PROGRAM, see scripts/peers.sh")?;
    let mut command = Command::new(program);
    command.args([&server.url, encoding]).stdin(Stdio::null());
    let started = Child::start(&mut command);
    let started = started.map_err(|error| format!("{}: {error}", program.display()))?;
    started.outcome().await
}

fn row(pods: u32, server: &Contents, side: Side, measured: &[SyncCost]) -> Row {
    let of = |value: fn(&SyncCost) -> u64| median(measured.iter().map(value).collect());
    let lasted = |value: fn(&SyncCost) -> Duration| median(measured.iter().map(value).collect());
    let heap = measured.iter().filter_map(|result| result.heap_bytes);
    let heap: Vec<u64> = heap.collect();
    Row {
        pods,
        json_bytes: server.json_bytes / u64::from(pods),
        side,
        sync: lasted(|result| result.sync),
        cpu: lasted(|result| result.cpu),
        resident_bytes: of(|result| result.resident_bytes),
        peak_bytes: of(|result| result.peak_bytes),
        heap_bytes: (!heap.is_empty()).then(|| median(heap)),
    }
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}
