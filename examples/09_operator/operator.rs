//! The operator: each website has a deployment, a service, and an entry in the directory of all sites; its status tells how many
//! replicas are ready.

use std::time::Duration;

use informer::{
    ObjectKey,
    controller::{Context, Controller, Runnable},
    events::EventType,
    workqueue::Action,
};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use kube::{Resource as _, ResourceExt as _};
use serde_json::json;

use crate::{
    AnyError,
    website::{Website, WebsiteStatus},
};

/// The name by which the server remembers which fields the operator has set.
pub(crate) const NAME: &str = "website-operator";
/// The mark of websites whose entry in the directory has to go before they do.
const FINALIZER: &str = "example.com/directory";
/// The namespace of the directory: a config map for each website.
pub(crate) const DIRECTORY: &str = "kube-public";

// ANCHOR: controller
/// Returns the operator, to be run by a manager.
pub(crate) fn controller() -> Runnable {
    Controller::<Website>::new(NAME)
        .owns::<Deployment>()
        .owns::<Service>()
        .reads::<ConfigMap>()
        .with_finalizer(FINALIZER)
        .with_workers(4)
        .with_timeout(Duration::from_secs(30))
        .reconcile(async |ctx, key| reconcile(&ctx, &key).await)
}
// ANCHOR_END: controller

// ANCHOR: reconcile
/// Does what is to be done for the website `key`. If this fails, it is called again after a growing delay.
async fn reconcile(ctx: &Context<Website>, key: &ObjectKey) -> Result<Action, AnyError> {
    let Some(website) = ctx.object() else {
        // The garbage collector removes what the website owned.
        return Ok(Action::AwaitChange);
    };
    let website = website.get();
    let entry = entry(website)?;
    if ctx.is_cleanup() {
        ctx.delete(&entry).await?;
        return Ok(Action::AwaitChange);
    }
    // An apply that would change nothing is not sent.
    let deployment = ctx.apply(&deployment(website)?).await?;
    ctx.apply(&service(website)?).await?;
    ctx.apply(&entry).await?;

    let ready = deployment
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas);
    let status = WebsiteStatus {
        ready_replicas: ready.unwrap_or_default(),
    };
    if ctx.set_status(&status).await? && status.ready_replicas == website.spec.replicas {
        ctx.event(EventType::Normal, "Ready", &format!("{key} is served"));
    }
    Ok(Action::AwaitChange)
}
// ANCHOR_END: reconcile

// ANCHOR: desired
/// Returns the deployment that `website` asks for.
fn deployment(website: &Website) -> Result<Deployment, serde_json::Error> {
    let labels = json!({"website": website.name_any()});
    let container = json!({"name": "website", "image": website.spec.image});
    serde_json::from_value(json!({
        "metadata": {"name": website.name_any(), "ownerReferences": [website.controller_owner_ref(&())]},
        "spec": {
            "replicas": website.spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }))
}

/// Returns the service of the replicas.
fn service(website: &Website) -> Result<Service, serde_json::Error> {
    serde_json::from_value(json!({
        "metadata": {"name": website.name_any(), "ownerReferences": [website.controller_owner_ref(&())]},
        "spec": {"selector": {"website": website.name_any()}, "ports": [{"port": 80, "protocol": "TCP"}]},
    }))
}

/// Returns the entry in the directory, which is in another namespace, so that the website cannot own it.
fn entry(website: &Website) -> Result<ConfigMap, serde_json::Error> {
    let (namespace, name) = (website.namespace().unwrap_or_default(), website.name_any());
    serde_json::from_value(json!({
        "metadata": {"name": format!("{namespace}.{name}"), "namespace": DIRECTORY},
        "data": {"url": format!("http://{name}.{namespace}.svc")},
    }))
}
// ANCHOR_END: desired
