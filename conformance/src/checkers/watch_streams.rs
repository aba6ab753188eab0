//! The server's promise: a watch brings every change of its selection in order, once, or ends. Never a silent gap.
//!
//! Bookmarks are promises too: all that happened up to their version has been sent, and nothing older follows.

use std::collections::BTreeMap;

use super::Finding;
use crate::{
    model::{History, Model},
    trace::{Key, Member, Observation, RequestKind, State, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut streams: BTreeMap<usize, Stream<'_>> = BTreeMap::new();
    for (number, observation) in trace.numbered() {
        let (request, wrong) = match observation {
            Observation::Request {
                informer,
                request,
                kind:
                    RequestKind::Watch {
                        revision,
                        is_streaming_list,
                    },
            } => {
                if let Some(history) = model.history(*informer) {
                    streams.insert(*request, Stream::new(history, revision, *is_streaming_list));
                }
                continue;
            }
            Observation::Frame {
                request,
                kind,
                member,
            } => {
                let Some(stream) = streams.get_mut(request) else {
                    continue;
                };
                (request, stream.frame(kind, member))
            }
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events,
            } => {
                let Some(stream) = streams.get_mut(request) else {
                    continue;
                };
                (request, stream.bookmark(*revision, *ends_initial_events))
            }
            _ => continue,
        };
        if let Some(text) = wrong {
            findings.push(Finding::at(number, format!("{observation}: {text}")));
            // What follows a mistake shows nothing new.
            streams.remove(request);
        }
    }
    findings
}

/// What one watch has brought so far.
struct Stream<'a> {
    history: &'a History,
    position: Position,
}

enum Position {
    /// The state comes first, in no order of versions, and is complete at the bookmark that ends it.
    Initial(BTreeMap<Key, State>),
    /// Everything up to this revision has been sent.
    After(u64),
}

// === impl Stream ===

impl<'a> Stream<'a> {
    fn new(history: &'a History, revision: &str, is_streaming_list: bool) -> Self {
        let position = match revision.parse() {
            Ok(revision) if revision > 0 && !is_streaming_list => Position::After(revision),
            _ => Position::Initial(BTreeMap::new()),
        };
        Self { history, position }
    }

    fn frame(&mut self, kind: &str, member: &Member) -> Option<String> {
        let revision = member.state.revision;
        let after = match &mut self.position {
            Position::Initial(state) => {
                if kind == "DELETED" {
                    state.remove(&member.key);
                } else {
                    state.insert(member.key.clone(), member.state.clone());
                }
                return None;
            }
            Position::After(after) => after,
        };
        if revision <= *after {
            return Some(format!("comes after everything up to {after} was sent"));
        }
        let next = self.history.changes_between(*after, revision).next();
        *after = revision;
        match next {
            Some((next, key)) if next == revision && *key == member.key => {
                wrong_kind(self.history, kind, member)
            }
            Some((next, key)) if next < revision => Some(format!("{key} at {next} was left out")),
            _ => Some("the log has no such change".to_owned()),
        }
    }

    fn bookmark(&mut self, revision: u64, ends_initial_events: bool) -> Option<String> {
        match &mut self.position {
            Position::Initial(state) if ends_initial_events => {
                let want = self.history.at(revision);
                let is_exact = *state == want;
                self.position = Position::After(revision);
                (!is_exact)
                    .then(|| "the initial events are not the state at this version".to_owned())
            }
            Position::Initial(_) => None,
            Position::After(after) => {
                if revision < *after {
                    return Some(format!("goes back from {after}"));
                }
                let missing = self.history.changes_between(*after, revision).next();
                *after = revision;
                missing.map(|(missing, key)| format!("{key} at {missing} was not sent before it"))
            }
        }
    }
}

fn wrong_kind(history: &History, kind: &str, member: &Member) -> Option<String> {
    let moments = history.moments(&member.key);
    let at = moments
        .iter()
        .position(|moment| moment.revision == member.state.revision)?;
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
