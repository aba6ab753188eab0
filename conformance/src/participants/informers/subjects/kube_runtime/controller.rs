//! A controller that owns objects of a second kind.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Api;
use kube_runtime::{Controller, controller::Action, watcher::Config};

use super::{config, handlers::Handlers, key, reflector::StoreSubject, state};
use crate::participants::subjects::{Subject, SubjectParts};

/// Creates a controller of pods that owns config maps. Each reconciliation notifies the handlers of its pod.
pub(super) fn subject(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    pods: Api<Pod>,
    owned: Api<ConfigMap>,
) -> Box<dyn Subject> {
    // The jitter of this thread is drawn from this seed in each run.
    fastrand::seed(parts.seed);
    let controller = Controller::new(pods, config(parts.plan)).owns(owned, Config::default());
    let store = controller.store();
    let handlers = Handlers::new(parts.informer, parts.recorder.clone());
    // The controller itself waits for the store, which wakes only one of several waiters.
    let mut subject = StoreSubject::unwatched(parts, waiter_count, store, handlers.clone());
    let context = Context {
        handlers,
        has_begun: subject.has_synced_flag(),
    };
    subject.run(async move {
        let results = controller.run(
            reconcile,
            |_, never: &Infallible, _| match *never {},
            Arc::new(context),
        );
        results.for_each(|_| std::future::ready(())).await;
    });
    Box::new(subject)
}

/// The state that reconciliations share.
struct Context {
    handlers: Handlers,
    /// Set by the first reconciliation, which comes when the store is complete.
    has_begun: Arc<AtomicBool>,
}

async fn reconcile(pod: Arc<Pod>, context: Arc<Context>) -> Result<Action, Infallible> {
    context.has_begun.store(true, Ordering::Relaxed);
    let present = state(pod.as_ref());
    context
        .handlers
        .is_there(&key(pod.as_ref()), &present, Some(&present), false);
    Ok(Action::await_change())
}
