//! The pods without a node: those to look at, by priority, and those that wait until something has changed for them.
//!
//! Pods that wait for the same are a class. Only the first of a class is looked at when something has changed; the next
//! follows once it has a node. Whatever happens, each is looked at every five minutes.
//!
//! Upstream: `backend/queue`. There each pod that waits is looked at by itself.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_server::store::ObjectKey;
use fakeserver_value::object::Pairs;
use tokio::time::Instant;

use super::{pod::UnscheduledPod, pod_affinity::EXISTING, rejection::FitError};
use crate::workloads::backoff::backoff;

/// The time after which a pod is looked at again though nothing seems to have changed.
#[doc(alias = "DefaultPodMaxInUnschedulablePodsDuration")]
pub(super) const FLUSHED_AFTER: Duration = Duration::from_mins(5);
/// The first and the longest time between two looks at a pod that waits for others.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// The pods without a node.
///
/// # Memory
///
/// An entry for each pod without a node, and the requirements of each class of pods that wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pods: BTreeMap<ObjectKey, Entry>,
    active: BTreeMap<(Reverse<i64>, u64), ObjectKey>,
    classes: BTreeMap<Arc<str>, Class>,
    next: u64,
}

/// Pods with equal requirements that wait.
#[derive(Debug)]
pub(super) struct Class {
    /// A representative of the class.
    pub(super) pod: Arc<UnscheduledPod>,
    /// The reasons why the representative had no node.
    pub(super) error: FitError,
    /// True if pods of other nodes may be a reason.
    pub(super) waits_for_others: bool,
    /// The outcome of the last attempt for a pod of the class.
    outcome: Outcome,
    members: BTreeMap<u64, ObjectKey>,
}

/// The outcome of an attempt for a pod that fits nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The version of the snapshot.
    pub(super) version: u64,
    pub(super) message: String,
    /// True if no node can be cleared for the pod, so that its nomination is removed.
    pub(super) is_hopeless: bool,
}

/// The last event about the reason for which a pod waits.
#[derive(Clone, Debug)]
pub(super) struct ReportedFailure {
    pub(super) message: String,
    pub(super) event: Option<ObjectKey>,
    pub(super) count: u64,
    pub(super) at: Instant,
}

/// The generation and the labels of a pod: a change of either makes the pod active again.
type Version = (i64, Pairs);

#[derive(Debug)]
struct Entry {
    number: u64,
    priority: i64,
    version: Version,
    phase: Phase,
    attempts: u32,
    class: Option<Arc<str>>,
    reported: Option<ReportedFailure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The pod is not ours to schedule, or is being scheduled.
    Idle,
    Active,
    Waiting {
        since: Instant,
        woken: Option<Instant>,
    },
}

// === impl Queue ===

impl Queue {
    /// Adds a pod, or looks at it again if it has changed. True if it is to be looked at.
    pub(super) fn add(&mut self, key: &ObjectKey, priority: i64, version: Version) -> bool {
        if let Some(entry) = self.pods.get(key) {
            if entry.version == version {
                return false;
            }
            self.leave_class(key);
        }
        let next = &mut self.next;
        let entry = self.pods.entry(key.clone()).or_insert_with(|| {
            *next += 1;
            Entry::new(*next)
        });
        // The key in `active` contains the priority, so that it has to be removed before the priority changes.
        let before = (Reverse(entry.priority), entry.number);
        self.active.remove(&before);
        (entry.priority, entry.version) = (priority, version);
        // A changed pod has no back-off: the change may have been made to help it.
        entry.attempts = 0;
        self.activate(key);
        true
    }

    fn activate(&mut self, key: &ObjectKey) {
        if let Some(entry) = self.pods.get_mut(key) {
            entry.phase = Phase::Active;
            let place = (Reverse(entry.priority), entry.number);
            self.active.insert(place, key.clone());
        }
    }

    /// Removes a pod. Returns the next of its class, if that is to be looked at instead.
    pub(super) fn forget(&mut self, key: &ObjectKey) -> Option<ObjectKey> {
        let class = self.leave_class(key);
        let entry = self.pods.remove(key)?;
        self.active.remove(&(Reverse(entry.priority), entry.number));
        let was_woken = match entry.phase {
            Phase::Idle | Phase::Active => true,
            // A pod that leaves has not used the room for which it was woken; the next of its class may.
            Phase::Waiting { woken, .. } => woken.is_some(),
        };
        let class = self.classes.get(&class.filter(|_| was_woken)?)?;
        class.members.values().next().cloned()
    }

    fn leave_class(&mut self, key: &ObjectKey) -> Option<Arc<str>> {
        let entry = self.pods.get_mut(key)?;
        let name = entry.class.take()?;
        let class = self.classes.get_mut(&name)?;
        class.members.remove(&entry.number);
        if class.members.is_empty() {
            self.classes.remove(&name);
        }
        Some(name)
    }

    /// Makes a waiting pod active whose time has come.
    pub(super) fn ripen(&mut self, key: &ObjectKey, now: Instant) {
        let Some(entry) = self.pods.get(key) else {
            return;
        };
        if let Phase::Waiting { since, woken } = entry.phase
            && (woken.is_some_and(|at| at <= now) || since + FLUSHED_AFTER <= now)
        {
            self.activate(key);
        }
    }

    /// Returns when a pod is looked at next: at once if it is active.
    pub(super) fn next_look(&self, key: &ObjectKey, now: Instant) -> Option<Duration> {
        match self.pods.get(key)?.phase {
            Phase::Idle => None,
            Phase::Active => Some(Duration::ZERO),
            Phase::Waiting { since, woken } => {
                let flush = since + FLUSHED_AFTER;
                let at = woken.map_or(flush, |woken| woken.min(flush));
                Some(at.duration_since(now))
            }
        }
    }

    /// Returns the active pod that is looked at next.
    pub(super) fn first(&self) -> Option<&ObjectKey> {
        self.active.values().next()
    }

    /// Takes the active pod with the highest priority; of those with the same, the first.
    pub(super) fn pop(&mut self) -> Option<ObjectKey> {
        let (_, key) = self.active.pop_first()?;
        if let Some(entry) = self.pods.get_mut(&key) {
            entry.phase = Phase::Idle;
        }
        Some(key)
    }

    /// Returns the outcome of the last attempt for a pod of a class, if the snapshot has not changed since.
    pub(super) fn cached_outcome(&self, class: &str, version: u64) -> Option<(FitError, Outcome)> {
        let class = self.classes.get(class)?;
        let is_new = class.outcome.version == version;
        is_new.then(|| (class.error.clone(), class.outcome.clone()))
    }

    /// Lets a pod of a class wait that was looked at, and fits nowhere.
    pub(super) fn wait(
        &mut self,
        name: &Arc<str>,
        pod: Arc<UnscheduledPod>,
        error: FitError,
        outcome: Outcome,
        now: Instant,
    ) {
        let key = pod.info.key.clone();
        self.leave_class(&key);
        let Some(entry) = self.pods.get_mut(&key) else {
            return;
        };
        entry.attempts = entry.attempts.saturating_add(1);
        entry.phase = Phase::Waiting {
            since: now,
            woken: None,
        };
        entry.class = Some(Arc::clone(name));
        let number = entry.number;
        let before = self.classes.remove(name);
        let mut members = before.map(|class| class.members).unwrap_or_default();
        members.insert(number, key);
        let class = Class {
            waits_for_others: pod.depends_on_others() || error.mentions(EXISTING),
            pod,
            error,
            outcome,
            members,
        };
        self.classes.insert(Arc::clone(name), class);
    }

    /// Has the first pod of each class that `is_concerned` looked at again, and returns when.
    pub(super) fn wake(
        &mut self,
        is_concerned: impl Fn(&Class) -> bool,
        now: Instant,
    ) -> Vec<(ObjectKey, Duration)> {
        let concerned = self.classes.values().filter(|class| is_concerned(class));
        let first = concerned.filter_map(|class| {
            let key = class.members.values().next()?;
            Some((key.clone(), !class.waits_for_others))
        });
        let first: Vec<(ObjectKey, bool)> = first.collect();
        let woken = first.into_iter().filter_map(|(key, is_local)| {
            let at = self.wake_at(&key, is_local, now)?;
            Some((key, at.duration_since(now)))
        });
        woken.collect()
    }

    /// Has a pod looked at again at once, if it waits.
    pub(super) fn wake_one(&mut self, key: &ObjectKey, now: Instant) -> bool {
        self.wake_at(key, true, now).is_some()
    }

    /// Has a waiting pod looked at: at once, or when it has waited for its backoff. Returns nothing if it is anyway.
    fn wake_at(&mut self, key: &ObjectKey, is_urgent: bool, now: Instant) -> Option<Instant> {
        let entry = self.pods.get_mut(key)?;
        let backoff = pause(entry.attempts);
        let Phase::Waiting { since, woken } = &mut entry.phase else {
            return None;
        };
        // A pod that waits for room on a node skips its back-off. One that depends on other pods would be tried at each of their
        // changes.
        let at = if is_urgent {
            now
        } else {
            now.max(*since + backoff)
        };
        if woken.is_some_and(|before| before <= at) {
            return None;
        }
        *woken = Some(at);
        if at <= now {
            self.activate(key);
        }
        Some(at)
    }

    /// Returns whether pods wait.
    pub(super) fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    pub(super) fn reported(&self, key: &ObjectKey) -> Option<&ReportedFailure> {
        self.pods.get(key)?.reported.as_ref()
    }

    pub(super) fn set_reported(&mut self, key: &ObjectKey, reported: ReportedFailure) {
        if let Some(entry) = self.pods.get_mut(key) {
            entry.reported = Some(reported);
        }
    }
}

// === impl Entry ===

impl Entry {
    fn new(number: u64) -> Self {
        Self {
            number,
            priority: 0,
            version: Version::default(),
            phase: Phase::Idle,
            attempts: 0,
            class: None,
            reported: None,
        }
    }
}

/// Returns the back-off of a pod that waits for other pods, after a number of attempts.
fn pause(attempts: u32) -> Duration {
    let (first, longest) = BACKOFF;
    backoff(first, attempts, longest)
}
