//! Each site has pods, and for each pod a config map with its data, which is removed when the pod is gone for a while.
//!
//! The bug: whether a pod is gone is read from the cache, which may be behind that of the config maps.

use std::time::Duration;

use informer::{
    LabelSelector, Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::ResourceExt as _;
use serde_json::json;

use crate::kit::{self, AnyError, FirstTimes};

/// The time for which a pod has to be gone.
const GONE: Duration = Duration::from_millis(400);

kit::subject! {
    /// The desired state: the number of pods.
    kind "Site" SiteSpec { replicas: usize }
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    let suspects = FirstTimes::default();
    Controller::<Site>::new("sites")
        .owns::<Pod>()
        .owns::<ConfigMap>()
        .reconcile(move |ctx, _| {
            let suspects = suspects.clone();
            async move { reconcile(&ctx, &suspects, is_buggy).await }
        })
}

async fn reconcile(
    ctx: &Context<Site>,
    suspects: &FirstTimes,
    is_buggy: bool,
) -> Result<Action, AnyError> {
    let Some(site) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    let (name, namespace) = (site.name_any(), ctx.key().namespace());
    let pods = ctx.lister::<Pod>()?.namespaced(namespace)?;
    let maps = ctx.lister::<ConfigMap>()?.namespaced(namespace)?;
    for number in 0..site.spec.replicas {
        let pod = format!("{name}-{number}");
        if !kit::find(&pods, &pod).is_some_and(|it| kit::is_own(&**it.get(), &**site)) {
            let spec = json!({"containers": [{"name": "main", "image": "example.com/main:1"}]});
            let pod = serde_json::from_value(json!({"metadata": {"name": pod}, "spec": spec}))?;
            kit::create::<_, Pod>(ctx, &**site, pod).await?;
        }
        let data = format!("{pod}-data");
        if !kit::find(&maps, &data).is_some_and(|it| kit::is_own(&**it.get(), &**site)) {
            let data = kit::config_map(&json!({"name": data}), "data")?;
            kit::create(ctx, &**site, data).await?;
        }
    }
    for pod in &pods.list(&LabelSelector::everything())? {
        let number = pod
            .get()
            .name_any()
            .rsplit('-')
            .next()
            .and_then(|it| it.parse().ok());
        let is_surplus = number.is_some_and(|number: usize| number >= site.spec.replicas);
        if is_surplus && kit::is_own(&**pod.get(), &**site) {
            kit::delete(&kit::api(ctx), &**pod.get()).await?;
        }
    }
    let mut has_suspects = false;
    for data in &maps.list(&LabelSelector::everything())? {
        let name = data.get().name_any();
        let Some(pod) = name.strip_suffix("-data") else {
            continue;
        };
        if kit::find(&pods, pod).is_some() {
            suspects.forget(pod);
            continue;
        }
        has_suspects = true;
        if suspects.elapsed(pod) < GONE {
            continue;
        }
        if is_buggy || kit::api::<_, Pod>(ctx).get_opt(pod).await?.is_none() {
            kit::delete(&kit::api(ctx), &**data.get()).await?;
        }
    }
    if has_suspects {
        return Ok(Action::RequeueAfter(GONE / 2));
    }
    let count = pods.list(&LabelSelector::everything())?.len();
    if count == site.spec.replicas {
        kit::set_status(ctx, &**site, json!({"replicas": count})).await?;
    }
    Ok(Action::AwaitChange)
}
