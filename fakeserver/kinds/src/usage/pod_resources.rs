//! The requests and limits of a whole pod.
//!
//! Containers run at the same time. Init containers run one after another before them, but those that restart always
//! keep running. So a pod takes the greater of what its containers and of what its init containers take at a time.

use fakeserver_value::read::items;
use serde_json::Value;

use super::Amounts;
use crate::resource_names::is_huge_pages;

/// A side of the resources of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Requests,
    Limits,
}

/// Returns the resources that the spec of a pod declares: the sum over its containers, or pod-level CPU and memory.
pub fn declared(pod: &Value, side: Side) -> Amounts {
    let spec = &pod["spec"];
    let mut total = total_of(spec, |container, _| side.of(&container["resources"]));
    let whole = side.of(&spec["resources"]);
    total.replace(whole.only(|name| matches!(name, "cpu" | "memory")));
    total
}

/// Returns the resources that a pod takes, including its overhead and resources that a resize has not released yet.
pub fn effective(pod: &Value, side: Side) -> Amounts {
    let spec = &pod["spec"];
    let mut total = total_of(spec, |container, runs_on| {
        let declared = side.of(&container["resources"]);
        match status_of(pod, &container["name"]).filter(|_| runs_on) {
            Some(status) => side.held(pod, &declared, status),
            None => declared,
        }
    });
    let whole = side.of(&spec["resources"]);
    total.replace(whole.only(is_of_whole_pods));
    let overhead = Amounts::of(&spec["overhead"]);
    match side {
        Side::Requests => total.add(&overhead),
        Side::Limits => {
            let limited = total.without_zeros();
            total.add(&overhead.only(|name| limited.get(name).is_some()));
        }
    }
    total
}

/// Returns whether a pod itself may declare the resource.
pub(super) fn is_of_whole_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_pages(name)
}

/// Sums `amounts` over all containers. The second argument of the function is true for containers that keep running.
fn total_of(spec: &Value, amounts: impl Fn(&Value, bool) -> Amounts) -> Amounts {
    let mut total = Amounts::default();
    for container in items(&spec["containers"]) {
        total.add(&amounts(container, true));
    }
    // In their order: an init container runs beside the sidecars before it, and those after it have not started.
    let (mut sidecars, mut peak) = (Amounts::default(), Amounts::default());
    for container in items(&spec["initContainers"]) {
        let runs_on = container["restartPolicy"] == "Always";
        let mut needed = amounts(container, runs_on);
        if runs_on {
            total.add(&needed);
            sidecars.add(&needed);
            peak.raise(&sidecars);
        } else {
            needed.add(&sidecars);
            peak.raise(&needed);
        }
    }
    total.raise(&peak);
    total
}

/// Returns the status of a container that reports its resources.
fn status_of<'a>(pod: &'a Value, name: &Value) -> Option<&'a Value> {
    let status = &pod["status"];
    let mut all = items(&status["containerStatuses"])
        .iter()
        .chain(items(&status["initContainerStatuses"]));
    let found = all.find(|status| status["name"] == *name);
    found.filter(|status| !status["resources"].is_null())
}

/// Returns whether the node cannot resize the pod as its spec says.
fn is_resize_infeasible(pod: &Value) -> bool {
    let mut conditions = items(&pod["status"]["conditions"]).iter();
    let pending = conditions.find(|condition| condition["type"] == "PodResizePending");
    pending.is_some_and(|pending| pending["reason"] == "Infeasible")
}

// === impl Side ===

impl Side {
    /// Returns this side of the resources of a container or a pod.
    pub fn of(self, resources: &Value) -> Amounts {
        Amounts::of(match self {
            Self::Requests => &resources["requests"],
            Self::Limits => &resources["limits"],
        })
    }

    /// Returns the resources that a container holds: those that it declares, or those that its status says are allocated.
    fn held(self, pod: &Value, declared: &Amounts, status: &Value) -> Amounts {
        let mut held = self.of(&status["resources"]);
        if self == Self::Requests {
            held.raise(&Amounts::of(&status["allocatedResources"]));
        }
        // A resize that cannot happen will never take what it declares.
        if !is_resize_infeasible(pod) {
            held.raise(declared);
        }
        held
    }
}
