//! A shared store, and a subscriber that notifies the handlers.

use std::time::Duration;

use futures::StreamExt;
use kube::Api;
use kube_runtime::{
    WatchStreamExt,
    reflector::{ReflectHandle, store::Writer},
    watcher,
};

use super::{
    config,
    handlers::Handlers,
    key,
    reflector::{MirroredObject, StoreSubject},
    state,
};
use crate::participants::subjects::{Subject, SubjectParts};

/// The number of objects that may wait for the subscriber.
const BUFFER: usize = 8;
/// The work of the subscriber on an object, like that of a reconciler.
const WORK: Duration = Duration::from_millis(5);

/// Creates a shared reflector of the objects of `api`.
pub(super) fn subject<K>(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    api: &Api<K>,
) -> Box<dyn Subject>
where
    K: MirroredObject + kube::Resource<DynamicType: Default>,
{
    let writer = Writer::<K>::new_shared(BUFFER, K::DynamicType::default());
    let store = writer.as_reader();
    let subscriber = writer.subscribe().expect("the writer is a shared one");
    let handlers = Handlers::new(parts.informer, parts.recorder.clone());
    let mut subject = StoreSubject::new(parts, waiter_count, store, handlers.clone());
    // The jitter of this thread is drawn from this seed in each run.
    fastrand::seed(parts.seed);
    let events = watcher::watcher(api.clone(), config(parts.plan))
        .default_backoff()
        .reflect_shared(writer);
    subject.run(async move {
        let mut events = std::pin::pin!(events);
        while events.next().await.is_some() {}
    });
    subject.run(forward(subscriber, handlers));
    Box::new(subject)
}

/// Notifies handlers of the subscriber's objects, which are not marked as parts of a list.
async fn forward<K>(mut subscriber: ReflectHandle<K>, handlers: Handlers)
where
    K: MirroredObject + kube::Resource<DynamicType: Default>,
{
    while let Some(object) = subscriber.next().await {
        let present = state(object.as_ref());
        handlers.is_there(&key(object.as_ref()), &present, Some(&present), false);
        tokio::time::sleep(WORK).await;
    }
}
