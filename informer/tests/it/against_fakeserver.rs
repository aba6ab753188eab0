//! Every kind of type against the fake server, over its client without sockets.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::FakeServer;
use informer::{Scope, SharedInformer, http::HttpListWatch, reflector::ReflectorOptions};
use k8s_openapi::{
    Resource as _,
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use serde::{Deserialize, de::DeserializeOwned};

use crate::support::only_namespaces;

/// A namespace with only the fields that a user needs.
#[derive(Deserialize)]
struct SlimNamespace {
    kind: String,
    metadata: ObjectMeta,
    status: Status,
}

#[derive(Deserialize)]
struct Status {
    phase: String,
}

impl kube::Resource for SlimNamespace {
    type DynamicType = ();
    type Scope = k8s_openapi::ClusterResourceScope;

    fn kind((): &()) -> std::borrow::Cow<'_, str> {
        Namespace::KIND.into()
    }

    fn group((): &()) -> std::borrow::Cow<'_, str> {
        Namespace::GROUP.into()
    }

    fn version((): &()) -> std::borrow::Cow<'_, str> {
        Namespace::VERSION.into()
    }

    fn plural((): &()) -> std::borrow::Cow<'_, str> {
        "namespaces".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn namespaces() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Namespace"))
}

/// A synced informer, and what it made the server do.
async fn synced<K>(
    server: &FakeServer,
    dynamic_type: K::DynamicType,
    options: ReflectorOptions,
) -> SharedInformer<K>
where
    K: kube::Resource + DeserializeOwned + Send + Sync + 'static,
{
    let list_watch = HttpListWatch::<K>::new_with(server.client(), Scope::All, &dynamic_type);
    let informer = SharedInformer::builder(list_watch)
        .with_options(options)
        .build()
        .unwrap();
    informer.start();
    informer
        .wait_for_cache_sync(Duration::from_secs(10))
        .await
        .unwrap();
    informer
}

/// Names and versions, as the server has them.
fn on_server(server: &FakeServer, resource: &str) -> BTreeMap<String, String> {
    let objects = server.objects("", "v1", resource);
    objects
        .iter()
        .map(|object| (object.name().to_string(), object.revision().to_string()))
        .collect()
}

/// Names and versions, as the informer has them.
fn in_cache<K: Send + Sync + 'static>(informer: &SharedInformer<K>) -> BTreeMap<String, String> {
    let objects = informer.store().list();
    objects
        .iter()
        .map(|object| {
            (
                object.key().name().to_owned(),
                object.resource_version().to_string(),
            )
        })
        .collect()
}

fn lists_only() -> ReflectorOptions {
    streaming().with_streaming_lists(false)
}

fn streaming() -> ReflectorOptions {
    ReflectorOptions::default().with_seed(0)
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_type_mirrors_the_server_by_lists_and_by_streams() {
    let server = only_namespaces();
    let expected = on_server(&server, "namespaces");
    assert!(!expected.is_empty());
    for options in [lists_only(), streaming()] {
        let typed = synced::<Namespace>(&server, (), options.clone()).await;
        assert_eq!(in_cache(&typed), expected);
        let dynamic = synced::<DynamicObject>(&server, namespaces(), options.clone()).await;
        assert_eq!(in_cache(&dynamic), expected);
        let partial = synced::<PartialObjectMeta<Namespace>>(&server, (), options.clone()).await;
        assert_eq!(in_cache(&partial), expected);
        let slim = synced::<SlimNamespace>(&server, (), options.clone()).await;
        assert_eq!(in_cache(&slim), expected);

        let object = slim.store().list().remove(0);
        assert_eq!(
            (&*object.get().kind, &*object.get().status.phase),
            ("Namespace", "Active")
        );
        let object = dynamic.store().list().remove(0);
        let names = object.get().types.as_ref().unwrap();
        assert_eq!((&*names.api_version, &*names.kind), ("v1", "Namespace"));
        let object = typed.store().list().remove(0);
        assert_eq!(
            object.get().status.as_ref().unwrap().phase.as_deref(),
            Some("Active")
        );
        for informer in [typed.metrics(), slim.metrics()] {
            let has_listed = informer.lists > 0;
            assert_eq!(has_listed, !options.streaming_lists, "{informer:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_selection_syncs_too() {
    let server = only_namespaces();
    for options in [lists_only(), streaming()] {
        let informer = synced::<ConfigMap>(&server, (), options).await;
        assert!(in_cache(&informer).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_does_not_exist_is_named_with_the_servers_words() {
    let server = only_namespaces();
    let widgets = ApiResource::from_gvk(&GroupVersionKind::gvk("x.io", "v1", "Widget"));
    let list_watch =
        HttpListWatch::<DynamicObject>::new_with(server.client(), Scope::All, &widgets);
    let informer = SharedInformer::builder(list_watch).build().unwrap();
    informer.start();
    let error = informer
        .wait_for_cache_sync(Duration::from_secs(30))
        .await
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("widgets not synced within 30s"),
        "{message}"
    );
    assert!(message.contains("404"), "{message}");
}
