//! Each entry has a config map in another namespace, which goes before the entry does: a finalizer sees to that.
//!
//! The bug: the finalizer is taken off before the config map is deleted.

use informer::{
    Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

use crate::kit::{self, AnyError};

const FINALIZER: &str = "subjects.example/directory";
const NAMESPACE: &str = "kube-public";

kit::subject! {
    /// The desired state: a text in the directory.
    kind "Entry" ("entries") EntrySpec { text: String }
}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    Controller::<Entry>::new("entries")
        .reconcile(move |ctx, _| async move { reconcile(&ctx, is_buggy).await })
}

async fn reconcile(ctx: &Context<Entry>, is_buggy: bool) -> Result<Action, AnyError> {
    let Some(entry) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    let name = entry.name_any();
    let has_finalizer = entry.finalizers().iter().any(|it| it == FINALIZER);
    if entry.metadata.deletion_timestamp.is_some() {
        if has_finalizer && is_buggy {
            set_finalizer(ctx, entry, false).await?;
            remove(ctx, &name).await?;
        } else if has_finalizer {
            remove(ctx, &name).await?;
            set_finalizer(ctx, entry, false).await?;
        }
        return Ok(Action::AwaitChange);
    }
    if !has_finalizer {
        // The change wakes the controller.
        set_finalizer(ctx, entry, true).await?;
        return Ok(Action::RequeueAfter(std::time::Duration::from_millis(100)));
    }
    // A deleted entry may come back under its name while the cache is behind.
    if !kit::is_current(ctx, &**entry).await? {
        return Ok(Action::RequeueAfter(std::time::Duration::from_millis(200)));
    }
    let mut copy = kit::config_map(
        &json!({"name": name, "namespace": NAMESPACE}),
        &entry.spec.text,
    )?;
    copy.metadata.labels = Some([("entry".to_owned(), name.clone())].into());
    let params = PatchParams::apply("directory").force();
    directory(ctx)
        .patch(&name, &params, &Patch::Apply(&copy))
        .await?;
    kit::set_status(ctx, &**entry, json!({"text": entry.spec.text})).await?;
    Ok(Action::AwaitChange)
}

fn directory(ctx: &Context<Entry>) -> Api<ConfigMap> {
    Api::namespaced(ctx.client().clone(), NAMESPACE)
}

async fn remove(ctx: &Context<Entry>, name: &str) -> Result<(), kube::Error> {
    match directory(ctx).delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(|_| ()),
    }
}

async fn set_finalizer(
    ctx: &Context<Entry>,
    entry: &Entry,
    is_on: bool,
) -> Result<(), kube::Error> {
    let finalizers: &[&str] = if is_on { &[FINALIZER] } else { &[] };
    let metadata = json!({"resourceVersion": entry.resource_version(), "finalizers": finalizers});
    let patch = Patch::Merge(json!({"metadata": metadata}));
    let entries = kit::api::<_, Entry>(ctx);
    entries
        .patch(&entry.name_any(), &PatchParams::default(), &patch)
        .await?;
    Ok(())
}
