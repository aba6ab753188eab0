//! The results of a run: as a table, as CSV, and as a plot.

use std::{
    error::Error,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fakeserver::cli::output::OutputArgs;
use plotters::{coord::Shift, prelude::*};

use crate::{
    plot::{Line, plot_lines},
    side::Side,
};

/// One side at one number of pods; medians of all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) pods: u32,
    /// The size of one pod.
    pub(crate) json_bytes: u64,
    pub(crate) side: Side,
    pub(crate) sync: Duration,
    pub(crate) cpu: Duration,
    pub(crate) resident_bytes: u64,
    pub(crate) peak_bytes: u64,
    pub(crate) heap_bytes: Option<u64>,
}

/// All rows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    rounds: u32,
    rows: Vec<Row>,
}

/// The values that a plot shows over the number of pods.
struct Panel {
    title: &'static str,
    value: fn(&Row) -> f64,
}

const PANELS: [Panel; 3] = [
    Panel {
        title: "sync, seconds",
        value: |row| row.sync.as_secs_f64(),
    },
    Panel {
        title: "processor time, seconds",
        value: |row| row.cpu.as_secs_f64(),
    },
    Panel {
        title: "resident, megabytes",
        value: |row| megabytes(row.resident_bytes),
    },
];

// === impl Results ===

impl Results {
    pub(crate) fn new(rounds: u32) -> Self {
        let rows = Vec::new();
        Self { rounds, rows }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Returns the result of one side.
    pub(crate) fn row(&self, pods: u32, side: Side) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.pods == pods && row.side == side)
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        let header = [
            "pods", "client", "sync", "CPU", "resident", "a pod", "peak", "heap",
        ];
        table.set_header(header);
        for (place, column) in table.column_iter_mut().enumerate() {
            if place != 1 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            let heap = row.heap_bytes.map(megabytes);
            table.add_row([
                row.pods.to_string(),
                row.side.title().to_owned(),
                format!("{:.2} s", row.sync.as_secs_f64()),
                format!("{:.2} s", row.cpu.as_secs_f64()),
                format!("{:.0} MB", megabytes(row.resident_bytes)),
                kilobytes(row.resident_bytes / u64::from(row.pods)),
                format!("{:.0} MB", megabytes(row.peak_bytes)),
                heap.map_or_else(|| "-".to_owned(), |heap| format!("{heap:.0} MB")),
            ]);
        }
        let size = self.rows.first().map_or(0, |row| row.json_bytes);
        format!(
            "sync of running pods of {} JSON over loopback HTTP, median of {} rounds, {}\n{table}",
            kilobytes(size),
            self.rounds,
            machine(),
        )
    }

    /// Writes `sync.csv` and `sync.svg` into `directory`.
    pub(crate) fn write(&self, directory: &Path, output: OutputArgs) -> Result<(), Box<dyn Error>> {
        fs::create_dir_all(directory)?;
        let [csv, svg] = Self::files(directory);
        output.write(&csv, self.csv().as_bytes())?;
        Ok(output.write(&svg, self.plot()?.as_bytes())?)
    }

    /// Returns the files that are written into `directory`.
    pub(crate) fn files(directory: &Path) -> [PathBuf; 2] {
        ["sync.csv", "sync.svg"].map(|name| directory.join(name))
    }

    fn csv(&self) -> String {
        let mut csv = format!("# {}, median of {} rounds\n", machine(), self.rounds);
        csv.push_str(
            "pods,json_bytes_a_pod,client,sync_ms,cpu_ms,resident_bytes,peak_bytes,heap_bytes\n",
        );
        for row in &self.rows {
            let heap = row.heap_bytes.map(|bytes| bytes.to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(
                csv,
                "{},{},\"{}\",{},{},{},{},{}",
                row.pods,
                row.json_bytes,
                row.side.title(),
                row.sync.as_millis(),
                row.cpu.as_millis(),
                row.resident_bytes,
                row.peak_bytes,
                heap.unwrap_or_default(),
            );
        }
        csv
    }

    fn plot(&self) -> Result<String, Box<dyn Error>> {
        let mut plot = String::new();
        let area = SVGBackend::with_string(&mut plot, (1500, 560)).into_drawing_area();
        area.fill(&WHITE)?;
        for (panel, area) in PANELS.iter().zip(area.split_evenly((1, PANELS.len()))) {
            self.plot_panel(panel, &area)?;
        }
        area.present()?;
        drop(area);
        Ok(plot)
    }

    fn plot_panel(
        &self,
        panel: &Panel,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<io::Error>> {
        let lines = self.sides().into_iter().map(|side| {
            let rows = self.rows.iter().filter(|row| row.side == side);
            let points = rows.map(|row| (row.pods, (panel.value)(row)));
            Line {
                title: side.title(),
                points: points.collect(),
            }
        });
        plot_lines(area, panel.title, "pods", &lines.collect::<Vec<_>>())
    }

    /// In the order in which they ran.
    fn sides(&self) -> Vec<Side> {
        let mut sides = Vec::new();
        for row in &self.rows {
            if !sides.contains(&row.side) {
                sides.push(row.side);
            }
        }
        sides
    }
}

/// Processors, their kind, and the commit that was built.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kind = fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let commit = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    format!(
        "{cores} cores of {}, commit {}",
        kind.as_deref().unwrap_or("an unknown kind"),
        commit.as_deref().map_or("unknown", str::trim),
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "shown with fewer digits than are kept"
)]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// With one digit behind the point.
fn kilobytes(bytes: u64) -> String {
    let tenths = bytes / 100;
    format!("{}.{} KB", tenths / 10, tenths % 10)
}
