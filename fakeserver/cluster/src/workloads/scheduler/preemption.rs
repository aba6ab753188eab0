//! Preemption: the pods of lower priority that go, so that a pod fits.
//!
//! Upstream: the plugin `DefaultPreemption`. Candidates are looked at in the order of their names, from the first on.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use fakeserver_value::read::text;
use serde_json::Value;

use super::{
    cycle::Cycle,
    node::NodeInfo,
    pod::PodInfo,
    rejection::{Diagnosis, Rejection},
    selection::Selection,
};
use crate::workloads::objects::number;

const NEVER: &str = "not eligible due to preemptionPolicy=Never.";
const PENDING: &str = "not eligible due to a terminating pod on the nominated node.";
const NO_VICTIMS: &str = "No preemption victims found for incoming pod";
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";
/// The least number of candidates that are compared, if there are that many, and their share of the nodes in percent.
const CANDIDATES: (usize, usize) = (100, 10);

/// The pods that go from a node.
#[derive(Clone, Debug)]
pub(super) struct Victims {
    pub(super) node: Arc<str>,
    /// The most important first.
    pub(super) pods: Vec<Arc<PodInfo>>,
    /// The number of victims whose eviction violates a disruption budget.
    violations: usize,
}

/// The reason why a pod preempts no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoPreemption {
    /// The pod may not preempt, or waits for its earlier victims.
    NotEligible(&'static str),
    /// A preemption would not help.
    Useless(String),
}

/// A disruption budget.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    namespace: String,
    selection: Selection,
    allowed: i64,
    /// The pods whose evictions were allowed.
    disrupted: BTreeSet<String>,
}

// === impl Budget ===

impl Budget {
    pub(super) fn of(budget: &Value) -> Self {
        let status = &budget["status"];
        let disrupted = status["disruptedPods"].as_object().into_iter().flatten();
        Self {
            namespace: text(&budget["metadata"]["namespace"]).to_owned(),
            selection: Selection::of(&budget["spec"]["selector"]),
            allowed: number(&status["disruptionsAllowed"], 0),
            disrupted: disrupted.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Returns whether the disruption of a pod counts against it.
    fn protects(&self, pod: &PodInfo) -> bool {
        pod.namespace() == self.namespace
            && !pod.labels.is_empty()
            && !self.selection.is_everything()
            && self.selection.matches(&pod.labels)
            && !self.disrupted.contains(pod.key.name())
    }
}

// === impl NoPreemption ===

impl NoPreemption {
    /// Returns the reason in upstream's words.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::NotEligible(why) => why,
            Self::Useless(why) => why,
        }
    }
}

/// Chooses the pods that go in favour of the pod of a cycle, which no node took for the reasons of `diagnosis`. Pods that
/// have not started count as started `now`.
pub(super) fn preempt(
    cycle: &Cycle<'_>,
    diagnosis: &Diagnosis,
    budgets: &[Budget],
    now: &str,
) -> Result<Victims, NoPreemption> {
    check_eligible(cycle, diagnosis)?;
    let possible = diagnosis
        .rejections
        .iter()
        // A final rejection, such as a wrong node name, stays even if all pods of the node are gone.
        .filter(|(_, rejection)| !rejection.is_final);
    let possible: Vec<&NodeInfo> = possible
        .filter_map(|(name, _)| cycle.snapshot.node(name))
        .collect();
    let (least, percent) = CANDIDATES;
    let enough = least.max(possible.len() * percent / 100);
    let mut outcome = Diagnosis {
        nodes: cycle.snapshot.len(),
        others: NOT_HELPFUL.into(),
        ..Diagnosis::default()
    };
    let mut found: Vec<Victims> = Vec::new();
    for node in possible {
        match victims_on(cycle, node, budgets, now) {
            Ok(victims) => found.push(victims),
            Err(rejection) => {
                let name = Arc::clone(&node.node.name);
                outcome.rejections.insert(name, rejection);
            }
        }
        // Upstream stops early, too, but not before one candidate violates no budget.
        if found.len() >= enough && found.iter().any(|victims| victims.violations == 0) {
            break;
        }
    }
    let best = found
        .into_iter()
        .min_by(|a, b| a.rank(now).cmp(&b.rank(now)));
    best.ok_or_else(|| NoPreemption::Useless(outcome.message()))
}

/// Checks that the pod may preempt others, and does not wait for those that it has preempted.
fn check_eligible(cycle: &Cycle<'_>, diagnosis: &Diagnosis) -> Result<(), NoPreemption> {
    let pod = cycle.pod;
    if !pod.may_preempt {
        return Err(NoPreemption::NotEligible(NEVER));
    }
    let rejection = diagnosis.rejections.get(&*pod.nominated);
    let Some(node) = cycle.snapshot.node(&pod.nominated) else {
        return Ok(());
    };
    // If the nominated node can no longer take the pod, the pod may preempt elsewhere although its victims are still terminating.
    let is_hopeless = rejection.is_some_and(|rejection| rejection.is_final);
    let mut going = node.pods.values().filter(|other| other.is_preempted);
    if !is_hopeless && going.any(|other| other.priority < pod.info.priority) {
        return Err(NoPreemption::NotEligible(PENDING));
    }
    Ok(())
}

/// Chooses the pods that would go from a node: as few as possible, and the least important.
#[doc(alias = "SelectVictimsOnNode")]
fn victims_on(
    cycle: &Cycle<'_>,
    node: &NodeInfo,
    budgets: &[Budget],
    now: &str,
) -> Result<Victims, Rejection> {
    let (mut left, mut state) = (node.clone(), cycle.state.clone());
    let priority = cycle.pod.info.priority;
    let lower = node.pods.values().filter(|other| other.priority < priority);
    let mut possible: Vec<&Arc<PodInfo>> = lower.collect();
    if possible.is_empty() {
        return Err(Rejection::for_good(NO_VICTIMS));
    }
    // First all lower pods are removed: if the pod does not fit even then, no subset helps.
    for pod in &possible {
        left.remove(&pod.key);
        cycle.change(&mut state, pod, &node.node, -1);
    }
    if let Some(rejection) = cycle.reject_in(&left, &state) {
        return Err(rejection);
    }
    possible.sort_by_key(|pod| importance(pod, now));
    let (protected, others) = split(&possible, budgets);
    let mut victims = Vec::new();
    let mut violations = 0;
    // Pods are put back as long as the pod still fits, protected ones first, so that budgets are violated only if there is no
    // other way.
    for (pods, is_violation) in [(protected, true), (others, false)] {
        for pod in pods {
            left.add(pod);
            cycle.change(&mut state, pod, &node.node, 1);
            if cycle.reject_in(&left, &state).is_none() {
                continue;
            }
            left.remove(&pod.key);
            cycle.change(&mut state, pod, &node.node, -1);
            victims.push(Arc::clone(pod));
            violations += usize::from(is_violation);
        }
    }
    // The two passes above leave victims out of order; the ranking of nodes compares the most important victim.
    victims.sort_by(|a, b| importance(a, now).cmp(&importance(b, now)));
    if victims.is_empty() {
        return Err(Rejection::for_good(NO_VICTIMS));
    }
    Ok(Victims {
        node: Arc::clone(&node.node.name),
        pods: victims,
        violations,
    })
}

/// Returns what pods are ordered by, the most important first: priority, then the time for which they have run.
#[doc(alias = "MoreImportantPod")]
fn importance<'a>(pod: &'a PodInfo, now: &'a str) -> (Reverse<i64>, &'a str, &'a str) {
    (
        Reverse(pod.priority),
        started(pod, now),
        pod.key.path().as_ref(),
    )
}

fn started<'a>(pod: &'a PodInfo, now: &'a str) -> &'a str {
    if pod.started.is_empty() {
        now
    } else {
        &pod.started
    }
}

/// Splits pods into those that budgets do not let go, if all go in this order, and the others.
#[doc(alias = "filterPodsWithPDBViolation")]
fn split<'a>(
    pods: &[&'a Arc<PodInfo>],
    budgets: &[Budget],
) -> (Vec<&'a Arc<PodInfo>>, Vec<&'a Arc<PodInfo>>) {
    let mut allowed: Vec<i64> = budgets.iter().map(|budget| budget.allowed).collect();
    pods.iter().copied().partition(|pod| {
        let mut is_violation = false;
        for (budget, allowed) in budgets.iter().zip(&mut allowed) {
            if budget.protects(pod) {
                *allowed -= 1;
                is_violation |= *allowed < 0;
            }
        }
        is_violation
    })
}

// === impl Victims ===

impl Victims {
    /// Returns what candidates are compared by, the best first: the fewest violations of budgets, the lowest highest
    /// priority, the least sum of priorities, the fewest pods, and the latest start of the most important ones.
    #[doc(alias = "pickOneNodeForPreemption")]
    fn rank<'a>(&'a self, now: &'a str) -> (usize, i64, i64, usize, Reverse<&'a str>) {
        /// Added to each priority, so that more pods never have a lower sum.
        const ABOVE_ZERO: i64 = 1 << 31;
        let highest = self.pods.first().map_or(0, |pod| pod.priority);
        let sum = self.pods.iter().map(|pod| pod.priority + ABOVE_ZERO).sum();
        let most_important = self.pods.iter().filter(|pod| pod.priority == highest);
        let earliest = most_important.map(|pod| started(pod, now)).min();
        (
            self.violations,
            highest,
            sum,
            self.pods.len(),
            Reverse(earliest.unwrap_or_default()),
        )
    }
}
