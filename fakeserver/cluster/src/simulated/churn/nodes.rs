//! Nodes renew their leases and report their status; some fail, are lost, and recover.

use std::time::Duration;

use super::{
    Tick,
    apps::is_on_a_node,
    queue::{Action, PodRef, Queue},
};
use crate::simulated::{
    options::Churn,
    print::{EventSubject, Mode},
    prototypes::PodPhase,
    world::{Owner, World},
};

/// The time for which a silent node counts as ready.
const GRACE_MILLISECONDS: usize = 40_000;
/// The time for which pods tolerate that their node is lost.
const TOLERATION_MILLISECONDS: usize = 60_000;
/// The time for which a lost node is gone.
const OUTAGE_MILLISECONDS: usize = 300_000;

/// Spreads what all nodes do again and again.
pub(super) fn schedule(churn: &Churn, world: &mut World, queue: &mut Queue, now: i64) {
    let count = i64::try_from(world.nodes.len()).unwrap_or(i64::MAX);
    for (index, number) in (0..count).zip(0_u32..) {
        let spread = |interval: Duration| now + milliseconds(interval) * (index + 1) / count;
        if let Some(interval) = churn.lease_interval {
            queue.add(spread(interval), Action::Renew(number));
        }
        if let Some(interval) = churn.status_interval {
            queue.add(spread(interval), Action::Report(number));
        }
    }
    if let Some(interval) = churn.failure_interval {
        queue.add(now + milliseconds(interval), Action::Fail);
    }
}

fn milliseconds(interval: Duration) -> i64 {
    i64::try_from(interval.as_millis())
        .unwrap_or(i64::MAX / 2)
        .max(1)
}

// === impl Tick ===

impl Tick<'_, '_, '_> {
    pub(super) fn renew(&mut self, number: u32, churn: &Churn) {
        let Some(interval) = churn.lease_interval else {
            return;
        };
        self.queue
            .add(self.now + milliseconds(interval), Action::Renew(number));
        let node = self.world.node(number);
        if !node.is_silent {
            let millisecond = u32::try_from(self.now.rem_euclid(1_000)).unwrap_or_default();
            let now = (self.second(), millisecond);
            self.printer.lease(node, now, Mode::Update);
        }
    }

    pub(super) fn report(&mut self, number: u32, churn: &Churn) {
        let Some(interval) = churn.status_interval else {
            return;
        };
        self.queue
            .add(self.now + milliseconds(interval), Action::Report(number));
        let second = self.second();
        let node = &mut self.world.nodes[number as usize];
        if !node.is_silent {
            node.reported = second;
            self.printer.node(self.world, number, Mode::Update);
        }
    }

    /// Silences a random node. Its status changes only after the grace period.
    pub(super) fn fail(&mut self, churn: &Churn) {
        if let Some(interval) = churn.failure_interval {
            self.queue
                .add(self.now + milliseconds(interval), Action::Fail);
        }
        let count = self.world.nodes.len();
        let number = self.world.below(count);
        let node = &mut self.world.nodes[number];
        // The last one stays.
        if count > 1 && !node.is_silent {
            node.is_silent = true;
            let number = u32::try_from(number).unwrap_or_default();
            self.later(
                GRACE_MILLISECONDS..GRACE_MILLISECONDS + 5_000,
                Action::Lose(number),
            );
        }
    }

    /// A node is lost, with everything on it.
    pub(super) fn lose(&mut self, number: u32) {
        let second = self.second();
        self.world.nodes[number as usize].lost = Some(second);
        self.printer.node(self.world, number, Mode::Update);
        self.record_node(number, "NodeNotReady", "Node status is now: NodeNotReady");
        for pod in self.pods_on(number) {
            if self.phase(pod).is_some_and(is_on_a_node) && self.turn(pod, PodPhase::Lost) {
                self.endpoint_changed(pod);
            }
        }
        self.later(
            TOLERATION_MILLISECONDS..TOLERATION_MILLISECONDS + 1,
            Action::Evict(number),
        );
        self.later(
            OUTAGE_MILLISECONDS..OUTAGE_MILLISECONDS + 1,
            Action::Recover(number),
        );
    }

    /// Deletes the pods that do not tolerate the loss of their node; they are created again elsewhere.
    pub(super) fn evict(&mut self, number: u32) {
        for pod in self.pods_on(number) {
            match self.owner(pod) {
                Some(Owner::Set { .. }) => self.terminate(pod),
                // The node is not asked: its pods are as good as ended.
                Some(Owner::Job(_)) if self.phase(pod) == Some(PodPhase::Lost) => {
                    self.complete(pod);
                }
                _ => {}
            }
        }
    }

    pub(super) fn recover(&mut self, number: u32) {
        let second = self.second();
        let node = &mut self.world.nodes[number as usize];
        node.lost = None;
        node.is_silent = false;
        node.reported = second;
        self.printer.node(self.world, number, Mode::Update);
        self.record_node(number, "NodeReady", "Node status is now: NodeReady");
        for pod in self.pods_on(number) {
            if self.phase(pod) == Some(PodPhase::Lost) && self.turn(pod, PodPhase::Running) {
                self.endpoint_changed(pod);
            }
        }
    }

    fn record_node(&mut self, number: u32, reason: &str, message: &str) {
        let second = self.second();
        let node = self.world.node(number);
        let about = EventSubject {
            kind: "Node",
            api_version: "v1",
            namespace: "",
            name: &node.name,
            uid: node.uid,
            node: &node.name,
        };
        self.printer
            .event(about, ("node-controller", reason, message), second);
    }

    fn pods_on(&self, number: u32) -> Vec<PodRef> {
        let pods = self.world.node(number).pods.iter();
        pods.filter_map(|number| {
            let uid = self.world.pods.get(*number)?.uid;
            Some(PodRef {
                number: *number,
                uid,
            })
        })
        .collect()
    }
}
