//! Copies lighthouses to config maps. Of several copies of the operator the one that holds a lease works.
//!
//! The bug: once it was the leader, it works for ever, whether its lease is lost or not.

use std::time::Duration;

use informer::{
    Object,
    controller::{Context, Controller, Predicate, Runnable},
    factory::SharedInformerFactory,
    leader_election::{LeaderElectionOptions, LeaderElector, LeaseLock, WallClock},
    manager::Manager,
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Client, Resource as _, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::kit::{self, AnyError};

/// The wait until an earlier lighthouse's config map is collected.
const AGAIN: Duration = Duration::from_millis(200);

kit::subject! {
    /// The desired state: a text.
    kind "Lighthouse" LighthouseSpec { text: String }
}

/// Works while it leads, until it is dropped.
pub(crate) async fn run(client: Client, identity: &str, is_buggy: bool) -> Result<(), AnyError> {
    let mut options = LeaderElectionOptions::default();
    options.lease_duration = Duration::from_secs(3);
    options.renew_deadline = Duration::from_secs(2);
    options.retry_period = Duration::from_millis(400);
    // No replica reads the times in the lease, and each run writes the same ones.
    options.clock = WallClock::simulated(0);
    let lock = LeaseLock::new(client.clone(), "default", "lighthouses");
    let elector = LeaderElector::with_options(lock, identity, options)?;
    // The cache is filled before it leads, so that it begins at once.
    let factory = SharedInformerFactory::new(client.clone());
    factory.informer_for::<Lighthouse>();
    factory.start();
    loop {
        let leadership = elector.acquire().await;
        let manager = Manager::new(client.clone()).with_factory(&factory);
        let work = manager.with_controller(controller());
        let work = work.run(CancellationToken::new());
        if is_buggy {
            return Ok(work.await?);
        }
        tokio::select! {
            biased;
            () = leadership.lost() => {}
            ended = work => return Ok(ended?),
        }
    }
}

/// It writes a record of each notification, so that the active replica is visible.
fn controller() -> Runnable {
    Controller::<Lighthouse>::new("lighthouses")
        .with_predicate(Predicate::any())
        .reconcile(async |ctx, _| reconcile(&ctx).await)
}

async fn reconcile(ctx: &Context<Lighthouse>) -> Result<Action, AnyError> {
    let Some(lighthouse) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    if !kit::is_current(ctx, &**lighthouse).await? {
        return Ok(Action::AwaitChange);
    }
    let (name, text) = (lighthouse.name_any(), &lighthouse.spec.text);
    let maps = kit::api::<_, ConfigMap>(ctx);
    let there = maps.get_opt(&name).await?;
    if there.is_some_and(|there| !kit::is_own(&there, &**lighthouse)) {
        return Ok(Action::RequeueAfter(AGAIN));
    }
    let owners = [lighthouse.controller_owner_ref(&())];
    let copy = kit::config_map(&json!({"name": name, "ownerReferences": owners}), text)?;
    let params = PatchParams::apply("lighthouses").force();
    maps.patch(&name, &params, &Patch::Apply(&copy)).await?;
    kit::set_status(ctx, &**lighthouse, json!({"text": text})).await?;
    Ok(Action::AwaitChange)
}
