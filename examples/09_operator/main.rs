//! An operator with a resource of its own, as the tutorial of the book builds it, and its tests.
//!
//! ```console
//! $ cargo test -p examples --example 09_operator            # its tests, against servers in the process
//! $ cargo run -p examples --example 09_operator -- --crd    # prints the definition of the resource
//! $ cargo run -p examples --example 09_operator             # works for the cluster of the kubeconfig, until Ctrl-C
//! ```

mod operator;
#[cfg(test)]
mod survive;
#[cfg(test)]
mod tests;
mod website;

use std::error::Error;

use informer::{
    leader_election::{LeaderElector, LeaseLock},
    manager::{self, Manager},
};
use kube::CustomResourceExt as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tokio::net::TcpListener;

use self::website::Website;

type AnyError = Box<dyn Error + Send + Sync>;

// ANCHOR: main
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    if std::env::args().any(|argument| argument == "--crd") {
        println!("{}", serde_json::to_string_pretty(&Website::crd())?);
        return Ok(());
    }
    let metrics = exporter()?.install_recorder()?;
    let client = informer::http::client(kube::Config::infer().await?)?;
    // Of several copies of the program one works, and the others wait with warm caches.
    let lock = LeaseLock::new(client.clone(), "default", operator::NAME);
    let identity = std::env::var("HOSTNAME").unwrap_or_else(|_| std::process::id().to_string());
    let manager = Manager::new(client)
        .with_leader_election(LeaderElector::new(lock, identity)?)
        .with_controller(operator::controller());
    let paths = manager::endpoints(&manager.health());
    let paths = paths.merge(manager::metrics_endpoint(move || metrics.render()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("probes and metrics at http://{}", listener.local_addr()?);
    manager
        .with_endpoints(listener, paths)
        .run_until_signal()
        .await?;
    Ok(())
}
// ANCHOR_END: main

/// Returns an exporter whose histograms have client-go's buckets.
fn exporter() -> Result<PrometheusBuilder, AnyError> {
    use informer::{metrics, workqueue::metrics as queue_metrics};

    let full = |name: &str| Matcher::Full(name.to_owned());
    Ok(PrometheusBuilder::new()
        .set_buckets_for_metric(
            full(metrics::PROCESSING_LATENCY_SECONDS),
            &metrics::PROCESSING_LATENCY_BUCKETS_SECONDS,
        )?
        .set_buckets_for_metric(
            full(queue_metrics::QUEUE_DURATION_SECONDS),
            &queue_metrics::DURATION_BUCKETS_SECONDS,
        )?
        .set_buckets_for_metric(
            full(queue_metrics::WORK_DURATION_SECONDS),
            &queue_metrics::DURATION_BUCKETS_SECONDS,
        )?)
}
