//! A shared store, and a subscriber that tells the handlers.

use std::time::Duration;

use futures::StreamExt;
use kube::Api;
use kube_runtime::{
    WatchStreamExt,
    reflector::{ReflectHandle, store::Writer},
    watcher,
};

use super::{
    config, key,
    reflector::{Mirrored, StoreSubject},
    state,
    teller::Teller,
};
use crate::subjects::{Subject, SubjectParts};

/// How many objects may wait for the subscriber.
const BUFFER: usize = 8;
/// How long the subscriber works on an object, as a reconciler does.
const WORK: Duration = Duration::from_millis(5);

/// A shared reflector of what `api` serves.
pub(super) fn subject<K>(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
    api: &Api<K>,
) -> Box<dyn Subject>
where
    K: Mirrored + kube::Resource<DynamicType: Default>,
{
    let writer = Writer::<K>::new_shared(BUFFER, K::DynamicType::default());
    let store = writer.as_reader();
    let subscriber = writer.subscribe().expect("the writer is a shared one");
    let teller = Teller::new(parts.informer, parts.recorder.clone());
    let mut subject = StoreSubject::new(parts, waiter_count, store, teller.clone());
    // Whatever draws its jitter from now on in this thread draws the same in each run.
    fastrand::seed(parts.seed);
    let events = watcher::watcher(api.clone(), config(parts.plan))
        .default_backoff()
        .reflect_shared(writer);
    subject.run(async move {
        let mut events = std::pin::pin!(events);
        while events.next().await.is_some() {}
    });
    subject.run(tell(subscriber, teller));
    Box::new(subject)
}

/// Tells handlers what the subscriber gets. It is not said what was part of a list.
async fn tell<K>(mut subscriber: ReflectHandle<K>, teller: Teller)
where
    K: Mirrored + kube::Resource<DynamicType: Default>,
{
    while let Some(object) = subscriber.next().await {
        let told = state(object.as_ref());
        teller.is_there(&key(object.as_ref()), &told, Some(&told), false);
        tokio::time::sleep(WORK).await;
    }
}
