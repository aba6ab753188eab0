//! The stages of an informer, each alone: `cargo bench -p benches`. As a test each runs once, and checks its answer.

use std::{convert::Infallible, future, sync::Arc};

use bytes::Bytes;
use divan::{Bencher, black_box, counter::ItemsCount};
use fakeserver::{ClusterOptions, FakeServer};
use futures::FutureExt;
use http::{Request, Response};
use informer::{
    DeltaFifoOptions, IndexFn, Indexer, Labels, Metadata, Object, ObjectKey, ResourceVersion,
    Scope,
    compact::CompactOptions,
    http::HttpListWatch,
    list_watch::{HeldObjects, ListPage, ListRequest, ListWatch, NoHeldObjects},
    reflector::{Delta, ReflectorStore},
    stages::{DeltaFifo, IndexerWriter},
    workqueue::WorkQueue,
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Client, client::Body, core::PartialObjectMeta};
use tokio::runtime::{self, Runtime};

/// The number of pods on a page, as by default.
const PAGE_LEN: usize = 500;
/// The number of objects that an indexer holds; each value of its index has thirty.
const INDEXED_LEN: usize = 30_000;
const INDEX: &str = "node";
/// The number of objects that go through a queue at a time.
const QUEUED_LEN: usize = 100;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made")
}

/// A page of the running pods of a simulated cluster, as a server sends it.
fn page() -> Bytes {
    let pods = u32::try_from(PAGE_LEN).expect("it is a few hundred");
    let cluster = ClusterOptions::new(pods / 30, pods);
    let server = FakeServer::builder().with_seed(7).with_cluster(cluster);
    let pods = server.build().objects("", "v1", "pods");
    let items: Vec<_> = pods.iter().take(PAGE_LEN).map(|pod| pod.json()).collect();
    let mut body =
        br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"999999"},"items":["#
            .to_vec();
    body.extend(items.join(&b','));
    body.extend(b"]}");
    body.into()
}

/// A client whose server answers everything with one page.
fn page_client() -> Client {
    let body = page();
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = Body::from(body.to_vec());
        future::ready(Ok::<_, Infallible>(Response::new(body)))
    });
    Client::new(service, "default")
}

/// Decodes the page in place, as on a runtime of one thread.
fn bench_page<K>(bencher: Bencher<'_, '_>, make: impl FnOnce(Client) -> HttpListWatch<K>)
where
    K: Send + Sync + 'static,
{
    let runtime = runtime();
    let list_watch = runtime.block_on(async { make(page_client()) });
    let known: Arc<dyn HeldObjects<K>> = Arc::new(NoHeldObjects);
    bencher.counter(ItemsCount::new(PAGE_LEN)).bench_local(|| {
        let page: ListPage<K> = runtime
            .block_on(list_watch.list(&ListRequest::default(), &known))
            .expect("the page is sound");
        assert_eq!(page.items.len(), PAGE_LEN);
        page
    });
}

#[divan::bench]
fn decode_typed(bencher: Bencher<'_, '_>) {
    bench_page(bencher, |client| {
        HttpListWatch::<Pod>::new(client, Scope::All)
    });
}

#[divan::bench]
fn decode_without_managed_fields(bencher: Bencher<'_, '_>) {
    bench_page(bencher, |client| {
        HttpListWatch::<Pod>::new(client, Scope::All)
            .without_fields([".metadata.managedFields"])
            .expect("it is a path")
    });
}

#[divan::bench]
fn decode_compact(bencher: Bencher<'_, '_>) {
    bench_page(bencher, |client| {
        HttpListWatch::<Pod>::new(client, Scope::All).compact(CompactOptions::default())
    });
}

#[divan::bench]
fn decode_metadata(bencher: Bencher<'_, '_>) {
    bench_page(bencher, |client| {
        HttpListWatch::<PartialObjectMeta<Pod>>::new(client, Scope::All)
    });
}

fn object(index: usize, version: usize) -> Object<()> {
    let node = format!("node-{}", index / 30);
    let metadata = Metadata {
        key: ObjectKey::new(format!("team-{}", index % 20), format!("pod-{index}")),
        uid: format!("uid-{index}").into(),
        resource_version: ResourceVersion::new(version.to_string()),
        labels: [(INDEX, &*node)].into_iter().collect::<Labels>(),
        owners: Arc::new([]),
        is_terminating: false,
    };
    Object::with_metadata(metadata, ())
}

fn indexed() -> (IndexerWriter<()>, Indexer<()>) {
    let mut writer = IndexerWriter::new();
    let added = writer.add_index(INDEX, IndexFn::by_label(INDEX));
    added.expect("the name is free");
    writer.write(|draft| {
        for index in 0..INDEXED_LEN {
            draft.insert(object(index, 1));
        }
    });
    let reader = writer.reader();
    (writer, reader)
}

#[divan::bench]
fn indexer_update(bencher: Bencher<'_, '_>) {
    let (mut writer, reader) = indexed();
    let mut version = 1;
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        version += 1;
        let changed = object(version * 7919 % INDEXED_LEN, version);
        writer.write(|draft| draft.insert(changed))
    });
    assert_eq!(reader.len(), INDEXED_LEN);
}

#[divan::bench]
fn indexer_lookup_of_thirty(bencher: Bencher<'_, '_>) {
    let (_writer, reader) = indexed();
    bencher.bench_local(|| {
        let found = reader.by_index(INDEX, black_box("node-500"));
        let found = found.expect("there is such an index");
        assert_eq!(found.len(), 30);
        found
    });
}

#[divan::bench]
fn delta_fifo_in_and_out(bencher: Bencher<'_, '_>) {
    let (mut producer, mut fifo) = DeltaFifo::channel(&DeltaFifoOptions::default());
    let objects: Vec<_> = (0..QUEUED_LEN).map(|index| object(index, 1)).collect();
    let bencher = bencher.counter(ItemsCount::new(QUEUED_LEN));
    bencher.bench_local(|| {
        for object in &objects {
            let queued = producer
                .write(Delta::Upserted(object.clone()))
                .now_or_never();
            queued.expect("there is room").expect("it is open");
        }
        let mut taken = 0;
        while let Some(batch) = fifo.try_pop() {
            taken += batch.deltas.len();
        }
        assert_eq!(taken, QUEUED_LEN);
    });
}

#[divan::bench]
fn work_queue_in_and_out(bencher: Bencher<'_, '_>) {
    let keys: Vec<_> = (0..QUEUED_LEN)
        .map(|index| object(index, 1).key().clone())
        .collect();
    let runtime = runtime();
    let queue = runtime.block_on(async { WorkQueue::new() });
    let bencher = bencher.counter(ItemsCount::new(QUEUED_LEN));
    bencher.bench_local(|| {
        for key in &keys {
            queue.add(key.clone());
        }
        let mut taken = 0;
        while let Some(Some(item)) = queue.get().now_or_never() {
            taken += 1;
            drop(item);
        }
        assert_eq!(taken, QUEUED_LEN);
    });
}
