//! A run for human readers: time, actor, version and event, a line each, with the first broken promise.
//!
//! ```text
//! time  actor         version  event
//! 0.000  workload            8  Create(Web) one/pods/pod-0: POST, answered 201
//! 0.000  informer 0             asks 0: list from "0"
//! 0.000  handler 0.0         8  one/pod-0 added, initially
//! ```

use std::{
    collections::BTreeMap,
    fmt::{Display, Write},
};

use crate::{
    checkers::Violation,
    trace::{
        Controlled, ElectionEvent, Ending, FactoryEvent, Heard, Member, Notified, Observation,
        QueueEvent, RequestKind, Trace, seconds,
    },
};

/// The number of objects of a list that are named.
const MEMBERS_SHOWN: usize = 6;
const WRITES: &str = "a string takes what is written";

/// Formats the events of a trace and marks the first broken promises.
///
/// Observations that only checkers need are left out: the server's log, answers before their content, and unchanged
/// caches.
pub fn timeline(trace: &Trace, violations: &[Violation]) -> String {
    let first = first_broken(violations);
    let mut text = format!("{:>10}  {:<12} {:>8}  event\n", "time", "actor", "version");
    let mut teller = Teller::default();
    for (number, record) in trace.records().iter().enumerate() {
        let is_first = first.is_some_and(|first| first.finding.record == Some(number));
        let mut row = teller.row(&record.observation);
        if is_first && row.is_none() {
            row = Some(Row::new("trace", record.observation.to_string()));
        }
        if let Some(row) = row {
            writeln!(text, "{:>10}  {row}", seconds(record.at)).expect(WRITES);
        }
        if let Some(first) = first.filter(|_| is_first) {
            writeln!(text, "{:>10}  ^ first broken: {first}", ">>>").expect(WRITES);
        }
    }
    let others = violations
        .iter()
        .filter(|violation| Some(*violation) != first);
    if let Some(first) = first.filter(|first| first.finding.record.is_none()) {
        writeln!(text, "{:>10}  first broken: {first}", ">>>").expect(WRITES);
    }
    for other in others {
        writeln!(text, "{:>10}  broken, too: {other}", ">>>").expect(WRITES);
    }
    text
}

/// Returns the violation with the earliest record; if none has a record, the first one. Violations that a fault
/// explains count only if there are no others.
fn first_broken(violations: &[Violation]) -> Option<&Violation> {
    let order = |violation: &&Violation| {
        let record = violation.finding.record;
        (violation.is_expected(), record.is_none(), record)
    };
    // The first one of equal ones wins.
    violations.iter().min_by_key(order)
}

/// A line without its time.
struct Row {
    actor: String,
    version: Option<u64>,
    event: String,
}

/// Formats observations and remembers the last state of caches.
#[derive(Default)]
struct Teller {
    /// The last content of each informer's cache.
    caches: BTreeMap<usize, String>,
}

// === impl Row ===

impl Row {
    fn new(actor: impl Into<String>, event: impl Into<String>) -> Self {
        Self {
            actor: actor.into(),
            version: None,
            event: event.into(),
        }
    }

    fn at(mut self, version: impl Into<Option<u64>>) -> Self {
        self.version = version.into();
        self
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let version = self.version.map(|version| version.to_string());
        write!(
            f,
            "{:<12} {:>8}  {}",
            self.actor,
            version.unwrap_or_default(),
            self.event
        )
    }
}

// === impl Teller ===

impl Teller {
    /// Formats an observation, if it has a line.
    fn row(&mut self, observation: &Observation) -> Option<Row> {
        let row = match observation {
            Observation::Phase(phase) => Row::new("run", format!("{phase:?}").to_lowercase()),
            Observation::Operation {
                text,
                status,
                revision,
            } => Row::new("workload", operated(text, *status)).at(*revision),
            Observation::FaultBegins { fault, text, .. } => {
                Row::new(format!("fault {fault}"), format!("begins: {text}"))
            }
            Observation::FaultEnds { fault } => Row::new(format!("fault {fault}"), "ends"),
            Observation::InformerStarts { informer, .. }
            | Observation::InformerPauses { informer }
            | Observation::InformerResumes { informer } => {
                Row::new(who("informer", *informer), of_informer(observation))
            }
            Observation::HandlerJoins {
                informer, handler, ..
            } => Row::new(handler_name(*informer, *handler), "joins"),
            Observation::HandlerLeaves { informer, handler } => {
                Row::new(handler_name(*informer, *handler), "leaves")
            }
            Observation::Notified(notified) => heard(notified),
            Observation::Cached {
                informer,
                revision,
                has_synced,
                members,
            } => {
                let synced = if *has_synced {
                    "holds"
                } else {
                    "has not synced, holds"
                };
                let event = format!("{synced}{}", named(members));
                let before = self.caches.insert(*informer, event.clone());
                if before.as_ref() == Some(&event) {
                    return None;
                }
                Row::new(who("cache", *informer), event).at(*revision)
            }
            Observation::Differs {
                informer,
                part,
                name,
                text,
            } => Row::new(
                who("cache", *informer),
                format!("{} {name} differs: {text}", part.name()),
            ),
            Observation::InformerStopped {
                informer,
                task_count,
            } => Row::new(
                who("informer", *informer),
                format!("stops, {task_count} tasks left"),
            ),
            Observation::Warned { message, fields } => {
                Row::new("log", format!("{message}{fields}"))
            }
            Observation::Controlled(controlled) => return of_controller(controlled),
            Observation::Election(event) => return of_election(event),
            Observation::Factory(event) => return of_factory(event),
            wire => return ended(wire).or_else(|| on_the_wire(wire)),
        };
        Some(row)
    }
}

/// Formats an observation without the name of the informer with which it begins.
fn of_informer(observation: &Observation) -> String {
    let text = observation.to_string();
    text.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

/// Formats an observation of the election, without checks of the status.
fn of_election(event: &ElectionEvent) -> Option<Row> {
    let actor = match event {
        ElectionEvent::Status { .. } => return None,
        ElectionEvent::LeaseChanged { .. } | ElectionEvent::Meddled { .. } => "lease",
        _ => "election",
    };
    Some(Row::new(actor, event.to_string()))
}

/// Formats an observation of the factory, without contents of caches.
fn of_factory(event: &FactoryEvent) -> Option<Row> {
    match event {
        FactoryEvent::Cached { .. } | FactoryEvent::Wanted { .. } => None,
        _ => Some(Row::new("factory", event.to_string())),
    }
}

fn operated(text: &str, status: u16) -> String {
    let text = text
        .replace("/api/v1/namespaces/", "")
        .replace("/api/v1/", "");
    format!("{text}, answered {status}")
}

/// Formats the end of a run that ended early.
fn ended(observation: &Observation) -> Option<Row> {
    match observation {
        Observation::SubjectFailed { informer, text, .. } => {
            let event = format!("fails: {text}");
            Some(Row::new(who("informer", *informer), event))
        }
        Observation::Undone { text } => Some(Row::new("run", format!("undone: {text}"))),
        Observation::HotLoop { text } => Some(Row::new("run", format!("without end: {text}"))),
        _ => None,
    }
}

/// Formats what crossed the transport.
fn on_the_wire(observation: &Observation) -> Option<Row> {
    let server = |event: String| Row::new("server", event);
    let row = match observation {
        Observation::Request {
            informer,
            request,
            kind,
        } => Row::new(
            who("informer", *informer),
            format!("asks {request}: {}", asked(kind)),
        ),
        Observation::Called {
            informer,
            text,
            status,
        } => {
            let answer = status.map_or_else(|| "nothing".to_owned(), |status| status.to_string());
            Row::new(
                who("informer", *informer),
                format!("calls {text}, answered {answer}"),
            )
        }
        // The content of a good answer follows.
        Observation::Answer { status: 200, .. } => return None,
        Observation::Answer { request, status } => server(format!("answers {request}: {status}")),
        Observation::Page {
            request,
            revision,
            has_more,
            members,
        } => {
            let more = if *has_more { ", and there is more" } else { "" };
            server(format!("lists for {request}:{}{more}", named(members))).at(*revision)
        }
        Observation::Frame {
            request,
            kind,
            member,
        } => {
            let key = &member.key;
            server(format!("sends on {request}: {kind} {key}")).at(member.state.revision)
        }
        Observation::Bookmark {
            request,
            revision,
            ends_initial_events,
        } => {
            let end = if *ends_initial_events {
                ", the end of the initial events"
            } else {
                ""
            };
            server(format!("sends on {request}: BOOKMARK{end}")).at(*revision)
        }
        Observation::ErrorEvent { request, status } => {
            server(format!("sends on {request}: ERROR {status}"))
        }
        Observation::Garbled { request } => server(format!("sends on {request}: no event")),
        Observation::Ended { request, ending } => match ending {
            Ending::Clean => server(format!("ends {request}")),
            Ending::Broken => server(format!("breaks off {request}")),
            Ending::Dropped => Row::new("client", format!("gives up {request}")),
        },
        _ => return None,
    };
    Some(row)
}

fn heard(notified: &Notified) -> Row {
    let key = &notified.key;
    let event = match &notified.heard {
        Heard::Added {
            is_initial: true, ..
        } => format!("{key} added, initially"),
        Heard::Added { .. } => format!("{key} added"),
        Heard::Updated { old, new } if old.uid != new.uid => {
            format!(
                "{key} updated from {}, which was another object",
                old.revision
            )
        }
        Heard::Updated { old, .. } => format!("{key} updated from {}", old.revision),
        Heard::Deleted {
            is_tombstone: true, ..
        } => format!("{key} found gone"),
        Heard::Deleted { .. } => format!("{key} deleted"),
    };
    let actor = handler_name(notified.informer, notified.handler);
    Row::new(actor, event).at(notified.state().map(|state| state.revision))
}

/// Formats an event of a controller, if it has a line.
fn of_controller(controlled: &Controlled) -> Option<Row> {
    let state = match &controlled.event {
        QueueEvent::Stands(_) => return None,
        QueueEvent::Heard { state, .. } | QueueEvent::Begins { shown: state, .. } => state.as_ref(),
        _ => None,
    };
    let actor = format!("control {}.{}", controlled.informer, controlled.controller);
    let version = state.map(|state| state.revision);
    Some(Row::new(actor, controlled.event.to_string()).at(version))
}

fn asked(kind: &RequestKind) -> String {
    match kind {
        RequestKind::List {
            is_continued: true, ..
        } => "next page".to_owned(),
        RequestKind::List { revision, .. } => format!("list from \"{revision}\""),
        RequestKind::Watch {
            revision,
            is_streaming_list: true,
        } => format!("streaming list from \"{revision}\""),
        RequestKind::Watch { revision, .. } => format!("watch from \"{revision}\""),
    }
}

fn named(members: &[Member]) -> String {
    if members.is_empty() {
        return " nothing".to_owned();
    }
    let mut text = String::new();
    for member in members.iter().take(MEMBERS_SHOWN) {
        write!(text, " {}@{}", member.key, member.state.revision).expect(WRITES);
    }
    let more = members.len().saturating_sub(MEMBERS_SHOWN);
    if more > 0 {
        write!(text, " and {more} more").expect(WRITES);
    }
    text
}

fn who(what: &str, number: usize) -> String {
    format!("{what} {number}")
}

fn handler_name(informer: usize, handler: usize) -> String {
    format!("handler {informer}.{handler}")
}

#[cfg(test)]
mod tests;
