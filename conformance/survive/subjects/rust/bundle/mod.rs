//! Each bundle has a config map and a secret. It is a controller of kube-runtime.
//!
//! The bug: if the config map is there, an attempt before is taken to have made everything.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client, ResourceExt as _};
use kube_runtime::{
    controller::{Action, Controller},
    watcher,
};
use serde_json::json;

use crate::kit::{self, AnyError, ObjectContext};

/// The wait after an error.
const AGAIN: Duration = Duration::from_millis(500);

kit::subject! {
    /// The desired state: that there is one.
    kind "Bundle" BundleSpec {}
}

/// The reconciled bundle, and the client.
struct BundleContext<'a> {
    client: &'a Client,
    namespace: String,
    name: String,
}

/// An error of a reconciliation.
#[derive(Debug)]
struct ReconcileError(AnyError);

/// Works until it is dropped.
pub(crate) async fn run(client: Client, is_buggy: bool) {
    let config = watcher::Config::default();
    let controller = Controller::new(Api::<Bundle>::all(client.clone()), config.clone());
    let controller = controller
        .owns(Api::<ConfigMap>::all(client.clone()), config.clone())
        .owns(Api::<Secret>::all(client.clone()), config);
    let reconcile = move |bundle: Arc<Bundle>, client: Arc<Client>| async move {
        let made = reconcile(&bundle, &client, is_buggy).await;
        made.map(|()| Action::await_change())
            .map_err(ReconcileError)
    };
    let again = |_: Arc<Bundle>, _: &ReconcileError, _: Arc<Client>| Action::requeue(AGAIN);
    controller
        .run(reconcile, again, Arc::new(client))
        .for_each(|_| async {})
        .await;
}

async fn reconcile(bundle: &Bundle, client: &Client, is_buggy: bool) -> Result<(), AnyError> {
    let name = bundle.name_any();
    let place = BundleContext {
        client,
        namespace: bundle.namespace().unwrap_or_default(),
        name: name.clone(),
    };
    if bundle.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let config = kit::config_map(&json!({"name": format!("{name}-config")}), "config")?;
    let is_new = kit::create(&place, bundle, config).await?;
    if is_new || !is_buggy {
        let key = json!({"metadata": {"name": format!("{name}-key")}, "stringData": {"key": "1"}});
        kit::create::<_, Secret>(&place, bundle, serde_json::from_value(key)?).await?;
    }
    kit::set_status(&place, bundle, json!({"made": true})).await
}

// === impl BundleContext ===

impl ObjectContext for BundleContext<'_> {
    fn client(&self) -> &Client {
        self.client
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }
}

// === impl ReconcileError ===

impl std::fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ReconcileError {}
