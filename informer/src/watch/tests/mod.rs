//! The promises of the helpers: client-go's `tools/watch` tests, by sentence, and what they leave out.

mod retry_watcher;
mod selection;
mod waiter;

use std::{fmt::Debug, time::Duration};

use super::WatchOptions;
use crate::{
    fixtures::Value,
    list_watch::{ListWatchError, Status, WatchEvent},
    object::{Deleted, Object},
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

/// The defaults, without jitter.
fn steady() -> WatchOptions {
    let mut options = WatchOptions::default();
    options.backoff.jitter = 0.0;
    options
}

fn status(code: u16, reason: &str) -> Status {
    Status::new(code, reason, "told by the test")
}

fn broken() -> ListWatchError {
    ListWatchError::Transport("reset by the test".into())
}

/// `+a@5`, `~a@5`, `-a@5`; `?` for what cannot be decoded.
fn event_text(event: &WatchEvent<Value>) -> String {
    match event {
        WatchEvent::Added(arrived) => format!("+{}", arrived_text(arrived)),
        WatchEvent::Modified(arrived) => format!("~{}", arrived_text(arrived)),
        WatchEvent::Deleted(arrived) => format!("-{}", arrived_text(arrived)),
        other => format!("{other:?}"),
    }
}

fn arrived_text<E: Debug>(arrived: &Result<Object<Value>, E>) -> String {
    match arrived {
        Ok(object) => format!("{object:?}"),
        Err(_) => "?".to_owned(),
    }
}

/// `-a@5` for what was seen to go, `!a@5` for what was missed, with the last state that is known.
fn deleted_text(deleted: &Deleted<Value>) -> String {
    match deleted {
        Deleted::Object(object) => format!("-{object:?}"),
        Deleted::Tombstone(tombstone) => match &tombstone.last_known {
            Some(object) => format!("!{object:?} {:?}", tombstone.reason),
            None => format!("!{} {:?}", tombstone.key, tombstone.reason),
        },
    }
}
