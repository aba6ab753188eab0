//! The server's promise: at a bookmark all changes up to its version have come, and none of them comes after it.

use std::collections::BTreeSet;

use super::{
    Finding,
    stream::{Brought, Item, Mistake, Stream, first_mistakes},
};
use crate::{model::Model, trace::Trace};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_mistakes(trace, model, mistake)
}

fn mistake<'a>(stream: &Stream<'a>) -> Option<Mistake<'a>> {
    let live = stream.live()?;
    // The bookmark that ends the initial events is one of them; a version to go on from is none.
    let mut promised = stream.resumed_from.is_none().then_some(live.after);
    let mut reached = live.after;
    let mut sent: BTreeSet<u64> = live.initial.iter().filter_map(Item::change).collect();
    for item in live.items {
        match item.brought {
            Brought::Event { member, .. } => {
                let revision = member.state.revision;
                let is_new = sent.insert(revision);
                if let Some(promised) = promised.filter(|promised| is_new && revision <= *promised)
                {
                    return Some((*item, format!("comes after a bookmark of {promised}")));
                }
                reached = reached.max(revision);
            }
            Brought::Bookmark { revision, .. } => {
                if revision < reached {
                    return Some((*item, format!("goes back from {reached}")));
                }
                // What was left out before the last change is for others to tell.
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
