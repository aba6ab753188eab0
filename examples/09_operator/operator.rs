//! The operator: each website has a deployment, and its status tells how many replicas are ready.

use std::{sync::Arc, time::Duration};

use informer::{
    ObjectKey,
    factory::{ScopedLister, SharedInformerFactory},
    workqueue::{Action, Enqueue, OwnerKind, WorkQueue, Workers, WorkersOptions},
};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, Resource as _,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    AnyError,
    website::{Website, WebsiteStatus},
};

/// The name by which the server remembers which fields the operator has set.
const MANAGER: &str = "website-operator";
/// The number of websites that are worked on at once.
const WORKERS: usize = 4;
/// The time within which the caches have to be there; an operator that exceeds it exits, and is started again.
const LIMIT: Duration = Duration::from_mins(2);

// ANCHOR: reconcile
/// Brings the cluster from the state that it has to the one that a website asks for.
struct Reconciler {
    /// The cache of the websites: reading from it costs no request.
    websites: ScopedLister<Website>,
    client: Client,
}

impl Reconciler {
    /// Does what is to be done for the website `key`. If this fails, the queue retries it after a growing delay.
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, AnyError> {
        let website = match self.websites.namespaced(key.namespace())?.get(key.name()) {
            Ok(website) => website,
            // The garbage collector removes the deployment, since the website owns it.
            Err(error) if error.is_not_found() => return Ok(Action::AwaitChange),
            Err(error) => return Err(error.into()),
        };
        let website = website.get();
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), key.namespace());
        let apply = PatchParams::apply(MANAGER).force();
        let desired = Patch::Apply(deployment(website));
        // An apply that changes nothing writes nothing.
        let deployment = deployments.patch(key.name(), &apply, &desired).await?;

        let ready = deployment.status.and_then(|status| status.ready_replicas);
        let status = Some(WebsiteStatus {
            ready_replicas: ready.unwrap_or_default(),
        });
        if website.status != status {
            let websites: Api<Website> = Api::namespaced(self.client.clone(), key.namespace());
            let patch = Patch::Merge(json!({"status": status}));
            let params = PatchParams::default();
            websites.patch_status(key.name(), &params, &patch).await?;
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns the deployment that `website` asks for.
fn deployment(website: &Website) -> serde_json::Value {
    let name = website.metadata.name.as_deref().unwrap_or_default();
    let labels = json!({"website": name});
    let container = json!({"name": "website", "image": website.spec.image});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "ownerReferences": [website.controller_owner_ref(&())]},
        "spec": {
            "replicas": website.spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}
// ANCHOR_END: reconcile

// ANCHOR: run
/// Works until `stop`, and leaves in good order.
pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<(), AnyError> {
    // A cache of each resource, which follows the server by a watch.
    let factory = SharedInformerFactory::new(client.clone());
    let websites = factory.informer_for::<Website>();
    let deployments = factory.informer_for::<Deployment>();

    // The keys of websites to look at, each once: of those that changed, and of the owners of changed deployments.
    let queue = WorkQueue::new();
    let owner = OwnerKind::new("example.com", "Website");
    websites.add_handler(Enqueue::for_object(&queue)).detach();
    deployments
        .add_handler(Enqueue::for_owner(&queue, owner))
        .detach();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await?;

    // Workers take keys from the queue; no two work on the same one at a time.
    let reconciler = Arc::new(Reconciler {
        websites: websites.lister(),
        client,
    });
    let options = WorkersOptions::new(WORKERS).with_timeout(Duration::from_secs(30));
    let workers = Workers::start(&queue, options, move |key| {
        let reconciler = Arc::clone(&reconciler);
        async move { reconciler.reconcile(key).await }
    });

    stop.cancelled().await;
    factory.shutdown().await;
    // What is queued is worked off.
    workers.shutdown().await;
    Ok(())
}
// ANCHOR_END: run
