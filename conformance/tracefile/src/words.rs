//! Events in words. The viewer has the same words in `viewer/src/core/words.ts`, and a test compares them.

use std::fmt::Write as _;

use super::{
    event::{Ending, EventKind, MirroredSelection, NewState, Standstill, pairs},
    reader::TraceFile,
};

/// The number of objects of a list that are named.
const SHOWN: usize = 6;
const WRITES: &str = "a string takes what is written";

/// Returns an event in words.
pub(super) fn words(file: &TraceFile, kind: &EventKind) -> String {
    match kind {
        EventKind::Operation { say, code, .. } => format!("{say}, answered {code}"),
        EventKind::Change { object, state, .. } => {
            let what = match state {
                NewState::New(_) => "made",
                NewState::Merge(_) | NewState::Patch(_) => "changed",
                NewState::Gone(_) => "deleted",
            };
            format!("{} {what}", file.object_title(*object))
        }
        EventKind::Mirror(mirrored) => mirrors(mirrored),
        EventKind::Belief {
            set, gone, synced, ..
        } => believed(file, set, gone, *synced),
        EventKind::Notified {
            object,
            how,
            was,
            initial,
            ..
        } => {
            let was = was.map(|was| format!(" from {was}")).unwrap_or_default();
            let initially = if *initial { ", initially" } else { "" };
            format!(
                "is told: {} {how}{was}{initially}",
                file.object_title(*object)
            )
        }
        EventKind::Start { say } => or(say, || "starts".to_owned()),
        EventKind::Stop { how, say } => or(say, || format!("stops: {}", standstill(*how))),
        EventKind::Fault { fault, say, .. } => format!("fault {fault} begins: {say}"),
        EventKind::Heal { fault } => format!("fault {fault} ends"),
        EventKind::Lead { say } => or(say, || "leads".to_owned()),
        EventKind::Follow { say } => or(say, || "leads no more".to_owned()),
        EventKind::Phase { say } | EventKind::Note { say, .. } => say.clone(),
        EventKind::Unknown => String::new(),
        wire => on_the_wire(file, wire),
    }
}

/// Returns an event of a request in words.
fn on_the_wire(file: &TraceFile, kind: &EventKind) -> String {
    match kind {
        EventKind::Request {
            request,
            verb,
            say,
            object,
        } => {
            let said = or(say, || match object {
                Some(object) => format!("{verb} {}", file.object_title(*object)),
                None => verb.clone(),
            });
            format!("asks {request}: {said}")
        }
        EventKind::Answer {
            request, code, say, ..
        } => {
            let code = code.map_or_else(|| "nothing".to_owned(), |code| code.to_string());
            let say = if say.is_empty() {
                String::new()
            } else {
                format!(", {say}")
            };
            format!("answers {request}: {code}{say}")
        }
        EventKind::Page {
            request,
            more,
            list,
            ..
        } => {
            let more = if *more { ", and there is more" } else { "" };
            format!("lists for {request}:{}{more}", named(file, list))
        }
        EventKind::Frame {
            request,
            change,
            object,
            ..
        } => format!(
            "sends on {request}: {change} {}",
            file.object_title(*object)
        ),
        EventKind::Bookmark { request, say, .. } => {
            let say = if say.is_empty() {
                String::new()
            } else {
                format!(", {say}")
            };
            format!("sends on {request}: BOOKMARK{say}")
        }
        EventKind::End { request, how } => {
            let how = match how {
                Ending::Clean => "ends",
                Ending::Broken => "breaks off",
                Ending::Dropped => "gives up",
                Ending::Refused => "refuses",
            };
            format!("{how} {request}")
        }
        _ => String::new(),
    }
}

fn mirrors(mirrored: &MirroredSelection) -> String {
    let mut text = format!("mirrors {}", mirrored.resource);
    if let Some(namespace) = &mirrored.namespace {
        write!(text, " in {namespace}").expect(WRITES);
    }
    if let Some(selector) = &mirrored.selector {
        write!(text, " with {selector}").expect(WRITES);
    }
    text
}

fn believed(file: &TraceFile, set: &[u64], gone: &[usize], synced: Option<bool>) -> String {
    let mut parts = Vec::new();
    if !set.is_empty() {
        parts.push(format!("shows{}", named(file, set)));
    }
    if !gone.is_empty() {
        let mut text = "no longer shows".to_owned();
        for object in gone.iter().take(SHOWN) {
            write!(text, " {}", file.object_title(*object)).expect(WRITES);
        }
        text.push_str(&more(gone.len()));
        parts.push(text);
    }
    if let Some(synced) = synced {
        parts.push(
            if synced {
                "has synced"
            } else {
                "has not synced"
            }
            .to_owned(),
        );
    }
    if parts.is_empty() {
        return "shows the same".to_owned();
    }
    parts.join(", ")
}

fn named(file: &TraceFile, list: &[u64]) -> String {
    if list.is_empty() {
        return " nothing".to_owned();
    }
    let mut text = String::new();
    for (object, revision) in pairs(list).take(SHOWN) {
        write!(text, " {}@{revision}", file.object_title(object)).expect(WRITES);
    }
    text.push_str(&more(list.len() / 2));
    text
}

/// Returns the number of objects that are not named.
fn more(count: usize) -> String {
    match count.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

const fn standstill(how: Standstill) -> &'static str {
    match how {
        Standstill::Stop => "stop",
        Standstill::Crash => "crash",
        Standstill::Pause => "pause",
    }
}

fn or(say: &str, otherwise: impl FnOnce() -> String) -> String {
    if say.is_empty() {
        otherwise()
    } else {
        say.to_owned()
    }
}
