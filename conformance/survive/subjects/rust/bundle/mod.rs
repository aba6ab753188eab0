//! Each bundle has a config map and a secret.
//!
//! The bug: if the config map is there, an attempt before is taken to have made everything.

use informer::{
    Object,
    controller::{Context, Controller, Runnable},
    workqueue::Action,
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{CustomResource, ResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{self, AnyError};

/// The desired state: that there is one.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "subjects.example",
    version = "v1",
    kind = "Bundle",
    namespaced
)]
#[kube(status = "Value", schema = "disabled")]
pub(crate) struct BundleSpec {}

pub(crate) fn controller(is_buggy: bool) -> Runnable {
    Controller::<Bundle>::new("bundles")
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .reconcile(move |ctx, _| async move { reconcile(&ctx, is_buggy).await })
}

async fn reconcile(ctx: &Context<Bundle>, is_buggy: bool) -> Result<Action, AnyError> {
    let Some(bundle) = ctx.object().map(Object::get) else {
        return Ok(Action::AwaitChange);
    };
    let name = bundle.name_any();
    let config = kit::config_map(&json!({"name": format!("{name}-config")}), "config")?;
    let is_new = kit::create(ctx, &**bundle, config).await?;
    if is_new || !is_buggy {
        let key = json!({"metadata": {"name": format!("{name}-key")}, "stringData": {"key": "1"}});
        kit::create::<_, Secret>(ctx, &**bundle, serde_json::from_value(key)?).await?;
    }
    kit::set_status(ctx, &**bundle, json!({"made": true})).await?;
    Ok(Action::AwaitChange)
}
