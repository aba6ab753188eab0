//! Each fleet has as many pods as it wants, whose names the server completes: a replica set.
//!
//! It counts its pods in the cache, makes or deletes one, and looks again until all run. The controller's gate for its own writes
//! holds a reconcile back until the cache shows what the one before it wrote. The bug, kubernetes#129795: pods are made and deleted
//! around the gate, so that the count is wrong while the cache is behind.

use std::time::Duration;

use informer::{
    LabelSelector, Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource as _, ResourceExt as _, api::PostParams};
use serde_json::json;

use crate::kit::{self, AnyError};

/// The pause before the next look at pods that do not run yet.
const AGAIN: Duration = Duration::from_millis(500);

kit::subject! {
    /// The desired state: a number of pods.
    kind "Fleet" FleetSpec { replicas: usize }
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    Controller::<Fleet>::new("fleets")
        .owns::<Pod>()
        .reconcile(move |ctx, _| async move { reconcile(&ctx, is_buggy).await })
}

async fn reconcile(ctx: &Context<Fleet>, is_buggy: bool) -> Result<Action, AnyError> {
    let Some(fleet) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    if fleet.metadata.deletion_timestamp.is_some() {
        return Ok(Action::AwaitChange);
    }
    let wanted = fleet.spec.replicas;
    let pods = own_pods(ctx, fleet)?;
    if pods.len() != wanted {
        // A deleted fleet may come back under its name while the cache is behind.
        if !kit::is_current(ctx, &**fleet).await? {
            return Ok(Action::RequeueAfter(AGAIN));
        }
        match pods.last() {
            Some(last) if pods.len() > wanted => delete(ctx, last, is_buggy).await?,
            _ => create(ctx, fleet, is_buggy).await?,
        }
        return Ok(Action::RequeueAfter(AGAIN));
    }
    if !pods.iter().all(is_running) {
        return Ok(Action::RequeueAfter(AGAIN));
    }
    kit::set_status(ctx, &**fleet, json!({"ready": wanted})).await?;
    Ok(Action::AwaitChange)
}

/// Returns the living pods of a fleet, as the cache has them, by age and name.
fn own_pods(ctx: &Context<Fleet>, fleet: &Fleet) -> Result<Vec<Pod>, AnyError> {
    let pods = ctx.lister::<Pod>()?.namespaced(ctx.key().namespace())?;
    let pods = pods.list(&LabelSelector::everything())?;
    let pods = pods.iter().map(|pod| Pod::clone(pod.get()));
    let mut own: Vec<Pod> = pods.filter(|pod| kit::is_own(pod, fleet)).collect();
    own.sort_by_key(|pod| (pod.creation_timestamp(), pod.name_any()));
    Ok(own)
}

async fn create(ctx: &Context<Fleet>, fleet: &Fleet, is_buggy: bool) -> Result<(), AnyError> {
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {
            "generateName": format!("{}-", fleet.name_any()),
            "ownerReferences": [fleet.controller_owner_ref(&())],
        },
        "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
    }))?;
    if is_buggy {
        let pods = kit::api::<_, Pod>(ctx);
        pods.create(&PostParams::default(), &pod).await?;
    } else {
        ctx.create(&pod).await?;
    }
    Ok(())
}

async fn delete(ctx: &Context<Fleet>, pod: &Pod, is_buggy: bool) -> Result<(), AnyError> {
    if is_buggy {
        kit::delete(&kit::api(ctx), pod).await?;
    } else {
        ctx.delete(pod).await?;
    }
    Ok(())
}

fn is_running(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    status.and_then(|status| status.phase.as_deref()) == Some("Running")
}
