//! Deployments are rolled out and scaled: replica sets grow and shrink, and endpoints follow.

use super::{
    Tick,
    queue::{Action, PodRef},
};
use crate::simulated::{
    print::{EventSubject, Mode},
    prototypes::PodPhase,
    shape,
    world::{Owner, Pod, forget},
};

/// The maximum number of pods that a deployment creates or deletes in one step.
const BURST: usize = 20;
/// The number of replica sets without pods that are kept.
const SETS_KEPT: usize = 3;

// === impl Tick ===

impl Tick<'_, '_, '_> {
    /// Begins the rollout of a deployment.
    pub(super) fn roll_out(&mut self) {
        let Some(number) = self.some_app() else {
            return;
        };
        let app = self.world.app(number);
        // A roll-out replaces one pod at a time.
        let older = app.sets.iter().rev().skip(1);
        if older.map(|set| set.pods.len()).sum::<usize>() > 0 {
            return;
        }
        let second = self.second();
        shape::add_set(self.world, number, second);
        let app = self.world.app_mut(number);
        app.generation += 1;
        app.changed = second;
        let app = self.world.app(number);
        let newest = app.newest();
        let message = format!("Scaled up replica set {}-{} from 0", app.name, newest.hash);
        self.printer.deployment(self.world, app, Mode::Update);
        let revision = newest.revision;
        self.printer
            .replica_set(self.world, app, revision, Mode::Create);
        self.record_app(number, &message);
        self.enqueue(number);
    }

    /// Scales a deployment to something near the size that it began with.
    pub(super) fn scale(&mut self) {
        let Some(number) = self.some_app() else {
            return;
        };
        let percent = u32::try_from(self.world.below(41)).unwrap_or_default() + 80;
        let second = self.second();
        let app = self.world.app_mut(number);
        let replicas = (app.size * percent / 100).max(1);
        if replicas == app.replicas {
            return;
        }
        let message = format!(
            "Scaled replica set {}-{} from {} to {replicas}",
            app.name,
            app.newest().hash,
            app.replicas
        );
        app.replicas = replicas;
        app.generation += 1;
        app.changed = second;
        let app = self.world.app(number);
        self.printer.deployment(self.world, app, Mode::Update);
        self.record_app(number, &message);
        self.enqueue(number);
    }

    /// Has a deployment looked at soon.
    pub(super) fn enqueue(&mut self, number: u32) {
        let app = self.world.app_mut(number);
        if !app.is_due {
            app.is_due = true;
            self.later(200..1_000, Action::Sync(number));
        }
    }

    /// Brings the pods of a deployment nearer to the desired state, and updates the status.
    pub(super) fn sync(&mut self, number: u32) {
        let second = self.second();
        let app = self.world.app_mut(number);
        app.is_due = false;
        app.changed = second;
        let more = self.missing(number).min(BURST);
        let fewer = self.surplus(number);
        let revision = self.world.app(number).newest().revision;
        for _ in 0..more {
            self.create_pod(Owner::Set {
                app: number,
                revision,
            });
        }
        for pod in fewer.into_iter().take(BURST) {
            self.terminate(pod);
        }
        self.write_sets(number);
        self.write_slices(number);
        let app = self.world.app(number);
        self.printer.deployment(self.world, app, Mode::Update);
        if self.missing(number) > 0 || !self.surplus(number).is_empty() {
            self.enqueue(number);
        }
    }

    /// Returns the number of pods of the newest replica set that may be created now.
    fn missing(&self, number: u32) -> usize {
        let app = self.world.app(number);
        let wanted = app.replicas as usize;
        let active = |pods: &[u32]| self.pods(pods).filter(|(_, pod)| pod.is_active()).count();
        let newest = active(&app.newest().pods);
        let all: usize = app.sets.iter().map(|set| active(&set.pods)).sum();
        let most = wanted + wanted.div_ceil(4);
        wanted.saturating_sub(newest).min(most.saturating_sub(all))
    }

    /// The pods that may be deleted now: those of older replica sets, and those that are too many.
    fn surplus(&self, number: u32) -> Vec<PodRef> {
        let app = self.world.app(number);
        let wanted = app.replicas as usize;
        let all = app.sets.iter().flat_map(|set| &set.pods);
        let ready = all
            .filter(|pod| self.world.pods.get(**pod).is_some_and(Pod::is_ready))
            .count();
        // At least three quarters of the wanted pods stay ready.
        let mut spare = ready.saturating_sub(wanted - wanted / 4);
        let newest = app.newest();
        let older = app.sets.iter().take(app.sets.len() - 1);
        let older = older.flat_map(|set| self.pods(&set.pods));
        let own = self.pods(&newest.pods).filter(|(_, pod)| pod.is_active());
        let own: Vec<_> = own.collect();
        let excess = own.len().saturating_sub(wanted);
        let own = own.into_iter().rev().take(excess);
        let going = older.chain(own).filter(|(_, pod)| pod.is_active());
        going
            .filter(|(_, pod)| {
                let goes = !pod.is_ready() || spare > 0;
                spare -= usize::from(goes && pod.is_ready());
                goes
            })
            .map(|(number, pod)| PodRef {
                number,
                uid: pod.uid,
            })
            .collect()
    }

    /// Updates the sizes of the replica sets, writes those in use, and deletes the oldest empty ones.
    fn write_sets(&mut self, number: u32) {
        let mut revisions = Vec::new();
        for index in 0..self.world.app(number).sets.len() {
            let set = &self.world.app(number).sets[index];
            let active = self.pods(&set.pods).filter(|(_, pod)| pod.is_active());
            let active = u32::try_from(active.count()).unwrap_or(u32::MAX);
            let set = &mut self.world.app_mut(number).sets[index];
            let is_empty = set.pods.is_empty() && set.wanted == 0;
            if set.wanted != active {
                set.wanted = active;
                set.generation += 1;
            }
            if !is_empty {
                revisions.push(set.revision);
            }
        }
        for revision in revisions {
            let app = self.world.app(number);
            self.printer
                .replica_set(self.world, app, revision, Mode::Update);
        }
        while self.world.app(number).sets.len() > SETS_KEPT
            && self.world.app(number).sets[0].pods.is_empty()
        {
            let Some(set) = self.world.app_mut(number).sets.pop_front() else {
                break;
            };
            let app = self.world.app(number);
            self.printer.delete_replica_set(self.world, app, &set.hash);
        }
    }

    /// Writes the endpoint slices that have changed, and deletes those that are empty, but not the last one.
    fn write_slices(&mut self, number: u32) {
        let count = self.world.app(number).slices.len();
        for index in (0..count).rev() {
            let app = self.world.app_mut(number);
            if app.slices[index].pods.is_empty() && app.slices.len() > 1 {
                let slice = app.slices.remove(index);
                let app = self.world.app(number);
                self.printer.delete_slice(self.world, app, slice.suffix);
                continue;
            }
            let slice = &mut app.slices[index];
            if !std::mem::take(&mut slice.is_changed) {
                continue;
            }
            slice.generation += 1;
            let mode = match slice.generation {
                1 => Mode::Create,
                _ => Mode::Update,
            };
            let app = self.world.app(number);
            self.printer.slice(self.world, app, index, mode);
        }
    }

    /// Marks the slice of a pod as outdated.
    pub(super) fn endpoint_changed(&mut self, pod: PodRef) {
        let Some(Owner::Set { app, .. }) = self.owner(pod) else {
            return;
        };
        for slice in &mut self.world.app_mut(app).slices {
            slice.is_changed |= slice.pods.contains(&pod.number);
        }
        self.enqueue(app);
    }

    pub(super) fn remove_endpoint(&mut self, app: u32, pod: u32) {
        for slice in &mut self.world.app_mut(app).slices {
            if slice.pods.contains(&pod) {
                forget(&mut slice.pods, pod);
                slice.is_changed = true;
            }
        }
    }

    fn record_app(&mut self, number: u32, message: &str) {
        let second = self.second();
        let app = self.world.app(number);
        let about = EventSubject {
            kind: "Deployment",
            api_version: "apps/v1",
            namespace: &self.world.namespaces[app.namespace as usize].name,
            name: &app.name,
            uid: app.uid,
            node: "",
        };
        let what = ("deployment-controller", "ScalingReplicaSet", message);
        self.printer.event(about, what, second);
    }

    fn some_app(&mut self) -> Option<u32> {
        let count = self.world.apps.len();
        (count > 0).then(|| u32::try_from(self.world.below(count)).unwrap_or_default())
    }

    fn pods<'b>(&'b self, numbers: &'b [u32]) -> impl Iterator<Item = (u32, &'b Pod)> {
        let pods = numbers.iter();
        pods.filter_map(|number| Some((*number, self.world.pods.get(*number)?)))
    }
}

/// Returns whether pods of this phase are lost with their node.
pub(super) fn is_on_a_node(phase: PodPhase) -> bool {
    matches!(phase, PodPhase::Running | PodPhase::Crashed)
}
