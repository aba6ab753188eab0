//! The server's promise: a watch brings every change of its selection, and nothing else, each as what it is to it.
//!
//! From the first change that it brings to the last. What comes before the first is for [`resumable`](super::resumable),
//! what a bookmark promised for [`bookmarkable`](super::bookmarkable), the order for [`ordered`](super::ordered).

use std::collections::BTreeSet;

use super::{
    Finding,
    stream::{Brought, Item, Mistake, Stream, first_mistakes},
};
use crate::{
    model::{History, Model},
    trace::{Member, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_mistakes(trace, model, mistake)
}

fn mistake<'a>(stream: &Stream<'a>) -> Option<Mistake<'a>> {
    let live = stream.live()?;
    // In whatever order: a change that comes late is not left out.
    let sent: BTreeSet<u64> = live.items.iter().filter_map(Item::change).collect();
    let mut position = stream.resumed_from.is_none().then_some(live.after);
    for item in live.items {
        let reached = match item.brought {
            Brought::Bookmark { revision, .. } => revision,
            Brought::Event { kind, member } => {
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

/// In what a change differs from the log.
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
