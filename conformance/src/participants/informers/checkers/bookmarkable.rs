//! The server's promise: at a bookmark all changes up to its version have been sent, and none of them follows.

use std::collections::BTreeSet;

use super::{
    Finding,
    watch_streams::{Deviation, FrameContent, Item, WatchStream, first_deviations},
};
use crate::{model::Model, trace::Trace};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_deviations(trace, model, deviation)
}

fn deviation<'a>(stream: &WatchStream<'a>) -> Option<Deviation<'a>> {
    let live = stream.live()?;
    // The bookmark that ends the initial events is one of them; a version to resume from is none.
    let mut promised = stream.resumed_from.is_none().then_some(live.after);
    let mut reached = live.after;
    let mut sent: BTreeSet<u64> = live.initial.iter().filter_map(Item::change).collect();
    for item in live.items {
        match item.content {
            FrameContent::Event { member, .. } => {
                let revision = member.state.revision;
                let is_new = sent.insert(revision);
                if let Some(promised) = promised.filter(|promised| is_new && revision <= *promised)
                {
                    return Some((*item, format!("comes after a bookmark of {promised}")));
                }
                reached = reached.max(revision);
            }
            FrameContent::Bookmark { revision, .. } => {
                if revision < reached {
                    return Some((*item, format!("goes back from {reached}")));
                }
                // Other checkers report gaps before the last change.
                let missing = stream.history.changes_between(reached, revision).next();
                if let Some((missing, key)) = missing {
                    return Some((*item, format!("{key} at {missing} was not sent before it")));
                }
                promised = Some(revision);
                reached = revision;
            }
        }
    }
    None
}
