//! The server's promise: a watch delivers every change of its selection, and nothing else, with the right event type.
//!
//! This covers the span from its first change to its last. [`resumable`](super::resumable) covers the beginning,
//! [`bookmarkable`](super::bookmarkable) the bookmarks, and [`ordered`](super::ordered) the order.

use std::collections::BTreeSet;

use super::{
    Finding,
    watch_streams::{Deviation, FrameContent, Item, WatchStream, first_deviations},
};
use crate::{
    model::{History, Model},
    trace::{Member, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_deviations(trace, model, deviation)
}

fn deviation<'a>(stream: &WatchStream<'a>) -> Option<Deviation<'a>> {
    let live = stream.live()?;
    // In any order: a late change is no gap.
    let sent: BTreeSet<u64> = live.items.iter().filter_map(Item::change).collect();
    let mut position = stream.resumed_from.is_none().then_some(live.after);
    for item in live.items {
        let reached = match item.content {
            FrameContent::Bookmark { revision, .. } => revision,
            FrameContent::Event { kind, member } => {
                let reached = member.state.revision;
                let left_out = position.and_then(|position| {
                    let mut between = stream.history.changes_between(position, reached);
                    between.find(|(revision, _)| !sent.contains(revision))
                });
                if let Some((revision, key)) = left_out {
                    return Some((*item, format!("{key} at {revision} was left out")));
                }
                if let Some(text) = untrue(stream.history, kind, member) {
                    return Some((*item, text));
                }
                reached
            }
        };
        position = position.max(Some(reached));
    }
    None
}

/// Describes the difference between a change and the log.
fn untrue(history: &History, kind: &str, member: &Member) -> Option<String> {
    let moments = history.moments(&member.key);
    let at = moments
        .iter()
        .position(|moment| moment.revision == member.state.revision);
    let Some(at) = at else {
        return Some("the log has no such change".to_owned());
    };
    let before = at
        .checked_sub(1)
        .and_then(|before| moments[before].state.as_ref());
    let after = moments[at].state.as_ref();
    let want = match (before, after) {
        (None, _) => "ADDED",
        (Some(_), Some(_)) => "MODIFIED",
        (Some(_), None) => "DELETED",
    };
    let uid = after.or(before).map(|state| &state.uid);
    if kind != want {
        Some(format!("should be {want}"))
    } else if uid != Some(&member.state.uid) {
        Some("has another uid in the log".to_owned())
    } else {
        None
    }
}
