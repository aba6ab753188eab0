//! Neither a cache nor a handler goes back in time for a key.

use std::collections::BTreeMap;

use super::Finding;
use crate::trace::{HandlerNotification, Key, Observation, State, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut caches: BTreeMap<usize, Cache> = BTreeMap::new();
    let mut handlers: BTreeMap<(usize, usize, Key), u64> = BTreeMap::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::Notified(notified) => {
                let cache = caches.entry(notified.informer).or_default();
                let wrong = [
                    cache.shows(&notified.key, notified.cached.as_ref()),
                    told_back(&mut handlers, notified),
                ];
                let finding = |text| Finding::at(number, format!("{notified}: {text}"));
                findings.extend(wrong.into_iter().flatten().map(finding));
            }
            Observation::Cached {
                informer,
                revision,
                members,
                ..
            } => {
                let cache = caches.entry(*informer).or_default();
                let revision = revision.unwrap_or(0);
                if revision < cache.revision {
                    let text = format!(
                        "cache {informer} went back from {} to {revision}",
                        cache.revision
                    );
                    findings.push(Finding::at(number, text));
                }
                cache.revision = revision;
                for member in members {
                    let wrong = cache.shows(&member.key, Some(&member.state));
                    let finding =
                        |text| Finding::at(number, format!("cache {informer} {member}: {text}"));
                    findings.extend(wrong.into_iter().map(finding));
                }
            }
            _ => {}
        }
    }
    findings
}

#[derive(Default)]
struct Cache {
    revision: u64,
    keys: BTreeMap<Key, NewestState>,
}

/// The newest state that a cache has shown of a key.
#[derive(Clone, Copy, Default)]
struct NewestState {
    revision: u64,
    /// True if it was gone since: then not even the same state may come again.
    is_gone: bool,
}

// === impl Cache ===

impl Cache {
    fn shows(&mut self, key: &Key, state: Option<&State>) -> Option<String> {
        let seen = self.keys.entry(key.clone()).or_default();
        let Some(state) = state else {
            seen.is_gone = seen.revision > 0;
            return None;
        };
        let before = *seen;
        *seen = NewestState {
            revision: before.revision.max(state.revision),
            is_gone: false,
        };
        if state.revision < before.revision {
            Some(format!("the cache shows {state} after {}", before.revision))
        } else if state.revision == before.revision && before.is_gone {
            Some(format!("the cache shows {state} again after it was gone"))
        } else {
            None
        }
    }
}

fn told_back(
    handlers: &mut BTreeMap<(usize, usize, Key), u64>,
    notified: &HandlerNotification,
) -> Option<String> {
    let state = notified.state()?;
    let place = (notified.informer, notified.handler, notified.key.clone());
    let newest = handlers.entry(place).or_default();
    let before = *newest;
    *newest = before.max(state.revision);
    (state.revision < before).then(|| format!("had {before} before"))
}
