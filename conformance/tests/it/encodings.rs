//! Objects of every kind, by lists and by streams in protobuf and in CBOR: equal to those in JSON.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{FakeServer, value::yaml};
use informer::{
    Scope, SharedInformer,
    compact::CompactOptions,
    discovery::{DiscoveryClient, ServerResource},
    http::{Encoding, HttpListWatch},
    reflector::ReflectorOptions,
};
use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, autoscaling::v2 as autoscaling,
    batch::v1 as batch, core::v1 as core, networking::v1 as networking, policy::v1 as policy,
    rbac::v1 as rbac, storage::v1 as storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Resource,
    core::{DynamicObject, PartialObjectMeta},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30);
const OTHERS: [Encoding; 2] = [Encoding::Protobuf, Encoding::Cbor];
/// Valid objects of all kinds.
const SAMPLES: [&str; 6] = [
    include_str!("../../data/samples/custom.yaml"),
    include_str!("../../data/samples/core.yaml"),
    include_str!("../../data/samples/workloads.yaml"),
    include_str!("../../data/samples/network.yaml"),
    include_str!("../../data/samples/storage.yaml"),
    include_str!("../../data/samples/admission.yaml"),
];

/// A server that has the samples, and what every server has.
fn server() -> FakeServer {
    let server = FakeServer::builder().with_seed(1).with_cbor(true).build();
    let mut made = 0;
    let mut refused = Vec::new();
    let samples = SAMPLES.iter().flat_map(|text| {
        let samples: Vec<Value> = yaml::from_str(text).unwrap();
        samples
    });
    for (n, sample) in samples.enumerate() {
        let number = if sample["kind"] == "CustomResourceDefinition" {
            String::new()
        } else {
            n.to_string()
        };
        let sample = sample.to_string().replace("{n}", &number);
        let mut sample: Value = serde_json::from_str(&sample).unwrap();
        let metadata = &mut sample["metadata"];
        if metadata["name"].is_null() {
            metadata["name"] = json!(format!("sample-{n}"));
        }
        if metadata["namespace"].is_null() {
            metadata["namespace"] = json!("conformance");
        }
        let mut outcome = server.apply(&sample);
        if outcome.is_err() {
            // Of the cluster, perhaps.
            sample["metadata"]
                .as_object_mut()
                .unwrap()
                .remove("namespace");
            outcome = server.apply(&sample);
        }
        match outcome {
            Ok(_) => made += 1,
            Err(error) => refused.push(format!("{} {error}", sample["kind"])),
        }
    }
    assert!(
        made > 70 && refused.is_empty(),
        "{made} were made, refused: {refused:#?}"
    );
    server
}

/// Returns the objects that an informer holds, by their handles.
async fn held<K: Serialize + Send + Sync + 'static>(
    list_watch: HttpListWatch<K>,
    streams: bool,
) -> BTreeMap<String, Value> {
    let options = ReflectorOptions::default()
        .with_seed(0)
        .with_streaming_lists(streams);
    let informer = SharedInformer::builder(list_watch)
        .with_options(options)
        .build()
        .unwrap();
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    let objects = informer.store().list();
    let held = objects.iter().map(|object| {
        let value = serde_json::to_value(&**object.get()).unwrap();
        (format!("{object:?} {:?}", object.metadata()), value)
    });
    let held = held.collect();
    informer.shutdown().await;
    held
}

/// Every resource that can be listed and watched.
async fn resources(server: &FakeServer) -> Vec<ServerResource> {
    let discovered = DiscoveryClient::new(server.client())
        .server_resources()
        .await;
    let discovered = discovered.unwrap();
    let usable = |resource: &&ServerResource| resource.supports_all(&["list", "watch"]);
    discovered.resources().filter(usable).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_the_same_in_every_encoding() {
    let server = server();
    let mut kinds_with_objects = 0;
    for resource in resources(&server).await {
        let api_resource = resource.api_resource();
        let list_watch = |encoding| {
            HttpListWatch::<DynamicObject>::new_with(server.client(), Scope::All, &api_resource)
                .with_encoding(encoding)
        };
        for streams in [false, true] {
            let expected = held(list_watch(Encoding::Json), streams).await;
            kinds_with_objects += usize::from(!expected.is_empty());
            for encoding in OTHERS {
                let found = held(list_watch(encoding), streams).await;
                assert_eq!(found, expected, "{:?} {encoding:?}", resource.resource);
            }
        }
    }
    assert!(kinds_with_objects > 2 * 50, "{kinds_with_objects}");
}

#[tokio::test(start_paused = true)]
async fn metadata_of_every_kind_are_the_same_in_every_encoding() {
    let server = server();
    for resource in resources(&server).await {
        let api_resource = resource.api_resource();
        let list_watch = |encoding| {
            let client = server.client();
            HttpListWatch::<PartialObjectMeta<DynamicObject>>::new_with(
                client,
                Scope::All,
                &api_resource,
            )
            .with_encoding(encoding)
        };
        for streams in [false, true] {
            let expected = held(list_watch(Encoding::Json), streams).await;
            for encoding in OTHERS {
                let found = held(list_watch(encoding), streams).await;
                assert_eq!(found, expected, "{:?} {encoding:?}", resource.resource);
            }
        }
    }
}

/// Compares objects of one type, decoded on arrival, without a field, and when they are read.
async fn compare<K>(server: &FakeServer)
where
    K: Resource<DynamicType = ()>
        + DeserializeOwned
        + Serialize
        + PartialEq
        + std::fmt::Debug
        + Send
        + Sync
        + 'static,
{
    let list_watch =
        |encoding| HttpListWatch::<K>::new(server.client(), Scope::All).with_encoding(encoding);
    let expected = held(list_watch(Encoding::Json), false).await;
    assert!(!expected.is_empty(), "{}", K::kind(&()));
    let dropped = |encoding| {
        let list_watch = list_watch(encoding).without_fields([".metadata.managedFields", ".spec"]);
        list_watch.unwrap()
    };
    let expected_without = held(dropped(Encoding::Json), false).await;
    for encoding in OTHERS {
        assert_eq!(
            held(list_watch(encoding), true).await,
            expected,
            "{encoding:?}"
        );
        assert_eq!(held(dropped(encoding), false).await, expected_without);
        let options = CompactOptions::default().with_young_size_max_bytes(5000);
        let compact = SharedInformer::builder(list_watch(encoding).compact(options))
            .build()
            .unwrap();
        compact.start();
        compact.wait_for_cache_sync(LIMIT).await.unwrap();
        let objects = compact.store().list();
        let found = objects.iter().map(|object| {
            let value = serde_json::to_value(&*object.decode().unwrap()).unwrap();
            (format!("{object:?} {:?}", object.metadata()), value)
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{encoding:?}");
        compact.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn types_of_k8s_openapi_are_the_same_in_every_encoding() {
    let server = server();
    compare::<core::Pod>(&server).await;
    compare::<core::Secret>(&server).await;
    compare::<core::Service>(&server).await;
    compare::<core::PersistentVolume>(&server).await;
    compare::<core::ResourceQuota>(&server).await;
    compare::<apps::Deployment>(&server).await;
    compare::<apps::ControllerRevision>(&server).await;
    compare::<batch::CronJob>(&server).await;
    compare::<autoscaling::HorizontalPodAutoscaler>(&server).await;
    compare::<networking::NetworkPolicy>(&server).await;
    compare::<networking::Ingress>(&server).await;
    compare::<policy::PodDisruptionBudget>(&server).await;
    compare::<rbac::ClusterRole>(&server).await;
    compare::<storage::StorageClass>(&server).await;
    compare::<admission::ValidatingWebhookConfiguration>(&server).await;
    compare::<CustomResourceDefinition>(&server).await;
}

#[tokio::test(start_paused = true)]
async fn changes_in_every_encoding_are_seen_as_they_are_made() {
    let server = server();
    let config_map = |text: &str| {
        json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"text": text},
            "metadata": {"name": "changing", "namespace": "default"}})
    };
    let informers = OTHERS.map(|encoding| {
        let list_watch = HttpListWatch::<core::ConfigMap>::new(server.client(), Scope::All)
            .with_encoding(encoding);
        let informer = SharedInformer::builder(list_watch).build().unwrap();
        informer.start();
        informer
    });
    for informer in &informers {
        informer.wait_for_cache_sync(LIMIT).await.unwrap();
    }
    let key = informer::ObjectKey::new("default", "changing");
    for text in ["a", "b"] {
        server.apply(&config_map(text)).unwrap();
        for informer in &informers {
            let seen = async {
                let is_there = || {
                    let object = informer.store().get(&key)?;
                    let data = object.get().data.clone()?;
                    (data.get("text").map(String::as_str) == Some(text)).then_some(())
                };
                while is_there().is_none() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::time::timeout(LIMIT, seen).await.unwrap();
        }
    }
    for informer in &informers {
        let lists = informer.metrics().lists;
        // Expired watches end in an error event, which is read in the encoding, too.
        server.expire();
        server.disconnect();
        informer.shutdown().await;
        assert!(lists <= 1);
    }
}
