//! Controllers in several clusters at once, which come and go.
//!
//! A [`MultiClusterManager`] runs a set of controllers in each of its [`Clusters`]: every cluster has caches and queues of its own,
//! so that one that cannot be reached holds up no other. [`Context::cluster`](crate::controller::Context::cluster) says in which
//! one a reconcile is; with the key, that names an object among all of them.
//!
//! # Examples
//!
//! ```
//! use informer::{
//!     controller::Controller,
//!     multi_cluster::{Clusters, MultiClusterManager},
//!     workqueue::Action,
//! };
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), informer::Error> {
//! # let (east, west) = (fakeserver::FakeServer::builder().build(), fakeserver::FakeServer::builder().build());
//! # let (east, west) = (east.client(), west.client());
//! let clusters = Clusters::new();
//! clusters.insert("east", east);
//! let manager = MultiClusterManager::new(&clusters)
//!     .with_controller(|_| {
//!         Controller::<ConfigMap>::new("maps").reconcile(async |ctx, key| {
//!             println!("{key} in {}", ctx.cluster().unwrap_or_default());
//!             Ok::<_, kube::Error>(Action::AwaitChange)
//!         })
//!     })
//!     .start();
//! // Later, as clusters are made and removed:
//! clusters.insert("west", west);
//! clusters.remove("east");
//! # tokio::time::sleep(std::time::Duration::from_secs(5)).await;
//! # assert!(clusters.get("west").is_some_and(|cluster| cluster.is_ready()));
//! manager.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # From one cluster to another
//!
//! The function that makes a controller is given the [`Cluster`], and can hold clients of others. To wake a key of one cluster for
//! a change in another, give the controller an [`ExternalSource`](crate::controller::ExternalSource), and enqueue the key from the
//! reconcile that saw the change. The example `12_two_clusters` does both.
//!
//! # What it promises
//!
//! - A cluster whose caches are not filled in time is tried again after a growing delay, with new caches; the others go on.
//! - A cluster that is removed receives no more changes, works off what is queued, within a limit, and its caches end. One that is inserted
//!   under a known name with another client takes its place once that is done.
//! - With [`with_leader_election`](MultiClusterManager::with_leader_election), one copy of the program works in all clusters. When
//!   it loses the lease, everything ends at once.
//!
//! # What it does not promise
//!
//! A copy that does not lead has no caches: which clusters there will be is not known before.
//!
//! # Memory
//!
//! One cache a kind and cluster.

mod clusters;
mod course;
mod driver;

pub use self::{
    clusters::{Cluster, Clusters},
    driver::{MultiClusterManager, RunningMultiClusterManager},
};
