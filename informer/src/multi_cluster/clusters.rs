//! The clusters that there are, and how they fare.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::Client;
use tokio::sync::watch;

use crate::manager::{Health, ManagerError};

/// The clusters of a [`MultiClusterManager`](super::MultiClusterManager), which come and go while it runs. A clone shows the same
/// ones.
#[derive(Clone, Debug, Default)]
#[doc(alias = "Provider")]
pub struct Clusters(Arc<watch::Sender<ByName>>);

/// Clusters by their names.
pub(super) type ByName = BTreeMap<Arc<str>, Cluster>;

/// A cluster: its name and a client of it. A clone shows the same one.
#[derive(Clone)]
pub struct Cluster {
    name: Arc<str>,
    client: Client,
    progress: Arc<Mutex<Progress>>,
}

/// The progress of the controllers of a cluster.
#[derive(Debug, Default)]
struct Progress {
    /// That of the latest attempt.
    health: Option<Health>,
    error: Option<Arc<ManagerError>>,
}

// === impl Clusters ===

impl Clusters {
    /// Creates a set without clusters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a cluster. One of the same name ends first, in good order, and this one takes its place.
    ///
    /// Use a client made by [`http::client`](crate::http::client).
    pub fn insert(&self, name: impl Into<Arc<str>>, client: Client) {
        let name = name.into();
        let cluster = Cluster {
            name: Arc::clone(&name),
            client,
            progress: Arc::default(),
        };
        self.0.send_modify(|clusters| {
            clusters.insert(name, cluster);
        });
    }

    /// Removes a cluster; false if there is none of that name. Its controllers end in good order.
    pub fn remove(&self, name: &str) -> bool {
        self.0
            .send_if_modified(|clusters| clusters.remove(name).is_some())
    }

    /// Returns a cluster.
    pub fn get(&self, name: &str) -> Option<Cluster> {
        self.0.borrow().get(name).cloned()
    }

    /// Returns the names, in order.
    pub fn names(&self) -> Vec<Arc<str>> {
        self.0.borrow().keys().cloned().collect()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<ByName> {
        self.0.subscribe()
    }
}

// === impl Cluster ===

impl Cluster {
    /// Returns its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns true while its caches are filled and its controllers work.
    pub fn is_ready(&self) -> bool {
        let progress = self.progress();
        progress.health.as_ref().is_some_and(Health::is_ready)
    }

    /// Returns the reason why the latest attempt to work in it failed; `None` once the next one is ready.
    pub fn error(&self) -> Option<Arc<ManagerError>> {
        if self.is_ready() {
            return None;
        }
        self.progress().error.clone()
    }

    /// Returns true if the other one is this one, and not a later one of its name.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.progress, &other.progress)
    }

    pub(super) fn begin(&self, health: Health) {
        self.progress().health = Some(health);
    }

    pub(super) fn fail(&self, error: ManagerError) {
        self.progress().error = Some(Arc::new(error));
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("name", &self.name)
            .field("is_ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}
