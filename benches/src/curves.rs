//! Rates by the number of watchers of a server, and of handlers of a cache.

use std::{error::Error, fmt::Write as _, fs, path::Path, path::PathBuf};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fakeserver::cli::output::OutputArgs;
use plotters::prelude::*;

use crate::{
    fan_out,
    plot::{Line, plot_lines},
    progress::progress_bar,
    results::machine,
    updates::{self, Side},
};

/// The caches whose handlers are measured.
const SIDES: [Side; 5] = [
    Side::Typed,
    Side::Dropped,
    Side::Compact,
    Side::KubeRuntime,
    Side::KubeRuntimeShared,
];
/// The minimum number of changes that are watched, however many watchers there are.
const CHANGES_MIN: u32 = 200;
/// The counts, after which files are named.
const WATCHERS: &str = "watchers";
const HANDLERS: &str = "handlers";

/// Options of `curves`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Numbers of watchers, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1, 10, 100, 1_000],
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    watchers: Vec<u32>,
    /// Numbers of handlers, separated by commas
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1, 4, 16, 64],
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    handlers: Vec<u32>,
    /// Updates that handlers receive; all watchers together receive ten times as many events
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    operations: u32,
    /// Writes `watchers` and `handlers`, each as CSV and SVG, into this directory.
    #[arg(long)]
    results: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The measured curves over one kind of count.
struct Curves {
    /// The counted thing, which is part of the names of files.
    counted: &'static str,
    unit: &'static str,
    lines: Vec<Line>,
}

/// Measures, and prints a table for each kind of count.
pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(directory) = &options.results {
        for counted in [WATCHERS, HANDLERS] {
            let files = files(directory, counted);
            options.output.check(files.iter().map(PathBuf::as_path))?;
        }
    }
    let runs = options.watchers.len() + options.handlers.len() * SIDES.len();
    let progress = progress_bar(runs as u64, "measuring, runs");
    let mut fanned_out = Vec::new();
    for watchers in &options.watchers {
        let changes = (options.operations.saturating_mul(10) / watchers)
            .clamp(CHANGES_MIN.min(options.operations), options.operations);
        let rate = fan_out::events_per_second(*watchers, changes).await?;
        fanned_out.push((*watchers, rate));
        progress.inc(1);
    }
    let mut printed = Vec::new();
    for side in SIDES {
        let mut points = Vec::new();
        for handlers in &options.handlers {
            let rate = updates::per_second(side, *handlers, options.operations, 1).await?;
            points.push((*handlers, rate));
            progress.inc(1);
        }
        let title = side.title();
        printed.push(Line { title, points });
    }
    progress.finish_and_clear();
    let watchers = Curves {
        counted: WATCHERS,
        unit: "events a second, of all together",
        lines: vec![Line {
            title: "fake server",
            points: fanned_out,
        }],
    };
    let handlers = Curves {
        counted: HANDLERS,
        unit: "updates a second, on one core",
        lines: printed,
    };
    for curves in [watchers, handlers] {
        println!("{}", curves.table());
        if let Some(directory) = &options.results {
            curves.write(directory, options.output)?;
        }
    }
    Ok(())
}

/// Returns where the table and the plot of one kind of count are written.
fn files(directory: &Path, counted: &str) -> [PathBuf; 2] {
    ["csv", "svg"].map(|ending| directory.join(counted).with_extension(ending))
}

// === impl Curves ===

impl Curves {
    /// For people: a row for each line, a column for each count.
    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        let counts = self.lines.first().into_iter().flat_map(|line| &line.points);
        let counts = counts.map(|(count, _)| count.to_string());
        table.set_header([self.counted.to_owned()].into_iter().chain(counts));
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        for line in &self.lines {
            let values = line.points.iter().map(|(_, value)| format!("{value:.0}"));
            table.add_row([line.title.to_owned()].into_iter().chain(values));
        }
        format!("{}, {}\n{table}", self.unit, machine())
    }

    /// Writes CSV and SVG into `directory`.
    fn write(&self, directory: &Path, output: OutputArgs) -> Result<(), Box<dyn Error>> {
        fs::create_dir_all(directory)?;
        let [csv, svg] = files(directory, self.counted);
        output.write(&csv, self.csv().as_bytes())?;
        let mut plot = String::new();
        {
            let area = SVGBackend::with_string(&mut plot, (700, 560)).into_drawing_area();
            area.fill(&WHITE)?;
            plot_lines(&area, self.unit, self.counted, &self.lines)?;
            area.present()?;
        }
        Ok(output.write(&svg, plot.as_bytes())?)
    }

    fn csv(&self) -> String {
        let mut csv = format!(
            "# {}, {}\n{},who,rate\n",
            self.unit,
            machine(),
            self.counted
        );
        for line in &self.lines {
            for (count, value) in &line.points {
                // Writing to a string cannot fail.
                let _ = writeln!(csv, "{count},\"{}\",{value:.0}", line.title);
            }
        }
        csv
    }
}
