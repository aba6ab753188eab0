//! The server's promise: a watch goes on where another ended, so that both are as one that never ended.
//!
//! The first change that it brings is the first after the version that it was asked to go on from.

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
    let from = stream.resumed_from?;
    let is_old = |item: &&Item<'_>| item.change().is_some_and(|revision| revision <= from);
    if let Some(item) = stream.items.iter().find(is_old) {
        let text = format!("was already part of {from}, which the watch goes on from");
        return Some((*item, text));
    }
    // A bookmark that comes first makes the promise its own.
    let first = stream.items.first()?;
    let Brought::Event { member, .. } = first.brought else {
        return None;
    };
    let sent: BTreeSet<u64> = stream.items.iter().filter_map(Item::change).collect();
    let mut between = stream.history.changes_between(from, member.state.revision);
    let (missing, key) = between.find(|(revision, _)| !sent.contains(revision))?;
    let text = format!("{key} at {missing} was left out, which goes on from {from}");
    Some((*first, text))
}
