//! From a write on the server to the handler of an informer that watches over TCP.

use std::{
    error::Error,
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use fakeserver::FakeServer;
use informer::{EventHandler, Object, Scope, SharedInformer, http::HttpListWatch};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::task::TaskSet;

/// The pause between two writes.
const PAUSE: Duration = Duration::from_millis(2);
const DEADLINE: Duration = Duration::from_secs(30);

/// The time until a handler is notified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    pub(crate) median: Duration,
    pub(crate) slowest_hundredth: Duration,
}

/// Sends each version with the time at which the handler received it.
struct VersionSender(mpsc::UnboundedSender<(String, Instant)>);

impl EventHandler<ConfigMap> for VersionSender {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    fn on_update(&mut self, _: &Object<ConfigMap>, new: &Object<ConfigMap>) {
        // The receiver is dropped when the measurement ends.
        let _ = self
            .0
            .send((new.resource_version().to_string(), Instant::now()));
    }
}

/// Writes so often, and waits for the handler each time.
pub(crate) async fn measure(writes: u32) -> Result<Latency, Box<dyn Error>> {
    let server = FakeServer::builder().build();
    server.apply(&map(0))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let mut tasks = TaskSet::new();
    tasks.spawn(server.serve(listener, stop.clone()));

    let client = informer::http::client(kube::Config::new(url.parse()?))?;
    let maps = HttpListWatch::<ConfigMap>::new(client, Scope::All);
    let informer = SharedInformer::builder(maps).build()?;
    let (versions, mut received) = mpsc::unbounded_channel();
    informer.add_handler(VersionSender(versions)).detach();
    informer.start();
    informer.wait_for_cache_sync(DEADLINE).await?;

    let mut lasted = Vec::new();
    for number in 1..=writes {
        sleep(PAUSE).await;
        let before = server.revision();
        server.apply(&map(number))?;
        let written = server.history("", "v1", "configmaps", before);
        let written = written.first().ok_or("the write was not made")?;
        let (version, start) = (written.revision().to_string(), written.committed());
        loop {
            let (versions, at) = timeout(DEADLINE, received.recv())
                .await?
                .ok_or("the informer has ended")?;
            if versions == version {
                lasted.push(at.duration_since(start.into_std()));
                break;
            }
        }
    }
    informer.shutdown().await;
    stop.cancel();
    server.shutdown().await;
    lasted.sort_unstable();
    Ok(Latency {
        median: lasted[lasted.len() / 2],
        slowest_hundredth: lasted[lasted.len() - 1 - lasted.len() / 100],
    })
}

fn map(number: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "written", "namespace": "default"},
        "data": {"number": number.to_string()},
    })
}
