//! Informers of shards, with servers that select them and with servers that do not.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{Fault, FaultRule, Filter},
};
use informer::{
    HandlerFuncs, Object, Scope, SharedInformer,
    factory::{Selectors, SharedInformerFactory},
    http::HttpListWatch,
    reflector::ReflectorOptions,
    shard::{Shard, ShardField, WhoSelects},
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::PartialObjectMeta,
};
use serde_json::json;
use tokio::time::sleep;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const LIMIT: Duration = Duration::from_mins(5);

fn server(selects: bool) -> FakeServer {
    let server = FakeServer::builder().with_seed(7).with_shards(selects);
    let server = server.build();
    for namespace in ["red", "green", "blue", "pod"] {
        let namespace = json!({
            "kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace},
        });
        server.apply(&namespace).unwrap();
    }
    server
}

fn maps(client: Client, number: u32) -> Api<ConfigMap> {
    let namespaces = ["default", "red", "green", "blue", "pod"];
    Api::namespaced(client, namespaces[number as usize % namespaces.len()])
}

async fn create(server: &FakeServer, numbers: std::ops::Range<u32>) -> Result<(), AnyError> {
    for number in numbers {
        let map: ConfigMap =
            serde_json::from_value(json!({"metadata": {"name": format!("m{number}")}}))?;
        let api = maps(server.client(), number);
        api.create(&PostParams::default(), &map).await?;
    }
    Ok(())
}

/// Changes some objects, deletes some, makes one again under its name, and adds some.
async fn change(server: &FakeServer) -> Result<(), AnyError> {
    let patch = Patch::Merge(json!({"data": {"k": "v"}}));
    for number in (0..40).step_by(3) {
        let api = maps(server.client(), number);
        let name = format!("m{number}");
        api.patch(&name, &PatchParams::default(), &patch).await?;
    }
    for number in (1..40).step_by(4) {
        let api = maps(server.client(), number);
        api.delete(&format!("m{number}"), &DeleteParams::default())
            .await?;
    }
    for number in [5, 9, 13] {
        create(server, number..number + 1).await?;
    }
    create(server, 40..50).await
}

fn cached(informer: &SharedInformer<ConfigMap>) -> BTreeMap<String, String> {
    let all = informer.indexer().list();
    let show =
        |map: &Object<ConfigMap>| (map.key().to_string(), map.resource_version().to_string());
    all.iter().map(show).collect()
}

/// Returns what the server has of a shard.
async fn expected(server: &FakeServer, shard: Shard) -> Result<BTreeMap<String, String>, AnyError> {
    let api: Api<ConfigMap> = Api::all(server.client());
    let all = api.list(&ListParams::default()).await?.items;
    let value = |map: &ConfigMap| match shard.field() {
        ShardField::Uid => map.uid().unwrap(),
        ShardField::Namespace => map.namespace().unwrap(),
    };
    let own = all.iter().filter(|map| shard.contains_value(&value(map)));
    let show = |map: &ConfigMap| {
        let key = format!("{}/{}", map.namespace().unwrap(), map.name_any());
        (key, map.resource_version().unwrap())
    };
    Ok(own.map(show).collect())
}

async fn caught_up(informer: &SharedInformer<ConfigMap>) -> Result<(), AnyError> {
    let version = informer.latest_version(LIMIT).await?;
    informer.wait_until(&version, LIMIT).await?;
    Ok(())
}

fn options(streams: bool) -> ReflectorOptions {
    ReflectorOptions::default()
        .with_seed(1)
        .with_streaming_lists(streams)
        .with_page_size(7)
}

/// Follows each shard of a server through changes; the handlers hear of no other object.
async fn follow(selects: bool, streams: bool, field: ShardField) -> Result<(), AnyError> {
    let server = server(selects);
    create(&server, 0..40).await?;
    let mut followed = Vec::new();
    for shard in Shard::all(field, 3) {
        let list_watch = HttpListWatch::<ConfigMap>::new(server.client(), Scope::All);
        let informer = SharedInformer::builder(list_watch)
            .with_options(options(streams))
            .with_shard(shard)
            .build()?;
        let outside = move |map: &Object<ConfigMap>| {
            let metadata = map.metadata();
            assert!(shard.contains(metadata), "{metadata:?} in {shard}");
        };
        let handler = HandlerFuncs::new()
            .with_add(move |map, _| outside(map))
            .with_update(move |_, map| outside(map))
            .with_delete(move |deleted| outside(deleted.last_known().unwrap()));
        let registration = informer.add_handler(handler);
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await?;
        assert_eq!(
            cached(&informer),
            expected(&server, shard).await?,
            "{shard}"
        );
        followed.push((shard, informer, registration));
    }
    change(&server).await?;
    for (shard, informer, registration) in followed {
        // Bookmarks count, and what is dropped, too.
        caught_up(&informer).await?;
        assert_eq!(
            cached(&informer),
            expected(&server, shard).await?,
            "{shard}"
        );
        let report = informer.check_consistency(LIMIT).await?;
        assert!(report.is_consistent(), "{report:?}");
        let status = informer.shard_status().unwrap();
        assert_eq!(status.shard, shard);
        let who = match (selects, streams) {
            (false, _) => WhoSelects::Client,
            // The check for consistency lists by pages, which say it.
            (true, _) => WhoSelects::Server,
        };
        assert_eq!((status.who_selects, status.dropped > 0), (who, !selects));
        assert_eq!(informer.metrics().out_of_shard, status.dropped);
        assert_eq!(registration.metrics().panics, 0);
        informer.shutdown().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_shards_cache_does_not_depend_on_the_side_that_selects() -> Result<(), AnyError> {
    for selects in [true, false] {
        for streams in [true, false] {
            for field in [ShardField::Uid, ShardField::Namespace] {
                follow(selects, streams, field).await.map_err(|error| {
                    format!("selects {selects}, streams {streams}, {field}: {error}")
                })?;
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn objects_of_other_shards_are_not_decoded() -> Result<(), AnyError> {
    /// A config map whose data have to be numbers.
    #[derive(Clone, Debug, serde::Deserialize)]
    struct Numbers {
        metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
        #[serde(default)]
        data: BTreeMap<String, u8>,
    }
    impl kube::Resource for Numbers {
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
        fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            &self.metadata
        }
        fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            &mut self.metadata
        }
    }
    let server = server(false);
    let api = maps(server.client(), 0);
    let map: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "text"}, "data": {"k": "text"}}))?;
    let made = api.create(&PostParams::default(), &map).await?;
    let uid = made.uid().unwrap();
    for shard in Shard::all(ShardField::Uid, 2) {
        let list_watch = HttpListWatch::<Numbers>::new(server.client(), Scope::All);
        let list_watch = list_watch.with_shard(shard);
        let informer = SharedInformer::builder(list_watch).build()?;
        informer.start();
        informer.wait_for_cache_sync(LIMIT).await?;
        let undecodable = informer.undecodable();
        let is_reported = undecodable.iter().any(|error| error.key.name() == "text");
        assert_eq!(is_reported, shard.contains_value(&uid));
        for numbers in informer.indexer().list() {
            assert_eq!(numbers.get().data.len(), 0);
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn unmarked_lists_do_not_show_the_side_that_selects() -> Result<(), AnyError> {
    let server = server(true);
    create(&server, 0..20).await?;
    let shard = Shard::new(ShardField::Uid, 1, 2)?;
    let list_watch =
        HttpListWatch::<PartialObjectMeta<ConfigMap>>::new(server.client(), Scope::All);
    let list_watch = list_watch.with_shard(shard);
    let informer = SharedInformer::builder(list_watch)
        .with_options(options(false))
        .build()?;
    informer.start();
    informer.wait_for_cache_sync(LIMIT).await?;
    let all = expected(&server, shard).await?;
    assert_eq!(informer.indexer().list().len(), all.len());
    let status = informer.shard_status().unwrap();
    assert_eq!(
        (status.who_selects, status.dropped),
        (WhoSelects::Unknown, 0)
    );
    let whole = SharedInformer::<ConfigMap>::new(server.client(), Scope::All);
    assert_eq!(whole.shard_status(), None);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn factories_share_informers_of_equal_shards() -> Result<(), AnyError> {
    let server = server(false);
    create(&server, 0..20).await?;
    let factory = SharedInformerFactory::new(server.client());
    let [first, second] = [0, 1].map(|index| Shard::new(ShardField::Uid, index, 2).unwrap());
    let of_first = factory
        .clone()
        .with_shard(first)
        .informer_for::<ConfigMap>();
    let again = Selectors::everything().with_shard(first);
    let _again = factory
        .clone()
        .with_selectors(again)
        .informer_for::<ConfigMap>();
    assert_eq!(factory.informer_count(), 1);
    let of_second = factory
        .clone()
        .with_shard(second)
        .informer_for::<ConfigMap>();
    let _whole = factory.informer_for::<Namespace>();
    assert_eq!(factory.informer_count(), 3);
    let cached = format!("{factory:?}");
    assert!(cached.contains("shard"), "{cached}");
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await?;
    for (shard, informers) in [(first, of_first), (second, of_second)] {
        let informer = informers.informers().next().unwrap();
        assert_eq!(self::cached(&informer), expected(&server, shard).await?);
    }
    factory.shutdown().await;
    Ok(())
}

/// Returns failures of every part of a list and a watch, some of them of servers that forget the selection.
fn failures(seed: u64) -> impl Iterator<Item = FaultRule> {
    let faults = Fault::all().filter(|fault| fault.entry().can_be_held());
    let faults = faults.filter(|fault| !matches!(fault, Fault::Rollback(_)));
    (0..).zip(faults).map(move |(number, fault)| {
        let rule = fault.rule().matching(Filter::any().client("shards"));
        rule.with_probability(0.05, 100 * seed + number)
            .lasting(Duration::from_secs(30))
    })
}

#[tokio::test(start_paused = true)]
async fn the_cache_converges_whatever_fails() -> Result<(), AnyError> {
    for seed in 0..6 {
        let server = server(seed % 2 == 0);
        create(&server, 0..40).await?;
        for rule in failures(seed) {
            server.faults().install(rule).detach();
        }
        let shard = Shard::new(ShardField::Uid, 1, 3)?;
        let client = server.client_named("shards");
        let list_watch = HttpListWatch::<ConfigMap>::new(client, Scope::All).with_shard(shard);
        let informer = SharedInformer::builder(list_watch)
            .with_options(options(seed % 3 == 0).with_seed(seed))
            .build()?;
        informer.start();
        sleep(Duration::from_secs(10)).await;
        change(&server).await?;
        sleep(Duration::from_mins(10)).await;
        caught_up(&informer).await?;
        assert_eq!(
            cached(&informer),
            expected(&server, shard).await?,
            "seed {seed}"
        );
        informer.shutdown().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_list_of_another_shard_is_refused() -> Result<(), AnyError> {
    use informer::list_watch::{ListRequest, ListWatch, NoHeldObjects};
    use std::sync::Arc;

    let server = server(true);
    create(&server, 0..4).await?;
    // A proxy that mixes answers up.
    let router = server.router();
    let service = tower::service_fn(move |mut request: http::Request<kube::client::Body>| {
        let uri = request.uri().to_string();
        let other = uri.replace("0x0000000000000000", "0x0000000000000001");
        *request.uri_mut() = other.parse().unwrap();
        let router = router.clone();
        async move {
            let request = request.map(axum::body::Body::new);
            tower::ServiceExt::oneshot(router, request).await
        }
    });
    let client = Client::new(service, "default");
    let shard = Shard::new(ShardField::Uid, 0, 2)?;
    let list_watch = HttpListWatch::<ConfigMap>::new(client, Scope::All).with_shard(shard);
    let known: Arc<dyn informer::list_watch::HeldObjects<ConfigMap>> = Arc::new(NoHeldObjects);
    let error = list_watch
        .list(&ListRequest::default(), &known)
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "the server sent a list of \"shardRange(object.metadata.uid, '0x0000000000000001'"
        ) && text.ends_with("was asked for"),
        "{text}"
    );
    Ok(())
}
