//! The text form of a trace: a line a record, the same bytes for the same run.

use std::fmt::{self, Display, Formatter, Write};

use super::{
    Trace,
    change::{Change, Side},
    member::{Key, Member},
    notified::{HandlerNotification, NotifiedCause, NotifiedChange},
};
use crate::{plan::Selection, tracefile::seconds};

const WRITES: &str = "a string takes what is written";

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

impl Display for HandlerNotification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "handler {}.{} {} ",
            self.informer, self.handler, self.key
        )?;
        match &self.change {
            NotifiedChange::Added { new, is_initial } => {
                let initial = if *is_initial { "initially " } else { "" };
                write!(f, "{initial}added {new}")?;
            }
            NotifiedChange::Updated { old, new } => write!(f, "updated {old} -> {new}")?,
            NotifiedChange::Deleted { last, is_tombstone } => {
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

pub(crate) fn or_none<T: Display>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), T::to_string)
}

pub(super) fn hex(digest: Option<u64>) -> String {
    digest.map_or_else(
        || "undecodable".to_owned(),
        |digest| format!("{digest:016x}"),
    )
}

pub(crate) fn list(members: &[Member]) -> String {
    let mut text = String::new();
    for member in members {
        write!(text, " {member}").expect(WRITES);
    }
    text
}

pub(super) fn versions(members: &[(Key, u64)]) -> String {
    let mut text = String::new();
    for (key, version) in members {
        write!(text, " {key}@{version}").expect(WRITES);
    }
    text
}

pub(crate) const fn synced(has_synced: bool) -> &'static str {
    if has_synced { "synced" } else { "not synced" }
}

/// Formats what an informer mirrors.
pub(super) fn selected(selection: &Selection) -> String {
    let mut text = selection.resource.plural().to_owned();
    if let Some(namespace) = &selection.namespace {
        write!(text, " in {namespace}").expect(WRITES);
    }
    if let Some(selector) = selection.label_selector() {
        write!(text, " with {selector}").expect(WRITES);
    }
    if selection.is_filtered {
        text.push_str(", by a filter");
    }
    if selection.is_strict {
        text.push_str(", of a strict type");
    }
    text
}
