//! The server's promise: a watch delivers each change once, and in its initial state each object once at a version.

use std::collections::BTreeSet;

use super::{
    Finding,
    watch_streams::{Deviation, WatchStream, first_deviations},
};
use crate::{model::Model, trace::Trace};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    first_deviations(trace, model, deviation)
}

fn deviation<'a>(stream: &WatchStream<'a>) -> Option<Deviation<'a>> {
    // A version is one change of one object.
    let mut seen = BTreeSet::new();
    let mut changes = stream
        .items
        .iter()
        .filter_map(|item| Some((item, item.change()?)));
    let (again, _) = changes.find(|(_, revision)| !seen.insert(*revision))?;
    Some((*again, "comes again".to_owned()))
}
