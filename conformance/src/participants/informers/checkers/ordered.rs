//! The server's promise: the changes of a watch are in the order of their versions.
//!
//! The initial state, which is in the order of names, is excepted.

use super::{
    Finding,
    watch_streams::{Deviation, FrameContent, WatchStream, first_deviations},
};
use crate::{model::Model, trace::Trace};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_deviations(trace, model, deviation)
}

fn deviation<'a>(stream: &WatchStream<'a>) -> Option<Deviation<'a>> {
    let live = stream.live()?;
    // Other checkers report changes that follow a bookmark that excluded them.
    let mut promised = live.after;
    let mut last = live.after;
    for item in live.items {
        match item.content {
            FrameContent::Bookmark { revision, .. } => promised = promised.max(revision),
            FrameContent::Event { member, .. } => {
                let revision = member.state.revision;
                if revision < last && revision > promised {
                    return Some((*item, format!("comes after {last}")));
                }
                last = last.max(revision);
            }
        }
    }
    None
}
