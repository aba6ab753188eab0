//! The first event at which two runs part.

use std::fmt::Write as _;

use super::{reader::TraceFile, text::row, words::words};

/// The number of events before the parting that are shown, and of each run after it.
const BEFORE: usize = 5;
const AFTER: usize = 5;
const WRITES: &str = "a string takes what is written";

/// Describes where two runs part: the last events that are equal, and those that follow in each. `None` if all events
/// are equal.
///
/// Events are compared by actor, version and words, not by time: two runs of one command never take the same time.
pub fn diff(one: &TraceFile, other: &TraceFile) -> Option<String> {
    let line = |file: &TraceFile, number: usize| {
        let event = file.events.get(number)?;
        let actor = file.actor_name(event.actor).to_owned();
        Some((actor, event.kind.revision(), words(file, &event.kind)))
    };
    let longest = one.events.len().max(other.events.len());
    let parting = (0..longest).find(|number| line(one, *number) != line(other, *number))?;
    let mut text = format!("the runs part at event {parting}\n");
    for event in &one.events[parting.saturating_sub(BEFORE)..parting] {
        write!(text, "  {}", row(one, event)).expect(WRITES);
    }
    for (sign, file) in [('-', one), ('+', other)] {
        let rest = file.events.get(parting..).unwrap_or_default();
        for event in rest.iter().take(AFTER) {
            write!(text, "{sign} {}", row(file, event)).expect(WRITES);
        }
        if rest.is_empty() {
            writeln!(text, "{sign} (this run has ended)").expect(WRITES);
        }
    }
    Some(text)
}
