//! Objects held as compressed bytes: what a compact informer shows and tells is what a typed one does.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{
    DecodeError, HandlerFuncs, IndexFn, LabelSelector, Object, Scope, SharedInformer,
    compact::{Compact, CompactOptions},
    discovery::GroupResource,
    factory::SharedInformerFactory,
    http::HttpListWatch,
    reflector::ReflectorOptions,
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde::Deserialize;
use serde_json::json;

use crate::support::only_namespaces;

const LIMIT: Duration = Duration::from_secs(30);
const COUNT: usize = 300;

/// Returns options with a young area so small that nearly everything is packed.
fn small() -> CompactOptions {
    CompactOptions::default()
        .with_young_size_max_bytes(10_000)
        .with_hot_objects_max(4)
}

fn config_map(n: usize) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("cm-{n:03}")),
            labels: Some(BTreeMap::from([("team".into(), format!("t{}", n % 7))])),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([
            ("number".into(), n.to_string()),
            (
                "text".into(),
                "some words that are in all of them ".repeat(8),
            ),
        ])),
        ..ConfigMap::default()
    }
}

async fn filled() -> Client {
    let client = only_namespaces().client();
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    for n in 0..COUNT {
        let created = config_maps
            .create(&PostParams::default(), &config_map(n))
            .await;
        created.unwrap();
    }
    client
}

fn options(streaming: bool) -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.streaming_lists = streaming;
    options.page_size = Some(100);
    options
}

async fn check_that_all_is_shown(streaming: bool) {
    let client = filled().await;
    let config_maps = HttpListWatch::<ConfigMap>::new(client.clone(), Scope::All).compact(small());
    let informer = SharedInformer::builder(config_maps)
        .with_options(options(streaming))
        .with_index("team", IndexFn::by_label("team"))
        .with_index("number", IndexFn::by_field(".data.number").unwrap())
        .with_index(
            "digits",
            IndexFn::fallible(|object: &Object<Compact<ConfigMap>>| {
                let object = object.decode()?;
                let number = object.data.as_ref().and_then(|data| data.get("number"));
                Ok::<_, DecodeError>(number.map(|number| number.len().to_string()))
            }),
        )
        .build()
        .unwrap();
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();

    let api = Api::<ConfigMap>::all(client);
    let expected = api.list(&ListParams::default()).await.unwrap().items;
    let cached = informer
        .lister()
        .list(&LabelSelector::everything())
        .unwrap();
    let cached: Vec<ConfigMap> = cached
        .iter()
        .map(|o| ConfigMap::clone(&o.decode().unwrap()))
        .collect();
    assert_eq!(cached, expected);

    let indexer = informer.indexer();
    for number in [0, 7, 99, 299] {
        let found = indexer.by_index("number", &number.to_string()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].key().name(), format!("cm-{number:03}"));
    }
    let team = (0..COUNT).filter(|n| n % 7 == 3).count();
    assert_eq!(indexer.by_index("team", "t3").unwrap().len(), team);
    assert_eq!(indexer.by_index("digits", "2").unwrap().len(), 90);
    indexer.recount().unwrap();
    informer.shutdown().await;
}

#[tokio::test]
async fn a_list_is_shown_as_the_server_has_it() {
    check_that_all_is_shown(false).await;
}

#[tokio::test]
async fn a_streaming_list_is_shown_as_the_server_has_it() {
    check_that_all_is_shown(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_threads_a_list_is_shown_as_the_server_has_it() {
    check_that_all_is_shown(false).await;
}

#[tokio::test]
async fn handlers_are_given_old_and_new_objects_and_the_last_state_of_deleted_ones() {
    let client = filled().await;
    let config_maps = HttpListWatch::<ConfigMap>::new(client.clone(), Scope::All).compact(small());
    let informer = SharedInformer::builder(config_maps).build().unwrap();
    let notifications = Arc::new(Mutex::new(Vec::new()));
    let text = |object: &Object<Compact<ConfigMap>>| {
        let object = object.decode().unwrap();
        object.data.as_ref().unwrap()["number"].clone()
    };
    let (updates, deletions) = (Arc::clone(&notifications), Arc::clone(&notifications));
    let handler = HandlerFuncs::new()
        .with_update(move |old, new| {
            let both = format!("{} to {}", text(old), text(new));
            updates.lock().unwrap().push(both);
        })
        .with_delete(move |deleted| {
            let last = format!("{} gone", text(deleted.last_known().unwrap()));
            deletions.lock().unwrap().push(last);
        });
    let _registration = informer.add_handler(handler);
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();

    let api = Api::<ConfigMap>::namespaced(client, "default");
    let patch = Patch::Merge(json!({"data": {"number": "many"}}));
    let patched = api.patch("cm-007", &PatchParams::default(), &patch).await;
    let version = patched.unwrap().metadata.resource_version.unwrap();
    informer
        .wait_until(&version.as_str().into(), LIMIT)
        .await
        .unwrap();
    let deleted = api
        .delete("cm-008", &DeleteParams::default())
        .await
        .unwrap();
    assert!(deleted.is_left() || deleted.is_right());
    let gone = async {
        while informer
            .indexer()
            .get_by_name("default", "cm-008")
            .is_some()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.unwrap();
    informer.shutdown().await;
    assert_eq!(*notifications.lock().unwrap(), ["7 to many", "8 gone"]);
}

#[tokio::test]
async fn a_transform_and_fields_left_out_show_in_what_is_read() {
    let client = filled().await;
    let config_maps = HttpListWatch::<ConfigMap>::new(client, Scope::All)
        .compact(small())
        .without_fields([".data.text", ".metadata.managedFields"])
        .unwrap();
    let informer = SharedInformer::builder(config_maps)
        .with_index("number", IndexFn::by_field(".data.number").unwrap())
        .with_index("text", IndexFn::by_field(".data.text").unwrap())
        .with_decode_transform(|object: &mut ConfigMap| {
            object
                .data
                .get_or_insert_default()
                .insert("seen".into(), "yes".into());
        })
        .build()
        .unwrap();
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    for n in [0, 150, 299] {
        let object = informer
            .indexer()
            .get_by_name("default", &format!("cm-{n:03}"));
        let object = object.unwrap().decode().unwrap();
        let data = object.data.as_ref().unwrap();
        assert_eq!(data.keys().collect::<Vec<_>>(), ["number", "seen"]);
        assert_eq!(object.meta().managed_fields, None);
    }
    assert_eq!(
        informer.indexer().by_index("number", "150").unwrap().len(),
        1
    );
    assert!(
        informer
            .indexer()
            .list_index_values("text")
            .unwrap()
            .is_empty()
    );
    informer.shutdown().await;
}

/// A type that does not accept most config maps.
#[derive(Clone, Debug, Deserialize)]
struct Strict {
    metadata: ObjectMeta,
    #[expect(dead_code, reason = "it is only there to be refused")]
    data: StrictData,
}

#[derive(Clone, Debug, Deserialize)]
struct StrictData {
    #[expect(dead_code, reason = "it is only there to be refused")]
    four: String,
}

impl Resource for Strict {
    type DynamicType = ();
    type Scope = k8s_openapi::NamespaceResourceScope;

    fn kind((): &()) -> std::borrow::Cow<'_, str> {
        "ConfigMap".into()
    }

    fn group((): &()) -> std::borrow::Cow<'_, str> {
        "".into()
    }

    fn version((): &()) -> std::borrow::Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> std::borrow::Cow<'_, str> {
        "configmaps".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[tokio::test]
async fn objects_that_the_type_refuses_are_reported_by_key_at_the_first_read() {
    let client = only_namespaces().client();
    let api = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let mut fits = config_map(4);
    fits.data = Some(BTreeMap::from([("four".into(), "4".into())]));
    for object in [fits, config_map(5)] {
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    let list_watch = HttpListWatch::<Strict>::new(client, Scope::All).compact(small());
    let informer = SharedInformer::builder(list_watch).build().unwrap();
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    let read = |name| {
        informer
            .indexer()
            .get_by_name("default", name)
            .unwrap()
            .decode()
    };
    assert!(read("cm-004").is_ok());
    for _ in 0..2 {
        let error = read("cm-005").unwrap_err();
        assert_eq!(error.key.to_string(), "default/cm-005");
        assert!(!format!("{error:?}").contains("words"));
    }
    assert!(informer.undecodable().is_empty());
    informer.shutdown().await;
}

#[tokio::test]
async fn a_factory_has_typed_and_compact_informers_of_one_resource() {
    let client = only_namespaces().client();
    let api = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let refused = config_map(5);
    api.create(&PostParams::default(), &refused).await.unwrap();
    let maps = || GroupResource::new("", "configmaps");
    let factory = SharedInformerFactory::new(client.clone())
        .with_compact_options(CompactOptions::default())
        .with_compact_options_for(maps(), small())
        .with_decode_transform(|object: &mut Strict| object.metadata.annotations = None);
    let typed = factory.informer_for::<Strict>();
    let compact = factory.informer_for::<Compact<Strict>>();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    let typed = typed.informers().next().unwrap();
    assert_eq!((typed.undecodable().len(), typed.indexer().len()), (1, 0));
    let compact = compact.informers().next().unwrap();
    assert_eq!(
        (compact.undecodable().len(), compact.indexer().len()),
        (0, 1)
    );
    assert!(compact.indexer().list()[0].decode().is_err());
    factory.shutdown().await;
}

#[tokio::test]
async fn the_debug_text_of_a_compact_informer_has_no_contents() {
    let client = only_namespaces().client();
    let secret: Secret = serde_json::from_value(json!({
        "metadata": {"name": "s"}, "stringData": {"password": "hunter2"},
    }))
    .unwrap();
    let api = Api::<Secret>::namespaced(client.clone(), "default");
    api.create(&PostParams::default(), &secret).await.unwrap();
    let secrets = HttpListWatch::<Secret>::new(client, Scope::All).compact(small());
    let informer = SharedInformer::builder(secrets).build().unwrap();
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    let held = informer.indexer().get_by_name("default", "s").unwrap();
    let password = held.decode().unwrap().data.clone().unwrap();
    assert_eq!(password["password"].0, b"hunter2");
    assert!(
        !format!("{held:?}").contains("hunter2") && !format!("{held:?}").contains("aHVudGVyMg")
    );
    informer.shutdown().await;
}
