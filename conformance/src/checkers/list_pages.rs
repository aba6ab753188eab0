//! The server's promise: a list is the state of its selection at its version, whatever its pages.

use std::collections::BTreeMap;

use super::Finding;
use crate::{
    model::Model,
    trace::{Key, Member, Observation, RequestKind, State, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Which informer sent a request, and whether that goes on where another page ended.
    let mut requests: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    // The pages of each informer's list that is under way.
    let mut lists: BTreeMap<usize, List> = BTreeMap::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::Request {
                informer,
                request,
                kind: RequestKind::List { is_continued, .. },
            } => {
                requests.insert(*request, (*informer, *is_continued));
            }
            Observation::Page {
                request,
                revision,
                has_more,
                members,
            } => {
                let Some((informer, is_continued)) = requests.get(request) else {
                    continue;
                };
                let list = lists.entry(*informer).or_default();
                if !is_continued {
                    *list = List::default();
                }
                let wrong = list.page(*revision, members);
                let state = model
                    .history(*informer)
                    .map(|history| history.at(*revision));
                let wrong = wrong.or_else(|| {
                    (!has_more && state.is_some_and(|state| state != list.state))
                        .then(|| "is not the state at its version".to_owned())
                });
                let shown =
                    |text| Finding::at(number, format!("list of {informer} at {revision}: {text}"));
                findings.extend(wrong.map(shown));
            }
            _ => {}
        }
    }
    findings
}

#[derive(Default)]
struct List {
    revision: Option<u64>,
    last_key: Option<Key>,
    state: BTreeMap<Key, State>,
}

// === impl List ===

impl List {
    fn page(&mut self, revision: u64, members: &[Member]) -> Option<String> {
        let begun = *self.revision.get_or_insert(revision);
        for member in members {
            // Namespaces and names here hold no character that sorts before the slash.
            if self
                .last_key
                .as_ref()
                .is_some_and(|last| *last >= member.key)
            {
                return Some(format!("{} is out of order", member.key));
            }
            self.last_key = Some(member.key.clone());
            self.state.insert(member.key.clone(), member.state.clone());
        }
        (begun != revision).then(|| format!("its first page is of {begun}"))
    }
}
