//! The sides under measurement: each syncs all pods of a server, in a process of its own, and says what it cost.

use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use futures::{StreamExt, TryStreamExt};
use informer::{Scope, SharedInformer, http::HttpListWatch, reflector::ReflectorOptions};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, ResourceExt};
use kube_runtime::{WatchStreamExt, reflector, watcher};
use serde::{Deserialize, Serialize};

use crate::process;

/// How long a side may take before the run is called off.
const DEADLINE: Duration = Duration::from_mins(5);

/// One side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// `informer`, pages of 500.
    InformerPaged,
    /// `informer`, streaming list.
    InformerStreaming,
    /// `kube_runtime::reflector`, pages of 500.
    KubeRuntimePaged,
    /// `kube_runtime::reflector`, streaming list.
    KubeRuntimeStreaming,
}

/// What one sync cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// From the first request to a synced cache.
    pub(crate) sync: Duration,
    /// Processor time of that.
    pub(crate) cpu: Duration,
    /// Growth of resident memory over that.
    pub(crate) resident_bytes: u64,
    /// The answer, to be checked: every key with its version.
    pub(crate) versions: BTreeMap<String, String>,
}

// === impl Side ===

impl Side {
    /// Syncs all pods of the server at `url`.
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    pub(crate) async fn sync(self, url: &str) -> Result<Measured, Box<dyn Error>> {
        let config = kube::Config::new(url.parse()?);
        let client = informer::http::client(config)?;
        let before = process::usage()?;
        let start = Instant::now();
        let mut measured = match self {
            Self::InformerPaged => informer(client, false, start).await?,
            Self::InformerStreaming => informer(client, true, start).await?,
            Self::KubeRuntimePaged => {
                kube_runtime(client, watcher::Config::default(), start).await?
            }
            Self::KubeRuntimeStreaming => {
                kube_runtime(client, watcher::Config::default().streaming_lists(), start).await?
            }
        };
        measured.cpu = measured.cpu.saturating_sub(before.cpu);
        measured.resident_bytes = measured
            .resident_bytes
            .saturating_sub(before.resident_bytes);
        Ok(measured)
    }

    /// What a table calls it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::InformerPaged => "informer, paged list",
            Self::InformerStreaming => "informer, streaming list",
            Self::KubeRuntimePaged => "kube-runtime reflector, paged list",
            Self::KubeRuntimeStreaming => "kube-runtime reflector, streaming list",
        }
    }
}

async fn informer(
    client: Client,
    streaming_list: bool,
    start: Instant,
) -> Result<Measured, Box<dyn Error>> {
    let mut options = ReflectorOptions::default();
    options.streaming_lists = streaming_list;
    let pods = SharedInformer::<Pod>::builder(HttpListWatch::new(client, Scope::All))
        .with_options(options)
        .build()?;
    pods.start();
    pods.wait_for_cache_sync(DEADLINE).await?;
    let sync = start.elapsed();
    let used = process::usage()?;
    let versions = pods
        .store()
        .list()
        .iter()
        .map(|pod| (pod.key().to_string(), pod.resource_version().to_string()))
        .collect();
    pods.shutdown().await;
    Ok(Measured::new(sync, used, versions))
}

async fn kube_runtime(
    client: Client,
    config: watcher::Config,
    start: Instant,
) -> Result<Measured, Box<dyn Error>> {
    let (reader, writer) = reflector::store::<Pod>();
    let mut events = watcher(Api::<Pod>::all(client), config)
        .default_backoff()
        .reflect(writer)
        .boxed();
    let synced = async {
        while let Some(event) = events.try_next().await? {
            if matches!(event, watcher::Event::InitDone) {
                return Ok::<_, watcher::Error>(());
            }
        }
        Ok(())
    };
    tokio::time::timeout(DEADLINE, synced).await??;
    let sync = start.elapsed();
    let used = process::usage()?;
    let versions = reader
        .state()
        .iter()
        .map(|pod| {
            let key = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
            (key, pod.resource_version().unwrap_or_default())
        })
        .collect();
    Ok(Measured::new(sync, used, versions))
}

// === impl Measured ===

impl Measured {
    fn new(sync: Duration, used: process::Usage, versions: BTreeMap<String, String>) -> Self {
        Self {
            sync,
            cpu: used.cpu,
            resident_bytes: used.resident_bytes,
            versions,
        }
    }
}
