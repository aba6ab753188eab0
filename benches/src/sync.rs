//! From an empty cache to a synced one: time, processor time, and resident memory of each side.

use std::{error::Error, io::IsTerminal, net::Ipv4Addr, time::Duration};

use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fakeserver::{Controllers, FakeServer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::{net::TcpListener, process::Command};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Measured, Side},
    cluster,
};

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many running pods the server holds.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=500_000))]
    pods: u32,
    /// How often each side runs; the median is reported.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

/// Which side to run, and against what.
#[derive(Clone, Debug, Args)]
pub(crate) struct SideOptions {
    #[arg(long)]
    side: Side,
    #[arg(long)]
    url: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pods: 10_000,
            rounds: 3,
        }
    }
}

/// Runs all sides in turn, round by round, and prints a table.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    // The pods name owners that are not there: a garbage collector would take them.
    let server = FakeServer::builder()
        .with_controllers(Controllers::none())
        .build();
    let progress = progress_bar(u64::from(options.pods), "filling the server, pods");
    cluster::fill(&server, options.pods as usize, &progress).await?;
    progress.finish_and_clear();

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let measured = tokio::select! {
        biased;
        measured = measure(options, &server, &url) => measured?,
        () = server.serve(listener, stop.clone()) => return Err("the server ended early".into()),
    };
    stop.cancel();
    server.shutdown().await;

    let json = cluster::json_bytes(&server);
    println!("{}", report(options, json, &measured));
    Ok(())
}

/// Runs one side in this process and prints what it measured.
pub(crate) async fn run_side(options: &SideOptions) -> Result<(), Box<dyn Error>> {
    let measured = options.side.sync(&options.url).await?;
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

async fn measure(
    options: &Options,
    server: &FakeServer,
    url: &str,
) -> Result<Vec<(Side, Vec<Measured>)>, Box<dyn Error>> {
    let expected = cluster::versions(server);
    let mut measured: Vec<(Side, Vec<Measured>)> = Side::value_variants()
        .iter()
        .map(|side| (*side, Vec::new()))
        .collect();
    let runs = u64::from(options.rounds) * measured.len() as u64;
    let progress = progress_bar(runs, "syncing, runs");
    for _ in 0..options.rounds {
        for (side, results) in &mut measured {
            let result = run_child(*side, url).await?;
            if result.versions != expected {
                return Err(format!("{}: the cache differs from the server", side.title()).into());
            }
            results.push(result);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(measured)
}

async fn run_child(side: Side, url: &str) -> Result<Measured, Box<dyn Error>> {
    let name = side.to_possible_value().expect("no side is hidden");
    let output = Command::new(std::env::current_exe()?)
        .args(["sync-side", "--side", name.get_name(), "--url", url])
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed: {}", side.title(), said.trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn report(options: &Options, json_bytes: u64, measured: &[(Side, Vec<Measured>)]) -> String {
    let pods = u64::from(options.pods);
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["client", "sync", "CPU", "resident", "a pod"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (side, results) in measured {
        let resident = median(results.iter().map(|result| result.resident_bytes).collect());
        table.add_row([
            side.title().to_owned(),
            seconds(median(results.iter().map(|result| result.sync).collect())),
            seconds(median(results.iter().map(|result| result.cpu).collect())),
            format!("{} MB", resident / 1_000_000),
            kilobytes(resident / pods),
        ]);
    }
    let size = kilobytes(json_bytes / pods);
    format!(
        "sync of {pods} running pods of {size} JSON over loopback HTTP, median of {} rounds\n{table}",
        options.rounds
    )
}

/// With one digit behind the point.
fn kilobytes(bytes: u64) -> String {
    let tenths = bytes / 100;
    format!("{}.{} KB", tenths / 10, tenths % 10)
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn progress_bar(length: u64, what: &'static str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}")
        .expect("the template is valid");
    ProgressBar::with_draw_target(Some(length), target)
        .with_style(style)
        .with_message(what)
}
