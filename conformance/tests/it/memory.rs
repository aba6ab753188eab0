//! The memory of caches, as the pages of `informer` promise it: what a cache takes for each object, and that nothing is
//! left of versions, readers and objects that are gone.
//!
//! Bytes are those that the thread has asked the allocator for and not given back, so that the figures are the same in each
//! run. Bodies are made while they are sent: the server has nothing of its own.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    ops::Range,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use allocation_counter::{AllocationInfo, measure};
use bytes::Bytes;
use futures::{StreamExt, channel::mpsc, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use informer::{
    Buffer, HandlerOptions, LabelSelector, Lister, Object, ResourceVersion, Scope, SharedInformer,
    compact::{Compact, CompactOptions},
    http::HttpListWatch,
    reflector::ReflectorOptions,
    transform,
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Client, client::Body, core::PartialObjectMeta};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

const LIMIT: Duration = Duration::from_mins(1);
/// The number of pods of most tests.
const PODS: u32 = 400;
/// The number of their deployments.
const APPLICATIONS: u32 = 20;
/// The first pod that has a label of its own.
const LABELLED: u32 = 1_000_000;
/// The young area of compact caches, in bytes.
const YOUNG_BYTES: usize = 64 << 10;
/// The room for buffers and tables, in bytes: a hundred and sixty bytes a pod.
const SLACK: i64 = 64 << 10;

/// A server of pods, of which it has only the versions.
#[derive(Clone, Default)]
struct Pods(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    revisions: BTreeMap<u32, u64>,
    revision: u64,
    watch: Option<mpsc::UnboundedSender<Bytes>>,
}

/// A cache of these pods, and the runtime of one thread on which it lives.
struct Cache<K> {
    runtime: Runtime,
    server: Pods,
    informer: SharedInformer<K>,
}

// === impl Pods ===

impl Pods {
    fn new(count: u32) -> Self {
        LazyLock::force(&TEMPLATES);
        let server = Self::default();
        {
            let mut state = server.0.lock().unwrap();
            state.revisions = (0..count).map(|n| (n, u64::from(n) + 1)).collect();
            state.revision = u64::from(count);
        }
        server
    }

    fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let body = if query.contains("watch=true") {
                server.watch().left_stream()
            } else {
                server.list().right_stream()
            };
            let body = body.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes)));
            async move { Ok::<_, Infallible>(Response::new(StreamBody::new(body.boxed()))) }
        });
        Client::new(service, "default")
    }

    /// Streams a list: an item is made when it is sent.
    fn list(&self) -> impl futures::Stream<Item = Bytes> + Send + use<> {
        let state = self.0.lock().unwrap();
        let head = json!({"resourceVersion": state.revision.to_string()});
        let head = format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{head},"items":["#);
        let pods: Vec<(u32, u64)> = state.revisions.iter().map(|(n, r)| (*n, *r)).collect();
        let items = pods.into_iter().enumerate().map(|(place, (n, revision))| {
            let comma = if place == 0 { "" } else { "," };
            format!("{comma}{}", pod(n, revision))
        });
        let parts = [head].into_iter().chain(items).chain(["]}".to_owned()]);
        stream::iter(parts.map(Bytes::from))
    }

    fn watch(&self) -> mpsc::UnboundedReceiver<Bytes> {
        let (sender, receiver) = mpsc::unbounded();
        self.0.lock().unwrap().watch = Some(sender);
        receiver
    }

    /// Sends a change of a pod: its next version, or its end.
    fn change(&self, n: u32, is_deleted: bool) {
        let mut state = self.0.lock().unwrap();
        state.revision += 1;
        let revision = state.revision;
        let kind = if is_deleted {
            state.revisions.remove(&n);
            "DELETED"
        } else {
            state.revisions.insert(n, revision);
            "MODIFIED"
        };
        let frame = format!("{{\"type\":\"{kind}\",\"object\":{}}}\n", pod(n, revision));
        let watch = state.watch.as_ref().expect("the informer watches");
        watch.unbounded_send(Bytes::from(frame)).unwrap();
    }

    fn revision(&self) -> u64 {
        self.0.lock().unwrap().revision
    }
}

// === impl Cache ===

impl<K: Send + Sync + 'static> Cache<K> {
    /// Lists `count` pods into a cache that `build` makes, and returns what it takes: of an informer that has no object,
    /// to one that has them all.
    fn filled(count: u32, build: impl Fn(Client) -> SharedInformer<K>) -> (Self, i64) {
        // What is made once for all, as the first client needs it, is no cache's.
        drop(Self::started(0, &build));
        let (_, empty) = Self::started(0, &build);
        let (cache, full) = Self::started(count, &build);
        (cache, full.bytes_current - empty.bytes_current)
    }

    fn started(count: u32, build: impl Fn(Client) -> SharedInformer<K>) -> (Self, AllocationInfo) {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let server = Pods::new(count);
        let mut informer = None;
        let taken = measure(|| {
            runtime.block_on(async {
                let started = build(server.client());
                started.start();
                started.wait_for_cache_sync(LIMIT).await.unwrap();
                informer = Some(started);
            });
        });
        let informer = informer.unwrap();
        let cache = Self {
            runtime,
            server,
            informer,
        };
        assert_eq!(cache.objects().len(), count as usize);
        (cache, taken)
    }

    fn lister(&self) -> Lister<K> {
        self.informer.lister()
    }

    fn objects(&self) -> Vec<Object<K>> {
        let everything = LabelSelector::everything();
        self.lister().list(&everything).unwrap()
    }

    /// Changes each pod `times` times, and returns the growth of the thread's memory in bytes.
    fn change_all(&self, times: u32) -> i64 {
        self.grown_by(async || {
            for _ in 0..times {
                self.change(0..PODS, false).await;
            }
        })
    }

    /// Changes pods, ten at a time: what waits in the connection is not the cache's.
    async fn change(&self, pods: Range<u32>, is_deleted: bool) {
        for n in pods {
            self.server.change(n, is_deleted);
            if n % 10 == 9 {
                self.caught_up().await;
            }
        }
    }

    async fn caught_up(&self) {
        let version = ResourceVersion::new(self.server.revision().to_string());
        self.informer.wait_until(&version, LIMIT).await.unwrap();
    }

    fn grown_by(&self, act: impl AsyncFnOnce()) -> i64 {
        measure(|| self.runtime.block_on(act())).bytes_current
    }
}

fn options() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.streaming_lists = false;
    options.seed = Some(1);
    options
}

fn compact(client: Client) -> SharedInformer<Compact<Pod>> {
    let pods = HttpListWatch::<Pod>::new(client, Scope::All);
    let options_of_compact = CompactOptions::default().with_young_size_max_bytes(YOUNG_BYTES);
    SharedInformer::builder(pods.compact(options_of_compact))
        .with_options(options())
        .build()
        .unwrap()
}

fn typed(client: Client) -> SharedInformer<Pod> {
    SharedInformer::builder(HttpListWatch::<Pod>::new(client, Scope::All))
        .with_options(options())
        .build()
        .unwrap()
}

fn without_spec(client: Client) -> SharedInformer<Pod> {
    let pods = HttpListWatch::<Pod>::new(client, Scope::All);
    let pods = pods.without_fields([".metadata.managedFields", ".spec"]);
    SharedInformer::builder(pods.unwrap())
        .with_options(options())
        .build()
        .unwrap()
}

fn without_managed_fields(client: Client) -> SharedInformer<PartialObjectMeta<Pod>> {
    let pods = HttpListWatch::<PartialObjectMeta<Pod>>::new(client, Scope::All);
    let pods = pods.without_fields([".metadata.managedFields"]);
    SharedInformer::builder(pods.unwrap())
        .with_options(options())
        .build()
        .unwrap()
}

fn metadata(client: Client) -> SharedInformer<PartialObjectMeta<Pod>> {
    SharedInformer::builder(HttpListWatch::<PartialObjectMeta<Pod>>::new(
        client,
        Scope::All,
    ))
    .with_options(options())
    .with_transform(transform::drop_managed_fields)
    .build()
    .unwrap()
}

/// The pods of each application without what is theirs alone: most of a pod is that of its application's others.
static TEMPLATES: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..APPLICATIONS).map(template).collect());

fn template(application: u32) -> String {
    let hash = format!("{:08x}", application * 7_919);
    let settings = (0..24).map(|n| {
        let value = format!("value {n} of application {application}");
        json!({"name": format!("SETTING_{n}"), "value": value})
    });
    let managed = ["kube-controller-manager", "kubelet"].map(|manager| {
        let fields = (0..24).map(|n| {
            let key = format!("k:{{\"name\":\"SETTING_{n}\"}}");
            (key, json!({".": {}, "f:name": {}, "f:value": {}}))
        });
        let fields: serde_json::Map<String, Value> = fields.collect();
        json!({
            "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:containers": {"f:env": fields}}},
            "manager": manager, "operation": "Update", "time": "2026-01-01T00:00:00Z",
        })
    });
    let container = json!({
        "name": "web", "image": format!("registry.example/app-{application}:1.{application}"),
        "env": settings.collect::<Vec<Value>>(),
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": true}],
    });
    let pod = json!({
        "metadata": {
            "name": format!("app-{application}-{hash}-OWN"), "generateName": format!("app-{application}-{hash}-"),
            "namespace": format!("team-{}", application % 4), "uid": "uid-OWN", "resourceVersion": "REVISION",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": format!("app-{application}"), "pod-template-hash": hash, "tier": "web"},
            "managedFields": managed,
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("app-{application}-{hash}"),
                "uid": format!("{application:016x}"), "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "containers": [container], "nodeName": "node-OWN", "serviceAccountName": "default",
            "volumes": [{"name": "data", "configMap": {"name": "data", "defaultMode": 420}}],
        },
        "status": {
            "phase": "Running", "podIP": "10.OWN", "hostIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "containerStatuses": [{
                "name": "web", "ready": true, "restartCount": 0, "image": "web", "imageID": "web",
                "containerID": "containerd://OWN", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
            }],
        },
    });
    pod.to_string()
}

/// Returns a version of a pod. From [`LABELLED`] on it has a label of its own.
fn pod(n: u32, revision: u64) -> String {
    let own = u64::from(n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut text = TEMPLATES[(n % APPLICATIONS) as usize].clone();
    if n >= LABELLED {
        text = text.replace(r#""tier":"web""#, r#""tier":"OWN""#);
    }
    let text = text.replace("OWN", &format!("{own:016x}"));
    text.replace("REVISION", &revision.to_string())
}

/// Returns the bytes of a pod that is decoded and copied, whose vectors and texts are as long as they need to be.
fn copied_bytes() -> i64 {
    let pod: Pod = serde_json::from_str(&pod(0, 1)).unwrap();
    let mut copy = None;
    let taken = measure(|| copy = Some(pod.clone()));
    assert_eq!(copy, Some(pod));
    taken.bytes_current + i64::try_from(size_of::<Pod>()).unwrap()
}

/// Returns the most that the samples of a dictionary take, which a compact cache collects for the next one.
fn samples_bytes() -> i64 {
    128 * i64::try_from(pod(0, 1).len()).unwrap()
}

#[test]
fn a_compact_pod_takes_an_eighth_of_its_json() {
    let (_cache, bytes) = Cache::filled(PODS, compact);
    let young = i64::try_from(YOUNG_BYTES).unwrap();
    let (each, json) = ((bytes - young) / i64::from(PODS), pod(0, 1).len());
    assert!((200..750).contains(&each), "{json} bytes take {each}");
}

#[test]
fn a_typed_pod_takes_what_its_copy_takes() {
    let (_cache, bytes) = Cache::filled(PODS, typed);
    let (each, copied) = (bytes / i64::from(PODS), copied_bytes());
    assert!((each - copied).abs() < 500, "{each}, its copy {copied}");
}

#[test]
fn labels_and_owners_that_are_equal_are_held_once_beside_what_was_decoded() {
    let (_cache, bytes) = Cache::filled(PODS, metadata);
    let each = bytes / i64::from(PODS);
    assert!((1_000..1_700).contains(&each), "{each} bytes");
}

#[test]
fn a_list_is_decoded_as_it_arrives_and_is_never_held_whole() {
    /// Returns the bytes that a list takes while it arrives, beside what it takes afterwards.
    fn passing<K: Send + Sync + 'static>(build: impl Fn(Client) -> SharedInformer<K>) -> i64 {
        drop(Cache::started(0, &build));
        let (_cache, taken) = Cache::started(PODS, &build);
        i64::try_from(taken.bytes_max).unwrap() - taken.bytes_current
    }
    let body = i64::from(PODS) * i64::try_from(pod(0, 1).len()).unwrap();
    let bytes = [passing(without_spec), passing(without_managed_fields)];
    assert!(
        bytes.iter().all(|bytes| *bytes < body / 8),
        "{bytes:?} bytes more for a body of {body}"
    );
}

#[test]
fn versions_that_are_replaced_leave_nothing() {
    let (cache, _) = Cache::filled(PODS, compact);
    cache.change_all(1);
    let grown = cache.change_all(5);
    let limit = samples_bytes() + SLACK;
    assert!(grown < limit, "compact: {grown} bytes, not {limit}");
    let (cache, _) = Cache::filled(PODS, typed);
    cache.change_all(1);
    let grown = cache.change_all(4);
    assert!(grown < SLACK, "typed: {grown} bytes");
}

#[test]
fn pods_that_come_and_go_leave_nothing() {
    let bytes = [
        grown_by_passing_pods(compact, PODS) - samples_bytes(),
        grown_by_passing_pods(typed, PODS),
        grown_by_passing_pods(metadata, PODS),
    ];
    assert!(bytes.iter().all(|bytes| *bytes < 2 * SLACK), "{bytes:?}");
}

#[test]
fn labels_that_no_pod_has_any_more_are_dropped() {
    // A thousand are kept until they are looked through.
    let bytes = grown_by_passing_pods(metadata, LABELLED);
    assert!(bytes < 6 * SLACK, "{bytes} bytes");
}

/// Creates and deletes eight times as many pods as a cache holds, from the `first` on, and returns by how many bytes the thread
/// has more afterwards.
fn grown_by_passing_pods<K: Send + Sync + 'static>(
    build: impl Fn(Client) -> SharedInformer<K>,
    first: u32,
) -> i64 {
    let (cache, _) = Cache::filled(PODS, build);
    cache.grown_by(async || {
        for round in 0..8 {
            let begin = first + round * PODS;
            for is_deleted in [false, true] {
                cache.change(begin..begin + PODS, is_deleted).await;
            }
        }
    })
}

#[test]
fn readers_leave_the_last_decoded_pods() {
    let (cache, _) = Cache::filled(PODS, compact);
    let read = async || {
        for object in cache.objects() {
            object.decode().unwrap();
        }
    };
    let hot = i64::try_from(CompactOptions::default().hot_objects_max).unwrap();
    let (grown, kept) = (cache.grown_by(read), hot * copied_bytes());
    let most = kept * 6 / 5;
    assert!(
        (kept..most).contains(&grown),
        "{grown} bytes, not {kept} to {most}"
    );
    let grown = cache.grown_by(read);
    assert!(grown < SLACK, "read again: {grown} bytes");
}

#[test]
fn a_reader_that_does_not_read_makes_no_more_than_two_versions_of_a_pod_wait() {
    let (cache, _) = Cache::filled(PODS, typed);
    let options = HandlerOptions::default().with_buffer(Buffer::Coalescing { limit: 8 });
    let mut stream = Some(cache.informer.stream_with(options));
    let waiting = cache.change_all(2);
    let grown = cache.change_all(4);
    assert!(grown < SLACK, "{grown} bytes more after four times as much");
    let left = waiting + grown + cache.grown_by(async || drop(stream.take()));
    assert!(
        left < SLACK,
        "{left} bytes are left of a reader that is gone"
    );
}
