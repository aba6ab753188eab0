//! `fakeserver faults`: the catalogue of faults, and the fields of a rule.

use std::{
    fmt::{self, Write as _},
    process::ExitCode,
};

use clap::Args;
use fakeserver_server::{
    faults::{CatalogueEntry, Fault, FaultSpec, Target, unknown_fault},
    server::{fault_parameters, match_schema, when_schema},
};
use serde_json::{Map, Value, json};

use super::{say, terminal::width};

/// The fewest columns in which a text is broken into lines.
const TEXT_MIN: usize = 30;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The fault to describe, with its parameters and the fields of `match` and `when`; all are listed without it
    name: Option<String>,

    /// Print JSON: the catalogue, and the schema of each parameter.
    #[arg(long)]
    json: bool,
}

/// A table: rows of cells, of which the last one is broken into lines.
struct Table {
    rows: Vec<Vec<String>>,
    /// The columns of the terminal; endless for a file.
    width: usize,
}

/// Prints all faults, or one.
pub(super) fn faults(options: &Options) -> Result<ExitCode, String> {
    let width = width();
    match (&options.name, options.json) {
        (None, false) => say(&list(width)),
        (None, true) => {
            let all: Vec<Value> = Fault::all().map(document).collect();
            say(&format!("{:#}\n", Value::Array(all)))
        }
        (Some(name), is_json) => {
            let fault = Fault::named(name).ok_or_else(|| unknown_fault(name))?;
            if is_json {
                say(&format!("{:#}\n", document(fault)))
            } else {
                say(&description(fault, width))
            }
        }
    }
}

fn list(width: usize) -> String {
    let row = |entry: &CatalogueEntry| vec![entry.fault.to_owned(), entry.models.to_owned()];
    let rows = Fault::all().map(|fault| row(fault.entry())).collect();
    let table = Table { rows, width };
    format!("{table}\n`fakeserver faults NAME` describes one, with its parameters.\n")
}

fn description(fault: Fault, width: usize) -> String {
    let entry = fault.entry();
    let mut text = paragraph(&format!("{}: {}.", entry.fault, entry.models), width);
    text.push_str(&paragraph(entry.effect, width));
    let parameters = parameters_of(fault);
    let rows: Vec<_> = parameters
        .iter()
        .map(|(name, schema)| {
            let default = default_of(fault, name, schema);
            let default = default.map(|value| match value {
                Value::Null => "default: none".to_owned(),
                Value::String(text) => format!("default: {text}"),
                value => format!("default: {value}"),
            });
            vec![
                format!("  {name}"),
                type_of(schema),
                default.unwrap_or_default(),
                description_of(schema),
            ]
        })
        .collect();
    let mut section = |title: &str, rows| {
        let table = Table { rows, width };
        let title = broken(title, width).join("\n");
        writeln!(text, "{title}\n{table}").expect("a string takes what is written");
    };
    if !rows.is_empty() {
        section("Parameters, beside `fault`:", rows);
    }
    for (field, schema) in [("match", match_schema()), ("when", when_schema())] {
        let title = format!("`{field}`: {}", description_of(&schema));
        section(&title, rows_of(&schema));
    }
    let example = example(entry);
    text + &format!("Example: {example}\n")
}

/// Returns a row for each field of an object.
fn rows_of(schema: &Value) -> Vec<Vec<String>> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, schema)| vec![format!("  {name}"), type_of(schema), description_of(schema)])
        .collect()
}

fn example(entry: &CatalogueEntry) -> Value {
    let when = json!({"times": 1});
    match entry.target {
        Target::Discovery => json!({"fault": entry.fault, "when": when}),
        _ => json!({"fault": entry.fault, "match": {"resource": "configmaps"}, "when": when}),
    }
}

/// Returns the entry in the catalogue, with the schemas of the parameters.
fn document(fault: Fault) -> Value {
    let mut entry = json!(fault.entry());
    entry["parameterSchemas"] = Value::Object(parameters_of(fault));
    entry
}

/// Returns the schemas of the parameters of a fault.
fn parameters_of(fault: Fault) -> Map<String, Value> {
    let own = fault_parameters().into_iter();
    let own = own.filter(|(name, _, _)| name == fault.name());
    own.map(|(_, parameter, schema)| (parameter, schema))
        .collect()
}

/// Returns the value of a parameter that makes no difference.
fn default_of(fault: Fault, parameter: &str, schema: &Value) -> Option<Value> {
    let choices = schema["enum"].as_array().cloned().unwrap_or_default();
    let named = [
        schema["default"].clone(),
        json!(false),
        json!(true),
        json!(0),
    ];
    let error_chain: Vec<Value> = description_of(schema)
        .split(|letter: char| !letter.is_ascii_digit() && letter != ',')
        .filter_map(|word| word.replace(',', "").parse::<u64>().ok())
        .map(Value::from)
        .collect();
    let candidates = named
        .into_iter()
        .chain(choices)
        .chain(error_chain)
        .chain([Value::Null]);
    candidates.into_iter().find(|value| {
        let spec = json!({"fault": fault.name(), parameter: value});
        let spec = FaultSpec::read(spec.to_string().as_bytes());
        spec.is_ok_and(|specs| specs.iter().all(|spec| spec.fault == fault))
    })
}

fn type_of(schema: &Value) -> String {
    let choices = schema["enum"].as_array().into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(Value::as_str).collect();
    if !choices.is_empty() && choices.len() <= 3 {
        return choices.join(" | ");
    }
    let named = &schema["type"];
    let first = named.as_array().and_then(|names| names.first());
    let name = first.unwrap_or(named).as_str();
    name.unwrap_or_default().to_owned()
}

fn description_of(schema: &Value) -> String {
    schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Returns lines of at most `width` letters, and an empty one.
fn paragraph(text: &str, width: usize) -> String {
    broken(text, width).join("\n") + "\n\n"
}

/// Breaks a text into lines between words.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count().saturating_add(word.chars().count()) < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

// === impl Table ===

impl Table {
    /// Returns the letters of each column but the last.
    fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        for row in &self.rows {
            let cells = row.split_last().map_or(&[][..], |(_, cells)| cells);
            columns.resize(columns.len().max(cells.len()), 0);
            for (column, cell) in columns.iter_mut().zip(cells) {
                *column = cell.chars().count().max(*column);
            }
        }
        columns
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns();
        let indent: usize = columns.iter().map(|column| column + 2).sum();
        let text = self.width.saturating_sub(indent).max(TEXT_MIN);
        for row in &self.rows {
            let Some((last, cells)) = row.split_last() else {
                continue;
            };
            for (cell, column) in cells.iter().zip(&columns) {
                write!(f, "{cell:column$}  ")?;
            }
            writeln!(
                f,
                "{}",
                broken(last, text).join(&format!("\n{:indent$}", ""))
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_a_terminal() {
        let text = list(80);
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        for fault in Fault::all() {
            let named = format!("{} ", fault.name());
            assert!(text.lines().any(|line| line.starts_with(&named)), "{named}");
        }
    }

    #[test]
    fn every_parameter_has_a_type_a_default_and_a_description() {
        for fault in Fault::all() {
            let parameters = parameters_of(fault);
            assert_eq!(parameters.len(), fault.entry().parameters.len());
            for (name, schema) in parameters {
                let at = format!("{}.{name}", fault.name());
                assert!(default_of(fault, &name, &schema).is_some(), "{at}");
                assert!(!type_of(&schema).is_empty(), "{at}");
                assert!(!description_of(&schema).is_empty(), "{at}");
            }
        }
    }

    #[test]
    fn every_example_is_a_fault() {
        for fault in Fault::all() {
            let example = example(fault.entry()).to_string();
            let specs = FaultSpec::read(example.as_bytes());
            assert!(specs.is_ok(), "{example}");
        }
    }

    #[test]
    fn a_description_has_the_fields_of_a_rule() {
        let text = description(Fault::named("server_error").unwrap(), 100);
        for line in [
            "  code  integer  ",
            "  default: 500  ",
            "  body  status | text | html  default: none  ",
            "  minResourceVersion  integer",
            "  probability  number",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
