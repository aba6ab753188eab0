//! Pods are bound, start, crash and stop.

use super::{
    Tick,
    queue::{Action, PodRef},
};
use crate::simulated::{
    print::{Mode, PodStrings, about},
    prototypes::PodPhase,
    world::{Owner, Pod},
};

/// The number of draws for a pod that may crash.
const CRASHES_TRIED: usize = 8;

// === impl Tick ===

impl Tick<'_, '_, '_> {
    /// Makes a pod, which the scheduler sees a moment later.
    pub(super) fn create_pod(&mut self, owner: Owner) {
        let second = self.second();
        let number = self.world.add_pod(owner, second);
        self.announce_pod(number);
    }

    /// Writes a new pod.
    pub(super) fn announce_pod(&mut self, number: u32) {
        if let Some(pod) = self.world.pods.get(number) {
            self.printer.pod(self.world, pod, Mode::Create);
            let pod = PodRef {
                number,
                uid: pod.uid,
            };
            self.later(50..400, Action::Bind(pod));
        }
    }

    pub(super) fn bind(&mut self, pod: PodRef) {
        if self.phase(pod) != Some(PodPhase::Pending) {
            return;
        }
        let node = match self.world.pods.get(pod.number).map(|pod| pod.owner) {
            Some(Owner::Daemon(daemon)) => self.bare_node(daemon),
            _ => None,
        };
        self.world.place(pod.number, node);
        if self.turn(pod, PodPhase::Scheduled) {
            self.record_event(
                pod,
                (
                    "default-scheduler",
                    "Scheduled",
                    "Successfully assigned the pod to a node",
                ),
            );
            self.later(800..4_000, Action::Start(pod));
        }
    }

    pub(super) fn start(&mut self, pod: PodRef) {
        if self.phase(pod) != Some(PodPhase::Scheduled) {
            return;
        }
        if self.is_on_lost_node(pod) {
            match self.owner(pod) {
                Some(Owner::Set { .. }) => self.terminate(pod),
                _ => self.later(60_000..61_000, Action::Start(pod)),
            }
            return;
        }
        let second = self.second();
        if let Some(pod) = self.world.pods.get_mut(pod.number) {
            // A pod is ready five seconds after its start.
            pod.started = second - 5;
        }
        if !self.turn(pod, PodPhase::Running) {
            return;
        }
        self.record_event(pod, ("kubelet", "Started", "Container started"));
        match self.owner(pod) {
            Some(Owner::Set { app, .. }) => {
                crate::simulated::shape::add_endpoint(self.world, app, pod.number);
                self.enqueue(app);
            }
            Some(Owner::Job(job)) => {
                if let Some(job) = self.world.jobs.get(job) {
                    self.printer.job(self.world, job, Mode::Update);
                }
                self.later(10_000..60_000, Action::Finish(pod));
            }
            _ => {}
        }
    }

    /// Lets a container crash.
    pub(super) fn crash(&mut self) {
        let end = self.world.pods.end();
        if end == 0 {
            return;
        }
        for _ in 0..CRASHES_TRIED {
            let number = u32::try_from(self.world.below(end)).unwrap_or_default();
            let Some(pod) = self.world.pods.get(number) else {
                continue;
            };
            if pod.phase != PodPhase::Running || matches!(pod.owner, Owner::Job(_)) {
                continue;
            }
            let pod = PodRef {
                number,
                uid: pod.uid,
            };
            if self.turn(pod, PodPhase::Crashed) {
                self.record_event(
                    pod,
                    (
                        "kubelet",
                        "BackOff",
                        "Back-off restarting failed container app",
                    ),
                );
                self.later(10_000..12_000, Action::Restart(pod));
                self.endpoint_changed(pod);
            }
            return;
        }
    }

    pub(super) fn restart(&mut self, pod: PodRef) {
        if self.phase(pod) != Some(PodPhase::Crashed) {
            return;
        }
        let second = self.second();
        if let Some(pod) = self.world.pods.get_mut(pod.number) {
            pod.started = second - 5;
            pod.restarts += 1;
        }
        if self.turn(pod, PodPhase::Running) {
            self.record_event(pod, ("kubelet", "Started", "Container started"));
            self.endpoint_changed(pod);
        }
    }

    /// Tells a pod to stop. It serves no more.
    pub(super) fn terminate(&mut self, pod: PodRef) {
        let Some(phase) = self.phase(pod) else { return };
        if phase == PodPhase::Terminating {
            return;
        }
        let owner = self.owner(pod);
        if let Some(Owner::Set { app, .. }) = owner {
            self.remove_endpoint(app, pod.number);
        }
        if matches!(phase, PodPhase::Pending | PodPhase::Scheduled) {
            // What never ran has nothing to stop.
            self.stop(pod);
        } else if self.turn(pod, PodPhase::Terminating) {
            self.record_event(pod, ("kubelet", "Killing", "Stopping container app"));
            self.later(1_000..6_000, Action::Stop(pod));
        }
    }

    /// A pod is gone.
    pub(super) fn stop(&mut self, pod: PodRef) {
        if self.phase(pod).is_none() {
            return;
        }
        if let Some(pod) = self.world.pods.get(pod.number) {
            self.printer.delete_pod(self.world, pod);
        }
        self.dropped(pod);
    }

    /// A pod that is not stored any more.
    fn dropped(&mut self, pod: PodRef) {
        let owner = self.owner(pod);
        if let Some(Owner::Set { app, .. }) = owner {
            self.remove_endpoint(app, pod.number);
        }
        self.world.remove_pod(pod.number);
        match owner {
            Some(Owner::Set { app, .. }) => self.enqueue(app),
            Some(owner @ Owner::Daemon(_)) => self.create_pod(owner),
            _ => {}
        }
    }

    /// Moves a pod to another phase, and writes it. Returns false if the pod was deleted by a client.
    pub(super) fn turn(&mut self, pod: PodRef, phase: PodPhase) -> bool {
        let second = self.second();
        let Some(own) = self.world.pods.get_mut(pod.number) else {
            return false;
        };
        own.phase = phase;
        own.ended = second;
        let own = self.world.pods.get(pod.number);
        let is_there = own.is_some_and(|own| self.printer.pod(self.world, own, Mode::Update));
        if !is_there {
            self.dropped(pod);
        }
        is_there
    }

    /// An event about a pod.
    pub(super) fn record_event(&mut self, pod: PodRef, what: (&str, &str, &str)) {
        let second = self.second();
        if let Some(pod) = self.world.pods.get(pod.number) {
            let strings = PodStrings::of(self.world, pod);
            self.printer.event(about(&strings, pod), what, second);
        }
    }

    /// The phase of a pod, if it is that one.
    pub(super) fn phase(&self, pod: PodRef) -> Option<PodPhase> {
        self.own(pod).map(|pod| pod.phase)
    }

    pub(super) fn owner(&self, pod: PodRef) -> Option<Owner> {
        self.own(pod).map(|pod| pod.owner)
    }

    fn is_on_lost_node(&self, pod: PodRef) -> bool {
        let node = self.own(pod).and_then(|pod| pod.node);
        node.is_some_and(|node| self.world.node(node).lost.is_some())
    }

    fn own(&self, pod: PodRef) -> Option<&Pod> {
        let own = self.world.pods.get(pod.number);
        own.filter(|own| own.uid == pod.uid)
    }

    /// A node that this daemon does not run on.
    fn bare_node(&self, daemon: u32) -> Option<u32> {
        let pods = &self.world.daemons[daemon as usize].pods;
        let nodes = pods
            .iter()
            .filter_map(|pod| self.world.pods.get(*pod)?.node);
        let taken: std::collections::BTreeSet<u32> = nodes.collect();
        (0..)
            .take(self.world.nodes.len())
            .find(|node| !taken.contains(node))
    }
}
