//! Reads of a large cache: by an index, and while everything is listed again.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use informer::{
    IndexFn, ObjectKey, Scope, SharedInformer, http::HttpListWatch, reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::Pod;
use kube_runtime::{reflector, watcher};
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::{
    feed::{Feed, VERSION},
    job::Job,
    task::on_own_thread,
};

const INDEX: &str = "node";
const PODS_A_NODE: u32 = 30;
/// The number of repetitions of each lookup.
const LOOKUPS: u32 = 2_000;
const FILTERS: u32 = 20;
const DEADLINE: Duration = Duration::from_mins(5);

/// The durations of reads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Reads {
    /// One node's pods by the index of nodes.
    pub(crate) lookup: Duration,
    /// The same by looking at all pods of a kube-runtime store.
    pub(crate) filter: Duration,
    /// The slowest thousandth of reads by key while everything is replaced takes at least so long.
    pub(crate) slowest: Duration,
}

/// Measured in a process of its own.
pub(crate) async fn measure(pods: u32) -> Result<Reads, Box<dyn Error>> {
    Job::Reads { pods }.outcome().await
}

/// Measures in this process.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) async fn run(pods: u32) -> Result<Reads, Box<dyn Error>> {
    let nodes = pods.div_ceil(PODS_A_NODE);
    let filter = filter(pods, nodes)?;
    let objects = (0..pods).map(|number| pod(number, nodes).to_string());
    let feed = Feed::new("Pod", objects.collect(), 0);
    let mut options = ReflectorOptions::default();
    options.streaming_lists = false;
    let informer = SharedInformer::builder(HttpListWatch::<Pod>::new(feed.client(), Scope::All))
        .with_options(options)
        .with_index(INDEX, IndexFn::by_field(".spec.nodeName")?)
        .build()?;
    informer.start();
    informer.wait_for_cache_sync(DEADLINE).await?;
    let indexer = informer.indexer();

    let start = Instant::now();
    for number in 0..LOOKUPS {
        let node = format!("node-{}", number % nodes);
        let found = indexer.by_index(INDEX, &node)?;
        if found.is_empty() {
            return Err(format!("{node} has no pods").into());
        }
    }
    let lookup = start.elapsed() / LOOKUPS;

    let over = Arc::new(AtomicBool::new(false));
    let reader = {
        let over = Arc::clone(&over);
        on_own_thread(move || {
            let mut lasted = Vec::new();
            for number in (0..pods).cycle() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let key = ObjectKey::new("default", format!("pod-{number}"));
                let start = Instant::now();
                let found = indexer.get(&key);
                lasted.push(start.elapsed());
                drop(found);
            }
            lasted.sort_unstable();
            lasted[lasted.len() - 1 - lasted.len() / 1_000]
        })
    };
    let replaced = informer.metrics().replacements + 1;
    feed.expire();
    let listed = async {
        while informer.metrics().replacements < replaced {
            sleep(Duration::from_millis(1)).await;
        }
        // What was listed is applied behind it.
        sleep(Duration::from_secs(1)).await;
    };
    timeout(DEADLINE, listed).await?;
    over.store(true, Ordering::Relaxed);
    let slowest = reader.await?;
    informer.shutdown().await;
    Ok(Reads {
        lookup,
        filter,
        slowest,
    })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn filter(pods: u32, nodes: u32) -> Result<Duration, Box<dyn Error>> {
    let (store, mut writer) = reflector::store::<Pod>();
    writer.apply_watcher_event(&watcher::Event::Init);
    for number in 0..pods {
        let pod: Pod = serde_json::from_value(pod(number, nodes))?;
        writer.apply_watcher_event(&watcher::Event::InitApply(pod));
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    let start = Instant::now();
    for number in 0..FILTERS {
        let node = format!("node-{}", number % nodes);
        let all = store.state();
        let of_node = all.iter().filter(|pod| {
            let spec = pod.spec.as_ref();
            spec.and_then(|spec| spec.node_name.as_ref()) == Some(&node)
        });
        if of_node.count() == 0 {
            return Err(format!("{node} has no pods").into());
        }
    }
    Ok(start.elapsed() / FILTERS)
}

/// A pod as small as it can be: of large ones, a filter is no faster.
fn pod(number: u32, nodes: u32) -> serde_json::Value {
    serde_json::json!({
        "metadata": {
            "name": format!("pod-{number}"),
            "namespace": "default",
            "uid": format!("00000000-0000-4000-8000-{number:012x}"),
            "resourceVersion": VERSION,
        },
        "spec": {
            "nodeName": format!("node-{}", number % nodes),
            "containers": [{"name": "c", "image": "i"}],
        },
    })
}
