//! Roll-outs of daemon sets: which pods go, and on which nodes new ones come beside old ones. A pure core.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fakeserver_server::controllers::pods::Pod;
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::Value;

use super::HASH;
use crate::workloads::objects::{available, number, part};

/// The pods of a set, by the nodes that they are on or are to be on, the oldest of each node first.
pub(super) type ByNode = BTreeMap<String, Vec<Arc<Pod>>>;

/// The roll-out of a template: how many pods may be replaced at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rollout<'a> {
    /// The hash of the template.
    hash: &'a str,
    unavailable: i64,
    surge: i64,
    min_ready: i64,
    now: Timestamp,
    is_manual: bool,
}

/// The changes that a set needs now.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The nodes on which pods are created.
    pub(super) created: Vec<String>,
    pub(super) deleted: Vec<Arc<Pod>>,
}

/// The pods of one node that are to stay: of the template, and of an older one.
#[derive(Clone, Copy, Debug, Default)]
struct Pair<'a> {
    new: Option<&'a Arc<Pod>>,
    old: Option<&'a Arc<Pod>>,
}

/// Returns which of two pods is counted first: the one that is on a node, then the older one.
pub(super) fn by_age(one: &Arc<Pod>, other: &Arc<Pod>) -> Ordering {
    let key = |pod: &Arc<Pod>| {
        let created = text(&pod.stored.to_value()["metadata"]["creationTimestamp"]).to_owned();
        (pod.node.is_empty(), created, pod.name().to_owned())
    };
    key(one).cmp(&key(other))
}

// === impl Changes ===

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.created.is_empty() && self.deleted.is_empty()
    }
}

// === impl Rollout ===

impl<'a> Rollout<'a> {
    /// Creates that of a set which is to have `total` pods.
    pub(super) fn of(set: &Value, hash: &'a str, total: i64, now: Timestamp) -> Self {
        let strategy = &set["spec"]["updateStrategy"];
        let limits = &strategy["rollingUpdate"];
        let surge = part(&limits["maxSurge"], total, true);
        let unavailable = match &limits["maxUnavailable"] {
            Value::Null => 1,
            limit => part(limit, total, true),
        };
        Self {
            hash,
            unavailable: if surge == 0 {
                unavailable.max(1)
            } else {
                unavailable
            },
            surge,
            min_ready: number(&set["spec"]["minReadySeconds"], 0),
            now,
            is_manual: strategy["type"] == "OnDelete",
        }
    }

    /// Returns whether new pods may come beside old ones.
    fn surges(&self) -> bool {
        self.surge > 0 && !self.is_manual
    }

    fn is_new(&self, pod: &Pod) -> bool {
        pod.label(HASH) == self.hash
    }

    fn is_available(&self, pod: &Pod) -> bool {
        available(pod, self.min_ready, self.now).is_ok()
    }

    /// Returns the changes after which each of the `wanted` nodes has its pods, regardless of their template, and nodes other
    /// than the `kept` ones have none.
    #[doc(alias = "podsShouldBeOnNode")]
    pub(super) fn placed(
        &self,
        wanted: &BTreeSet<String>,
        kept: &BTreeSet<String>,
        by_node: &ByNode,
    ) -> Changes {
        let mut changes = Changes::default();
        for node in wanted {
            let pods = by_node.get(node).map_or(&[][..], Vec::as_slice);
            let has_active = pods.iter().any(|pod| pod.is_active());
            // Where pods may overlap, one that is going makes room.
            if pods.is_empty() || (self.surges() && !has_active) {
                changes.created.push(node.clone());
            }
        }
        for (node, pods) in by_node {
            let here = pods.iter().filter(|pod| !pod.is_deleted);
            // One that has ended makes room for another.
            let (ended, active): (Vec<_>, Vec<_>) = here.partition(|pod| pod.is_finished());
            changes.deleted.extend(ended.into_iter().cloned());
            let surplus = if !kept.contains(node) {
                active
            } else if self.surges() {
                self.surplus(active)
            } else {
                active.into_iter().skip(1).collect()
            };
            changes.deleted.extend(surplus.into_iter().cloned());
        }
        changes
    }

    /// Returns which of the pods of a node go where an old one may stay until a new one is available.
    fn surplus<'p>(&self, active: Vec<&'p Arc<Pod>>) -> Vec<&'p Arc<Pod>> {
        if active.len() < 2 {
            return Vec::new();
        }
        let (new, old): (Vec<_>, Vec<_>) = active.into_iter().partition(|pod| self.is_new(pod));
        let is_replaced = new.first().is_some_and(|new| {
            old.first().is_some_and(|old| !old.is_ready) || self.is_available(new)
        });
        let kept = usize::from(!is_replaced);
        let new = new.into_iter().skip(1);
        new.chain(old.into_iter().skip(kept)).collect()
    }

    /// Returns what brings the pods of `wanted` nodes, which have as many as they are to have, nearer to the template.
    #[doc(alias = "rollingUpdate")]
    pub(super) fn replaced(&self, wanted: &BTreeSet<String>, by_node: &ByNode) -> Changes {
        if self.is_manual {
            return Changes::default();
        }
        let pairs = wanted
            .iter()
            .map(|node| (node, self.pair(by_node.get(node))));
        if self.surges() {
            self.surged(pairs)
        } else {
            self.taken_down(pairs)
        }
    }

    /// Returns the pods of a node, or nothing if there is more than one of a kind.
    fn pair<'p>(&self, pods: Option<&'p Vec<Arc<Pod>>>) -> Option<Pair<'p>> {
        let mut pair = Pair::default();
        for pod in pods.into_iter().flatten().filter(|pod| !pod.is_deleted) {
            let place = if self.is_new(pod) {
                &mut pair.new
            } else {
                &mut pair.old
            };
            if place.replace(pod).is_some() {
                return None;
            }
        }
        Some(pair)
    }

    /// Deletes old pods, as many as may be unavailable at a time, and all that are so anyway.
    fn taken_down<'p>(
        &self,
        nodes: impl Iterator<Item = (&'p String, Option<Pair<'p>>)>,
    ) -> Changes {
        let (mut down, mut going, mut candidates) = (0, Vec::new(), Vec::new());
        for (_, pair) in nodes {
            let Pair { new, old } = pair.unwrap_or_default();
            match (new, old) {
                (None, None) | (Some(_), Some(_)) => down += 1,
                (Some(new), None) => down += i64::from(!self.is_available(new)),
                (None, Some(old)) if self.is_available(old) => candidates.push(Arc::clone(old)),
                (None, Some(old)) => going.push(Arc::clone(old)),
            }
        }
        let left = usize::try_from(self.unavailable - down).unwrap_or_default();
        going.extend(candidates.into_iter().take(left));
        Changes {
            created: Vec::new(),
            deleted: going,
        }
    }

    /// Creates new pods beside old ones, as many as may be too many at a time, and deletes the old ones when the new ones are
    /// available.
    fn surged<'p>(&self, nodes: impl Iterator<Item = (&'p String, Option<Pair<'p>>)>) -> Changes {
        let (mut surging, mut changes, mut candidates) = (0_i64, Changes::default(), Vec::new());
        for (node, pair) in nodes {
            let Some(Pair { new, old }) = pair else {
                surging += 1;
                continue;
            };
            match (new, old) {
                (_, None) => {}
                (None, Some(old)) if self.is_available(old) => candidates.push(node.clone()),
                (None, Some(_)) => changes.created.push(node.clone()),
                (Some(new), Some(old)) if self.is_available(new) => {
                    changes.deleted.push(Arc::clone(old));
                }
                (Some(_), Some(_)) => surging += 1,
            }
        }
        let left = usize::try_from(self.surge - surging).unwrap_or_default();
        changes.created.extend(candidates.into_iter().take(left));
        changes
    }
}
