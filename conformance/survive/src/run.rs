//! The state that the taps and the steps of a run share, and the plan's actions on it.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use support::task::TaskSet;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep},
};

use super::{
    director::WriteOrders,
    kinds::ObjectRef,
    recorder::Recorder,
    subject::Order,
    trace::Event,
    watch_rules::{CutRule, WithheldResources},
    world::World,
};

/// The interval at which conditions are looked at.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// The longest wait for the subject to be quiet.
pub(super) const QUIET_WITHIN: Duration = Duration::from_mins(1);
/// The longest time for which a resource is frozen, and the quiet that ends it earlier.
const FROZEN_MAX: Duration = Duration::from_secs(6);
const FROZEN_QUIET: Duration = Duration::from_millis(1_200);
/// The longest wait for an object to be gone before it is created again.
const GONE_WITHIN: Duration = Duration::from_secs(30);
/// By how much longer than a lease its holder is stopped.
const LONGER_THAN_LEASE: Duration = Duration::from_secs(2);
/// The time after which a woken replica is given something to do.
const AWAKE: Duration = Duration::from_millis(800);
/// The time for which a process is stopped, if no lease tells.
const STOPPED: Duration = Duration::from_secs(5);

/// The state that the taps and the steps of a run share.
pub(super) struct Run {
    pub(super) world: World,
    pub(super) recorder: Arc<Recorder>,
    /// The resources that stand still for the subject.
    pub(super) frozen: WithheldResources,
    /// The resources that the subject is cut off.
    pub(super) cut: WithheldResources,
    /// The orders to each replica; set once they are started.
    pub(super) orders: OnceLock<Vec<mpsc::Sender<Order>>>,
    /// Tasks beside the run, which end with it.
    tasks: Mutex<TaskSet>,
    /// The objects that the user applied, as they were applied.
    applied: Mutex<Vec<Value>>,
    /// True while a replica is stopped.
    is_asleep: AtomicBool,
    /// The number of objects that were deleted and are to be created again.
    remaking: AtomicUsize,
}

// === impl Run ===

impl Run {
    pub(super) fn new(world: World, recorder: Recorder) -> Self {
        Self {
            world,
            recorder: Arc::new(recorder),
            frozen: WithheldResources::default(),
            cut: WithheldResources::default(),
            orders: OnceLock::new(),
            tasks: Mutex::default(),
            applied: Mutex::default(),
            is_asleep: AtomicBool::new(false),
            remaking: AtomicUsize::new(0),
        }
    }

    /// Applies an object as the user, who may have to create it again.
    pub(super) fn apply(&self, object: &Value) -> Result<(), String> {
        // A quick subject acts on it, and the plan deletes it, before the server's answer is here.
        let before = self.replace_applied(object, Some(object));
        // A refused object was not applied: a deletion must not bring it back.
        self.world.apply(object).inspect_err(|_| {
            self.replace_applied(object, before.as_ref());
        })
    }

    /// Keeps the form in which an object is to be created again, and returns the one before.
    fn replace_applied(&self, object: &Value, wanted: Option<&Value>) -> Option<Value> {
        let mut applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &mut Value| ObjectRef::to(known).is_same(&ObjectRef::to(object));
        let before = applied.extract_if(.., is_same).last();
        applied.extend(wanted.cloned());
        before
    }

    /// Keeps a change by the user, for a later creation of the object.
    pub(super) fn merge_applied(&self, object: &ObjectRef, patch: &Value) {
        let mut applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = applied.iter_mut();
        if let Some(known) = objects.find(|known| ObjectRef::to(known).is_same(object)) {
            json_patch::merge(known, patch);
        }
    }

    /// Waits until something is so, and returns whether that was within the time.
    pub(super) async fn until(&self, within: Duration, is_so: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + within;
        while !is_so() {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(TICK).await;
        }
        true
    }

    /// Runs a task beside the run, which ends with it.
    pub(super) fn beside(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn(task);
    }

    /// Ends the tasks beside the run.
    pub(super) async fn stop_tasks(&self) {
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.shutdown().await;
    }

    /// Returns whether a perturbation of the plan is still in force: a frozen resource, or a stopped replica.
    pub(super) fn is_held(&self) -> bool {
        self.frozen.is_something() || self.is_asleep.load(Ordering::Acquire) || self.is_remaking()
    }

    /// Returns whether a deleted object of the user is still to be created again.
    pub(super) fn is_remaking(&self) -> bool {
        self.remaking.load(Ordering::Acquire) > 0
    }

    /// Returns the identities that hold the leases of the subject now.
    pub(super) fn lease_holders(&self) -> Vec<String> {
        let own = self.recorder.leases();
        if own.is_empty() {
            return Vec::new();
        }
        self.world.lease_holders(&own)
    }

    /// Does what the plan orders before a write reaches the server.
    pub(super) async fn obey_before(self: &Arc<Self>, orders: &WriteOrders) {
        for resource in &orders.freeze {
            self.freeze(resource);
        }
        for object in &orders.touch {
            let patch =
                json!({"metadata": {"annotations": {"survive.conformance.dev/touched": "true"}}});
            if let Ok(path) = self.world.path(object) {
                let media_type = "application/merge-patch+json";
                let _ = self
                    .world
                    .request("PATCH", &path, media_type, patch.to_string().into())
                    .await;
            }
            self.recorder
                .note(Event::Perturbed(format!("annotated {object}")));
        }
        for (object, anew) in &orders.delete {
            self.delete(object, *anew).await;
        }
        if let Some(version) = &orders.upgrade {
            self.upgrade(version);
        }
    }

    /// Serves another version of Kubernetes, and ends all watches, as a server does that another one replaces.
    fn upgrade(&self, version: &str) {
        let event = match version.parse() {
            Ok(version) => {
                self.world.server.upgrade(version);
                self.world.server.disconnect();
                format!("the server became Kubernetes {version}")
            }
            // A plan of a file may be of another program.
            Err(error) => format!("no such upgrade: {error}"),
        };
        self.recorder.note(Event::Perturbed(event));
    }

    /// Lets a resource stand still until the subject is quiet, or for a few seconds.
    fn freeze(self: &Arc<Self>, resource: &str) {
        // The revision is read before the write of this moment commits: the cache must not see it.
        self.frozen.freeze(resource, self.world.server.revision());
        self.recorder.note(Event::Frozen {
            resource: resource.to_owned(),
        });
        let run = Arc::clone(self);
        self.beside(async move {
            let is_over = || run.recorder.is_quiet(FROZEN_QUIET);
            run.until(FROZEN_MAX, is_over).await;
            run.frozen.thaw();
            run.recorder.restart_quiet();
            run.recorder.note(Event::Thawed);
            // A change of the rules lets the server look at what it holds.
            drop(
                run.world
                    .server
                    .faults()
                    .install(CutRule(WithheldResources::default())),
            );
        });
    }

    /// Deletes an object, and creates it again when it is gone if `anew`.
    async fn delete(self: &Arc<Self>, object: &ObjectRef, anew: bool) {
        let Ok(path) = self.world.path(object) else {
            return;
        };
        let _ = self
            .world
            .request("DELETE", &path, "application/json", Vec::new())
            .await;
        self.recorder
            .note(Event::Perturbed(format!("deleted {object}")));
        let applied = {
            let applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
            let mut objects = applied.iter();
            objects
                .find(|it| ObjectRef::to(it).is_same(object))
                .cloned()
        };
        let Some(applied) = applied.filter(|_| anew) else {
            return;
        };
        // Counted before the task starts, or a run could be taken for quiet in between.
        self.remaking.fetch_add(1, Ordering::Release);
        let (run, object) = (Arc::clone(self), object.clone());
        self.beside(async move {
            let is_due = || {
                let is_gone = run.world.object(&object).is_none();
                is_gone && run.world.missing_namespace(&object).is_none()
            };
            if run.until(GONE_WITHIN, is_due).await {
                let _ = run.world.apply(&applied);
                run.recorder
                    .note(Event::Perturbed(format!("made {object} anew")));
            }
            // Only now: a step that waits for quiet must see the new object first.
            run.remaking.fetch_sub(1, Ordering::Release);
            run.recorder.restart_quiet();
        });
    }

    /// Kills a replica, and returns when it is dead. It is started again.
    pub(super) async fn crash(&self, replica: usize) {
        let orders = self.orders.get().and_then(|orders| orders.get(replica));
        let Some(orders) = orders else { return };
        let (done, is_done) = oneshot::channel();
        if orders.send(Order::Crash(done)).await.is_ok() {
            let _ = is_done.await;
        }
    }

    /// Stops a replica once it has its answer, for longer than its lease.
    pub(super) fn stop_after_answer(self: &Arc<Self>, replica: usize) {
        self.is_asleep.store(true, Ordering::Release);
        let run = Arc::clone(self);
        self.beside(async move {
            // The answer of the write has to reach the replica, which then believes that it leads.
            sleep(TICK).await;
            let own = run.recorder.leases();
            let time = run
                .world
                .lease_duration(&own)
                .map_or(STOPPED, |it| it + LONGER_THAN_LEASE);
            let orders = run.orders.get().and_then(|orders| orders.get(replica));
            let Some(orders) = orders else { return };
            let _ = orders.send(Order::Sleep(time)).await;
            sleep(time + AWAKE).await;
            // Without a change both replicas could be idle, and the old leader would not write.
            run.touch_applied().await;
            run.is_asleep.store(false, Ordering::Release);
        });
    }

    /// Annotates the objects that the user applied, so that the leader reconciles them.
    async fn touch_applied(self: &Arc<Self>) {
        let objects = {
            let applied = self.applied.lock().unwrap_or_else(PoisonError::into_inner);
            applied.iter().map(ObjectRef::to).collect()
        };
        let orders = WriteOrders {
            touch: objects,
            ..WriteOrders::default()
        };
        self.obey_before(&orders).await;
    }

    /// Waits until the subject may see a resource again. Returns whether it had to wait.
    pub(super) async fn wait_until_not_cut(&self, resource: &str) -> bool {
        if self.cut.since(resource).is_none() {
            return false;
        }
        self.until(QUIET_WITHIN, || self.cut.since(resource).is_none())
            .await;
        true
    }

    /// Lets the subject see all resources again: its watches have ended, and it lists again.
    pub(super) fn reconnect(&self) {
        let resources = self.cut.thaw();
        if resources.is_empty() {
            return;
        }
        self.recorder
            .note(Event::Perturbed("no longer cut off".to_owned()));
        self.recorder.restart_quiet_until_read(resources);
    }
}
