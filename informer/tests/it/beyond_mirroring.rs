//! Informers beyond mirroring: own writes shown, one handler, fields left out, a cache that checks itself.

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter as Requests},
};
use informer::{
    Filter, HandlerOptions, IndexFn, Informer, Scope, SharedInformer,
    http::HttpListWatch,
    reflector::{Delta, ReflectorStore, StoreClosed},
    stages::CacheInput,
    testing::RecordingHandler,
    transform,
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};

use crate::support::only_namespaces;

const LIMIT: Duration = Duration::from_mins(10);

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            annotations: Some([("a/b".into(), "1".into()), ("c".into(), "2".into())].into()),
            ..ObjectMeta::default()
        },
        data: Some([("key".into(), value.into())].into()),
        ..ConfigMap::default()
    }
}

fn api(server: &FakeServer) -> Api<ConfigMap> {
    Api::namespaced(server.client(), "default")
}

async fn create(server: &FakeServer, name: &str, value: &str) -> ConfigMap {
    let object = config_map(name, value);
    let created = api(server).create(&PostParams::default(), &object).await;
    created.unwrap()
}

async fn set(server: &FakeServer, name: &str, value: &str) -> ConfigMap {
    let patch = serde_json::json!({"data": {"key": value}});
    let (api, parameters) = (api(server), PatchParams::default());
    let patched = api.patch(name, &parameters, &Patch::Merge(patch)).await;
    patched.unwrap()
}

fn list_watch(server: &FakeServer) -> HttpListWatch<ConfigMap> {
    HttpListWatch::new(server.client(), Scope::All)
}

async fn synced(informer: SharedInformer<ConfigMap>) -> SharedInformer<ConfigMap> {
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    informer
}

#[tokio::test(start_paused = true)]
async fn what_was_written_is_read() {
    let server = only_namespaces();
    let informer = SharedInformer::builder(list_watch(&server))
        .build()
        .unwrap();
    let informer = synced(informer).await;
    for round in 0..20 {
        let created = create(&server, "a", "x").await;
        let cached = informer.written(&created, LIMIT).await.unwrap().unwrap();
        assert_eq!(Some(cached.uid()), created.metadata.uid.as_deref());
        let value = round.to_string();
        let changed = set(&server, "a", &value).await;
        let cached = informer.written(&changed, LIMIT).await.unwrap().unwrap();
        assert_eq!(cached.get().data, changed.data);
        let deleted = api(&server).delete("a", &DeleteParams::default()).await;
        deleted.unwrap();
        // A version that only a bookmark or a later change brings.
        let version = server.revision().to_string();
        let version = version.as_str().into();
        informer.wait_until(&version, LIMIT).await.unwrap();
        assert!(
            informer
                .store()
                .list()
                .iter()
                .all(|object| object.key().name() != "a")
        );
        assert!(informer.written(&changed, LIMIT).await.unwrap().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_to_what_is_not_selected_is_waited_for_until_a_bookmark() {
    let server = only_namespaces();
    let selected = list_watch(&server).with_labels("x=1");
    let informer = synced(SharedInformer::builder(selected).build().unwrap()).await;
    let created = create(&server, "a", "x").await;
    let error = informer.written(&created, Duration::from_secs(1)).await;
    assert!(error.unwrap_err().is_deadline());
    assert!(informer.written(&created, LIMIT).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_plain_informer_reports_its_one_handler_and_has_all_options() {
    let server = only_namespaces();
    create(&server, "a", "x").await;
    let (handler, recording) = RecordingHandler::new();
    let options = HandlerOptions::default()
        .with_name("one")
        .with_resync_period(Duration::from_mins(1));
    let builder = SharedInformer::builder(list_watch(&server))
        .with_resource("own name")
        .with_index("key", IndexFn::by_field(".data.key").unwrap())
        .with_filter(Filter::of_metadata(|metadata| metadata.key.name() != "no"))
        .with_transform(transform::drop_managed_fields);
    let informer = Informer::with_options(builder, handler, options).unwrap();
    assert!(!informer.has_synced());
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    informer.registration().wait_for_sync(LIMIT).await.unwrap();
    assert!(informer.has_synced());
    assert_eq!(recording.take().len(), 1);
    let created = create(&server, "no", "x").await;
    informer.shared().written(&created, LIMIT).await.unwrap();
    set(&server, "a", "y").await;
    let changed = create(&server, "b", "y").await;
    informer.shared().written(&changed, LIMIT).await.unwrap();
    let found = informer.indexer().by_index("key", "y").unwrap();
    assert_eq!(found.len(), 2);
    // By default there is one more.
    let names = informer.indexer().snapshot().index_names();
    assert_eq!(names.join(" "), "key namespace");
    let found = informer.indexer().by_index("namespace", "default").unwrap();
    assert!(found.iter().any(|object| object.key().name() == "b"));
    assert!(found.iter().all(|object| object.key().name() != "no"));
    assert_eq!(informer.registration().name(), "one");
    assert_eq!(informer.shared().resource(), "own name");
    informer.shutdown().await;
    assert_eq!(informer.shared().task_count(), 0);
    assert_eq!(server.stats().watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn a_plain_informer_without_options_is_an_informer_too() {
    let server = only_namespaces();
    let (handler, recording) = RecordingHandler::new();
    let informer = Informer::new(list_watch(&server), handler);
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    recording.take();
    let created = create(&server, "a", "x").await;
    informer.shared().written(&created, LIMIT).await.unwrap();
    informer.shutdown().await;
    let version = created.metadata.resource_version.unwrap();
    assert_eq!(recording.take_text(), format!("+default/a@{version}"));
}

#[tokio::test(start_paused = true)]
async fn fields_are_left_out_in_three_ways() {
    let server = only_namespaces();
    create(&server, "a", "x").await;
    let fields = [
        ".metadata.managedFields",
        ".metadata.annotations['a/b']",
        ".data",
    ];
    let skipped = list_watch(&server).without_fields(fields).unwrap();
    let skipped = SharedInformer::builder(skipped).build().unwrap();
    let dropped = transform::drop_fields(fields).unwrap();
    let dropped = SharedInformer::builder(list_watch(&server)).with_fallible_transform(dropped);
    let annotation = transform::drop_annotations(["a/b"]);
    let changed = SharedInformer::builder(list_watch(&server)).with_transform(move |object| {
        transform::drop_managed_fields(object);
        annotation(object);
        object.data = None;
    });
    let whole = SharedInformer::builder(list_watch(&server))
        .build()
        .unwrap();
    let whole = synced(whole).await;
    for informer in [skipped, dropped.build().unwrap(), changed.build().unwrap()] {
        let informer = synced(informer).await;
        let later = set(&server, "a", "later").await;
        informer.written(&later, LIMIT).await.unwrap();
        whole.written(&later, LIMIT).await.unwrap();
        let cached = informer.lister().namespaced("default").get("a").unwrap();
        let original = whole.lister().namespaced("default").get("a").unwrap();
        assert_eq!(cached.metadata(), original.metadata());
        let mut expected = ConfigMap::clone(original.get());
        assert!(expected.metadata.managed_fields.take().is_some());
        expected.metadata.annotations = Some([("c".into(), "2".into())].into());
        assert!(expected.data.take().is_some());
        assert_eq!(**cached.get(), expected);
    }
    let error = list_watch(&server).without_fields([".a[0]"]).unwrap_err();
    assert_eq!(error.position(), 3);
    assert!(transform::drop_fields::<ConfigMap>(["."]).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_check_finds_the_event_that_never_came() {
    let server = only_namespaces();
    create(&server, "a", "x").await;
    let informer = SharedInformer::builder(list_watch(&server))
        .build()
        .unwrap();
    let informer = synced(informer).await;
    let report = informer.check_consistency(LIMIT).await.unwrap();
    assert!(report.is_consistent(), "{report}");

    let watches = Requests::any().resource("configmaps").verb("watch");
    let loss = Fault::DropEvent.rule().matching(watches).times(1);
    let _guard = server.faults().install(loss);
    let changed = set(&server, "a", "never told").await;
    let last = create(&server, "b", "x").await;
    informer.written(&last, LIMIT).await.unwrap();
    let report = informer.check_consistency(LIMIT).await.unwrap();
    let keys: Vec<_> = report
        .differences
        .iter()
        .map(|own| own.key().to_string())
        .collect();
    assert_eq!(keys, ["default/a"]);
    let version = changed.metadata.resource_version.unwrap();
    assert!(
        report
            .to_string()
            .ends_with(&format!("listed at {version}")),
        "{report}"
    );
    assert_eq!(informer.metrics().inconsistencies, 1);
}

#[tokio::test(start_paused = true)]
async fn no_check_is_alarmed_by_changes_that_happen_meanwhile() {
    let server = only_namespaces();
    let builder = SharedInformer::builder(list_watch(&server)).with_consistency_checks();
    let informer = synced(builder.build().unwrap()).await;
    let churn = async {
        for round in 0..60 {
            let name = format!("a{}", round % 7);
            if api(&server).get_opt(&name).await.unwrap().is_none() {
                create(&server, &name, "x").await;
            } else if round % 3 == 0 {
                let deleted = api(&server).delete(&name, &DeleteParams::default()).await;
                deleted.unwrap();
            } else {
                set(&server, &name, &round.to_string()).await;
            }
            if round % 20 == 19 {
                server.expire();
            }
        }
    };
    let checks = async {
        for _ in 0..40 {
            let report = informer.check_consistency(LIMIT).await.unwrap();
            assert!(report.is_consistent(), "{report}");
        }
    };
    tokio::join!(churn, checks);
    let report = informer.check_consistency(LIMIT).await.unwrap();
    assert!(report.is_consistent() && report.objects > 0, "{report}");
    assert_eq!(informer.metrics().inconsistencies, 0);
}

/// Lets everything pass but deletions.
struct DeletionFilter(CacheInput<ConfigMap>);

impl ReflectorStore<ConfigMap> for DeletionFilter {
    async fn write(&mut self, delta: Delta<ConfigMap>) -> Result<(), StoreClosed> {
        match delta {
            Delta::Deleted(_) => Ok(()),
            delta => self.0.write(delta).await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn deltas_that_a_layer_drops_do_not_reach_the_cache() {
    let server = only_namespaces();
    let informer = SharedInformer::builder(list_watch(&server));
    let informer = synced(informer.build_through(DeletionFilter).unwrap()).await;
    create(&server, "a", "x").await;
    let deleted = api(&server).delete("a", &DeleteParams::default()).await;
    deleted.unwrap();
    let last = create(&server, "b", "x").await;
    // All that passes arrives, in order.
    let cached = informer.written(&last, LIMIT).await.unwrap();
    assert_eq!(cached.unwrap().key().to_string(), "default/b");
    let held = informer.lister().namespaced("default").get("a").unwrap();
    assert_eq!(held.key().to_string(), "default/a");
    informer.shutdown().await;
    assert_eq!(informer.task_count(), 0);
}
