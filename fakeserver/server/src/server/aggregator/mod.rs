//! Aggregated API servers: requests for the versions of groups whose API services name a service are answered by it.
//!
//! ```text
//! changes ──► Table (the APIs, what is known of them) ──► Schedule ──► driver: check, download, status
//!                 │                                                      ▲
//!                 ▼                                                      │
//! router: forward the request, or add what is known to discovery   facts (service, endpoints) ──► connection
//! ```
//!
//! The rules are those of kube-aggregator; [`availability`](fakeserver_kinds::apiregistration::availability) says whether an API can
//! be reached, and where. While no API service names a service the table is empty, and the task of the driver sleeps.

mod table;
mod schedule;
mod service_endpoints;
mod connection;
mod download;
mod api_documents;
mod check;
mod driver;
mod forward;
mod merge;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use fakeserver_kinds::{
    apiregistration::{api_service, remote::RemoteApi},
    core::{endpoints, service},
    discovery::endpoint_slice,
};
use percent_encoding::percent_decode_str;
use tokio::sync::Notify;

use self::{api_documents::ApiDocuments, table::Table};
pub(super) use self::{
    forward::forward,
    merge::{documents, groups},
    table::AggregatedApi,
};
use crate::{
    store::{Change, ChangeSink, ObjectKey, Range, Storage, StoredObject},
    task::TaskSet,
    write::Backend,
};

/// The time for a connection and its keys, as an API server has it.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// The APIs of other servers, kept with each change of the store.
///
/// # Memory
///
/// The discovery and the OpenAPI documents of each such API, at most 16 MiB each.
#[derive(Debug)]
pub(crate) struct Aggregator {
    table: Mutex<Table>,
    /// False while there are no aggregated APIs: requests then skip the lock of the table.
    is_needed: AtomicBool,
    /// Fires when the driver has something to do.
    arrived: Notify,
    is_running: AtomicBool,
}

// === impl Aggregator ===

impl Aggregator {
    /// Starts the checks in a task of `tasks`, unless they run. It is to be called in a runtime.
    pub(super) fn start(self: &Arc<Self>, backend: &Arc<Backend>, tasks: &TaskSet) {
        let stop = tasks.stop_token();
        if stop.is_cancelled() || self.is_running.load(Ordering::Acquire) {
            return;
        }
        // The load above spares most requests this exclusive access.
        if self.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let (aggregator, backend, stop) = (Arc::clone(self), Arc::clone(backend), stop.clone());
        tasks.spawn(async move {
            stop.run_until_cancelled(driver::run(&aggregator, &backend))
                .await;
        });
    }

    #[cfg(test)]
    fn is_needed(&self) -> bool {
        self.is_needed.load(Ordering::Acquire)
    }

    /// Returns the API of another server that answers requests for `path`, if there is one.
    pub(super) fn find(&self, storage: &Storage, path: &str) -> Option<AggregatedApi> {
        if !self.is_needed.load(Ordering::Acquire) {
            return None;
        }
        let path = percent_decode_str(path).decode_utf8_lossy();
        self.read(storage, |table| table.find(&path))
    }

    /// Returns all APIs of other servers, by name.
    pub(super) fn all(&self, storage: &Storage) -> Vec<AggregatedApi> {
        if !self.is_needed.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.read(storage, Table::all)
    }

    /// Updates the documents of an API, unless the API service has changed meanwhile.
    fn learn(&self, api: &RemoteApi, change: impl FnOnce(&mut ApiDocuments)) {
        self.lock().learn(api, change);
    }

    /// Reads the table, which is rebuilt first after a reset of the store.
    fn read<T>(&self, storage: &Storage, look: impl FnOnce(&mut Table) -> T) -> T {
        if self.lock().is_stale() {
            // Changes come under the lock of the store: none is missed, and none comes twice.
            storage.view(|view| {
                let stored = view.snapshot(api_service::KIND.storage());
                let mut table = self.lock();
                table.rebuild(stored.objects(&Range::All, None).map(|stored| &**stored));
                self.is_needed.store(!table.is_empty(), Ordering::Release);
            });
        }
        look(&mut self.lock())
    }

    /// The table is valid at every step.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Aggregator {
    fn default() -> Self {
        Self {
            table: Mutex::default(),
            is_needed: AtomicBool::new(true),
            arrived: Notify::new(),
            is_running: AtomicBool::new(false),
        }
    }
}

impl ChangeSink for Aggregator {
    fn changed(&self, change: &Arc<Change>) {
        let resource = change.resource();
        let is_dirty = if resource == api_service::KIND.storage() {
            let mut table = self.lock();
            let after = change.after().map(|after| &**after);
            let is_dirty = table.observe(change.key().name(), after);
            let is_needed = table.is_stale() || !table.is_empty();
            self.is_needed.store(is_needed, Ordering::Release);
            is_dirty
        } else if self.is_needed.load(Ordering::Acquire)
            && let Some(name) = service_of(change.key(), change.subject())
        {
            let namespace = change.key().namespace().unwrap_or_default();
            self.lock().observe_service(namespace, name)
        } else {
            false
        };
        if is_dirty {
            self.arrived.notify_one();
        }
    }

    fn reset(&self) {
        self.lock().reset();
        self.is_needed.store(true, Ordering::Release);
        self.arrived.notify_one();
    }
}

/// Returns the name of the service that a changed object is or belongs to.
fn service_of<'a>(key: &'a ObjectKey, object: &'a StoredObject) -> Option<&'a str> {
    let resource = key.resource();
    if resource == service::KIND.storage() || resource == endpoints::KIND.storage() {
        Some(key.name())
    } else if resource == endpoint_slice::KIND.storage() {
        object.labels().get(endpoint_slice::SERVICE_NAME)
    } else {
        None
    }
}
