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

use super::{config, key, reflector::StoreSubject, state, teller::Teller};
use crate::subjects::{Subject, SubjectParts};

/// A controller of pods that owns config maps. Each reconciliation tells the handlers of its pod.
pub(super) fn subject(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    pods: Api<Pod>,
    owned: Api<ConfigMap>,
) -> Box<dyn Subject> {
    // Whatever draws its jitter from now on in this thread draws the same in each run.
    fastrand::seed(parts.seed);
    let controller = Controller::new(pods, config(parts.plan)).owns(owned, Config::default());
    let store = controller.store();
    let teller = Teller::new(parts.informer, parts.recorder.clone());
    // The controller itself waits for the store, and of several that wait only one is told.
    let mut subject = StoreSubject::unwatched(parts, waiter_count, store, teller.clone());
    let context = Context {
        teller,
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

/// What reconciliations share.
struct Context {
    teller: Teller,
    /// The first reconciliation comes when the store is complete.
    has_begun: Arc<AtomicBool>,
}

async fn reconcile(pod: Arc<Pod>, context: Arc<Context>) -> Result<Action, Infallible> {
    context.has_begun.store(true, Ordering::Relaxed);
    let told = state(pod.as_ref());
    context
        .teller
        .is_there(&key(pod.as_ref()), &told, Some(&told), false);
    Ok(Action::await_change())
}
