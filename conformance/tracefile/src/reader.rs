//! Reads a trace file, and says what it cannot read.

use serde::{Deserialize, de::IgnoredAny};
use thiserror::Error;

use super::{
    event::{BrokenPromise, Event, EventKind},
    header::{Actor, FORMAT, Header, MAJOR, ObjectName},
};

/// A trace file that was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TraceFile {
    /// The header.
    pub header: Header,
    /// The actors, by their numbers.
    pub actors: Vec<Actor>,
    /// The objects, by their numbers.
    pub objects: Vec<ObjectName>,
    /// The events, by their numbers.
    pub events: Vec<Event>,
    /// The broken promises, the first one first.
    pub broken: Vec<BrokenPromise>,
    /// False if the run was ended before its file was complete.
    pub is_complete: bool,
    /// The number of events and lines of kinds that only a later version has. They are left out.
    pub unknown_count: usize,
}

/// A line that cannot be read. A retry does not help.
#[derive(Debug, Error)]
#[error("line {line}, column {column}: {what}")]
#[non_exhaustive]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The mistake, and what to do about it.
    pub what: String,
}

/// The beginning of the first line of every file that was written as a trace.
const BEGINNING: &str = r#"{"format":"conformance-trace","version":"#;

/// The field by which a line is known.
#[derive(Deserialize)]
struct Probe {
    t: Option<IgnoredAny>,
    actor: Option<IgnoredAny>,
    object: Option<IgnoredAny>,
    broken: Option<IgnoredAny>,
    end: Option<IgnoredAny>,
}

/// The part of a header that has to be known before the rest.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: String,
}

/// The declaration of an object.
#[derive(Deserialize)]
struct ObjectLine {
    object: usize,
    #[serde(flatten)]
    name: ObjectName,
}

// === impl TraceFile ===

impl TraceFile {
    /// Reads the text of a file. A last line that is cut off is left out, since the run may have been killed.
    ///
    /// # Errors
    ///
    /// It is no trace file, one of another major version, or a line is wrong.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Some((first, rest)) = text.split_once('\n') else {
            return Err(without_header(text));
        };
        let mut file = Self {
            header: header(first)?,
            actors: Vec::new(),
            objects: Vec::new(),
            events: Vec::new(),
            broken: Vec::new(),
            is_complete: false,
            unknown_count: 0,
        };
        for (place, line) in rest.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else {
                // It was being written when the run ended.
                break;
            };
            if !line.trim().is_empty() {
                file.take(place + 2, line)?;
            }
        }
        Ok(file)
    }

    /// Returns the name of an actor.
    pub fn actor_name(&self, actor: Option<usize>) -> &str {
        let actor = actor.and_then(|actor| self.actors.get(actor));
        actor.map_or("run", |actor| &actor.name)
    }

    /// Returns the resource and the name of an object.
    pub fn object_title(&self, object: usize) -> String {
        let name = self.objects.get(object).map(ObjectName::title);
        name.unwrap_or_else(|| format!("object {object}"))
    }

    fn take(&mut self, number: usize, line: &str) -> Result<(), ReadError> {
        // By the field that a line has, so that kinds of lines of later versions can be left out.
        let probe: Probe = parse(number, line)?;
        if probe.t.is_some() {
            let event: Event = parse(number, line)?;
            self.unknown_count += usize::from(event.kind == EventKind::Unknown);
            self.events.push(event);
        } else if probe.actor.is_some() {
            let actor: Actor = parse(number, line)?;
            numbered(number, "actor", actor.actor, self.actors.len())?;
            self.actors.push(actor);
        } else if probe.object.is_some() {
            let object: ObjectLine = parse(number, line)?;
            numbered(number, "object", object.object, self.objects.len())?;
            self.objects.push(object.name);
        } else if probe.broken.is_some() {
            self.broken.push(parse(number, line)?);
        } else if probe.end.is_some() {
            self.is_complete = true;
        } else {
            self.unknown_count += 1;
        }
        Ok(())
    }
}

/// Says what is wrong with a file that has no whole line.
fn without_header(text: &str) -> ReadError {
    if text.starts_with(BEGINNING) || BEGINNING.starts_with(text) {
        return ReadError {
            line: 1,
            column: 1,
            what: "the run was ended before it had written the header: there is nothing to read"
                .to_owned(),
        };
    }
    match header(text) {
        Err(error) => error,
        Ok(_) => ReadError {
            line: 1,
            column: text.len(),
            what: "the first line has no end; add a line feed".to_owned(),
        },
    }
}

/// Reads the first line.
fn header(line: &str) -> Result<Header, ReadError> {
    let wrong = |what: String| ReadError {
        line: 1,
        column: 1,
        what,
    };
    let advice = "it is no trace file; `conformance replay SEED --trace FILE` writes one";
    let Ok(known) = serde_json::from_str::<Version>(line) else {
        return Err(wrong(advice.to_owned()));
    };
    if known.format != FORMAT {
        return Err(wrong(advice.to_owned()));
    }
    if known.version.split('.').next() != Some(MAJOR) {
        return Err(wrong(format!(
            "the file has version {} of the format, and this program reads {MAJOR}.x; read it with the program that wrote it",
            known.version
        )));
    }
    parse(1, line)
}

fn parse<'de, T: Deserialize<'de>>(number: usize, line: &'de str) -> Result<T, ReadError> {
    serde_json::from_str(line).map_err(|error| {
        // What was read as a whole before it was understood has no column of its own.
        let column = error.column().max(1);
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        ReadError {
            line: number,
            column,
            what: format!("{what}; correct or remove the line (docs/trace.md has the fields)"),
        }
    })
}

/// Fails if a declaration does not have the next number.
fn numbered(line: usize, what: &str, found: usize, expected: usize) -> Result<(), ReadError> {
    if found == expected {
        return Ok(());
    }
    Err(ReadError {
        line,
        column: 1,
        what: format!(
            "{what} {found} stands where {expected} is due; lines are missing, or two files were joined"
        ),
    })
}
