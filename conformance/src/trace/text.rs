//! The text form of a trace: a line a record, the same bytes for the same run.

use std::fmt::{self, Display, Formatter, Write};

use super::{
    Trace,
    change::{Change, Side},
    notified::{Heard, Notified, NotifiedCause},
    observation::{Ending, Member, Observation, RequestKind, State, seconds},
};

impl Display for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, record) in self.records().iter().enumerate() {
            writeln!(
                f,
                "{:>10} #{number:05} {}",
                seconds(record.at),
                record.observation
            )?;
        }
        Ok(())
    }
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.uid, self.revision)
    }
}

impl Display for Member {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.state)
    }
}

impl Display for Observation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase(phase) => write!(f, "phase {phase:?}"),
            Self::Operation {
                text,
                status,
                revision,
            } => write!(
                f,
                "operation {text} -> {status} {}",
                or_none(revision.as_ref())
            ),
            Self::FaultBegins { fault, text, .. } => write!(f, "fault {fault} begins: {text}"),
            Self::FaultEnds { fault } => write!(f, "fault {fault} ends"),
            Self::Fired { rule, count } => write!(f, "fired {rule} {count}"),
            Self::InformerStarts {
                informer,
                selection,
            } => {
                write!(
                    f,
                    "informer {informer} starts: {}",
                    selection.resource.plural()
                )?;
                if let Some(namespace) = &selection.namespace {
                    write!(f, " in {namespace}")?;
                }
                if let Some(selector) = selection.label_selector() {
                    write!(f, " with {selector}")?;
                }
                if selection.is_filtered {
                    write!(f, ", by a filter")?;
                }
                if selection.is_strict {
                    write!(f, ", of a strict type")?;
                }
                Ok(())
            }
            Self::InformerPauses { informer } => write!(f, "informer {informer} is paused"),
            Self::InformerResumes { informer } => write!(f, "informer {informer} is resumed"),
            Self::HandlerJoins {
                informer, handler, ..
            } => write!(f, "handler {informer}.{handler} joins"),
            Self::HandlerLeaves { informer, handler } => {
                write!(f, "handler {informer}.{handler} leaves")
            }
            Self::Notified(notified) => notified.fmt(f),
            Self::Cached {
                informer,
                revision,
                has_synced,
                members,
            } => {
                let synced = if *has_synced { "synced" } else { "not synced" };
                let revision = or_none(revision.as_ref());
                write!(
                    f,
                    "cache {informer} at {revision} {synced}:{}",
                    list(members)
                )
            }
            Self::Differs {
                informer,
                part,
                name,
                text,
            } => write!(f, "{} {informer}.{name} differs: {text}", part.name()),
            other => fmt_end(other, f),
        }
    }
}

impl Display for Notified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "handler {}.{} {} ",
            self.informer, self.handler, self.key
        )?;
        match &self.heard {
            Heard::Added { new, is_initial } => {
                let initial = if *is_initial { "initially " } else { "" };
                write!(f, "{initial}added {new}")?;
            }
            Heard::Updated { old, new } => write!(f, "updated {old} -> {new}")?,
            Heard::Deleted { last, is_tombstone } => {
                let how = if *is_tombstone {
                    "found gone"
                } else {
                    "deleted"
                };
                write!(f, "{how} {}", or_none(last.as_ref()))?;
            }
        }
        match self.cause {
            Some(NotifiedCause::Relist) => write!(f, " by a relist")?,
            Some(NotifiedCause::Resync) => write!(f, " by a resync")?,
            Some(NotifiedCause::Initial | NotifiedCause::Live) | None => {}
        }
        write!(f, ", cache {}", or_none(self.cached.as_ref()))
    }
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "log {} {} {}: {} -> {}",
            self.revision,
            self.resource.plural(),
            self.key,
            or_none(self.before.as_ref()),
            or_none(self.after.as_ref())
        )
    }
}

impl Display for Side {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let label = self.label.as_deref().unwrap_or_default();
        let spoiled = if self.is_spoiled { " spoiled" } else { "" };
        write!(f, "{}[{label}]{spoiled}", self.uid)
    }
}

/// Formats observations about the whole of a run, and about its end.
fn fmt_end(observation: &Observation, f: &mut Formatter<'_>) -> fmt::Result {
    match observation {
        Observation::ListGate { width } => {
            write!(f, "a gate lets {width} informers list at a time")
        }
        Observation::ResyncWanted {
            informer,
            handler,
            period,
        } => write!(
            f,
            "handler {informer}.{handler} wants resyncs every {} s",
            seconds(*period)
        ),
        Observation::Status {
            informer,
            link,
            task_count,
            handler_count,
            held_handler_count,
        } => write!(
            f,
            "informer {informer} is {link}, tasks {task_count}, handlers {handler_count} of {held_handler_count} held"
        ),
        Observation::InformerStopped {
            informer,
            task_count,
        } => write!(f, "informer {informer} stopped, tasks left {task_count}"),
        Observation::OpenWatches {
            count,
            informer_count,
        } => write!(f, "open watches {count} of {informer_count} informers"),
        Observation::Waited {
            informer,
            woken_count,
            waiting_count,
        } => write!(
            f,
            "waiters of {informer}: {woken_count} woken, {waiting_count} still wait"
        ),
        Observation::Undone { text } => write!(f, "undone: {text}"),
        Observation::TasksLeft { count } => write!(f, "tasks left {count}"),
        Observation::Introduced {
            informer,
            withholds,
        } => write!(
            f,
            "informer {informer} is ready, and withholds {withholds:?}"
        ),
        Observation::SubjectFailed { informer, text, .. } => {
            write!(f, "informer {informer} failed: {text}")
        }
        Observation::HotLoop { text } => write!(f, "hot loop: {text}"),
        Observation::Changed(change) => change.fmt(f),
        Observation::Held { resource, members } => {
            write!(f, "server holds {}:{}", resource.plural(), list(members))
        }
        Observation::Warned { message, fields } => write!(f, "warned: {message}{fields}"),
        other => fmt_reader(other, f),
    }
}

/// Formats observations about those who read a cache.
fn fmt_reader(observation: &Observation, f: &mut Formatter<'_>) -> fmt::Result {
    match observation {
        Observation::Controlled(controlled) => controlled.fmt(f),
        Observation::Read {
            informer,
            member,
            digest,
        } => write!(f, "informer {informer} reads {member} as {}", hex(*digest)),
        Observation::Stored {
            resource,
            member,
            digest,
        } => write!(
            f,
            "server has {} {member} as {}",
            resource.plural(),
            hex(*digest)
        ),
        Observation::Election(event) => event.fmt(f),
        Observation::Factory(event) => event.fmt(f),
        Observation::HandlerSync {
            informer,
            handler,
            has_synced,
        } => {
            let synced = if *has_synced { "synced" } else { "not synced" };
            write!(f, "handler {informer}.{handler} {synced}")
        }
        Observation::WaitBegins {
            informer,
            wait,
            revision,
        } => write!(f, "wait {informer}.{wait} begins: for {revision}"),
        Observation::WaitEnds {
            informer,
            wait,
            shown,
        } => write!(
            f,
            "wait {informer}.{wait} ends at {}",
            or_none(shown.as_ref())
        ),
        Observation::Undecodable {
            informer,
            revision,
            members,
        } => {
            let revision = or_none(revision.as_ref());
            write!(f, "informer {informer} at {revision} cannot decode:")?;
            members
                .iter()
                .try_for_each(|(key, version)| write!(f, " {key}@{version}"))
        }
        Observation::Reported { informer, report } => write!(f, "informer {informer} {report}"),
        Observation::Counted { informer, counts } => {
            write!(f, "informer {informer} counts {counts}")
        }
        wire => fmt_wire(wire, f),
    }
}

/// Formats a request.
fn asked(kind: &RequestKind) -> String {
    match kind {
        RequestKind::List {
            revision,
            is_continued,
        } => {
            let what = if *is_continued { "next page" } else { "list" };
            format!("{what} at \"{revision}\"")
        }
        RequestKind::Watch {
            revision,
            is_streaming_list,
        } => {
            let what = if *is_streaming_list {
                "streaming list"
            } else {
                "watch"
            };
            format!("{what} from \"{revision}\"")
        }
    }
}

/// Formats observations of the transport.
fn fmt_wire(observation: &Observation, f: &mut Formatter<'_>) -> fmt::Result {
    match observation {
        Observation::Request {
            informer,
            request,
            kind,
        } => {
            let what = asked(kind);
            write!(f, "request {request} of {informer}: {what}")
        }
        Observation::Called {
            informer,
            text,
            status,
        } => write!(
            f,
            "call of {informer}: {text} -> {}",
            or_none(status.as_ref())
        ),
        Observation::VersionCheck { request } => write!(f, "request {request} checks its version"),
        Observation::WatchTimeout { request, timeout } => {
            write!(
                f,
                "request {request} is to end after {} s",
                seconds(*timeout)
            )
        }
        Observation::Answer { request, status } => write!(f, "answer {request}: {status}"),
        Observation::AskedToWait { request, wait } => {
            write!(f, "answer {request} asks to wait for {} s", seconds(*wait))
        }
        Observation::Page {
            request,
            revision,
            has_more,
            members,
        } => {
            let more = if *has_more { " and more" } else { "" };
            write!(f, "page {request} at {revision}{more}:{}", list(members))
        }
        Observation::Frame {
            request,
            kind,
            member,
        } => write!(f, "frame {request}: {kind} {member}"),
        Observation::Bookmark {
            request,
            revision,
            ends_initial_events,
        } => {
            let what = bookmark(*ends_initial_events);
            write!(f, "frame {request}: {what} {revision}")
        }
        Observation::ErrorEvent { request, status } => write!(f, "frame {request}: ERROR {status}"),
        Observation::Refused { request } => write!(f, "request {request} is refused"),
        Observation::Garbled { request } => write!(f, "frame {request}: garbled"),
        Observation::Ended { request, ending } => {
            let how = match ending {
                Ending::Clean => "in good order",
                Ending::Broken => "broken off",
                Ending::Dropped => "given up",
            };
            write!(f, "ended {request}: {how}")
        }
        other => write!(f, "{other:?}"),
    }
}

fn bookmark(ends_initial_events: bool) -> &'static str {
    if ends_initial_events {
        "end of initial events"
    } else {
        "bookmark"
    }
}

fn or_none<T: Display>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), T::to_string)
}

fn hex(digest: Option<u64>) -> String {
    digest.map_or_else(
        || "undecodable".to_owned(),
        |digest| format!("{digest:016x}"),
    )
}

fn list(members: &[Member]) -> String {
    let mut text = String::new();
    for member in members {
        write!(text, " {member}").expect("a string takes what is written");
    }
    text
}
