//! The server's promise: a watch brings each change once, and in its initial state each object once at a version.

use std::collections::BTreeSet;

use super::{
    Finding,
    stream::{Mistake, Stream, first_mistakes},
};
use crate::{model::Model, trace::Trace};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_mistakes(trace, model, mistake)
}

fn mistake<'a>(stream: &Stream<'a>) -> Option<Mistake<'a>> {
    // A version is one change of one object.
    let mut seen = BTreeSet::new();
    let mut changes = stream
        .items
        .iter()
        .filter_map(|item| Some((item, item.change()?)));
    let (again, _) = changes.find(|(_, revision)| !seen.insert(*revision))?;
    Some((*again, "comes again".to_owned()))
}
