//! The server's promise: a watch resumes where another ended, so that both are like one that never ended.
//!
//! Its first change is the first one after the version in the request.

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
    let from = stream.resumed_from?;
    let is_old = |item: &&Item<'_>| item.change().is_some_and(|revision| revision <= from);
    if let Some(item) = stream.items.iter().find(is_old) {
        let text = format!("was already part of {from}, from which the watch resumes");
        return Some((*item, text));
    }
    // A bookmark that comes first takes over the promise.
    let first = stream.items.first()?;
    let FrameContent::Event { member, .. } = first.content else {
        return None;
    };
    let sent: BTreeSet<u64> = stream.items.iter().filter_map(Item::change).collect();
    let mut between = stream.history.changes_between(from, member.state.revision);
    let (missing, key) = between.find(|(revision, _)| !sent.contains(revision))?;
    let text = format!("{key} at {missing} was left out of the watch from {from}");
    Some((*first, text))
}
