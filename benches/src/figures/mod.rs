//! Everything that this project promises of its speed and memory, measured, beside what is promised.

mod data;
mod encodings;
mod figure;
mod peers;

use std::{error::Error, fs, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use fakeserver::cli::output::OutputArgs;
use tokio::time::sleep;

use self::figure::{Figure, csv, table};
use crate::{
    fan_out, latency, load,
    program::Program,
    progress::progress_bar,
    reads, relist,
    results::{Results, machine},
    serve::{PODS_A_NODE, SEED, ServerProcess},
    side::Side,
    sync, updates,
};

/// The caches that are compared, by representation.
const SYNC_SIDES: [Side; 10] = [
    Side::TypedPaged,
    Side::TypedStreaming,
    Side::TypedPagedOneThread,
    Side::TypedStreamingOneThread,
    Side::DroppedPaged,
    Side::DroppedStreaming,
    Side::CompactPaged,
    Side::CompactStreaming,
    Side::KubeRuntimePaged,
    Side::KubeRuntimeStreaming,
];
/// Of which sides it is measured how much a relist takes.
const RELIST_SIDES: [Side; 6] = [
    Side::TypedStreaming,
    Side::DroppedStreaming,
    Side::CompactStreaming,
    Side::CompactPaged,
    Side::KubeRuntimeStreaming,
    Side::KubeRuntimePaged,
];
const CONNECTIONS: u32 = 8;
/// The number of handlers of updates.
const HANDLERS: u32 = 3;
/// The churn of the simulated cluster, in writes a second.
const CHURN: u32 = 1_000;
const MINUTE: Duration = Duration::from_mins(1);

/// Options of `figures`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Which parts, by commas; all unless told.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Sizes of the clusters that are synced, in pods
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [50_000, 150_000],
        value_parser = clap::value_parser!(u32).range(1..=500_000),
    )]
    pods: Vec<u32>,
    /// Sizes that are synced besides, for the growth curve.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1_000, 10_000],
        value_parser = clap::value_parser!(u32).range(1..=500_000),
    )]
    curve: Vec<u32>,
    /// Size of the largest cluster in pods: of the server, of reads
    #[arg(long, default_value_t = 150_000, value_parser = clap::value_parser!(u32).range(1..=500_000))]
    largest: u32,
    /// Runs of sync and updates on each side; the median is reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Number of updates, creates and the like
    #[arg(long, default_value_t = 40_000, value_parser = clap::value_parser!(u32).range(1..))]
    operations: u32,
    /// Number of watchers of the same resource
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    watchers: u32,
    /// The folder on the disk whose syncs are measured; a temporary one unless told
    #[arg(long, value_name = "FOLDER")]
    data_folder: Option<PathBuf>,
    /// Minutes of churn before the server's memory is read
    #[arg(long, default_value_t = 10)]
    churn_minutes: u32,
    /// The program that scripts/peers.sh has built; without it, client-go's figures are those of another machine
    #[arg(long, value_name = "PROGRAM", value_parser = sync::peer_program)]
    client_go: Option<PathBuf>,
    /// Writes `figures.csv`, and `sync.csv` and `sync.svg`, into this directory.
    #[arg(long)]
    results: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// A part of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// From an empty cache to a synced one.
    Sync,
    /// The same in protobuf, of recorded answers.
    Encodings,
    /// The same beside client-go.
    Peers,
    /// Everything is listed again.
    Relist,
    /// Updates that are taken in and told to handlers.
    Updates,
    /// Lookups, and reads beside a relist.
    Reads,
    /// From a write to a handler.
    Latency,
    /// The server's start, lists, fan-out and creates.
    Server,
    /// The server's creates with its state on the disk.
    Data,
    /// The server's lists, in each of its forms.
    Forms,
    /// The server's memory after it has lived for a while.
    Memory,
}

/// Measures, and prints a table.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let parts: Vec<Part> = Part::value_variants()
        .iter()
        .copied()
        .filter(|part| options.only.is_empty() || options.only.contains(part))
        .collect();
    if let Some(directory) = &options.results {
        let mut files = vec![directory.join("figures.csv")];
        if parts.contains(&Part::Sync) {
            files.extend(Results::files(directory));
        }
        options.output.check(files.iter().map(PathBuf::as_path))?;
    }
    let progress = progress_bar(parts.len() as u64, "measuring, parts");
    let mut figures = Vec::new();
    let mut outcome = Ok(());
    for part in parts {
        match measure(part, options).await {
            Ok(measured) => figures.extend(measured),
            // What was measured up to now is shown all the same.
            Err(error) => {
                outcome = Err(format!("{part:?}: {error}").into());
                break;
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    println!("{}\n{}", machine(), table(&figures));
    if let Some(directory) = &options.results {
        fs::create_dir_all(directory)?;
        let file = directory.join("figures.csv");
        options.output.write(&file, csv(&figures).as_bytes())?;
    }
    outcome
}

async fn measure(part: Part, options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    match part {
        Part::Sync => sync(options).await,
        Part::Encodings => encodings::encodings(options).await,
        Part::Peers => peers::peers(options).await,
        Part::Relist => relist(options).await,
        Part::Updates => updates(options).await,
        Part::Reads => reads(options).await,
        Part::Latency => latency(options).await,
        Part::Server => server(options).await,
        Part::Data => data::data(options).await,
        Part::Forms => encodings::forms(options).await,
        Part::Memory => memory(options).await,
    }
}

async fn sync(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let results = sync::measure(&sync::Options {
        pods: [&options.curve[..], &options.pods].concat(),
        rounds: options.rounds,
        sides: SYNC_SIDES.to_vec(),
        ..sync::Options::default()
    })
    .await?;
    println!("{}", results.table());
    if let Some(directory) = &options.results {
        results.write(directory, options.output)?;
    }
    let mut figures = Vec::new();
    for pods in &options.pods {
        let of_size = sync_figures(&results, *pods).ok_or("a side was not measured")?;
        figures.extend(of_size);
    }
    Ok(figures)
}

/// Each side in its better mode beside kube-runtime in its better mode.
fn sync_figures(results: &Results, pods: u32) -> Option<Vec<Figure>> {
    let seconds = |sides: [Side; 2]| {
        let rows = sides.map(|side| results.row(pods, side));
        let rows = rows.into_iter().flatten();
        rows.map(|row| row.sync.as_secs_f64()).reduce(f64::min)
    };
    let bytes = |sides: [Side; 2]| {
        let rows = sides.map(|side| results.row(pods, side));
        let rows = rows.into_iter().flatten();
        rows.map(|row| as_f64(row.resident_bytes)).reduce(f64::min)
    };
    let peer = [Side::KubeRuntimePaged, Side::KubeRuntimeStreaming];
    let (peer_seconds, peer_bytes) = (seconds(peer)?, bytes(peer)?);
    let compact = [Side::CompactPaged, Side::CompactStreaming];
    let dropped = [Side::DroppedPaged, Side::DroppedStreaming];
    let typed = [Side::TypedPaged, Side::TypedStreaming];
    let one_thread = [Side::TypedPagedOneThread, Side::TypedStreamingOneThread];
    let faster = |what: &str, sides, target| {
        Some(Figure::at_least(
            format!("sync of {pods} pods, {what}: times as fast as kube-runtime"),
            peer_seconds / seconds(sides)?,
            target,
            "x",
        ))
    };
    let smaller = |what: &str, sides, target| {
        Some(Figure::at_most(
            format!("sync of {pods} pods, {what}: resident, of kube-runtime's"),
            bytes(sides)? / peer_bytes,
            target,
            "x",
        ))
    };
    Some(vec![
        faster("compact", compact, 3.0)?,
        smaller("compact", compact, 1.0 / 30.0)?,
        Figure::at_most(
            format!("sync of {pods} pods, compact: resident a pod"),
            bytes(compact)? / f64::from(pods) / 1e3,
            kilobytes_a_pod(pods),
            "KB",
        ),
        faster("typed without managedFields", dropped, 2.0)?,
        smaller("typed without managedFields", dropped, 0.65)?,
        faster("typed", typed, 1.5)?,
        faster("typed, one thread", one_thread, 1.2)?,
        smaller("typed", typed, 0.98)?,
    ])
}

/// Returns what a compact pod may take: what does not grow with the pods weighs less among many.
fn kilobytes_a_pod(pods: u32) -> f64 {
    if pods < 150_000 { 1.4 } else { 1.1 }
}

async fn relist(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let pods = options.pods.first().copied().unwrap_or(options.largest);
    let ratios = relist::measure(pods, &RELIST_SIDES).await?;
    let rows = RELIST_SIDES.iter().zip(ratios);
    let figures = rows.map(|(side, ratio)| {
        let what = format!(
            "relist of {pods} unchanged pods, {}: peak over steady memory",
            side.title()
        );
        match side {
            Side::KubeRuntimeStreaming | Side::KubeRuntimePaged => {
                Figure::of_one_side(what, ratio, "x")
            }
            _ => Figure::at_most(what, ratio, 1.15, "x"),
        }
    });
    Ok(figures.collect())
}

async fn updates(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let count = options.operations;
    let rate = |side| updates::per_second(side, HANDLERS, count, options.rounds);
    let peer = rate(updates::Side::KubeRuntime).await?;
    let peer = peer.max(rate(updates::Side::KubeRuntimeShared).await?);
    let mut figures = Vec::new();
    for (what, side, target) in [
        ("typed without managedFields", updates::Side::Dropped, 2.0),
        ("typed", updates::Side::Typed, 1.3),
        ("compact, handlers take keys", updates::Side::Compact, 4.0),
    ] {
        let own = rate(side).await?;
        figures.push(Figure::at_least(
            format!(
                "updates to {HANDLERS} handlers on one core, {what}: times kube-runtime's {peer:.0}/s"
            ),
            own / peer,
            target,
            "x",
        ));
    }
    Ok(figures)
}

async fn reads(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let pods = options.largest;
    let reads = reads::measure(pods).await?;
    Ok(vec![
        Figure::at_most(
            format!("lookup of 30 pods among {pods} by an index"),
            reads.lookup.as_secs_f64() * 1e6,
            10.0,
            "us",
        ),
        Figure::at_least(
            format!(
                "the same, times as fast as a filter over kube-runtime's store ({:.1} ms)",
                reads.filter.as_secs_f64() * 1e3
            ),
            reads.filter.as_secs_f64() / reads.lookup.as_secs_f64(),
            1_000.0,
            "x",
        ),
        Figure::at_most(
            format!("slowest read (p99.9) while a relist of {pods} is applied"),
            reads.slowest.as_secs_f64() * 1e3,
            1.0,
            "ms",
        ),
    ])
}

async fn latency(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let latency = latency::measure((options.operations / 20).max(1)).await?;
    let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
    Ok(vec![
        Figure::at_most(
            "server commit to handler over TCP, median".to_owned(),
            milliseconds(latency.median),
            0.3,
            "ms",
        ),
        Figure::at_most(
            "server commit to handler over TCP, p99".to_owned(),
            milliseconds(latency.slowest_hundredth),
            2.0,
            "ms",
        ),
    ])
}

async fn server(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let first = load::first_answer().await?;
    let (listed, _) = {
        let server = ServerProcess::start(options.largest).await?;
        load::list(&server).await?
    };
    let watchers = options.watchers;
    let changes = (options.operations / 8).max(1);
    Ok(vec![
        Figure::at_most(
            "fake server: process start to first answer".to_owned(),
            first.as_secs_f64() * 1e3,
            50.0,
            "ms",
        ),
        Figure::at_most(
            format!(
                "fake server: list of {} pods over loopback",
                options.largest
            ),
            listed.as_secs_f64(),
            2.0,
            "s",
        ),
        Figure::at_least(
            format!("fake server: events to {watchers} watchers of everything, together"),
            fan_out::events_per_second(watchers, changes).await?,
            200_000.0,
            "/s",
        ),
        Figure::at_least(
            format!("fake server: creates over {CONNECTIONS} connections"),
            load::creates_per_second(CONNECTIONS, options.operations, &[]).await?,
            8_000.0,
            "/s",
        ),
    ])
}

/// Both servers live at the same time: what is measured is memory.
async fn memory(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut servers = Vec::new();
    let cluster = [
        ("--nodes", options.largest.div_ceil(PODS_A_NODE).to_string()),
        ("--pods", options.largest.to_string()),
        ("--churn", CHURN.to_string()),
        ("--seed", SEED.to_string()),
    ];
    let cluster = cluster.map(|(name, value)| [name.to_owned(), value]);
    for compress in [None, Some("--compress".to_owned())] {
        let arguments = cluster.iter().flatten().cloned().chain(compress);
        let server = Program::serve(&arguments.collect::<Vec<_>>()).await?;
        // A cluster lives from the first request on.
        load::ask_something(&server.url).await?;
        servers.push(server);
    }
    sleep(MINUTE * options.churn_minutes).await;
    let rows = servers.iter().zip([("", 1.8), (", compressed", 0.45)]);
    rows.map(|(server, (what, target))| {
        Ok(Figure::at_most(
            format!(
                "fake server: {} pods after {} min of {CHURN} writes/s, resident{what}",
                options.largest, options.churn_minutes
            ),
            as_f64(server.usage()?.resident_bytes) / 1e9,
            target,
            "GB",
        ))
    })
    .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "shown with fewer digits than are kept"
)]
fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}
