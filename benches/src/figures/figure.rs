//! A figure beside its target, and tables of them.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};

use crate::results::machine;

/// Something measured, beside what it should be.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    what: String,
    measured: f64,
    target: Target,
    unit: &'static str,
}

/// The target of a figure.
#[derive(Clone, Copy, Debug)]
enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// It is shown for comparison.
    None,
}

/// For people.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["what", "measured", "target", "held"]);
    for column in 1..3 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for figure in figures {
        table.add_row([
            figure.what.clone(),
            format!("{} {}", short(figure.measured), figure.unit),
            figure.target.text(figure.unit),
            figure.verdict().to_owned(),
        ]);
    }
    table.to_string()
}

/// For programs: the machine and the commit, the names of the columns, a row for each figure.
pub(super) fn csv(figures: &[Figure]) -> String {
    let mut csv = format!("# {}\nwhat,measured,target,unit,held\n", machine());
    for figure in figures {
        // Writing to a string cannot fail.
        let _ = writeln!(
            csv,
            "\"{}\",{},\"{}\",{},{}",
            figure.what,
            short(figure.measured),
            figure.target.text(figure.unit),
            figure.unit,
            figure.verdict()
        );
    }
    csv
}

/// Three digits that mean something.
fn short(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else if value >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

// === impl Figure ===

impl Figure {
    pub(super) fn at_least(what: String, measured: f64, target: f64, unit: &'static str) -> Self {
        Self::new(what, measured, Target::AtLeast(target), unit)
    }

    pub(super) fn at_most(what: String, measured: f64, target: f64, unit: &'static str) -> Self {
        Self::new(what, measured, Target::AtMost(target), unit)
    }

    /// One without a target.
    pub(super) fn of_one_side(what: String, measured: f64, unit: &'static str) -> Self {
        Self::new(what, measured, Target::None, unit)
    }

    fn new(what: String, measured: f64, target: Target, unit: &'static str) -> Self {
        Self {
            what,
            measured,
            target,
            unit,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            Target::AtLeast(target) if self.measured >= target => "yes",
            Target::AtMost(target) if self.measured <= target => "yes",
            Target::None => "-",
            _ => "no",
        }
    }
}

// === impl Target ===

impl Target {
    fn text(self, unit: &str) -> String {
        match self {
            Self::AtLeast(target) => format!(">= {} {unit}", short(target)),
            Self::AtMost(target) => format!("<= {} {unit}", short(target)),
            Self::None => "-".to_owned(),
        }
    }
}
