//! A controller as in `kube_runtime`'s documentation: it applies copies, and retries after a fixed delay.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
    discovery::Discovery,
};
use kube_runtime::{
    Controller, WatchStreamExt,
    controller::Action,
    reflector::store::Writer,
    watcher::{self, Config},
};

use super::{config, handlers::Handlers, key, reflector::StoreSubject, state};
use crate::participants::subjects::{Subject, SubjectParts, expected_copies::Original};

/// The field manager.
const MANAGER: &str = "copier";
/// The delay of a retry, as in the documentation.
const AGAIN_AFTER: Duration = Duration::from_mins(1);
/// The downtime of a program after an error.
const RESTARTED_AFTER: Duration = Duration::from_secs(10);
/// The number of objects that may wait for the subscriber of a shared store.
const BUFFER: usize = 8;

/// Creates a controller that keeps a copy of each of `originals`.
pub(super) fn subject(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    originals: Api<ConfigMap>,
) -> Box<dyn Subject> {
    // The jitter of this thread is drawn from this seed in each run.
    fastrand::seed(parts.seed);
    let controller = Controller::new(originals, config(parts.plan));
    let store = controller.store();
    let handlers = Handlers::new(parts.informer, parts.recorder.clone());
    let mut subject = StoreSubject::unwatched(parts, waiter_count, store, handlers.clone());
    let context = Context::new(parts, handlers, subject.has_synced_flag());
    subject.run(run(controller, context));
    Box::new(subject)
}

/// Creates the same controller with a subscriber of a shared store.
pub(super) fn shared(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    originals: Api<ConfigMap>,
) -> Box<dyn Subject> {
    fastrand::seed(parts.seed);
    let writer = Writer::<ConfigMap>::new_shared(BUFFER, ());
    let store = writer.as_reader();
    let subscriber = writer.subscribe().expect("the writer is a shared one");
    let events = watcher::watcher(originals, config(parts.plan))
        .default_backoff()
        .reflect_shared(writer);
    let handlers = Handlers::new(parts.informer, parts.recorder.clone());
    let mut subject = StoreSubject::unwatched(parts, waiter_count, store.clone(), handlers.clone());
    let context = Context::new(parts, handlers, subject.has_synced_flag());
    let client = parts.client.clone();
    subject.run(async move {
        // Without the controller, the shared events would have no reader.
        await_secrets(&client).await;
        let events = events.for_each(|_| std::future::ready(()));
        let controller = Controller::for_shared_stream(subscriber, store);
        futures::future::join(events, run(controller, context)).await;
    });
    Box::new(subject)
}

/// The state that reconciliations share.
struct Context {
    client: kube::Client,
    handlers: Handlers,
    /// Set by the first reconciliation, which comes when the store is complete.
    has_begun: Arc<AtomicBool>,
}

async fn run(controller: Controller<ConfigMap>, context: Context) {
    await_secrets(&context.client).await;
    let copies = Api::<Secret>::all(context.client.clone());
    let results = controller.owns(copies, Config::default()).run(
        reconcile,
        |_, _: &kube::Error, _| Action::requeue(AGAIN_AFTER),
        Arc::new(context),
    );
    results.for_each(|_| std::future::ready(())).await;
}

/// Repeats discovery until the server lists secrets.
async fn await_secrets(client: &kube::Client) {
    while !has_secrets(client.clone()).await {
        tokio::time::sleep(RESTARTED_AFTER).await;
    }
}

/// Returns true if the server lists secrets.
async fn has_secrets(client: kube::Client) -> bool {
    let Ok(discovery) = Discovery::new(client).run().await else {
        return false;
    };
    let core = discovery.get("");
    core.is_some_and(|core| core.recommended_kind("Secret").is_some())
}

async fn reconcile(original: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    context.has_begun.store(true, Ordering::Relaxed);
    let present = state(original.as_ref());
    context
        .handlers
        .is_there(&key(original.as_ref()), &present, Some(&present), false);
    let original = Original {
        namespace: original.namespace().unwrap_or_default(),
        name: original.name_any(),
        uid: original.uid().unwrap_or_default(),
        version: original.resource_version().unwrap_or_default(),
    };
    let copies: Api<Secret> = Api::namespaced(context.client.clone(), &original.namespace);
    let parameters = PatchParams::apply(MANAGER).force();
    let patch = Patch::Apply(original.copy());
    copies.patch(&original.name, &parameters, &patch).await?;
    Ok(Action::await_change())
}

// === impl Context ===

impl Context {
    fn new(parts: &SubjectParts<'_>, handlers: Handlers, has_begun: Arc<AtomicBool>) -> Self {
        Self {
            client: parts.client.clone(),
            handlers,
            has_begun,
        }
    }
}
