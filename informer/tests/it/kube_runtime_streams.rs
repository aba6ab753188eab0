//! A controller of kube-runtime that is fed from shared informers.

use std::{convert::Infallible, sync::Arc, time::Duration};

use fakeserver::FakeServer;
use futures::StreamExt;
use informer::{Scope, SharedInformer, kube_runtime_streams};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Resource,
    api::{DeleteParams, ObjectMeta, PostParams},
};
use kube_runtime::{
    controller::{Action, Controller},
    reflector::ObjectRef,
};
use tokio::{sync::mpsc, time::timeout};

const LIMIT: Duration = Duration::from_mins(1);

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn secret(name: &str, owner: &ConfigMap) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: Some(vec![owner.controller_owner_ref(&()).unwrap()]),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    }
}

async fn next(reconciled: &mut mpsc::UnboundedReceiver<String>) -> String {
    let name = timeout(LIMIT, reconciled.recv()).await;
    name.expect("it is reconciled within the limit").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_controller_of_kube_runtime_runs_on_shared_informers() {
    let client = FakeServer::builder().build().client();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
    let create = PostParams::default();
    let a = maps.create(&create, &config_map("a")).await.unwrap();
    maps.create(&create, &config_map("b")).await.unwrap();

    let scope = || Scope::Namespace("default".into());
    let map_informer = SharedInformer::<ConfigMap>::new(client.clone(), scope());
    let secret_informer = SharedInformer::<Secret>::new(client, scope());
    let (objects, store) = kube_runtime_streams::reflect(&map_informer, ());
    let (tx, mut reconciled) = mpsc::unbounded_channel();
    let reconcile = move |object: Arc<ConfigMap>, _: Arc<()>| {
        let name = object.metadata.name.clone().unwrap_or_default();
        let sent = tx.send(name);
        async move {
            sent.unwrap();
            Ok::<_, Infallible>(Action::await_change())
        }
    };
    let running = Controller::for_stream(objects, store.clone())
        .owns_shared_stream(kube_runtime_streams::touched_objects(&secret_informer))
        .run(reconcile, |_, _, _| Action::await_change(), Arc::new(()));
    let drive = running.for_each(async |_| {});
    let check = async {
        map_informer.start();
        secret_informer.start();
        let mut first = [next(&mut reconciled).await, next(&mut reconciled).await];
        first.sort();
        assert_eq!(first, ["a", "b"]);
        assert_eq!(store.len(), 2);

        // What it owns comes and goes.
        secrets.create(&create, &secret("s", &a)).await.unwrap();
        assert_eq!(next(&mut reconciled).await, "a");
        let delete = DeleteParams::default();
        secrets.delete("s", &delete).await.unwrap();
        assert_eq!(next(&mut reconciled).await, "a");

        // A deleted object is not reconciled; a new one is.
        maps.delete("b", &delete).await.unwrap();
        maps.create(&create, &config_map("c")).await.unwrap();
        assert_eq!(next(&mut reconciled).await, "c");
        assert!(store.get(&ObjectRef::new("b").within("default")).is_none());
        assert!(store.get(&ObjectRef::new("c").within("default")).is_some());
        assert!(reconciled.try_recv().is_err());
        assert_eq!(
            map_informer.metrics().watches + map_informer.metrics().streaming_lists,
            1
        );

        // With the informers, the controller ends.
        map_informer.shutdown().await;
        secret_informer.shutdown().await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = drive => {}
        () = check => {}
        () = tokio::time::sleep(2 * LIMIT) => panic!("the controller does not end"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_is_ready_once_it_has_what_the_informer_held() {
    let client = FakeServer::builder().build().client();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let create = PostParams::default();
    maps.create(&create, &config_map("a")).await.unwrap();
    let scope = Scope::Namespace("default".into());
    let informer = SharedInformer::<ConfigMap>::new(client, scope);
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    // It joins late.
    let (mut objects, store) = kube_runtime_streams::reflect(&informer, ());
    assert!(timeout(LIMIT, store.wait_until_ready()).await.is_err());
    let first = objects.next().await.unwrap().unwrap();
    assert_eq!(first.metadata.name.as_deref(), Some("a"));
    assert_eq!(store.len(), 0);
    maps.create(&create, &config_map("b")).await.unwrap();
    let second = objects.next().await.unwrap().unwrap();
    assert_eq!(second.metadata.name.as_deref(), Some("b"));
    store.wait_until_ready().await.unwrap();
    assert_eq!(store.len(), 2);
    let mut touched = kube_runtime_streams::touched_objects(&informer)
        .owned()
        .boxed();
    let copy = touched.next().await.unwrap().unwrap();
    assert_eq!(copy.metadata.name.as_deref(), Some("a"));
    informer.shutdown().await;
    assert!(objects.next().await.is_none());
}
