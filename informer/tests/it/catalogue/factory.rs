//! `dynamicinformer/informer_test.go` and `metadatainformer/informer_test.go`, against the fake server.

use std::time::Duration;

use informer::{
    LabelSelector,
    discovery::GroupVersionResource,
    factory::{Selectors, SharedInformerFactory},
    testing::RecordingHandler,
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

use super::LIMIT;
use crate::support::only_namespaces;

fn config_maps() -> GroupVersionResource {
    GroupVersionResource::new("", "v1", "configmaps")
}

async fn create(api: &Api<ConfigMap>, name: &str) {
    let object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            labels: Some([("team".to_owned(), format!("of-{name}"))].into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// Returns the notifications without versions: `(+` in the initial list, `+`, `~`, `-`.
fn kinds(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.map(|word| word.split('@').next().unwrap_or_default());
    words.collect::<Vec<_>>().join(" ")
}

/// `TestDynamicSharedInformerFactory`, `TestMetadataSharedInformerFactory`
#[tokio::test(start_paused = true)]
async fn dynamic_and_metadata_informers_receive_adds_updates_and_deletions() {
    let server = only_namespaces();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    create(&api, "a").await;
    let factory = SharedInformerFactory::new(server.client());
    let dynamic = factory.for_resource(&config_maps()).await.unwrap();
    let metadata = factory.metadata_for_resource(&config_maps()).await.unwrap();
    let (handler, recording) = RecordingHandler::new();
    let _registration = dynamic.add_handler(handler);
    let (handler, heard_of_metadata) = RecordingHandler::new();
    let _metadata_registration = metadata.add_handler(handler);
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();

    create(&api, "b").await;
    let patch = Patch::Merge(json!({"data": {"key": "value"}}));
    api.patch("b", &PatchParams::default(), &patch)
        .await
        .unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let expected = "(+default/a +default/b ~default/b -default/a";
    assert_eq!(kinds(&recording.take_text()), expected);
    assert_eq!(kinds(&heard_of_metadata.take_text()), expected);

    let lister = dynamic.lister();
    let b = lister.namespaced("default").unwrap().get("b").unwrap();
    assert_eq!(b.get().data["data"], json!({"key": "value"}));
    let lister = metadata.lister();
    let b = lister.namespaced("default").unwrap().get("b").unwrap();
    assert_eq!(b.labels().get("team"), Some("of-b"));
    factory.shutdown().await;
}

/// `TestFilteredDynamicSharedInformerFactory`
#[tokio::test(start_paused = true)]
async fn a_dynamic_informer_has_what_its_namespace_and_its_selectors_select() {
    let server = only_namespaces();
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    create(&api, "a").await;
    create(&api, "b").await;
    create(&Api::namespaced(server.client(), "kube-public"), "a").await;
    let labels = |text: &str| Selectors::everything().with_labels(&text.parse().unwrap());
    let fields = |text: &str| Selectors::everything().with_fields(text);
    for (namespace, selection, expected) in [
        ("default", Selectors::everything(), "default/a default/b"),
        ("kube-public", Selectors::everything(), "kube-public/a"),
        ("kube-system", Selectors::everything(), ""),
        ("default", labels("team=of-a"), "default/a"),
        ("default", labels("team=of-nobody"), ""),
        ("default", fields("metadata.name=b"), "default/b"),
        ("default", fields("metadata.name=c"), ""),
    ] {
        let factory = SharedInformerFactory::new(server.client())
            .with_namespace(namespace)
            .with_selectors(selection);
        let informer = factory.for_resource(&config_maps()).await.unwrap();
        factory.start();
        factory.wait_for_cache_sync(LIMIT).await.unwrap();
        let objects = informer
            .lister()
            .list(&LabelSelector::everything())
            .unwrap();
        let keys = objects.iter().map(|object| object.key().to_string());
        assert_eq!(keys.collect::<Vec<_>>().join(" "), expected);
        factory.shutdown().await;
    }
}
