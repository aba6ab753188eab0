//! The sides under measurement: each keeps all pods of a server in a cache.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clap::ValueEnum;
use futures::StreamExt;
use informer::{
    Scope, SharedInformer,
    compact::CompactOptions,
    http::{Encoding, HttpListWatch},
    reflector::ReflectorOptions,
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, ResourceExt, core::PartialObjectMeta};
use kube_runtime::{WatchStreamExt, reflector, watcher};
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::{answer::Answer, task::TaskSet};

/// The time limit of a list.
const DEADLINE: Duration = Duration::from_mins(5);
/// The interval at which a list's end is checked.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// One side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Side {
    /// `informer`, whole objects, pages of 500.
    TypedPaged,
    /// `informer`, whole objects, streaming list.
    TypedStreaming,
    /// `informer`, whole objects, pages of 500, on one thread.
    TypedPagedOneThread,
    /// `informer`, whole objects, streaming list, on one thread.
    TypedStreamingOneThread,
    /// `informer`, objects without managed fields, pages of 500.
    DroppedPaged,
    /// `informer`, objects without managed fields, streaming list.
    DroppedStreaming,
    /// `informer`, compact, pages of 500.
    CompactPaged,
    /// `informer`, compact, streaming list.
    CompactStreaming,
    /// `informer`, metadata only, pages of 500.
    MetadataPaged,
    /// `informer`, metadata only, streaming list.
    MetadataStreaming,
    /// `informer`, whole objects, protobuf, pages of 500.
    TypedPagedProtobuf,
    /// `informer`, whole objects, protobuf, streaming list.
    TypedStreamingProtobuf,
    /// `informer`, objects without managed fields, protobuf, pages of 500.
    DroppedPagedProtobuf,
    /// `informer`, compact, protobuf, pages of 500.
    CompactPagedProtobuf,
    /// `informer`, compact, protobuf, streaming list.
    CompactStreamingProtobuf,
    /// `informer`, whole objects, CBOR, pages of 500.
    TypedPagedCbor,
    /// `informer`, objects without managed fields, CBOR, pages of 500.
    DroppedPagedCbor,
    /// `informer`, compact, CBOR, pages of 500.
    CompactPagedCbor,
    /// `kube_runtime::reflector`, pages of 500.
    KubeRuntimePaged,
    /// `kube_runtime::reflector`, streaming list.
    KubeRuntimeStreaming,
    /// An informer of client-go, a program of its own; needs `--client-go`
    ClientGo,
    /// The same, protobuf.
    ClientGoProtobuf,
}

/// A cache of one side, which is filled in the background.
pub(crate) struct Cache {
    /// Returns the number of lists so far.
    lists: Box<dyn Fn() -> u64 + Send + Sync>,
    answer: Box<dyn Fn() -> Answer + Send + Sync>,
    _tasks: TaskSet,
}

// === impl Side ===

impl Side {
    /// Begins to cache all pods of the server at `url`.
    pub(crate) fn cache(self, url: &str) -> Result<Cache, Box<dyn Error>> {
        let client = informer::http::client(kube::Config::new(url.parse()?))?;
        let pods = |client| pods(client).with_encoding(self.encoding());
        match self {
            Self::TypedPaged
            | Self::TypedStreaming
            | Self::TypedPagedOneThread
            | Self::TypedStreamingOneThread
            | Self::TypedPagedProtobuf
            | Self::TypedStreamingProtobuf
            | Self::TypedPagedCbor => self.informer(pods(client)),
            Self::DroppedPaged
            | Self::DroppedStreaming
            | Self::DroppedPagedProtobuf
            | Self::DroppedPagedCbor => {
                self.informer(pods(client).without_fields([".metadata.managedFields"])?)
            }
            Self::CompactPaged
            | Self::CompactStreaming
            | Self::CompactPagedProtobuf
            | Self::CompactStreamingProtobuf
            | Self::CompactPagedCbor => {
                self.informer(pods(client).compact(CompactOptions::default()))
            }
            Self::MetadataPaged | Self::MetadataStreaming => {
                let pods = HttpListWatch::<PartialObjectMeta<Pod>>::new(client, Scope::All);
                self.informer(pods)
            }
            Self::KubeRuntimePaged => Ok(kube_runtime(client, watcher::Config::default())),
            Self::KubeRuntimeStreaming => {
                let config = watcher::Config::default().streaming_lists();
                Ok(kube_runtime(client, config))
            }
            Self::ClientGo | Self::ClientGoProtobuf => Err("client-go has no cache here".into()),
        }
    }

    /// Returns the encoding that the program of client-go is to ask for; `None` for a side of this program.
    pub(crate) fn encoding_of_client_go(self) -> Option<&'static str> {
        match self {
            Self::ClientGo => Some("json"),
            Self::ClientGoProtobuf => Some("protobuf"),
            _ => None,
        }
    }

    /// Returns the name in tables.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::TypedPaged => "informer typed, paged list",
            Self::TypedStreaming => "informer typed, streaming list",
            Self::TypedPagedOneThread => "informer typed, one thread, paged list",
            Self::TypedStreamingOneThread => "informer typed, one thread, streaming list",
            Self::DroppedPaged => "informer without managedFields, paged list",
            Self::DroppedStreaming => "informer without managedFields, streaming list",
            Self::CompactPaged => "informer compact, paged list",
            Self::CompactStreaming => "informer compact, streaming list",
            Self::MetadataPaged => "informer metadata only, paged list",
            Self::MetadataStreaming => "informer metadata only, streaming list",
            Self::TypedPagedProtobuf => "informer typed, protobuf, paged list",
            Self::TypedStreamingProtobuf => "informer typed, protobuf, streaming list",
            Self::DroppedPagedProtobuf => "informer without managedFields, protobuf, paged list",
            Self::CompactPagedProtobuf => "informer compact, protobuf, paged list",
            Self::CompactStreamingProtobuf => "informer compact, protobuf, streaming list",
            Self::TypedPagedCbor => "informer typed, CBOR, paged list",
            Self::DroppedPagedCbor => "informer without managedFields, CBOR, paged list",
            Self::CompactPagedCbor => "informer compact, CBOR, paged list",
            Self::KubeRuntimePaged => "kube-runtime reflector, paged list",
            Self::KubeRuntimeStreaming => "kube-runtime reflector, streaming list",
            Self::ClientGo => "client-go",
            Self::ClientGoProtobuf => "client-go, protobuf",
        }
    }

    /// Returns the number of threads; `None` for as many as there are processors.
    pub(crate) fn threads(self) -> Option<u32> {
        match self {
            Self::TypedPagedOneThread | Self::TypedStreamingOneThread => Some(1),
            _ => None,
        }
    }

    /// Returns whether it is a side of this program that asks for JSON.
    pub(crate) fn is_default(self) -> bool {
        self.encoding() == Encoding::Json && self.encoding_of_client_go().is_none()
    }

    fn encoding(self) -> Encoding {
        match self {
            Self::TypedPagedProtobuf
            | Self::TypedStreamingProtobuf
            | Self::DroppedPagedProtobuf
            | Self::CompactPagedProtobuf
            | Self::CompactStreamingProtobuf => Encoding::Protobuf,
            Self::TypedPagedCbor | Self::DroppedPagedCbor | Self::CompactPagedCbor => {
                Encoding::Cbor
            }
            _ => Encoding::Json,
        }
    }

    fn is_streaming(self) -> bool {
        matches!(
            self,
            Self::TypedStreaming
                | Self::TypedStreamingOneThread
                | Self::DroppedStreaming
                | Self::CompactStreaming
                | Self::TypedStreamingProtobuf
                | Self::CompactStreamingProtobuf
                | Self::MetadataStreaming
                | Self::KubeRuntimeStreaming
        )
    }

    fn informer<K>(self, pods: HttpListWatch<K>) -> Result<Cache, Box<dyn Error>>
    where
        K: Send + Sync + 'static,
    {
        let mut options = ReflectorOptions::default();
        options.streaming_lists = self.is_streaming();
        let pods = SharedInformer::builder(pods)
            .with_options(options)
            .build()?;
        pods.start();
        let store = pods.store();
        Ok(Cache {
            lists: Box::new(move || {
                if pods.has_synced() {
                    pods.metrics().replacements
                } else {
                    0
                }
            }),
            answer: Box::new(move || {
                let pods = store.list();
                Answer::of(
                    pods.iter()
                        .map(|pod| (pod.key().to_string(), pod.resource_version().to_string())),
                )
            }),
            _tasks: TaskSet::new(),
        })
    }
}

fn pods(client: Client) -> HttpListWatch<Pod> {
    HttpListWatch::new(client, Scope::All)
}

fn kube_runtime(client: Client, config: watcher::Config) -> Cache {
    let (reader, writer) = reflector::store::<Pod>();
    let mut events = watcher(Api::<Pod>::all(client), config)
        .default_backoff()
        .reflect(writer)
        .boxed();
    let lists = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&lists);
    let mut tasks = TaskSet::new();
    tasks.spawn(async move {
        // The watcher recovers from failures by itself.
        while let Some(event) = events.next().await {
            if matches!(event, Ok(watcher::Event::InitDone)) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    Cache {
        lists: Box::new(move || lists.load(Ordering::Relaxed)),
        answer: Box::new(move || {
            Answer::of(reader.state().iter().map(|pod| {
                let key = format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any());
                (key, pod.resource_version().unwrap_or_default())
            }))
        }),
        _tasks: tasks,
    }
}

// === impl Cache ===

impl Cache {
    /// Waits until everything was listed so often.
    pub(crate) async fn wait_for_lists(&self, count: u64) -> Result<(), Box<dyn Error>> {
        let listed = async {
            while (self.lists)() < count {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(DEADLINE, listed)
            .await
            .map_err(|_| "the cache did not sync")?;
        Ok(())
    }

    /// Returns the digest of its contents.
    pub(crate) fn answer(&self) -> Answer {
        (self.answer)()
    }
}
