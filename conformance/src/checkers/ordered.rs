//! The server's promise: the changes of a watch come in order of their versions.
//!
//! The initial state, which comes in order of names, is excepted.

use super::{
    Finding,
    stream::{Brought, Mistake, Stream, first_mistakes},
};
use crate::{model::Model, trace::Trace};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_mistakes(trace, model, mistake)
}

fn mistake<'a>(stream: &Stream<'a>) -> Option<Mistake<'a>> {
    let live = stream.live()?;
    // What comes after it was promised that it would not is for others to tell.
    let mut promised = live.after;
    let mut last = live.after;
    for item in live.items {
        match item.brought {
            Brought::Bookmark { revision, .. } => promised = promised.max(revision),
            Brought::Event { member, .. } => {
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
