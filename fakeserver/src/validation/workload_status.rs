//! What controllers report of workloads: counts are not negative, and parts are not greater than the whole.

use super::{field::Field, findings::Findings};

/// The counts of one kind, in the order in which they are looked at.
struct Counts {
    all: &'static [&'static str],
    /// Those that are parts of `replicas`.
    parts: &'static [&'static str],
    /// Why more cannot be available than are ready.
    unready: &'static str,
}

const DEPLOYMENT: Counts = Counts {
    all: &[
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ],
    parts: &["updatedReplicas", "readyReplicas", "availableReplicas"],
    unready: "cannot be greater than readyReplicas",
};

/// Of replica sets, and the replication controllers that they come from.
const REPLICA_SET: Counts = Counts {
    all: &[
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ],
    parts: &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
    unready: "cannot be greater than readyReplicas",
};

const STATEFUL_SET: Counts = Counts {
    all: &[
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ],
    parts: &[
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
    ],
    unready: "cannot be greater than status.readyReplicas",
};

const DAEMON_SET: Counts = Counts {
    all: &[
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ],
    parts: &[],
    unready: "",
};

pub(super) fn check_deployment(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(&DEPLOYMENT, old, new, found);
}

pub(super) fn check_replica_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(&REPLICA_SET, old, new, found);
}

pub(super) fn check_stateful_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(&STATEFUL_SET, old, new, found);
}

pub(super) fn check_daemon_set(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(&DAEMON_SET, old, new, found);
}

fn check(counts: &Counts, old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let status = new.at("status");
    for count in counts.all {
        found.non_negative(&status.at(count));
    }
    // What is not said is shown as the zero that it counts as.
    let mut refuse = |count: &Field<'_>, why: &str| {
        found.invalid_as(count, &count.number().into(), why);
    };
    let all = status.at("replicas").number();
    for part in counts.parts {
        let part = status.at(part);
        if part.number() > all {
            refuse(&part, "cannot be greater than status.replicas");
        }
    }
    let available = status.at("availableReplicas");
    if available.number() > status.at("readyReplicas").number() {
        refuse(&available, counts.unready);
    }
    let collisions = status.at("collisionCount");
    if collisions.number() < old.at("status").at("collisionCount").number() {
        refuse(&collisions, "cannot be decremented");
    }
}
