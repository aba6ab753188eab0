//! One copy of a program: a runtime with a clock of its own, a manager, and its controller.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use informer::{
    controller::{Context, Controller, Runnable},
    factory::SharedInformerFactory,
    leader_election::{LeaderElectionOptions, WallClock},
    manager::ManagerError,
    reflector::ReflectorOptions,
    sharded_manager::{Ownership, RunningShardedManager, ShardedManager},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
    time::{advance, sleep},
};

use super::{
    network::{Link, Network},
    oracle::Oracle,
    world::ShardSetup,
};

/// As many times a runtime is polled before others are looked at.
const POLLS: usize = 4;

pub(super) struct Copy {
    pub(super) number: u32,
    pub(super) link: Link,
    pub(super) ownership: Ownership,
    /// The time until which its clock stands still.
    pub(super) stands_until: Option<Duration>,
    /// The time until which it has no connection.
    pub(super) cut_until: Option<Duration>,
    /// The time that has passed while its clock stood still.
    missed: Duration,
    /// The rate of its clock, in thousandths.
    rate: u32,
    manager: Option<RunningShardedManager>,
    ending: Option<BoxFuture<'static, Result<(), ManagerError>>>,
    /// Dropped last: what runs in it is dropped where it stands.
    runtime: Runtime,
}

// === impl Copy ===

impl Copy {
    /// Begins a copy.
    pub(super) fn start(
        number: u32,
        rate: u32,
        setting: ShardSetup,
        network: &Network,
        oracle: &Oracle,
    ) -> Self {
        let runtime = paused_runtime();
        let link = Link::default();
        let client = network.client(number, &link);
        let manager = runtime.block_on(async {
            let client = client();
            let options = ReflectorOptions::default().with_seed(u64::from(number));
            let factory = SharedInformerFactory::new(client.clone()).with_options(options);
            let mut election = LeaderElectionOptions::default();
            election.clock = WallClock::simulated(1_700_000_000 + 1_000 * number);
            let name = format!("copy-{number}");
            let manager =
                ShardedManager::new(client, "default", "operator", name, setting.shard_count)
                    .unwrap()
                    .with_shards_by(setting.field)
                    .with_factory(&factory)
                    .with_election_options(election)
                    .unwrap()
                    .with_sync_limit(Duration::from_hours(1))
                    .with_stop_limit(Duration::from_secs(4));
            let oracle = oracle.clone();
            manager
                .with_controller(move || controller(number, oracle.clone()))
                .start()
        });
        Self {
            number,
            link,
            ownership: manager.ownership().clone(),
            stands_until: None,
            cut_until: None,
            missed: Duration::ZERO,
            rate,
            manager: Some(manager),
            ending: None,
            runtime,
        }
    }

    /// Lets time pass; none, while its clock stands still.
    pub(super) fn pass(&mut self, time: Duration) {
        if self.stands_until.is_some() {
            self.missed += time;
            return;
        }
        let time = (time + std::mem::take(&mut self.missed)) * self.rate / 1_000;
        self.runtime.block_on(advance(time));
    }

    /// Lets it do what it can do now.
    pub(super) fn poll(&mut self) {
        if self.stands_until.is_some() {
            return;
        }
        let (manager, ending) = (&mut self.manager, &mut self.ending);
        self.runtime.block_on(async {
            for _ in 0..POLLS {
                if let Some(outcome) = ending.as_mut().and_then(FutureExt::now_or_never) {
                    // What did not end in time was dropped, and its lease runs out.
                    let is_usual =
                        matches!(&outcome, Ok(()) | Err(ManagerError::NotDrained { .. }));
                    assert!(is_usual, "{outcome:?}");
                    *ending = None;
                }
                yield_now().await;
            }
        });
        assert!(manager.is_some() || self.is_ending() || self.has_ended());
    }

    /// Begins to end in good order.
    pub(super) fn leave(&mut self) {
        if let Some(manager) = self.manager.take() {
            self.ending = Some(manager.shutdown().boxed());
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.manager.is_none() && self.ending.is_none()
    }

    pub(super) fn shards(&self) -> BTreeSet<u32> {
        self.ownership.shards()
    }
}

/// Creates a runtime whose clock stands still unless it is advanced.
pub(super) fn paused_runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    runtime.expect("a runtime without sockets can be made")
}

/// Returns the controller of a copy: what is wanted of an object is done in two steps.
fn controller(copy: u32, oracle: Oracle) -> Runnable {
    let oracle = Arc::new(oracle);
    Controller::<ConfigMap>::new("operator")
        .with_predicate(informer::controller::Predicate::any())
        .with_workers(2)
        .reconcile(move |ctx, _| {
            let oracle = Arc::clone(&oracle);
            async move { reconcile(&ctx, copy, &oracle).await }
        })
}

async fn reconcile(
    ctx: &Context<ConfigMap>,
    copy: u32,
    oracle: &Oracle,
) -> Result<Action, kube::Error> {
    let Some(object) = ctx.object() else {
        return Ok(Action::AwaitChange);
    };
    let data = object.get().data.clone().unwrap_or_default();
    let Some(wanted) = data.get("wanted") else {
        return Ok(Action::AwaitChange);
    };
    let reconciling = oracle.begin(object.uid(), copy);
    let api: Api<ConfigMap> = Api::namespaced(ctx.client().clone(), ctx.key().namespace());
    for step in ["first", "second"] {
        // Long enough to be under way when things happen.
        let hash = object.uid().bytes().map(u64::from).sum::<u64>() % 7;
        sleep(Duration::from_millis(40 + 60 * hash)).await;
        if data.get(step) != Some(wanted) {
            let patch = json!({"metadata": {"uid": object.uid()}, "data": {step: wanted}});
            let name = ctx.key().name();
            let params = PatchParams::default();
            let written = api.patch(name, &params, &Patch::Merge(patch)).await;
            if let Err(error) = written {
                reconciling.done();
                return match error {
                    // It is gone, or another one has its name.
                    kube::Error::Api(status) if matches!(status.code, 404 | 409) => {
                        Ok(Action::AwaitChange)
                    }
                    error => Err(error),
                };
            }
        }
    }
    reconciling.done();
    Ok(Action::AwaitChange)
}
