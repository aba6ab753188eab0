//! Updates of pods, taken in and told to handlers by one thread.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use fakeserver::{ClusterOptions, FakeServer};
use futures::StreamExt;
use informer::{
    EventHandler, Object, Scope, SharedInformer, compact::CompactOptions, http::HttpListWatch,
    reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt};
use kube_runtime::{WatchStreamExt, reflector, watcher};
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::timeout};

use crate::{
    feed::{Feed, VERSION},
    job::Job,
    task::{TaskSet, on_one_thread},
};

/// The number of pods, which are updated in turn.
const PODS: u32 = 1_000;
/// The maximum number of objects that wait for a subscriber of kube-runtime.
const SUBSCRIBER_BUFFER: usize = 1_024;
const DEADLINE: Duration = Duration::from_mins(5);

/// The cache that takes the updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Side {
    Typed,
    Dropped,
    /// With handlers that only take keys.
    Compact,
    /// A reflector whose one stream calls all handlers.
    KubeRuntime,
    /// A shared reflector with a subscriber for each handler.
    KubeRuntimeShared,
}

/// The time that all updates took.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct UpdateTime {
    elapsed: Duration,
}

/// Counts the handlers that have received the last update.
struct Finish {
    last_version: String,
    notification_count: AtomicU64,
    moved: Notify,
}

/// A handler that reads the objects that it receives.
struct ObjectReader<K> {
    finish: Arc<Finish>,
    look: fn(&Finish, &Object<K>),
}

// === impl Side ===

impl Side {
    /// Returns the name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Typed => "informer typed",
            Self::Dropped => "informer without managedFields",
            Self::Compact => "informer compact, handlers take keys",
            Self::KubeRuntime => "kube-runtime reflector, one stream",
            Self::KubeRuntimeShared => "kube-runtime shared reflector",
        }
    }
}

/// Updates a second, by a process of its own in each round; the median.
pub(crate) async fn per_second(
    side: Side,
    handlers: u32,
    count: u32,
    rounds: u32,
) -> Result<f64, Box<dyn Error>> {
    let mut elapsed = Vec::new();
    for _ in 0..rounds {
        let job = Job::Updates {
            side,
            handlers,
            count,
        };
        let taken: UpdateTime = job.outcome().await?;
        elapsed.push(taken.elapsed);
    }
    elapsed.sort_unstable();
    let median = elapsed[elapsed.len() / 2];
    Ok(f64::from(count) / median.as_secs_f64())
}

/// Processes `count` updates in this process, and notifies `handlers` handlers.
pub(crate) async fn run(
    side: Side,
    handlers: u32,
    count: u32,
) -> Result<UpdateTime, Box<dyn Error>> {
    let elapsed = on_one_thread(move || take_in(side, handlers, count));
    Ok(UpdateTime {
        elapsed: elapsed.await?,
    })
}

async fn take_in(side: Side, handlers: u32, count: u32) -> Result<Duration, Box<dyn Error>> {
    let feed = Feed::new("Pod", pods(), count.into());
    let finish = Arc::new(Finish {
        last_version: feed.last_version(),
        notification_count: AtomicU64::new(0),
        moved: Notify::new(),
    });
    let pods = HttpListWatch::<Pod>::new(feed.client(), Scope::All);
    match side {
        Side::Typed => informer(pods, &feed, &finish, handlers, Finish::look_into).await,
        Side::Dropped => {
            let pods = pods.without_fields([".metadata.managedFields"])?;
            informer(pods, &feed, &finish, handlers, Finish::look_into).await
        }
        Side::Compact => {
            let pods = pods.compact(CompactOptions::default());
            informer(pods, &feed, &finish, handlers, Finish::look_at).await
        }
        Side::KubeRuntime => kube_runtime(&feed, &finish, handlers).await,
        Side::KubeRuntimeShared => kube_runtime_shared(&feed, &finish, handlers).await,
    }
}

/// The pods of a simulated cluster, as an event has them.
fn pods() -> Vec<String> {
    let cluster = ClusterOptions::new(PODS / 30, PODS);
    let server = FakeServer::builder().with_seed(7).with_cluster(cluster);
    let pods = server.build().objects("", "v1", "pods");
    let json = pods.iter().map(|pod| {
        let json = String::from_utf8_lossy(&pod.json()).into_owned();
        let own = format!("\"resourceVersion\":\"{}\"", pod.revision());
        let open = format!("\"resourceVersion\":\"{VERSION}\"");
        let json = json.replacen(&own, &open, 1);
        format!(r#"{{"kind":"Pod","apiVersion":"v1",{}"#, &json[1..])
    });
    json.collect()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn informer<K: Send + Sync + 'static>(
    pods: HttpListWatch<K>,
    feed: &Feed,
    finish: &Arc<Finish>,
    handlers: u32,
    look: fn(&Finish, &Object<K>),
) -> Result<Duration, Box<dyn Error>> {
    let mut options = ReflectorOptions::default();
    options.streaming_lists = false;
    let informer = SharedInformer::builder(pods)
        .with_options(options)
        .build()?;
    for _ in 0..handlers {
        let handler = ObjectReader {
            finish: Arc::clone(finish),
            look,
        };
        informer.add_handler(handler).detach();
    }
    informer.start();
    informer.wait_for_cache_sync(DEADLINE).await?;
    let start = Instant::now();
    feed.begin();
    finish.wait(u64::from(handlers)).await?;
    let elapsed = start.elapsed();
    informer.shutdown().await;
    Ok(elapsed)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn kube_runtime(
    feed: &Arc<Feed>,
    finish: &Finish,
    handlers: u32,
) -> Result<Duration, Box<dyn Error>> {
    let (_store, writer) = reflector::store::<Pod>();
    let mut events = watcher(
        Api::<Pod>::all(feed.client()),
        watcher::Config::default().any_semantic(),
    )
    .default_backoff()
    .reflect(writer)
    .boxed();
    let mut start = Instant::now();
    let all = async {
        while let Some(event) = events.next().await {
            match event? {
                watcher::Event::InitDone => {
                    start = Instant::now();
                    feed.begin();
                }
                watcher::Event::Apply(pod) => {
                    for _ in 0..handlers {
                        finish.look(&pod);
                    }
                    if finish.is_over(1) {
                        break;
                    }
                }
                _ => {}
            }
        }
        Ok::<_, watcher::Error>(())
    };
    timeout(DEADLINE, all).await??;
    Ok(start.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
async fn kube_runtime_shared(
    feed: &Arc<Feed>,
    finish: &Arc<Finish>,
    handlers: u32,
) -> Result<Duration, Box<dyn Error>> {
    let (store, writer) = reflector::store_shared::<Pod>(SUBSCRIBER_BUFFER);
    let mut tasks = TaskSet::new();
    for _ in 0..handlers {
        let mut subscriber = writer.subscribe().ok_or("the store is not shared")?;
        let finish = Arc::clone(finish);
        tasks.spawn(async move {
            while let Some(pod) = subscriber.next().await {
                finish.look(&pod);
            }
        });
    }
    let events = watcher(
        Api::<Pod>::all(feed.client()),
        watcher::Config::default().any_semantic(),
    );
    let mut events = events.default_backoff().reflect_shared(writer).boxed();
    tasks.spawn(async move { while events.next().await.is_some() {} });
    timeout(DEADLINE, store.wait_until_ready()).await??;
    let start = Instant::now();
    feed.begin();
    finish.wait(u64::from(handlers)).await?;
    Ok(start.elapsed())
}

// === impl Finish ===

impl Finish {
    fn look(&self, pod: &Pod) {
        if pod.resource_version().as_deref() == Some(&self.last_version) {
            self.arrive();
        }
    }

    fn look_into(&self, pod: &Object<Pod>) {
        self.look(pod.get());
    }

    /// Looks at the key and version only.
    fn look_at<K>(&self, object: &Object<K>) {
        if object.resource_version().as_str() == self.last_version {
            self.arrive();
        }
    }

    fn arrive(&self) {
        self.notification_count.fetch_add(1, Ordering::Relaxed);
        self.moved.notify_one();
    }

    fn is_over(&self, count: u64) -> bool {
        self.notification_count.load(Ordering::Relaxed) >= count
    }

    async fn wait(&self, count: u64) -> Result<(), Box<dyn Error>> {
        let over = async {
            while !self.is_over(count) {
                self.moved.notified().await;
            }
        };
        Ok(timeout(DEADLINE, over).await?)
    }
}

// === impl ObjectReader ===

impl<K: 'static> EventHandler<K> for ObjectReader<K> {
    fn on_update(&mut self, _: &Object<K>, new: &Object<K>) {
        (self.look)(&self.finish, new);
    }
}
