//! A trace for people: time, actor, version and event, a line each, with the broken promises.
//!
//! ```text
//!       time  actor         version  event
//!      0.000  workload            8  Create(Web) one/pods/pod-0: POST, answered 201
//!      0.000  informer 0             asks 0: list from "0"
//!      0.000  handler 0.0         8  is told: pods one/pod-0 added, initially
//! ```

use std::{fmt::Write as _, time::Duration};

use super::{
    event::{BrokenPromise, Event},
    reader::TraceFile,
    words::words,
};

const WRITES: &str = "a string takes what is written";

/// The events that are printed: those that fit everything that is set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Filter {
    /// The beginnings of actors' names; all if empty.
    pub actors: Vec<String>,
    /// The kinds; all if empty.
    pub kinds: Vec<String>,
    /// Parts of the names of objects; all events if empty.
    pub objects: Vec<String>,
    /// The time of the first event.
    pub from: Option<Duration>,
    /// The time of the last event.
    pub to: Option<Duration>,
}

// === impl Filter ===

impl Filter {
    /// Returns whether it leaves out nothing.
    fn is_open(&self) -> bool {
        self.actors.is_empty()
            && self.kinds.is_empty()
            && self.objects.is_empty()
            && self.from.is_none()
            && self.to.is_none()
    }

    fn lets_through(&self, file: &TraceFile, event: &Event, wanted: Option<&[usize]>) -> bool {
        let name = file.actor_name(event.actor);
        let at = event.at();
        self.from.is_none_or(|from| from <= at)
            && self.to.is_none_or(|to| at <= to)
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == event.kind.name()))
            && (self.actors.is_empty() || self.actors.iter().any(|it| name.starts_with(it)))
            && wanted.is_none_or(|wanted| wanted.iter().any(|object| event.kind.shows(*object)))
    }

    /// Returns the objects that are named; `None` if any will do.
    fn wanted(&self, file: &TraceFile) -> Option<Vec<usize>> {
        let is_named = |object: &usize| {
            let title = file.object_title(*object);
            self.objects.iter().any(|part| title.contains(part))
        };
        let named = (0..file.objects.len()).filter(is_named).collect();
        (!self.objects.is_empty()).then_some(named)
    }
}

/// Formats the events of a trace that pass a filter, and marks the broken promises where they broke. The first one is always shown,
/// with its event; others are counted if the filter leaves their events out.
pub fn text(file: &TraceFile, filter: &Filter) -> String {
    let mut text = format!("{:>10}  {:<12} {:>8}  event\n", "time", "actor", "version");
    let wanted = filter.wanted(file);
    let mut hidden_count = 0;
    for (number, event) in file.events.iter().enumerate() {
        let broken_promises: Vec<(usize, &BrokenPromise)> = marks(file, number).collect();
        let is_first = broken_promises.iter().any(|(place, _)| *place == 0);
        if !filter.lets_through(file, event, wanted.as_deref()) && !is_first {
            hidden_count += broken_promises.len();
            continue;
        }
        text.push_str(&row(file, event));
        for (place, broken) in broken_promises {
            mark(&mut text, "^ ", place, broken);
        }
    }
    let of_the_end =
        |(_, broken): &(usize, &BrokenPromise)| broken.at.is_none_or(|at| at >= file.events.len());
    for (place, broken) in file.broken.iter().enumerate().filter(of_the_end) {
        if place == 0 || filter.is_open() {
            mark(&mut text, "", place, broken);
        } else {
            hidden_count += 1;
        }
    }
    if hidden_count > 0 {
        writeln!(
            text,
            "{hidden_count} more broken promises are left out by the filter"
        )
        .expect(WRITES);
    }
    if file.unknown_count > 0 {
        writeln!(
            text,
            "{} lines are of a later version of the format, and are left out",
            file.unknown_count
        )
        .expect(WRITES);
    }
    if !file.is_complete {
        text.push_str("the run was ended before its trace was complete\n");
    }
    text
}

/// Returns the line of an event.
pub(super) fn row(file: &TraceFile, event: &Event) -> String {
    let revision = event.kind.revision().map(|revision| revision.to_string());
    format!(
        "{:>10}  {:<12} {:>8}  {}\n",
        seconds(event.at()),
        file.actor_name(event.actor),
        revision.unwrap_or_default(),
        words(file, &event.kind)
    )
}

/// Returns the promises that an event shows to be broken, with their places.
fn marks(file: &TraceFile, number: usize) -> impl Iterator<Item = (usize, &BrokenPromise)> {
    let broken = file.broken.iter().enumerate();
    broken.filter(move |(_, broken)| broken.at == Some(number))
}

fn mark(text: &mut String, sign: &str, place: usize, broken: &BrokenPromise) {
    let which = if place == 0 {
        "first broken"
    } else {
        "broken, too"
    };
    let excuse = if broken.is_excused {
        ", which a fault explains"
    } else {
        ""
    };
    writeln!(
        text,
        "{:>10}  {sign}{which}: {}: {}{excuse}",
        ">>>", broken.promise, broken.finding
    )
    .expect(WRITES);
}

/// Formats a simulated time in seconds.
pub fn seconds(at: Duration) -> String {
    format!("{}.{:03}", at.as_secs(), at.subsec_millis())
}
