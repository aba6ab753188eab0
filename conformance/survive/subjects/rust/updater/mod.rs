//! Each update takes a slot, a config map, works for two seconds, and gives it back. There is one slot: no two updates work at once.
//!
//! The bug: the slots that are taken are counted in the cache.

use std::time::Duration;

use informer::{
    LabelSelector, Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt as _, api::ListParams};
use serde_json::json;

use crate::kit::{self, AnyError, FirstTimes};

/// The duration of an update.
const WORK: Duration = Duration::from_secs(2);

kit::subject! {
    /// The desired state: that it is done.
    kind "Update" UpdateSpec {}
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    let work = FirstTimes::default();
    Controller::<Update>::new("updates")
        .owns::<ConfigMap>()
        .with_workers(1)
        .reconcile(move |ctx, _| {
            let work = work.clone();
            async move { reconcile(&ctx, &work, is_buggy).await }
        })
}

async fn reconcile(
    ctx: &Context<Update>,
    work: &FirstTimes,
    is_buggy: bool,
) -> Result<Action, AnyError> {
    let Some(update) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    let slots = slots(ctx, is_buggy).await?;
    let own = slots.iter().find(|slot| kit::is_own(*slot, &**update));
    let is_done = update
        .status
        .as_ref()
        .is_some_and(|status| status["phase"] == "done");
    let is_working = update.status.is_some();
    match own {
        Some(own) if is_done => kit::delete(&kit::api(ctx), own).await?,
        Some(own) => {
            if !is_working {
                kit::set_status(ctx, &**update, json!({"phase": "working"})).await?;
            }
            if work.elapsed(&own.uid().unwrap_or_default()) < WORK {
                return Ok(Action::RequeueAfter(Duration::from_millis(200)));
            }
            kit::set_status(ctx, &**update, json!({"phase": "done"})).await?;
            return Ok(Action::RequeueAfter(Duration::from_millis(100)));
        }
        None if is_done => {}
        None if slots.is_empty() => {
            let name =
                json!({"name": format!("slot-{}", update.name_any()), "labels": {"slot": "1"}});
            kit::create(ctx, &**update, kit::config_map(&name, "slot")?).await?;
            kit::set_status(ctx, &**update, json!({"phase": "working"})).await?;
            return Ok(Action::RequeueAfter(Duration::from_millis(200)));
        }
        None => return Ok(Action::RequeueAfter(Duration::from_millis(300))),
    }
    Ok(Action::AwaitChange)
}

/// Returns the slots that are taken.
async fn slots(ctx: &Context<Update>, is_buggy: bool) -> Result<Vec<ConfigMap>, AnyError> {
    if is_buggy {
        let maps = ctx
            .lister::<ConfigMap>()?
            .namespaced(ctx.key().namespace())?;
        let slots = maps.list(&LabelSelector::everything())?;
        let slots = slots.iter().map(|slot| ConfigMap::clone(slot.get()));
        return Ok(slots
            .filter(|slot| slot.labels().contains_key("slot"))
            .collect());
    }
    Ok(kit::api(ctx)
        .list(&ListParams::default().labels("slot"))
        .await?
        .items)
}
