//! A trace as Chrome's trace events, which ui.perfetto.dev opens.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    event::{Event, EventKind},
    reader::TraceFile,
    words::words,
};

/// The process that all tracks belong to.
const PROCESS: u32 = 1;

/// Returns the trace as the JSON document of Chrome's trace events: a track for each actor, slices for requests and faults,
/// instants for the other events, and flows from reads to the writes that were decided on them.
pub fn perfetto(file: &TraceFile) -> Value {
    let mut events = vec![json!({
        "ph": "M", "pid": PROCESS, "name": "process_name", "args": {"name": file.header.title},
    })];
    for actor in &file.actors {
        events.push(json!({
            "ph": "M", "pid": PROCESS, "tid": track(Some(actor.actor)), "name": "thread_name",
            "args": {"name": actor.name},
        }));
    }
    let ends = ends(file);
    let last = file.events.last().map_or(0, |event| event.micros);
    for (number, event) in file.events.iter().enumerate() {
        match &event.kind {
            EventKind::Request { request, verb, .. } => {
                let until = ends.get(&("request", *request)).copied().unwrap_or(last);
                events.extend(slice(file, event, verb, *request, until));
            }
            EventKind::Fault { fault, .. } => {
                let until = ends.get(&("fault", *fault)).copied().unwrap_or(last);
                events.extend(slice(file, event, "fault", *fault, until));
            }
            _ => events.push(instant(file, number, event)),
        }
        for cause in &event.causes {
            events.extend(flow(file, *cause, event, number));
        }
    }
    for broken in &file.broken {
        let at = broken.at.and_then(|at| file.events.get(at));
        events.push(json!({
            "ph": "i", "s": "g", "pid": PROCESS, "tid": track(at.and_then(|at| at.actor)),
            "ts": at.map_or(last, |at| at.micros), "cat": "broken",
            "name": format!("broken: {}", broken.promise),
            "args": {"says": broken.finding, "expected": broken.expected},
        }));
    }
    json!({"displayTimeUnit": "ms", "traceEvents": events})
}

/// Returns the times at which requests and faults end: with their last events.
fn ends(file: &TraceFile) -> BTreeMap<(&'static str, usize), u64> {
    let events = file.events.iter();
    let ends = events.filter_map(|event| {
        let of = match &event.kind {
            EventKind::Request { .. } => return None,
            EventKind::Heal { fault } => ("fault", *fault),
            kind => ("request", kind.request()?),
        };
        Some((of, event.micros))
    });
    ends.collect()
}

/// Returns the track of an actor. Zero is no track of its own in all readers.
fn track(actor: Option<usize>) -> usize {
    actor.map_or(0, |actor| actor + 1)
}

/// Returns the beginning and the end of a slice, which may overlap others of its track.
fn slice(file: &TraceFile, event: &Event, category: &str, id: usize, until: u64) -> [Value; 2] {
    let name = words(file, &event.kind);
    let id = format!("{category} {id}");
    let side = |phase: &str, at: u64| {
        json!({
            "ph": phase, "cat": category, "id": id, "pid": PROCESS, "tid": track(event.actor), "ts": at, "name": name,
        })
    };
    [side("b", event.micros), side("e", until)]
}

/// Returns an event as a slice of no length, so that flows have something to begin and end at.
fn instant(file: &TraceFile, number: usize, event: &Event) -> Value {
    json!({
        "ph": "X", "dur": 0, "pid": PROCESS, "tid": track(event.actor), "ts": event.micros,
        "cat": event.kind.name(), "name": words(file, &event.kind),
        "args": {"event": number, "revision": event.kind.revision()},
    })
}

fn flow(file: &TraceFile, cause: usize, event: &Event, number: usize) -> Vec<Value> {
    let Some(read) = file.events.get(cause) else {
        return Vec::new();
    };
    let side = |phase: &str, of: &Event| {
        json!({
            "ph": phase, "bp": "e", "cat": "decided on", "name": "decided on", "id": format!("{cause} {number}"),
            "pid": PROCESS, "tid": track(of.actor), "ts": of.micros,
        })
    };
    vec![side("s", read), side("f", event)]
}
