//! The ways of hearing of changes, against the fake server.

use std::time::Duration;

use fakeserver::FakeServer;
use futures::StreamExt;
use informer::{
    HandlerFuncs, HandlerOptions, Notification, NotificationCause, ObjectKey, Scope,
    SharedInformer,
    workqueue::{Enqueue, OwnerKind, WorkQueue},
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Resource,
    api::{DeleteParams, ObjectMeta, PostParams},
};
use tokio::{sync::mpsc, time::timeout};

const LIMIT: Duration = Duration::from_mins(1);

fn metadata(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

async fn create(client: &kube::Client, name: &str) -> ConfigMap {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let map = ConfigMap {
        metadata: metadata(name),
        ..ConfigMap::default()
    };
    maps.create(&PostParams::default(), &map).await.unwrap()
}

fn informer<K>(client: &kube::Client) -> SharedInformer<K>
where
    K: Resource<DynamicType = ()> + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    SharedInformer::new(client.clone(), Scope::Namespace("default".into()))
}

fn word<K>(notification: &Notification<K>) -> String {
    let kind = match notification {
        Notification::Add { .. } => "+",
        Notification::Update { .. } => "~",
        Notification::Delete { .. } => "-",
    };
    format!(
        "{kind}{} {:?}",
        notification.key().name(),
        notification.cause()
    )
}

#[tokio::test(start_paused = true)]
async fn a_stream_reports_of_each_change_why_it_is_reported() {
    let client = FakeServer::builder().build().client();
    create(&client, "a").await;
    let maps = informer::<ConfigMap>(&client);
    let period = Duration::from_mins(1);
    let mut early = maps.stream_with(HandlerOptions::default().with_resync_period(period));
    maps.start();
    assert_eq!(word(&early.next().await.unwrap()), "+a Initial");
    create(&client, "b").await;
    assert_eq!(word(&early.next().await.unwrap()), "+b Live");
    // One that joins late receives all objects as initial ones.
    let mut late = maps.stream();
    assert_eq!(word(&late.next().await.unwrap()), "+a Initial");
    assert_eq!(word(&late.next().await.unwrap()), "+b Initial");
    // The resync is its own, and the server is not asked.
    assert_eq!(word(&early.next().await.unwrap()), "~a Resync");
    assert_eq!(word(&early.next().await.unwrap()), "~b Resync");
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(word(&early.next().await.unwrap()), "-a Live");
    assert_eq!(word(&late.next().await.unwrap()), "-a Live");
    maps.shutdown().await;
    assert!(early.next().await.is_none());
    assert!(late.next().await.is_none());
    assert_eq!(maps.task_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn awaited_and_blocking_handlers_receive_the_same_as_a_plain_one() {
    let client = FakeServer::builder().build().client();
    create(&client, "a").await;
    let maps = informer::<ConfigMap>(&client);
    let (tx, mut recording) = mpsc::unbounded_channel();
    let sender = |name: &'static str| {
        let tx = tx.clone();
        move |notification: &Notification<ConfigMap>| {
            tx.send(format!("{name} {}", word(notification))).unwrap();
        }
    };
    let blocking = HandlerOptions::default().with_blocking(LIMIT);
    let awaited = sender("awaited");
    let registrations = [
        maps.add_handler(HandlerFuncs::new().with_notification(sender("plain"))),
        maps.add_handler_with(
            HandlerFuncs::new().with_notification(sender("blocking")),
            blocking,
        ),
        maps.add_async_handler(move |notification: Notification<ConfigMap>| {
            awaited(&notification);
            tokio::task::yield_now()
        }),
    ];
    maps.start();
    for registration in &registrations {
        registration.wait_for_sync(LIMIT).await.unwrap();
    }
    create(&client, "b").await;
    maps.wait_for_cache_sync(LIMIT).await.unwrap();
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(timeout(LIMIT, recording.recv()).await.unwrap().unwrap());
    }
    maps.shutdown().await;
    assert!(recording.try_recv().is_err());
    all.sort();
    let each = ["awaited", "blocking", "plain"];
    let expected = each.map(|name| [format!("{name} +a Initial"), format!("{name} +b Live")]);
    assert_eq!(all, expected.concat());
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_fed_by_an_object_and_by_what_it_owns() {
    let client = FakeServer::builder().build().client();
    let owner = create(&client, "web").await;
    let maps = informer::<ConfigMap>(&client);
    let secrets = informer::<Secret>(&client);
    let queue: WorkQueue<ObjectKey> = WorkQueue::new();
    maps.add_handler(Enqueue::for_object(&queue)).detach();
    let kind = OwnerKind::new("", "ConfigMap");
    secrets
        .add_handler(Enqueue::for_owner(&queue, kind))
        .detach();
    maps.start();
    secrets.start();
    let next = async || {
        let item = timeout(LIMIT, queue.get()).await.unwrap().unwrap();
        item.to_string()
    };
    assert_eq!(next().await, "default/web");
    let api: Api<Secret> = Api::namespaced(client.clone(), "default");
    let secret = Secret {
        metadata: ObjectMeta {
            owner_references: Some(vec![owner.controller_owner_ref(&()).unwrap()]),
            ..metadata("token")
        },
        ..Secret::default()
    };
    api.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(next().await, "default/web");
    api.delete("token", &DeleteParams::default()).await.unwrap();
    assert_eq!(next().await, "default/web");
    maps.shutdown().await;
    secrets.shutdown().await;
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn causes_are_those_of_the_handlers_own_life() {
    let client = FakeServer::builder().build().client();
    create(&client, "a").await;
    let maps = informer::<ConfigMap>(&client);
    maps.start();
    maps.wait_for_cache_sync(LIMIT).await.unwrap();
    let (tx, mut causes) = mpsc::unbounded_channel();
    let handler = HandlerFuncs::<ConfigMap>::new()
        .with_notification(move |notification| tx.send(notification.cause()).unwrap());
    let registration = maps.add_handler(handler);
    registration.wait_for_sync(LIMIT).await.unwrap();
    assert_eq!(causes.recv().await, Some(NotificationCause::Initial));
    registration.remove().await;
    assert_eq!(causes.recv().await, None, "the handler is gone");
    maps.shutdown().await;
}
